"""Where tickets are kept: a port, and a file of SQLite behind it."""

from __future__ import annotations

import os
import sqlite3
from functools import partial
from threading import Lock
from typing import Protocol

from attrs import astuple, frozen
from rlenv import ConfigError

from rlenv_train.private import open_private

SCHEMA = (
    (
        "CREATE TABLE tickets (id TEXT PRIMARY KEY, fingerprint TEXT, asked TEXT, state TEXT,"
        " verdict TEXT)"
    ),
    "CREATE INDEX waiting ON tickets (fingerprint) WHERE state = 'waiting'",
)
WAITING = "fingerprint = ? AND state = 'waiting' ORDER BY rowid LIMIT ?"
SWAP = "UPDATE tickets SET state = ?, verdict = ? WHERE id = ? AND state = ? RETURNING id"
WAIT = 30.0  # seconds for a lock


@frozen
class Record:
    """A ticket as a store keeps it.

    Args:
        id: names it; nobody guesses it.
        fingerprint: of the environment that it was submitted to.
        asked: the task and the response, as JSON.
        state: waiting, done or cancelled; ``outside`` waits for an outcome that no stage computes.
        verdict: as JSON where the state is ``done``; else it means nothing.
    """

    id: str
    fingerprint: str
    asked: str
    state: str = "waiting"
    verdict: str = ""


class Store(Protocol):
    """What keeps tickets.  Several processes may use one store at the same time; each method is
    atomic.
    """

    def put(self, record: Record) -> None:
        """Keep a new ticket; when this returns, it survives the end of the process."""

    def swap(self, old: Record, new: Record) -> bool:
        """Keep the state and the verdict of ``new``, if the ticket still has the state of
        ``old``.
        """

    def waiting(self, fingerprint: str, many: int) -> list[Record]:
        """So many of the oldest tickets of this fingerprint that are ``waiting``."""

    def get(self, id: str) -> Record:  # noqa: A002 - the field's name
        """The ticket of this id.

        Raises:
            ConfigError: when there is none.
        """

    def may_judge(self) -> bool:
        """Whether the holder of this store judges: the first that asks does, until it closes the
        store or ends.
        """

    def close(self) -> None:
        """Let go of what it holds."""


class SqliteStore:
    """A store in a file, for the processes of one machine.

    Args:
        path: of the file, which is made where there is none, with one of the same name and
            ``-judge``, whose lock is held by who judges; not on a network file system.

    Raises:
        ConfigError: when a file belongs to another user or may be written by others, is a symbolic
            link, or holds something else.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._lock = Lock()
        path = os.path.abspath(path)
        try:
            self._db = open_private(path, SCHEMA, "tickets", "a file of tickets", WAIT)
            self._judge = open_private(f"{path}-judge", (), "tickets", "a lock of tickets", WAIT)
            self._judge.execute("PRAGMA busy_timeout = 0")
        except (OSError, sqlite3.Error) as error:
            raise ConfigError(f"tickets: {path}: {error}; name another file") from error
        self._db.text_factory = partial(str, encoding="utf-8", errors="replace")  # of any bytes

    def _run(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        with self._lock, self._db:
            return self._db.execute(statement, values).fetchall()

    def _find(self, which: str, *values: object) -> list[Record]:
        found = self._run(f"SELECT * FROM tickets WHERE {which}", *values)  # noqa: S608 - of this module
        return [Record(*map(str, row)) for row in found]

    def put(self, record: Record) -> None:
        """As of ``Store``."""
        self._run("INSERT INTO tickets VALUES (?, ?, ?, ?, ?)", *astuple(record))

    def swap(self, old: Record, new: Record) -> bool:
        """As of ``Store``."""
        return bool(self._run(SWAP, new.state, new.verdict, old.id, old.state))

    def waiting(self, fingerprint: str, many: int) -> list[Record]:
        """As of ``Store``."""
        return self._find(WAITING, fingerprint, many)

    def get(self, id: str) -> Record:  # noqa: A002 - as of Store
        """As of ``Store``."""
        if not (found := self._find("id = ?", id)):
            raise ConfigError(f"the store has no ticket {id!r:.80}")
        return found[0]

    def may_judge(self) -> bool:
        """As of ``Store``."""
        try:
            if not self._judge.in_transaction:
                self._judge.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:  # another holds it
            return False
        return True

    def close(self) -> None:
        """As of ``Store``."""
        with self._lock:
            self._db.close()
            self._judge.close()
