"""The rows of a trainer's batch as tasks and responses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import starmap
from typing import TypeAlias, cast

from attrs import frozen
from rlenv import ConfigError, Environment, Task, Trajectory

Message: TypeAlias = Mapping[str, object]
Text: TypeAlias = str | Sequence[Message]  # a trainer's prompt or completion: text or messages
Response: TypeAlias = Text | Trajectory
# the column of the messages of an episode; its completion has the environment's too
TRAJECTORY = "rlenv_trajectory"
Batch: TypeAlias = Mapping[str, Sequence[object]]  # column → its values
Row: TypeAlias = tuple[str | Task, Response] | tuple[str, str | None, Response]


@frozen
class Columns:
    """Which columns of a batch make its tasks.

    Args:
        answer: the column of the answer.
        info: the columns that become ``task.info``.
        id: the column of the id by which the environment's own tasks are found.
    """

    answer: str | None = None
    info: tuple[str, ...] = ()
    id: str = "id"

    def rows(
        self, env: Environment, prompts: Sequence[Text], completions: Sequence[Text], batch: Batch
    ) -> list[Row]:
        """What ``evaluate_many`` takes.  The response is the trajectory, where ``trl_rollout``
        gives it.

        An environment that has tasks finds its own, by id or by prompt, unless columns are named.

        Raises:
            ConfigError: when a named column is not in the batch.
        """
        named = [*filter(None, [self.answer]), *self.info]
        if missing := [name for name in named if name not in batch]:
            raise ConfigError(f"the batch has no column {_listed(missing)}; {columns_of(batch)}")
        completions = cast("Sequence[Text]", batch.get(TRAJECTORY, completions))
        if named or not env.tasks:
            answers = batch.get(self.answer or "answer", [None] * len(prompts))
            columns = [[(name, value) for value in batch[name]] for name in self.info]
            infos = map(dict, zip(*columns, strict=True)) if columns else [{}] * len(prompts)
            tasks = starmap(task_of, zip(prompts, answers, infos, strict=True))
            return list(zip(tasks, completions, strict=True))
        if (ids := batch.get(self.id)) is not None:
            return [(str(name), None, text) for name, text in zip(ids, completions, strict=True)]
        return list(zip(map(prompt_text, prompts), completions, strict=True))


def task_of(prompt: Text, answer: object, info: Mapping[str, object]) -> Task:
    """The task that a row of a trainer makes."""
    given = info if isinstance(prompt, str) else {**info, "messages": list(prompt)}
    return Task(prompt_text(prompt), answer, given)


def prompt_text(prompt: Text) -> str:
    """The text of a prompt; of a conversation, that of the user's last message."""
    if isinstance(prompt, str):
        return prompt
    said = [message.get("content") for message in prompt if message.get("role") == "user"]
    return said[-1] if said and isinstance(said[-1], str) else ""


def inner_field(row: Mapping[str, object], name: str, key: str) -> object:
    """``row[name][key]``, None where there is none."""
    inner = row.get(name)
    return inner.get(key) if isinstance(inner, Mapping) else None


def columns_of(batch: Batch) -> str:
    """Which columns a batch has, in words."""
    return f"its columns are {_listed(batch) or 'none but the prompt'}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))
