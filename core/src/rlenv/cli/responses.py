"""The file of responses: spooled when it comes by pipe, surveyed before the first row is scored.

The survey reads everything once, so that a broken line is found in seconds and not after hours, and so
that the progress bar knows the end.  ``sha256`` is over the bytes of the file as they stand; standard
input is copied to a temporary file first, so that it can be surveyed, and resumed by piping it again.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from attrs import frozen

from rlenv.errors import InputError, UnknownTask
from rlenv.values import Task, Trajectory

from .durable import reason
from .text import one_line, visible

if TYPE_CHECKING:
    from rlenv.tasks import Tasks

STDIN = "standard input"


@frozen
class Source:
    """A file of responses that was read once.  ``stamp`` tells whether it changed since."""

    path: Path
    shown: str
    sha256: str
    count: int
    stamp: tuple[int, int, int]

    def unchanged(self) -> bool:
        return _stamp(self.path) == self.stamp


@frozen
class Good:
    """A row that can be scored: its number from 1, its task and that task's id, the response as given."""

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


@contextmanager
def spooled(name: str) -> Iterator[tuple[Path, str]]:
    """The path to read and the name to show; standard input (``-``) becomes a temporary file."""
    if name != "-":
        yield Path(name), visible(name)
        return
    with tempfile.TemporaryDirectory(prefix="rlenv-") as folder:
        path = Path(folder) / "stdin.jsonl"
        try:
            with path.open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
        except OSError as error:
            raise InputError(
                f"{STDIN}: cannot be copied to {folder}: {reason(error)}; "
                "set TMPDIR to a folder with room, or give the responses as a file"
            ) from None
        yield path, STDIN


def survey(path: Path, shown: str, *, grouped: bool = False) -> Source:
    """Read the whole file once.

    Args:
        grouped: rows of one task must stand together.

    Raises:
        InputError: when any part is unreadable or a column is missing; names file, line and remedy.
    """
    try:
        stamp = _stamp(path)
        digest = _digest(path)
    except OSError as error:
        raise InputError(f"{shown}: cannot be read: {reason(error)}") from None
    count = 0
    groups = _Groups(shown)
    for record in rows(path, shown):
        if count == 0:
            _check_columns(record, shown)
        count += 1
        if grouped:
            groups.add(count, record)
    return Source(path, shown, digest, count, stamp)


def rows(path: Path, shown: str) -> Iterator[Mapping[str, Any]]:
    """The rows as dicts, errors naming the file as the person knows it."""
    from rlenv.tasks import read_rows

    try:
        for _, record in read_rows(path):
            yield record
    except InputError as error:
        raise InputError(str(error).replace(str(path), shown)) from None


def items(source: Source, tasks: Tasks, first: int, last: int) -> Iterator[Item]:
    """Rows ``first`` (from 1) to ``last``, each with its task looked up.

    Raises:
        InputError: when the file is not what the survey saw.
    """
    find = Finder(tasks)
    row = first - 1
    for record in islice(rows(source.path, source.shown), first - 1, last):
        row += 1
        yield find.item(row, record)
    if row < last or not source.unchanged():
        raise InputError(
            f"{source.shown}: changed while it was being scored; score it anew once it is complete"
        )


class Finder:
    """Turns rows into items.  The nearest name is looked for in the first few unknown tasks only."""

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


def _find(record: Mapping[str, Any], tasks: Tasks) -> tuple[Task | None, str | None, str | None]:
    for column, look in (("task", tasks.by_id), ("prompt", tasks.by_prompt)):
        value = record.get(column)
        if value is None or value == "":
            continue
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str):
            return None, None, f"{column} is {_kind(value)}, not a text"
        name = value if column == "task" else None
        try:
            task = look(value)
        except UnknownTask as error:
            return None, name, str(error)
        return task, task.id, None
    return None, None, "this row has neither a task nor a prompt"


def _kind(value: Any) -> str:
    if value is None:
        return "empty (null)"
    if isinstance(value, bool):
        return "true or false"
    names = {dict: "an object", list: "a list", int: "a number", float: "a number"}
    return names.get(type(value), f"a {type(value).__name__}")


def _check_columns(record: Mapping[str, Any], shown: str) -> None:
    if "response" in record and ("task" in record or "prompt" in record):
        return
    lack = '"response"' if "response" not in record else '"task" (an id) or "prompt"'
    found = ", ".join(one_line(str(name), 30) for name in list(record)[:12]) or "nothing"
    raise InputError(
        f"{shown}: row 1 has no {lack}; it has {found}. "
        'Every row needs "response" and either "task" or "prompt": rename the columns'
    )


class _Groups:
    """Checks that the rows of each task stand together."""

    def __init__(self, shown: str) -> None:
        self._shown = shown
        self._closed: set[tuple[str, str]] = set()
        self._open: tuple[str, str] | None = None

    def add(self, row: int, record: Mapping[str, Any]) -> None:
        key = (
            ("task", str(record.get("task")))
            if record.get("task")
            else ("prompt", str(record.get("prompt")))
        )
        if key == self._open:
            return
        if key in self._closed:
            raise InputError(
                f"{self._shown}: row {row}: {key[0]} {one_line(key[1], 60)!r} comes again after other tasks; "
                "with --group the responses to one task stand together: sort the file by task"
            )
        if self._open is not None:
            self._closed.add(self._open)
        self._open = key


def _stamp(path: Path) -> tuple[int, int, int]:
    now = os.stat(path)
    return now.st_ino, now.st_size, now.st_mtime_ns


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
