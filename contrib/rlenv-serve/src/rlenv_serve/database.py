"""A database of SQLAlchemy, SQLite or PostgreSQL, that no event loop waits for."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

import sqlalchemy as sa
from rlenv import ConfigError
from sqlalchemy.pool import StaticPool

from .state.journal import unavailable
from .state.sqlite_file import check_owner

T = TypeVar("T")
WAIT = 15.0  # seconds for an answer
PRAGMAS = ("busy_timeout = 10000", "journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON")
# What makes one process wait for another that changes tables; until the end of the transaction.
LOCK = {"sqlite": "BEGIN IMMEDIATE", "postgresql": "SELECT pg_advisory_xact_lock(7162110)"}


class Database:
    """One thread talks to it.

    Args:
        name: what it keeps; the option of the command that names it.
        url: ``memory:``, ``sqlite:PATH``, or ``postgresql://USER:PASSWORD@HOST/DATABASE``.

    Raises:
        ConfigError: for another one.
    """

    def __init__(self, name: str, url: str) -> None:
        self._name = name
        self._engine = sa.create_engine(_engine_url(f"--{name}", url), **({"poolclass": StaticPool} if url == "memory:" else {"pool_pre_ping": True}))  # fmt: skip
        self._thread = ThreadPoolExecutor(1, f"rlenv-{name}")
        self.insert = import_module(f"sqlalchemy.dialects.{self._engine.dialect.name}").insert
        if self._engine.dialect.name == "sqlite":
            sa.event.listen(self._engine, "connect", _durable)

    async def run(self, work: Callable[[sa.Connection], T]) -> T:
        """What ``work`` gives, in a transaction.

        Raises:
            Problem: 503 where the database cannot be reached or written.
        """
        asked = asyncio.get_running_loop().run_in_executor(self._thread, partial(self._work, work))
        try:
            return await asyncio.wait_for(asked, WAIT)
        except TimeoutError:  # it may still be done
            raise unavailable(f"no answer in {WAIT:g} s", self._name) from None

    async def rows(self, query: sa.Select[Any]) -> list[dict[str, Any]]:
        """What a query finds."""
        return await self.run(lambda connection: [{**each} for each in connection.execute(query).mappings()])  # fmt: skip

    async def alter(self, work: Callable[[sa.Connection], T]) -> T:
        """The same, while no other process alters tables."""

        def locked(connection: sa.Connection) -> T:
            connection.exec_driver_sql(LOCK[connection.dialect.name])
            return work(connection)

        return await self.run(locked)

    def _work(self, work: Callable[[sa.Connection], T]) -> T:
        try:
            with self._engine.begin() as connection:
                return work(connection)
        except (sa.exc.SQLAlchemyError, UnicodeError) as error:
            raise unavailable(str(error).partition("\n")[0], self._name) from error

    async def close(self) -> None:
        """Let go of the connections."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._engine.dispose)
        self._thread.shutdown()


def _durable(connection: object, _: object) -> None:
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")  # type: ignore[attr-defined] # of sqlite3


def _engine_url(option: str, url: str) -> sa.URL:
    kind, _, rest = url.partition(":")
    if url == "memory:":
        return sa.URL.create("sqlite")
    if kind == "sqlite" and rest:
        try:  # for its owner alone
            os.close(os.open(rest, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600))
        except OSError as error:
            raise ConfigError(f"{option} {url}: {error.strerror}; name a file on a local disk that can be written") from None  # fmt: skip
        check_owner(option, rest)
        return sa.URL.create("sqlite", database=rest)
    if kind in ("postgresql", "postgres") and rest.startswith("//"):
        if find_spec("psycopg") is None:
            raise ConfigError(f'{option}: PostgreSQL needs psycopg: pip install "./contrib/rlenv-serve[postgresql]", in a clone')  # fmt: skip
        with suppress(ValueError, sa.exc.ArgumentError):  # a port of letters
            return sa.make_url(f"postgresql+psycopg:{rest}")
    raise ConfigError(f"{option} {url!r:.200} is no store: write memory:, sqlite:PATH or postgresql://USER:PASSWORD@HOST/DATABASE")  # fmt: skip
