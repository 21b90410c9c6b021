"""Rows of responses become items: a task and a response that can be judged, or what is wrong with
the row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from attrs import frozen
from rlenv.model.errors import InputError, UnknownTask
from rlenv.model.values import Task, Trajectory

from .responses import Source, rows

if TYPE_CHECKING:
    from rlenv.model.tasks import Tasks


@frozen
class Good:
    """A row that can be scored: its number from 1, its task and that task's id, the response as
    given.
    """

    row: int
    name: str | None
    given: Any
    task: Task
    response: str | Trajectory


@frozen
class Bad:
    """A row that cannot be scored, and why; ``split`` is its task's where there is one."""

    row: int
    name: str | None
    given: Any
    problem: str
    split: str | None


Item: TypeAlias = Union[Good, Bad]


class Changed(InputError):
    """The file of responses is not what the survey saw."""


def items(source: Source, tasks: Tasks, first: int, last: int) -> Iterator[Item]:
    """Rows ``first`` (from 1) to ``last``, each with its task looked up.

    Raises:
        Changed: when the file is not what the survey saw.
    """
    find = Finder(tasks)
    row = first - 1
    try:
        for record in islice(rows(source.path, source.shown), first - 1, last):
            row += 1
            yield find.item(row, record)
    except InputError:
        if not source.changed():
            raise
    if row < last or source.changed():
        raise Changed(
            f"{source.shown}: changed while it was being scored; score it anew with --overwrite"
            " once it is complete"
        )


class Finder:
    """Turns rows into items.  The nearest name is looked for in the first few unknown tasks
    only.
    """

    HINTS = 5

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks
        self._ids = frozenset(tasks.ids)
        self._unknown = 0

    def item(self, row: int, record: Mapping[str, Any]) -> Item:
        """One row, whatever it holds."""
        given = record.get("response")
        name, task, problem = self._find(record)
        split = None if task is None else task.split
        try:
            response = as_response(given)
        except InputError as error:
            missing = "response" not in record
            own = "this row has no response" if missing else f"the response is {error}"
            return Bad(row, name, given, problem or own, split)
        if task is None or problem is not None:
            return Bad(row, name, given, problem or "this row has no task", split)
        return Good(row, name, given, task, response)

    def _find(self, record: Mapping[str, Any]) -> tuple[str | None, Task | None, str | None]:
        for column in ("task", "prompt"):
            value = record.get(column)
            if value is None or value == "":
                continue
            if isinstance(value, int) and not isinstance(value, bool):
                value = str(value)
            if not isinstance(value, str):
                return None, None, f"{column} is {_kind(value)}, not a text"
            return self._by_id(value) if column == "task" else self._by_prompt(value)
        return None, None, "this row has neither a task nor a prompt"

    def _by_id(self, name: str) -> tuple[str, Task | None, str | None]:
        if name not in self._ids:
            self._unknown += 1
            if self._unknown > self.HINTS:
                return name, None, f"no task has the id {name!r:.100}"
        try:
            return name, self._tasks.by_id(name), None
        except UnknownTask as error:
            return name, None, str(error)

    def _by_prompt(self, prompt: str) -> tuple[str | None, Task | None, str | None]:
        try:
            task = self._tasks.by_prompt(prompt)
        except UnknownTask as error:
            return None, None, str(error)
        return task.id, task, None


def as_response(given: Any) -> str | Trajectory:
    """A text or a list of messages as the engine takes it.

    Raises:
        InputError: says what it is instead.
    """
    if isinstance(given, str):
        return given
    if not isinstance(given, list):
        raise InputError(f"{_kind(given)}, not a text or a list of messages")
    for place, message in enumerate(given):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise InputError(f"a list whose element {place} is no message with a role")
    if not any(message["role"] == "assistant" for message in given):
        raise InputError("a list of messages without one of the assistant")
    return Trajectory(given)


def _kind(value: Any) -> str:
    if value is None:
        return "empty (null)"
    if isinstance(value, bool):
        return "true or false"
    names = {dict: "an object", list: "a list", int: "a number", float: "a number"}
    return names.get(type(value), f"a {type(value).__name__}")
