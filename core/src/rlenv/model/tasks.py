"""The tasks of an environment: an ordered collection, found by id or by prompt."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Self

from attrs import evolve

from .errors import UnknownTask, first_lines, reject
from .lazy import lazy
from .messages import suggest
from .values import Task


class Tasks(tuple[Task, ...]):  # noqa: SLOT001 - it keeps an index
    """Tasks in order; each has an id, by default a hash of its prompt, answer and info.

    Raises:
        ConfigError: when two tasks have one id, naming both by their place (from 0).
        TypeError: when something in it is no Task.
    """

    _by_id: dict[str, Task]
    ids: tuple[str, ...]

    def __new__(cls, tasks: Iterable[Task] = ()) -> Self:
        made = super().__new__(cls, map(_with_id, tasks))
        made._by_id = {}
        problems = []
        for place, task in enumerate(made):
            if made._by_id.setdefault(task.id or "", task) is not task:
                first = next(i for i, t in enumerate(made) if t.id == task.id)
                problems.append(f"tasks {first} and {place} have the same id {task.id!r}")
        reject(first_lines(problems))
        made.ids = tuple(made._by_id)
        return made

    def __repr__(self) -> str:
        return f"Tasks({len(self)} tasks)"

    def get(self, id: str) -> Task | None:  # noqa: A002 - the field's name
        """Return the task of this id, or None.

        It makes no error message, which costs more than a thousand times as much where there are
        many tasks.

        Args:
            id: of the task.
        """
        return self._by_id.get(id)

    def by_id(self, id: str) -> Task:  # noqa: A002 - the field's name
        """The task of this id.

        Raises:
            UnknownTask: when there is none.
        """
        if (task := self._by_id.get(id)) is None:
            few = self.ids if len(self) <= 2000 else self.ids[:5]  # likeness is slow
            hint = suggest(str(id), few, what="the ids are") or "there are no tasks"
            raise UnknownTask(f"no task has the id {id!r}; {hint}")
        return task

    def by_prompt(self, prompt: str) -> Task:
        """The one task with exactly this prompt.

        Raises:
            UnknownTask: when there is none, or several.
        """
        found = self.of_prompt.get(prompt, [])
        if len(found) == 1:
            return found[0]
        if found:
            ids = ", ".join(repr(task.id) for task in found[:5])
            shared = f"{len(found)} tasks share the prompt {prompt!r:.80}"
            raise UnknownTask(f"{shared}: pass one of them ({ids})")
        lack = (
            f"no task has the prompt {prompt!r:.80} (there are {len(self)} tasks, compared by exact"
            " text)"
        )
        raise UnknownTask(f"{lack}; pass a Task, or the prompt as the task has it")

    @lazy
    def of_prompt(self) -> dict[str, list[Task]]:
        """The tasks of each prompt."""
        found: dict[str, list[Task]] = {}
        for task in self:
            found.setdefault(task.prompt, []).append(task)
        return found

    @lazy
    def sha256(self) -> str:
        """Hex digest of all tasks in order."""
        digest = hashlib.sha256()
        for t in self:
            digest.update(f"{canonical([t.id, t.prompt, t.answer, t.info, t.split])}\n".encode())
        return digest.hexdigest()


def task_hash(prompt: str, answer: object, info: object) -> str:
    """The default id: 16 hex digits of a hash of prompt, answer and info.

    The same on every machine.
    """
    return hashlib.sha256(canonical([prompt, answer, info]).encode()).hexdigest()[:16]


def canonical(value: object) -> str:
    """One text per JSON value: keys sorted, ASCII; what JSON cannot hold stands as its text."""
    from .record import plain

    return json.dumps(plain(value), sort_keys=True, separators=(",", ":"))


def _with_id(task: Task) -> Task:
    if not isinstance(task, Task):
        raise TypeError(f"a Task is expected, not {type(task).__name__}")
    if task.id is not None:
        return task
    return evolve(task, id=task_hash(task.prompt, task.answer, task.info))
