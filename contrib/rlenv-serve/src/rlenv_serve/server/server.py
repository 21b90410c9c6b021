"""``Server``: what the routes of all protocols share."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Protocol, TypeVar

from rlenv_serve.catalog import Catalog
from rlenv_serve.configuration.store import record_start
from rlenv_serve.http.keys import Keys
from rlenv_serve.http.limits import Limits
from rlenv_serve.http.problems import Problem
from rlenv_serve.metrics import Metrics
from rlenv_serve.sessions import Sessions
from rlenv_serve.sessions.presence import LostEpisodes, Presence
from rlenv_serve.state.journal import Journal
from rlenv_serve.state.memory import MemoryJournal
from rlenv_serve.trajectories.archive import Archive
from rlenv_serve.trajectories.store import TrajectoryStore
from rlenv_serve.verify.tickets import VerifyTickets
from rlenv_serve.verify.verifier import Verifier

RETRY = 0.1  # seconds
PROBE = 1.0  # seconds for which it is known whether the state can be written
STORE = 0.5  # seconds that the start waits for the store of trajectories


class Part(Protocol):
    """State that one protocol keeps in a server."""

    async def sweep(self) -> None:
        """Let go of what clients left behind; called again and again while the server runs."""

    async def close_all(self) -> None:
        """Let go of everything, when the server ends."""


P = TypeVar("P", bound=Part)


class Server:
    """The environments of one process, and what it knows of its clients.

    Args:
        catalog: the environments; they stay open when the server ends.
        keys: of clients; none by default: everyone is one tenant, which is not an operator.
        limits: what a client may use.
        journal: keeps episodes; in memory by default.
        trajectories: keeps episodes that have ended; in memory by default.
    """

    def __init__(
        self,
        catalog: Catalog,
        *,
        keys: Keys | None = None,
        limits: Limits | None = None,
        journal: Journal | None = None,
        trajectories: TrajectoryStore | None = None,
    ) -> None:
        self.catalog = catalog
        self.keys = keys or Keys()
        self.limits = limits or Limits()
        self.journal = journal or MemoryJournal()
        self.archive = Archive(self.journal, trajectories or TrajectoryStore("memory:"))
        self.archive.store.opened.append(
            lambda connection: record_start(self.archive.store, catalog.values(), connection)
        )
        self.metrics = Metrics()
        self.sessions = Sessions(catalog, self.journal, self.archive, self.limits, self.metrics)
        self.turns = self.sessions.turns
        self.metrics.waiting.set_function(lambda: self.turns.queue)
        self.metrics.unread.set_function(lambda: len(self.archive.aside))
        self.verifier = Verifier(catalog, self.turns, self.limits, self.metrics)
        self.tickets = VerifyTickets(self.journal.sibling("tickets"), self.verifier)
        self._parts: dict[type, Part] = {}
        presence = Presence(catalog, self.journal.sibling("servers"))
        self.lost = LostEpisodes(presence, self.sessions.admission, self.journal, self.keys)
        self.sessions.sweeps = (self._sweep_parts, self.lost.sweep)
        self._probe: asyncio.Task[None] | None = (
            None  # the last look whether the state can be written
        )
        self._probed = 0.0  # when, as of ``time.monotonic``
        self.ready = False
        # Whether it waits for the requests that run: what has no end of its own ends then.
        self.is_ending: Callable[[], bool] = lambda: not self.ready

    def part(self, kind: type[P], make: Callable[[], P]) -> P:
        """Return what a protocol keeps in this server, which is made when it is first asked for.

        Args:
            kind: the class of it.
            make: makes it.
        """
        found = self._parts.get(kind)
        if found is None:
            found = self._parts[kind] = make()
        assert isinstance(found, kind)
        return found

    async def _sweep_parts(self) -> None:
        for part in [*self._parts.values()]:
            await part.sweep()

    async def probe(self) -> None:
        """See that the state can be written; everyone may ask, so what was seen a moment ago is not
        asked again.

        Raises:
            Problem: 503 where it cannot.
        """
        if self._probe is None or (self._probe.done() and time.monotonic() > self._probed + PROBE):
            self._probed = time.monotonic()
            self._probe = asyncio.create_task(self.journal.probe())
            # Whoever waits has the exception, if anyone still does.
            self._probe.add_done_callback(lambda done: done.cancelled() or done.exception())
        await asyncio.shield(self._probe)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Open what the server keeps, and close it again when the requests that run are
        answered.
        """
        await self.journal.open()
        await self.tickets.store.journal.open()
        await self.lost.presence.journal.open()
        if self.journal.shared:
            await self.lost.presence.tell()
        for served in self.catalog.values():
            _ = served.revision  # hashes code and tasks: not while a client waits
        watches = [asyncio.create_task(each.watch()) for each in (self.sessions, self.archive)]
        with suppress(TimeoutError):  # what is played meanwhile is kept in the journal
            await asyncio.wait_for(self.archive.bring(), STORE)
        self.ready = True
        try:
            yield
        finally:
            self.ready = False
            await _cancel(watches)
            for part in self._parts.values():
                await part.close_all()
            await self.sessions.close()
            await self.archive.store.close()
            with suppress(Problem):  # others see no sign of life any more
                await self.lost.presence.leave()
            await self.lost.presence.journal.close()
            await self.tickets.store.journal.close()
            await self.journal.close()


async def _cancel(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Cancel until they have ended: `asyncio.wait_for` of Python 3.11 drops a cancellation that
    meets the end of its work (https://github.com/python/cpython/issues/86296)."""
    while any(not each.done() for each in tasks):
        for each in tasks:
            each.cancel()
        await asyncio.wait(tasks, timeout=RETRY)
