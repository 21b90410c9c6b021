"""A database of SQLAlchemy, SQLite or PostgreSQL, that no event loop waits for."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

import sqlalchemy as sa
from rlenv import ConfigError

from .journal import unavailable
from .sqlite_file import check_owner

T = TypeVar("T")
WAIT = 15.0  # seconds for an answer
END = 4.0  # seconds for the last answer when the server ends, besides its grace
PRAGMAS = (
    "PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA"
    " foreign_keys = ON"
)
# What makes one process wait for another that changes tables; until the end of the transaction.
LOCK = {"sqlite": "BEGIN IMMEDIATE", "postgresql": "SELECT pg_advisory_xact_lock(7162110)"}


def storable(text: str) -> str:
    """A text without NUL and half surrogates, which databases do not take."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


class Database:
    """One thread talks to it, a daemon: a database that never answers does not keep the process.

    Args:
        name: what it keeps; the option of the command that names it.
        url: ``memory:``, ``sqlite:PATH``, or ``postgresql://USER:PASSWORD@HOST/DATABASE``.

    Raises:
        ConfigError: for another one.
    """

    def __init__(self, name: str, url: str) -> None:
        self._name = name
        self.is_in_memory = url == "memory:"  # of this process
        self._engine = sa.create_engine(_engine_url(f"--{name}", url), pool_pre_ping=True)
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._late: asyncio.Future[Any] | None = None  # the call that had no answer in time
        self._thread = Thread(target=self._serve, name=f"rlenv-{name}", daemon=True)
        self._thread.start()
        self.insert = getattr(sa.dialects, self._engine.dialect.name).insert
        if self._engine.dialect.name == "sqlite":
            sa.event.listen(self._engine, "connect", lambda link, _: link.executescript(PRAGMAS))

    async def run(self, work: Callable[[sa.Connection], T]) -> T:
        """Run work in a transaction, and return what it gives.

        Raises:
            Problem: 503 where the database cannot be reached or written.
        """
        if self._late and not self._late.done():  # what is asked now would only pile up behind it
            raise unavailable(f"no answer in {WAIT:g} s to a call before", self._name)
        asked = Future[T]()
        self._calls.put(partial(self._work, work, asked))
        answer = asyncio.wrap_future(asked)
        # Its caller may have gone by then.
        answer.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            return await asyncio.wait_for(asyncio.shield(answer), WAIT)
        except (TimeoutError, sa.exc.SQLAlchemyError, UnicodeError) as error:
            self._late = answer  # until it is done
            raise unavailable(
                str(error).partition("\n")[0] or f"no answer in {WAIT:g} s", self._name
            ) from error

    async def rows(self, query: sa.Select[Any]) -> list[dict[str, Any]]:
        """Return what a query finds."""
        return await self.run(
            lambda connection: [{**each} for each in connection.execute(query).mappings()]
        )

    async def alter(self, work: Callable[[sa.Connection], T]) -> T:
        """The same, while no other process alters tables."""

        def work_alone(connection: sa.Connection) -> T:
            connection.exec_driver_sql(LOCK[connection.dialect.name])
            return work(connection)

        return await self.run(work_alone)

    def _serve(self) -> None:
        while call := self._calls.get():
            call()
            del call  # with its rows
        self._engine.dispose()

    def _work(self, work: Callable[[sa.Connection], T], asked: Future[T]) -> None:
        try:
            with self._engine.begin() as connection:
                found = work(connection)
            asked.set_result(found)
        except BaseException as error:  # noqa: BLE001 - it goes to who waits
            asked.set_exception(error)

    async def close(self) -> None:
        """Let go of the connections, when all is answered; what is late ends with the process."""
        self._calls.put(None)
        await asyncio.to_thread(self._thread.join, END)


def _engine_url(option: str, url: str) -> sa.URL:
    kind, _, rest = url.partition(":")
    if url == "memory:":
        return sa.URL.create("sqlite")
    if kind == "sqlite" and rest:
        try:  # for its owner alone
            os.close(os.open(rest, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600))
        except OSError as error:
            raise ConfigError(
                f"{option} {url}: {error.strerror}; name a file on a local disk that can be written"
            ) from None
        check_owner(option, rest)
        return sa.URL.create("sqlite", database=rest)
    if kind in ("postgresql", "postgres") and rest.startswith("//"):
        if find_spec("psycopg") is None:
            raise ConfigError(
                f"{option}: PostgreSQL needs psycopg: pip install"
                ' "./contrib/rlenv-serve[postgresql]", in a clone'
            )
        with suppress(ValueError, sa.exc.ArgumentError):  # a port of letters
            return sa.make_url(f"postgresql+psycopg:{rest}")
    raise ConfigError(
        f"{option} {url!r:.200} is no store: write memory:, sqlite:PATH or"
        " postgresql://USER:PASSWORD@HOST/DATABASE"
    )
