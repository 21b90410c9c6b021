"""Files of SQLite that only their owner may write."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Sequence
from contextlib import closing, suppress
from tempfile import TemporaryDirectory

from rlenv import ConfigError

TABLES = "SELECT sql FROM sqlite_master WHERE sql NOT NULL"


def open_private(
    path: str, schema: Sequence[str], who: str, what: str, wait: float
) -> sqlite3.Connection:
    """The database, which is made where there is none; it may be used from several threads, one at
    a time.

    Args:
        path: of the file, absolute.
        schema: the statements that make its tables; a file of other tables is rejected.
        who: what wants it, and
        what: what it holds, for messages.
        wait: seconds for a lock.

    Raises:
        ConfigError: when it is not a private file of this user.
        OSError, sqlite3.Error: when it is damaged, locked, or holds something else.
    """
    if not os.path.lexists(path):
        _create(path, schema)
    found = os.lstat(path)
    if not stat.S_ISREG(found.st_mode):
        raise ConfigError(f"{who}: {path} is not a regular file; name the file itself")
    if found.st_uid != os.geteuid():
        raise ConfigError(f"{who}: {path} belongs to another user; name a file of your own")
    if found.st_mode & 0o022:
        raise ConfigError(f"{who}: others may write {path}: chmod go-w {path}")
    db = sqlite3.connect(path, timeout=wait, check_same_thread=False)
    try:
        if [row[0] for row in db.execute(TABLES)] != [*schema]:
            raise sqlite3.DatabaseError(f"it is not {what}")
    except BaseException:
        db.close()
        raise
    return db


def _create(path: str, schema: Sequence[str]) -> None:
    """Several processes may do so at once: each makes a whole file, and the first one's is
    taken.
    """
    with TemporaryDirectory(dir=os.path.dirname(path)) as folder:  # nobody else may read it
        new = os.path.join(folder, "new")
        with closing(sqlite3.connect(new)) as db:
            db.execute("PRAGMA journal_mode = WAL")
            for statement in schema:
                db.execute(statement)
        os.chmod(new, 0o600)
        with suppress(FileExistsError):
            os.link(new, path)
