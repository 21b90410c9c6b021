"""The store of the tickets of a training run: a file of SQLite."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from functools import partial
from threading import Lock
from typing import Protocol

from rlenv import ConfigError
from rlenv_cli.tickets import TicketRecord, TicketState, TicketStore

from rlenv_train.private import open_private

SCHEMA = (
    (
        "CREATE TABLE tickets (id TEXT PRIMARY KEY, fingerprint TEXT, asked TEXT, state TEXT,"
        " verdict TEXT)"
    ),
    "CREATE INDEX waiting ON tickets (fingerprint) WHERE state = 'waiting'",
)
RECORD = "SELECT id, fingerprint, state FROM tickets"
WAITING = f"{RECORD} WHERE fingerprint = ? AND state = 'waiting' ORDER BY rowid LIMIT ?"
END = "UPDATE tickets SET state = ?, verdict = ? WHERE id = ? AND state = ? RETURNING id"
WAIT = 30.0  # seconds for a lock


class TicketQueue(TicketStore, Protocol):
    """A ``TicketStore`` that a judge asks for work."""

    async def waiting(self, fingerprint: str, many: int) -> Sequence[TicketRecord]:
        """Return the oldest tickets that are ``waiting``.

        Args:
            fingerprint: of their environment.
            many: how many there are at most.
        """

    def close(self) -> None:
        """Let go of what the store holds."""


class SqliteStore:
    """A ``TicketQueue`` in a file, for the processes of one machine.

    One process judges at a time, so a ticket needs no signs of life: the kernel drops the lock of a
    process that ends, however it does.

    Args:
        path: of the file, which is made where there is none, with one of the same name and
            ``-judge``, whose lock is held by who judges; not on a network file system.

    Raises:
        ConfigError: when a file belongs to another user or may be written by others, is a symbolic
            link, or holds something else.
    """

    errors: tuple[type[Exception], ...] = (sqlite3.Error,)

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

    async def put(self, record: TicketRecord, asked: bytes) -> None:
        """As of ``TicketStore``."""
        row = (record.id, record.fingerprint, asked.decode(), record.state, "")
        self._run("INSERT INTO tickets VALUES (?, ?, ?, ?, ?)", *row)

    async def find(self, id: str) -> TicketRecord | None:  # noqa: A002 - the field's name
        """As of ``TicketStore``."""
        return next(iter(self._records(f"{RECORD} WHERE id = ?", id)), None)

    async def read_request(self, id: str) -> bytes:  # noqa: A002 - as above
        """As of ``TicketStore``."""
        return self._text("SELECT asked FROM tickets WHERE id = ?", id)

    async def result(self, id: str) -> bytes:  # noqa: A002 - as above
        """As of ``TicketStore``."""
        return self._text("SELECT verdict FROM tickets WHERE id = ? AND state = 'done'", id)

    async def take(self, record: TicketRecord, done: int) -> TicketRecord | None:  # noqa: ARG002 - one response is done, or none
        """As of ``TicketStore``; all tickets are of the process that holds the lock."""
        if not self.may_judge():
            return None
        found = await self.find(record.id)
        return found if found and found.state == "waiting" else None

    async def end(self, record: TicketRecord, state: TicketState, result: bytes = b"") -> bool:
        """As of ``TicketStore``."""
        if not record.is_open:
            return False
        return bool(self._run(END, state, result.decode(), record.id, record.state))

    async def waiting(self, fingerprint: str, many: int) -> Sequence[TicketRecord]:
        """As of ``TicketQueue``."""
        return self._records(WAITING, fingerprint, many)

    def may_judge(self) -> bool:
        """Tell whether this store's holder judges: the first that asks does, until it closes the
        store or ends.
        """
        try:
            if not self._judge.in_transaction:
                self._judge.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:  # another holds it
            return False
        return True

    def close(self) -> None:
        """As of ``TicketQueue``."""
        with self._lock:
            self._db.close()
            self._judge.close()

    def _run(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        with self._lock, self._db:
            return self._db.execute(statement, values).fetchall()

    def _records(self, query: str, *values: object) -> list[TicketRecord]:
        return [TicketRecord(*map(str, row)) for row in self._run(query, *values)]  # type: ignore[arg-type] # three texts

    def _text(self, query: str, *values: object) -> bytes:
        """The one value of a query, b"" where there is none, as UTF-8."""
        found = self._run(query, *values)
        return str(found[0][0]).encode("utf-8", "replace") if found else b""
