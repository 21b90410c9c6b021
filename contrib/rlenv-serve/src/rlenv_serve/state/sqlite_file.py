"""The file of a journal in SQLite: its tables, and who may read it."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Sequence
from contextlib import closing, suppress
from tempfile import TemporaryDirectory

from rlenv import ConfigError

APPLICATION = 0x524C4A31  # in the head of the file: what made it
VERSION = 3
SCHEMA: Sequence[str] = (
    "CREATE TABLE clock (seconds REAL NOT NULL)",
    "INSERT INTO clock VALUES (0)",
    (
        "CREATE TABLE episode (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,"
        " begun BLOB NOT NULL, tenant TEXT NOT NULL, key TEXT NOT NULL, written REAL NOT NULL, stop"
        " TEXT, verdict BLOB)"
    ),
    "CREATE UNIQUE INDEX begun_by_key ON episode (tenant, key) WHERE key != ''",
    "CREATE INDEX open_of_tenant ON episode (tenant) WHERE stop IS NULL",
    "CREATE INDEX written_at ON episode (written)",
    "CREATE INDEX of_tenant ON episode (tenant, number)",
    (
        "CREATE TABLE step (episode INTEGER NOT NULL, number INTEGER NOT NULL, action BLOB NOT"
        " NULL, answer BLOB NOT NULL, key TEXT NOT NULL, UNIQUE (episode, number))"
    ),
    "CREATE TABLE outbox (number INTEGER PRIMARY KEY AUTOINCREMENT, trajectory BLOB NOT NULL)",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)


def connect(path: str, wait: float) -> sqlite3.Connection:
    """The journal, which is made where there is none.

    Args:
        path: of the file.
        wait: seconds for a lock of another process.

    Raises:
        ConfigError: when it is not a journal of this user, that others may neither read nor write.
        OSError, sqlite3.Error: when it cannot be read or made.
    """
    if not os.path.lexists(path):
        _make(path)
    check_owner("--state", path)
    link = sqlite3.connect(path, timeout=wait, isolation_level=None, check_same_thread=False)
    try:
        _check_tables(path, link)
        link.execute("PRAGMA journal_size_limit = 67108864")
    except BaseException:
        link.close()
        raise
    return link


def prepare(path: str) -> None:
    """Make the journal, or see that it is one.

    Raises:
        ConfigError: when it cannot be used.
    """
    try:
        connect(path, 5.0).close()
    except (OSError, sqlite3.Error) as error:
        raise ConfigError(
            f"--state sqlite:{path}: {error}; name a file on a local disk that can be written, or"
            " one that does not exist yet"
        ) from None


def _make(path: str) -> None:
    """Several processes may do so at once: each makes a whole file, and the first one's is
    taken.
    """
    with TemporaryDirectory(dir=os.path.dirname(path) or ".") as folder:  # which others cannot read
        new = os.path.join(folder, "new")
        with closing(sqlite3.connect(new, isolation_level=None)) as link:
            link.executescript("; ".join(("PRAGMA journal_mode = WAL", *SCHEMA)))
        os.chmod(new, 0o600)
        with suppress(FileExistsError):
            os.link(new, path)


def check_owner(option: str, path: str) -> None:
    """Reject what is not a file of this user alone.

    Args:
        option: of the command that names the file.
        path: of the file.

    Raises:
        ConfigError: for what is not a file of this user alone.
    """
    found = os.lstat(path)
    if not stat.S_ISREG(found.st_mode):
        raise ConfigError(f"{option} sqlite:{path} is not a regular file; name the file itself")
    if found.st_uid != os.geteuid():
        raise ConfigError(
            f"{option} sqlite:{path} belongs to another user; name a file of your own"
        )
    if found.st_mode & 0o077:
        raise ConfigError(
            f"{option} sqlite:{path}: others may read or write it, and it holds what is private;"
            f" run `chmod 600 {path}*`"
        )


def _check_tables(path: str, link: sqlite3.Connection) -> None:
    try:
        application, version = link.execute(
            "SELECT * FROM pragma_application_id, pragma_user_version"
        ).fetchone()
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        raise ConfigError(
            f"--state sqlite:{path} is not a database of SQLite; name another file"
        ) from None
    if application != APPLICATION:
        raise ConfigError(
            f"--state sqlite:{path} is a database of something else; name another file"
        )
    if version != VERSION:
        raise ConfigError(
            f"--state sqlite:{path} is of version {version}, and this server reads version"
            f" {VERSION}; name another file"
        )
