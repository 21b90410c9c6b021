"""``CallLog``: what calls of tools returned, in a file."""

from __future__ import annotations

import json
import os
from threading import Lock
from weakref import finalize

from rlenv import ConfigError

from rlenv_plugin_agent.state.sqlite_file import BROKEN, opened_file
from rlenv_plugin_agent.tools.keys import digest

SCHEMA = "CREATE TABLE calls (key TEXT PRIMARY KEY, tool TEXT, text TEXT, hash TEXT) WITHOUT ROWID"
FIND = "SELECT tool, text, hash FROM calls WHERE key = ?"
ALL = "SELECT key, tool, text, hash FROM calls ORDER BY key"
FIRST = "INSERT OR IGNORE INTO calls VALUES (?, ?, ?, ?)"
LAST = "INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?)"


class CallLog:
    """A file of calls: SQLite, texts only, one writer at a time, any number of readers.

    Args:
        path: of the file; it is made where ``writes``.
        writes: calls are added; else the file is read, and each of its rows is checked here, once.

    Attributes:
        sha256: of all rows, where the file is read.

    Raises:
        ConfigError: there is no such file, it belongs to another user or may be written by others,
            is damaged, was edited, or is something else.
    """

    def __init__(self, path: str | os.PathLike[str], *, writes: bool = False) -> None:
        self.path = os.path.abspath(path)
        self._lock = Lock()
        self.sha256 = ""
        if not writes and not os.path.lexists(self.path):
            raise ConfigError(
                f'call log: there is no {self.path}; record one with replay = "record"'
            )
        try:
            self._db = opened_file(self.path, [SCHEMA], "call log", writes=writes)
            finalize(self, self._db.close)  # also where it is never closed, or is rejected below
            # A loop waits for it, and what a crash damages is found.
            self._db.execute("PRAGMA synchronous = OFF")
            self.sha256 = "" if writes else self._check()
        except BROKEN as error:
            told = f"{self.path} cannot be read: {error}; record it again, or name another file"
            raise ConfigError(f"call log: {told}") from error

    def get(self, key: str) -> str | None:
        """Return what the call of this key returned, None where it is not recorded.

        Raises:
            ConfigError: the row was edited, or the file cannot be read any more.
        """
        try:
            with self._lock:
                row = self._db.execute(FIND, (key,)).fetchone()
            return row and self._text(key, *row)
        except BROKEN as error:
            raise ConfigError(f"call log: {self.path} cannot be read: {error}") from error

    def put(self, key: str, tool: str, text: str, *, replace: bool) -> str:
        """Record a call; returns what is recorded now.

        Args:
            key: of the call.
            tool: its name, for people who read the log.
            text: what it returned.
            replace: an earlier text of this key.

        Raises:
            ConfigError: the file cannot be written.
        """
        tool = tool[:64].encode("ascii", "replace").decode()
        packed = json.dumps(text)
        try:
            with self._lock, self._db:
                row = key, tool, packed, digest(key, tool, packed)
                self._db.execute(LAST if replace else FIRST, row)
        except BROKEN as error:
            raise ConfigError(f"call log: {self.path} cannot be written: {error}") from error
        found = None if replace else self.get(key)
        return text if found is None else found

    def close(self) -> None:
        self._db.close()

    def _check(self) -> str:
        whole = [row[3] for row in self._db.execute(ALL) if self._text(*row) is not None]
        return digest(*whole)

    def _text(self, key: str, tool: object, text: object, found: object) -> str:
        if isinstance(tool, str) and isinstance(text, str) and digest(key, tool, text) == found:
            value = json.loads(text)
            if isinstance(value, str):
                return value
        told = f"the row {key:.16} of {tool!r:.80} was edited; record it again"
        raise ConfigError(f"call log: {self.path}: {told}")


_logs: dict[tuple[int, str, bool], CallLog] = {}
_opening = Lock()
os.register_at_fork(after_in_child=lambda: globals().update(_opening=Lock()))


def shared_log(path: str, *, writes: bool) -> CallLog:
    """Return the log of this path, opened once in each process.

    Args:
        path: of the file.
        writes: calls are written to it; else it has to be there.

    Raises:
        ConfigError: as of ``CallLog``.
    """
    key = (os.getpid(), os.path.abspath(path), writes)
    with _opening:
        if key not in _logs:
            _logs[key] = CallLog(path, writes=writes)
        return _logs[key]
