"""``World``: the state of one episode, as named values, tables and files."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import TypeAlias

from attrs import evolve
from rlenv.authoring import dumps
from rlenv.sandbox import Workspace

from .compare import TooManyChanges
from .database import Database
from .final import FinalState, changes, state_hash
from .listing import Listing, listing

# A moment of a world: values, tables, which tables and how many rows were written since the
# beginning, and a snapshot of the workspace.
Moment: TypeAlias = tuple[str, bytes, frozenset[str], int, str | None]


class World:
    """Holds the state of one episode.  A tool with a ``ToolContext`` gets it by
    ``context.get(World)``.

    Args:
        values: named values of JSON; tools may change them.
        database: the tables; empty where the environment declares no schema.
        workspace: the files, None where the episode has no workspace.
        start: a digest of what it begins with.
    """

    def __init__(
        self,
        values: Mapping[str, object],
        database: Database,
        workspace: Workspace | None = None,
        start: str = "",
    ) -> None:
        self.database = database
        self.workspace = workspace
        self._listing = Listing()
        self.start = start
        self._started = dumps(dict(values))
        self.values: dict[str, object] = json.loads(self._started)

    @property
    def parts(self) -> Mapping[type, object]:
        """Return what tools get."""
        return {World: self, Database: self.database}

    async def artifacts(self) -> tuple[object, ...]:
        """Return the ``FinalState``."""
        return (await self.end(),)

    async def end(self) -> FinalState:
        """Return the final state; the tables do not change after it."""
        await asyncio.to_thread(self.database.end)
        return await self.final()

    async def close(self) -> None:
        """It holds nothing open."""

    async def attach(self, workspace: Workspace) -> None:
        """Take a workspace with the files that the episode begins with."""
        self.workspace = workspace
        self._listing = await listing(workspace)

    async def snapshot(self) -> Moment:
        """Return the present, for ``restore``.  No table is copied."""
        files = await self.workspace.snapshot() if self.workspace else None
        database = self.database
        return dumps(self.values), database.content, database.written, database.rows, files

    async def restore(self, moment: Moment, source: Workspace | None = None) -> None:
        """Go back to a snapshot.

        Args:
            moment: of this world, or of the one that it was forked from.
            source: the workspace of that one, where it is another.
        """
        values, self.database.content, self.database.written, self.database.rows, files = moment
        self.values = json.loads(values)
        if self.workspace is not None and files is not None:
            await self.workspace.restore(files, source)

    async def fork(self, workspace: Workspace | None = None) -> World:
        """Make another world with the same content; neither sees what happens in the other.

        Args:
            workspace: takes the copy of the files; without one the fork has no files.
        """
        made = World(json.loads(self._started), evolve(self.database), workspace, self.start)
        made._listing = self._listing if workspace else Listing()
        await made.restore(await self.snapshot(), self.workspace)
        return made

    async def final(self) -> FinalState:
        """Return what is different from the beginning."""
        started = json.loads(self._started)
        values = json.loads(dumps(self.values))
        names = sorted(started.keys() | values.keys())
        changed = tuple(
            n
            for n in names
            if not same([started[n]] if n in started else 0, [values[n]] if n in values else 0)
        )
        try:
            tables = await asyncio.to_thread(changes, self.database)
        except TooManyChanges as error:
            return FinalState(values, changed, overflow=str(error), start=self.start)
        now = await listing(self.workspace) if self.workspace else self._listing
        files = self._listing.changed(now)
        modes = self._listing.modes(now)
        new = {name: [values[name]] if name in values else [] for name in changed}
        digest = state_hash(self.start, new, tables, files, modes)
        return FinalState(values, changed, tables, files, digest, start=self.start, modes=modes)


def same(one: object, other: object) -> bool:
    """Return whether two values of JSON are equal, and of equal types: neither true nor 1.0 is
    1.

    Args:
        one: a value of JSON.
        other: a value of JSON.
    """
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
