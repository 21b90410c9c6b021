"""``train/trl``: a reward function of TRL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from attrs import frozen
from rlenv import Attempt, ConfigError, Outcome, ScoreError, Task, TaskError
from rlenv.authoring import Safe

from .imported import Imported, called, completion_of, required

_OF_TRAINERS = ("completion_ids", "trainer_state", "environments")


@frozen(slots=False)
class Trl(Imported):
    """The reward of a function of TRL, ``f(prompts, completions, **columns)``, called with one row.

    Columns are the task's answer and its info.  What it logs by ``log_metric`` and ``log_extra`` is
    private data.

    Args:
        function: the function, plain or async, as ``package.module:name`` or ``./file.py:name``.
        form: ``text`` passes prompt and completion as strings, ``chat`` as lists of messages.
        answer: the column of the answer.
    """

    function: Callable[..., object]
    form: Literal["text", "chat"] = "text"
    answer: Safe[str] = "answer"

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if lack := [name for name in required(self.function) if name in _OF_TRAINERS]:
            raise ConfigError(f"{', '.join(lack)}: only a trainer has it; give it a default")
        if self.answer in required(self.function):
            self.require_answer()

    def validate(self, task: Task) -> None:
        """Reject a task that lacks a column which the function requires."""
        known = {"prompts", "completions", "log_metric", "log_extra", *self._columns(task)}
        if lack := [name for name in required(self.function) if name not in known]:
            raise TaskError(f"no column {lack[0]}; it has {[*self._columns(task)]}", task.id)

    def check(self, attempt: Attempt) -> Outcome | None:
        """The reward that the function gives."""
        chat = self.form == "chat"
        private = dict[str, object]()
        columns = {name: [value] for name, value in self._columns(attempt.task).items()}
        row = {
            "prompts": [attempt.task.messages if chat else attempt.task.prompt],
            "completions": [completion_of(attempt) if chat else attempt.response],
            "log_metric": private.__setitem__,
            "log_extra": private.__setitem__,
        }
        reward = _only(called(self.function, {**columns, **row}))
        return self.outcome(reward, private)

    def _columns(self, task: Task) -> Mapping[str, object]:
        answer = {} if task.answer is None else {self.answer: task.answer}
        return {**{key: task.info[key] for key in task.info if key != "messages"}, **answer}


def _only(rewards: object) -> object:
    """The one reward of a batch of one."""
    if not isinstance(rewards, Iterable) or isinstance(rewards, (str, bytes, Mapping, set)):
        raise ScoreError(f"a list of one reward is expected of it, not {rewards!r:.80}")
    try:
        [reward] = rewards
    except (TypeError, ValueError) as error:  # also of a tensor without dimensions
        raise ScoreError(f"one reward is expected for one completion: {error}") from None
    return reward
