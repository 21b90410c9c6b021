"""``Server``: what the routes of all protocols share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from .catalog import Catalog
from .http.turns import Turns
from .keys import Keys
from .metrics import Metrics
from .sessions import Sessions
from .settings import Limits
from .state.journal import Journal
from .state.memory import MemoryJournal


class Server:
    """The environments of one process, and what it knows of its clients.

    Args:
        catalog: the environments; they stay open when the server ends.
        keys: of clients; none by default: everyone is the operator.
        limits: what a client may use.
        journal: keeps episodes; in memory by default.
    """

    def __init__(
        self,
        catalog: Catalog,
        *,
        keys: Keys | None = None,
        limits: Limits | None = None,
        journal: Journal | None = None,
    ) -> None:
        self.catalog = catalog
        self.keys = keys or Keys()
        self.limits = limits or Limits()
        self.journal = journal or MemoryJournal()
        self.metrics = Metrics()
        self.turns = Turns(self.limits)
        self.sessions = Sessions(catalog, self.journal, self.limits, self.metrics)
        self.ready = False

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Open what the server keeps, and close it again when the requests that run are answered."""
        await self.journal.open()
        for served in self.catalog.values():
            _ = served.revision  # hashes code and tasks: not while a client waits
        watch = asyncio.create_task(self.sessions.watch())
        self.ready = True
        try:
            yield
        finally:
            self.ready = False
            watch.cancel()
            with suppress(asyncio.CancelledError):
                await watch
            await self.sessions.close()
            await self.journal.close()
