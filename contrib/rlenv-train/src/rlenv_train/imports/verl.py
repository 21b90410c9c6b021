"""``train/verl``: a ``compute_score`` of verl."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import frozen
from rlenv import Attempt, Outcome, ScoreError
from rlenv.authoring import Safe

from .imported import Imported, called, required


@frozen(slots=False)
class Verl(Imported):
    """The score of a function of verl, ``compute_score(data_source, solution_str, ground_truth,
    extra_info)``.

    ``extra_info`` is ``info.extra_info`` where a task has it, else the whole info.  Of a dict, all
    but ``score`` becomes private data.

    Args:
        function: the function, plain or async, as ``package.module:name`` or ``./file.py:name``.
        data_source: the source of tasks that have none in ``info.data_source``.
    """

    function: Callable[..., object]
    data_source: Safe[str] = ""

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if "ground_truth" in required(self.function):
            self.require_answer()

    def check(self, attempt: Attempt) -> Outcome | None:
        """The score that the function gives."""
        info = attempt.task.info
        extra = info.get("extra_info", info)
        row = {
            "data_source": info.get("data_source", self.data_source),
            "solution_str": attempt.response,
            "ground_truth": attempt.task.answer,
            "extra_info": dict(extra) if isinstance(extra, Mapping) else extra,
        }
        found = called(self.function, row)
        if not isinstance(found, Mapping):
            return self.outcome(found)
        if "score" not in found:
            raise ScoreError(f'it has no "score", but {sorted(map(str, found))!r:.200}')
        rest = {str(key): value for key, value in found.items()}
        return self.outcome(rest.pop("score"), rest)
