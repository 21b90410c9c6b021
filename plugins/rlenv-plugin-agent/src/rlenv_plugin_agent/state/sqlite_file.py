"""Files of SQLite that are ours: the log of calls, and persistent worlds."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from rlenv import ConfigError

TABLES = "SELECT sql FROM sqlite_master WHERE sql NOT NULL"
WAIT = 10.0  # seconds for a lock that another process has
BROKEN = (OSError, sqlite3.Error, UnicodeError)


def opened_file(path: str, schema: Sequence[str], what: str, *, writes: bool) -> sqlite3.Connection:
    """Open a connection to a file with these tables and no others.

    Args:
        path: of the file; it is made where ``writes``.
        schema: the statements that make its tables.
        what: the file is, for messages.
        writes: or else it is read only.

    Raises:
        ConfigError: there is no such file, it belongs to another user, or may be written by others.
        OSError: it cannot be opened.
        sqlite3.Error: it is something else, or another process keeps it longer than 10 s.
    """
    if writes and not os.path.lexists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    if problem := _problem(path):
        raise ConfigError(f"{what}: {problem}")
    name = f"{Path(path).as_uri()}?mode={'rw' if writes else 'ro'}"
    link = sqlite3.connect(name, timeout=WAIT, check_same_thread=False, uri=True)
    try:
        if writes and not link.execute(TABLES).fetchall():
            _begin(link, schema)
        if [row[0] for row in link.execute(TABLES)] != [*schema]:
            raise sqlite3.DatabaseError(f"it is not a {what}")
    except BaseException:
        link.close()
        raise
    return link


def _problem(path: str) -> str:
    if not os.path.lexists(path):
        return f"there is no {path}"
    found = os.lstat(path)
    if not stat.S_ISREG(found.st_mode):
        return f"{path} is not a regular file; name the file itself"
    if found.st_uid != os.geteuid():
        return f"{path} belongs to another user; copy it to a file of your own"
    return f"others may write {path}: chmod go-w {path}" if found.st_mode & 0o022 else ""


def _begin(link: sqlite3.Connection, schema: Sequence[str]) -> None:
    """Several processes may begin one file."""
    with closing(link.cursor()) as cursor:
        cursor.execute("BEGIN IMMEDIATE")
        if not cursor.execute(TABLES).fetchall():
            for statement in schema:
                cursor.execute(statement)
        cursor.execute("COMMIT")
