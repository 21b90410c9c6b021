"""``train/inspect``: a scorer of Inspect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, ClassVar

from attrs import field, frozen
from rlenv import Attempt, Outcome, ScoreError
from rlenv.authoring import Unsafe

from .imported import Imported, settled

if TYPE_CHECKING:
    from inspect_ai.scorer import Score, Scorer

_MODEL = "none/none"  # what a scorer is told of the policy


@frozen(slots=False)
class Inspect(Imported):
    """The score of a scorer of Inspect, as a number by Inspect's ``value_to_float``.

    The target is the task's answer, and the metadata is its info.  ``Score.unscored`` and None are
    unscored. Answer, explanation and metadata of the score are private data.

    Args:
        scorer: returns the scorer, as ``package.module:name`` or ``./file.py:name``.
        arguments: what it is called with.
    """

    requires: ClassVar[tuple[str, ...]] = ("package:inspect_ai",)

    scorer: Callable[..., object]
    arguments: Unsafe[Mapping[str, object]] = field(factory=dict)

    def check(self, attempt: Attempt) -> Outcome | None:
        """The score of the response."""
        from inspect_ai.model import ChatMessageUser, ModelName, ModelOutput
        from inspect_ai.scorer import Target
        from inspect_ai.solver import TaskState

        task = attempt.task
        output = ModelOutput.from_content(_MODEL, attempt.response)
        messages = [ChatMessageUser(content=task.prompt), output.message]
        rest = {"output": output, "metadata": dict(task.info)}
        state = TaskState(ModelName(_MODEL), task.id or "", 1, task.prompt, messages, **rest)
        answers = task.answer if isinstance(task.answer, (list, tuple)) else [task.answer]
        target = Target([str(answer) for answer in answers if answer is not None])
        found: Score = settled(self._scorer(state, target))
        if found is None or (isinstance(found.value, float) and isnan(found.value)):
            return self.outcome(None)
        told = {name: getattr(found, name) for name in ("answer", "explanation", "metadata")}
        return self.outcome(_number(found.value), told)

    @cached_property
    def _scorer(self) -> Scorer:
        return self.scorer(**self.arguments)


def _number(value: object) -> float:
    """The value as Inspect reads it, which takes what it cannot read for 0.

    Raises:
        ScoreError: it cannot be read.
    """
    from inspect_ai.scorer import INCORRECT, NOANSWER, value_to_float

    number: float = value_to_float()(value) if isinstance(value, (str, int, float)) else 0.0
    zeros = (0, INCORRECT, NOANSWER, "no", "false")
    text = str(value)
    is_zero = "0" in text and not text.strip("+-.0")
    if number or is_zero or value in zeros or text.lower() in zeros:
        return number
    raise ScoreError(f"Inspect reads no number in the value {value!r:.80}")
