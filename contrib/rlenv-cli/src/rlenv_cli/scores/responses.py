"""The file of responses: spooled when it comes by pipe, surveyed before the first row is scored.

The survey reads everything once, so that a broken line is found in seconds and not after hours, and
so that the progress bar knows the end.  ``sha256`` is over the bytes of the file as they stand;
standard input is copied to a temporary file first, so that it can be surveyed, and resumed by
piping it again.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import frozen
from rlenv.model.errors import InputError

from rlenv_cli.console import one_line, reason, visible

STDIN = "standard input"


@frozen
class Source:
    """A file of responses that was read once.  ``stamp`` tells whether it changed since."""

    path: Path
    shown: str
    sha256: str
    count: int
    stamp: tuple[int, int, int]

    def changed(self) -> bool:
        try:
            return _stamp(self.path) != self.stamp
        except OSError:
            return True


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
        grouped: rows of one task must be together.

    Raises:
        InputError: when any part is unreadable or a column is missing; names file, line and remedy.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise InputError(
            f"{shown}: this is no regular file, and responses are read twice; "
            "pipe it to standard input and write - instead"
        )
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
    from rlenv.config.rows import read_rows

    try:
        for _, record in read_rows(path, ("response", "task", "prompt")):
            yield record
    except InputError as error:
        raise InputError(str(error).replace(str(path), shown)) from None


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
    """Checks that the rows of each task are together."""

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
                f"{self._shown}: row {row}: {key[0]} {one_line(key[1], 60)!r} comes again after"
                " other tasks; with --group the responses to one task are together: sort the file"
                " by task"
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
