"""Signs of life say which environments the servers of one journal serve, and end the episodes that
no server can go on with.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Sequence
from secrets import token_hex

from attrs import define, field, frozen

from rlenv_serve.catalog import Catalog
from rlenv_serve.http.keys import Keys
from rlenv_serve.state.journal import Entry, EpisodeStart, Journal

from .admission import Admission
from .lost import end_of_lost

logger = logging.getLogger("rlenv_serve")
BEAT = 60.0  # seconds between signs of life of a server
LEFT = 300.0  # seconds without one after which a server is gone
# Seconds for which an episode must be lost before it is ended: who changed an env.toml by mistake
# can put it back.
GRACE = 3600.0
MANY = 1 << 30
KNOWN = 10_000  # signs of life that are read at once


@define(eq=False)
class Presence:
    """Signs of life of servers, each of which is an entry of a journal that holds nothing else.

    Args:
        catalog: the environments of this server.
        journal: of signs of life, for all servers that share episodes.
    """

    catalog: Catalog
    journal: Journal
    _own: set[str] = field(factory=set, init=False)
    _told: float = field(default=float("-inf"), init=False)

    async def tell(self) -> None:
        """Say which environments this server serves, unless it has just done so, and forget the
        servers that are gone.
        """
        if time.monotonic() < self._told + BEAT:
            return
        await self.journal.expire(LEFT)
        for served in self.catalog.values():
            sign = EpisodeStart(
                id=token_hex(16),
                tenant="",
                environment=served.name,
                fingerprint=served.env.fingerprint,
                task="",
                task_digest="",
                seed=0,
                agent="",
                created=time.time(),
            )
            await self.journal.begin(sign, MANY)
            self._own.add(sign.id)
        self._told = time.monotonic()

    async def of_others(self) -> set[tuple[str, str]]:
        """The name and the fingerprint of each environment that another server serves."""
        await self.journal.expire(LEFT)
        signs = [each.begun for each in await self.journal.recent(None, KNOWN)]
        self._own &= {each.id for each in signs}
        return {(each.environment, each.fingerprint) for each in signs if each.id not in self._own}

    async def leave(self) -> None:
        """Say that this server ends."""
        for id_ in self._own:
            await self.journal.remove(id_)
        self._own.clear()


@frozen(eq=False)
class LostEpisodes:
    """Ends the open episodes that no server has been able to go on with for an hour.

    While servers are replaced one after another, an old one may still serve an environment as it
    was: it says so, and its episodes stay open.  Where it takes a step meanwhile, the journal does
    not take the end.

    Args:
        presence: of servers.
        admission: says why an episode is lost here.
        journal: of the episodes.
        keys: of the tenants.
    """

    presence: Presence
    admission: Admission
    journal: Journal
    keys: Keys
    _since: dict[str, float] = field(factory=dict, init=False)

    async def sweep(self) -> None:
        """Say that this server lives, and end what is lost."""
        if not self.journal.shared:
            return  # memory has no episodes of another server
        await self.presence.tell()
        for entry, reason in self._due(await self._lost()):
            if await self.journal.commit(entry.begun.id, *end_of_lost(entry, reason)):
                logger.warning(
                    "episode %s of %s is ended: %s", entry.begun.id, entry.begun.environment, reason
                )

    def _tenants(self) -> Iterable[str]:
        tenants = self.keys.tenants
        return [""] if tenants is None else sorted({each.name for each in tenants.values()})

    async def _lost(self) -> list[tuple[Entry, str]]:
        """The episodes that this server cannot go on with, nor another one, and why."""
        entries = [each for name in self._tenants() for each in await self.journal.open_of(name)]
        found = [(each, why) for each in entries if (why := self.admission.reason(each))]
        others = await self.presence.of_others() if found else set()
        return [
            (each, why)
            for each, why in found
            if (each.begun.environment, each.begun.fingerprint) not in others
        ]

    def _due(self, lost: Sequence[tuple[Entry, str]]) -> list[tuple[Entry, str]]:
        """Those that have been lost for long enough."""
        now = time.monotonic()
        ids = {entry.begun.id for entry, _ in lost}
        for known in [each for each in self._since if each not in ids]:
            del self._since[known]
        return [
            each for each in lost if self._since.setdefault(each[0].begun.id, now) + GRACE <= now
        ]
