"""The store of trajectories: SQLite or PostgreSQL, through one schema of SQLAlchemy."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import sqlalchemy as sa
from attrs import asdict, fields

from rlenv_serve.state.database import Database, storable

from .episode import FinishedEpisode

# SQLite numbers rows by itself only where they are of its own type.
NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
KINDS: Mapping[str, type[sa.types.TypeEngine[Any]]] = {
    "str": sa.Text,
    "int": sa.BigInteger,
    "float": sa.Float,
    "float | None": sa.Float,
}
TABLE = sa.Table(
    "trajectories",
    sa.MetaData(),
    sa.Column("number", NUMBER, primary_key=True, autoincrement=True),
    *[
        sa.Column(
            each.name,
            KINDS[str(each.type)],
            unique=each.name == "id" or None,
            index=each.name == "tenant",
        )
        for each in fields(FinishedEpisode)
        if each.name != "number"
    ],
)
SUMMARY = [each for each in TABLE.c if each.name != "rollout"]
PAGE = 500  # rows of one query
HELD = 64 << 20  # bytes of rows in memory: the oldest of the tenant that has most make room
USED = (
    "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count,"
    " pragma_freelist_count, pragma_page_size"
)


class TrajectoryStore(Database):
    """Episodes that have ended.

    Args:
        url: ``memory:``, ``sqlite:PATH``, or ``postgresql://USER:PASSWORD@HOST/DATABASE``.

    Raises:
        ConfigError: for another one.
    """

    def __init__(self, url: str) -> None:
        super().__init__("trajectories", url)
        # What makes its table, and those that others keep in the database; until it has.
        self.opened: list[Callable[[sa.Connection], None]] = [TABLE.metadata.create_all]

    async def open(self) -> None:
        """Connect, and make the tables that are missing, once."""
        while self.opened:
            await self.alter(self.opened[0])
            del self.opened[0]

    async def append(self, rows: Sequence[FinishedEpisode]) -> None:
        """Keep rows, all or none; one that is kept already stays as it is."""
        # A text with NUL or half a surrogate would wait in the journal for ever, and all others
        # behind it.
        values = [
            {
                name: storable(value) if isinstance(value, str) else value
                for name, value in asdict(row).items()
                if name != "number"
            }
            for row in rows
        ]
        await self.run(partial(self._append, values))

    def _append(self, values: list[dict[str, object]], connection: sa.Connection) -> None:
        connection.execute(self.insert(TABLE).on_conflict_do_nothing(index_elements=["id"]), values)
        size = sa.func.sum(sa.func.length(TABLE.c.rollout))
        largest = sa.select(TABLE.c.tenant).group_by(TABLE.c.tenant).order_by(size.desc()).limit(1)
        oldest = (
            sa.select(TABLE.c.number)
            .where(TABLE.c.tenant == largest.scalar_subquery())
            .order_by(TABLE.c.number)
            .limit(PAGE)
        )
        left: int = connection.engine.url.database is None  # in memory, other tables may hold all
        while left and connection.exec_driver_sql(USED).scalar_one() > HELD:
            left = connection.execute(sa.delete(TABLE).where(TABLE.c.number.in_(oldest))).rowcount

    async def find(self, id: str, tenant: str | None) -> FinishedEpisode | None:  # noqa: A002 - the field's name
        """Return the row of an episode of this tenant, or of any.

        Args:
            id: of the episode.
            tenant: whose row it is; None: of any.
        """
        return next(iter(await self._rows(_of(tenant=tenant, id=id))), None)

    async def after(
        self,
        number: int,
        tenant: str | None,
        limit: int = PAGE,
        columns: Sequence[sa.Column[Any]] = SUMMARY,
    ) -> list[FinishedEpisode]:
        """Return the next rows after this number, oldest first, without their rollouts.

        Args:
            number: of a row; 0 begins with the first.
            tenant: whose rows; None: of all.
            limit: how many there are at most.
            columns: that are read.
        """
        return await self._rows(
            _of(tenant=tenant)
            .with_only_columns(*columns)
            .where(TABLE.c.number > number)
            .order_by(TABLE.c.number)
            .limit(limit)
        )

    async def newest(
        self, tenant: str | None, environment: str, limit: int
    ) -> list[FinishedEpisode]:
        """Return the newest rows, of this environment or of any if it is "", without their
        rollouts.

        Args:
            tenant: whose rows; None: of all.
            environment: its name.
            limit: how many there are at most.
        """
        return await self._rows(
            _of(tenant=tenant, environment=environment or None)
            .with_only_columns(*SUMMARY)
            .order_by(TABLE.c.number.desc())
            .limit(limit)
        )

    def scan(self) -> Iterator[FinishedEpisode]:
        """All rows, oldest first; for callers without an event loop."""
        number = 0
        while page := asyncio.run(self.after(number, None, columns=[*TABLE.c])):
            yield from page
            number = page[-1].number

    async def _rows(self, query: sa.Select[tuple[object, ...]]) -> list[FinishedEpisode]:
        return [FinishedEpisode(**each) for each in await self.rows(query)]


def _of(**wanted: str | None) -> sa.Select[tuple[object, ...]]:
    """The rows whose columns have these values; None: any."""
    return sa.select(TABLE).filter_by(
        **{name: storable(value) for name, value in wanted.items() if value is not None}
    )
