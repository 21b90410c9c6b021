"""Where trajectories are kept: SQLite or PostgreSQL, through one schema of SQLAlchemy."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

import sqlalchemy as sa
from attrs import asdict, fields
from rlenv import ConfigError
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.pool import StaticPool

from rlenv_serve.http.problems import Problem

from .finished import Finished

T = TypeVar("T")
NUMBER = sa.BigInteger().with_variant(
    sa.Integer, "sqlite"
)  # which numbers rows by itself only then
KINDS: Mapping[str, type[sa.types.TypeEngine[Any]]] = {"str": sa.Text, "int": sa.BigInteger, "float": sa.Float, "float | None": sa.Float}  # fmt: skip
TABLE = sa.Table(
    "trajectories",
    sa.MetaData(),
    sa.Column("number", NUMBER, primary_key=True, autoincrement=True),
    *[sa.Column(each.name, KINDS[str(each.type)], unique=each.name == "id" or None, index=each.name == "tenant") for each in fields(Finished) if each.name != "number"],
)  # fmt: skip
PAGE = 500  # rows of one query
RETRY = 0.2  # seconds


class TrajectoryStore:
    """Episodes that have ended.  One thread talks to the database, so that no event loop waits for it.

    Args:
        url: ``memory:``, ``sqlite:PATH``, or ``postgresql://USER:PASSWORD@HOST/DATABASE``.

    Raises:
        ConfigError: for another one.
    """

    def __init__(self, url: str) -> None:
        self._engine = sa.create_engine(_engine_url(url), **({"poolclass": StaticPool} if url == "memory:" else {"pool_pre_ping": True}))  # fmt: skip
        self._thread = ThreadPoolExecutor(1, "rlenv-trajectories")
        self._insert = (sqlite if self._engine.dialect.name == "sqlite" else postgresql).insert
        if self._engine.dialect.name == "sqlite":
            sa.event.listen(self._engine, "connect", _durable)
        self.arrived = asyncio.Event()

    async def open(self) -> None:
        """Connect, and make the table where there is none."""
        for tries_left in (4, 3, 2, 1, 0):
            try:
                await self._run(TABLE.metadata.create_all)
                break
            except Problem:  # as where another process makes it at the same time
                if not tries_left:
                    raise
                await asyncio.sleep(RETRY)

    async def append(self, row: Finished) -> None:
        """Keep a row; one that is kept already stays as it is."""
        values = {name: value for name, value in asdict(row).items() if name != "number"}
        await self._run(lambda connection: connection.execute(self._insert(TABLE).values(values).on_conflict_do_nothing(index_elements=["id"])))  # fmt: skip
        self.arrived.set()

    async def find(self, id: str, tenant: str | None) -> Finished | None:  # noqa: A002 - the field's name
        """The row of an episode of this tenant, or of any."""
        found = await self._rows(_of(tenant).where(TABLE.c.id == id))
        return found[0] if found else None

    async def missing(self, ids: list[str]) -> set[str]:
        """Those of these ids that no row has."""
        found = await self._run(lambda connection: connection.execute(sa.select(TABLE.c.id).where(TABLE.c.id.in_(ids))).scalars().all())  # fmt: skip
        return {*ids} - {*found}

    async def after(self, number: int, tenant: str | None, limit: int = PAGE) -> list[Finished]:
        """The next rows after this number, oldest first."""
        return await self._rows(_of(tenant).where(TABLE.c.number > number).order_by(TABLE.c.number).limit(limit))  # fmt: skip

    async def newest(self, tenant: str | None, environment: str, limit: int) -> list[Finished]:
        """The newest rows, of this environment or of any if it is ""."""
        chosen = _of(tenant).where(TABLE.c.environment == environment) if environment else _of(tenant)  # fmt: skip
        return await self._rows(chosen.order_by(TABLE.c.number.desc()).limit(limit))

    def scan(self) -> Iterator[Finished]:
        """All rows, oldest first; for callers without an event loop."""
        number = 0
        while page := asyncio.run(self.after(number, None)):
            yield from page
            number = page[-1].number

    async def close(self) -> None:
        """Let go of the connections."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._engine.dispose)
        self._thread.shutdown()

    async def _rows(self, query: sa.Select[tuple[object, ...]]) -> list[Finished]:
        found = await self._run(lambda connection: connection.execute(query).mappings().all())
        return [Finished(**each) for each in found]

    async def _run(self, work: Callable[[sa.Connection], T]) -> T:
        """
        Raises:
            Problem: 503 where the database cannot be reached or written.
        """
        return await asyncio.get_running_loop().run_in_executor(self._thread, partial(self._work, work))  # fmt: skip

    def _work(self, work: Callable[[sa.Connection], T]) -> T:
        try:
            with self._engine.begin() as connection:
                return work(connection)
        except sa.exc.SQLAlchemyError as error:
            why = str(error).partition("\n")[0]
            raise Problem(503, "trajectories_unavailable", f"the store of trajectories: {why}", Retry_After="5") from error  # fmt: skip


def _of(tenant: str | None) -> sa.Select[tuple[object, ...]]:
    return sa.select(TABLE) if tenant is None else sa.select(TABLE).where(TABLE.c.tenant == tenant)


def _check_private(path: str) -> None:
    """Make the file where there is none, for its owner alone: it has answers."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        others = os.stat(path).st_mode & 0o077
    except OSError as error:
        raise ConfigError(f"--trajectories sqlite:{path}: {error.strerror}; name a file on a local disk that can be written") from None  # fmt: skip
    if others:
        raise ConfigError(f"--trajectories sqlite:{path}: others may read or write it, and it holds answers; run `chmod 600 {path}*`")  # fmt: skip


def _durable(connection: object, _: object) -> None:
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "busy_timeout = 30000"):
        connection.execute(f"PRAGMA {pragma}")  # type: ignore[attr-defined] # of sqlite3


def _engine_url(url: str) -> sa.URL:
    kind, _, rest = url.partition(":")
    if url == "memory:":
        return sa.URL.create("sqlite")
    if kind == "sqlite" and rest:
        _check_private(rest)
        return sa.URL.create("sqlite", database=rest)
    if kind in ("postgresql", "postgres") and rest.startswith("//"):
        return sa.make_url(f"postgresql+psycopg:{rest}")
    raise ConfigError(f"--trajectories {url!r:.200} is no store: write memory:, sqlite:PATH or postgresql://USER:PASSWORD@HOST/DATABASE")  # fmt: skip
