"""A journal in memory: what it keeps ends with the process."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import islice

from attrs import define, evolve, field

from .journal import Entry, EpisodeEnd, EpisodeStart, JournaledStep

HELD = 64 << 20  # bytes of episodes that have ended
STEP = 1 << 10  # bytes of a step besides what it holds


@define
class _MemoryEpisode:
    begun: EpisodeStart
    written: float
    taken: list[JournaledStep] = field(factory=list)
    ended: EpisodeEnd | None = None

    @property
    def entry(self) -> Entry:
        return Entry(self.begun, len(self.taken), self.ended)


class MemoryJournal:
    """As of ``Journal``; for one process.

    Where episodes that have ended hold too much, those of the tenant that holds most make room, the
    oldest first: so no tenant can end what another one has not read yet.
    """

    shared = False

    def __init__(self) -> None:
        self._kept: dict[str, _MemoryEpisode] = {}
        self._outbox: dict[str, bytes] = {}
        # By tenant: bytes of each episode that has ended, in the order in which they did.
        self._ended: dict[str, dict[str, int]] = {}
        self._sizes: dict[str, int] = {}  # of all of a tenant's
        self._by_key: dict[tuple[str, str], str] = {}
        self._open: dict[str, str] = {}  # tenants of episodes

    def sibling(self, name: str) -> MemoryJournal:  # noqa: ARG002 - memory needs no name
        """As of ``Journal``."""
        return MemoryJournal()

    async def open(self) -> None:
        """As of ``Journal``."""

    async def begin(self, begun: EpisodeStart, limit: int) -> EpisodeStart | None:
        """As of ``Journal``."""
        if begun.key and (old := self._by_key.get((begun.tenant, begun.key))):
            return self._kept[old].begun
        if [*self._open.values()].count(begun.tenant) >= limit:
            return None
        if begun.key:
            self._by_key[begun.tenant, begun.key] = begun.id
        self._kept[begun.id] = _MemoryEpisode(begun, time.monotonic())
        self._open[begun.id] = begun.tenant
        return begun

    async def find(self, id: str) -> Entry | None:  # noqa: A002 - the field's name
        """As of ``Journal``."""
        found = self._kept.get(id)
        return None if found is None else found.entry

    async def steps(self, id: str) -> Sequence[JournaledStep]:  # noqa: A002 - as above
        """As of ``Journal``."""
        return [*self._kept[id].taken] if id in self._kept else []

    async def commit(self, id: str, taken: JournaledStep, ended: EpisodeEnd | None = None) -> bool:  # noqa: A002 - as above
        """As of ``Journal``."""
        found = self._kept.get(id)
        if found is None or found.ended or taken.number != len(found.taken) + 1:
            return False
        found.taken.append(taken)
        found.written = time.monotonic()
        if ended:
            found.ended = evolve(ended, trajectory=b"")
            if ended.trajectory:
                self._outbox[id] = ended.trajectory
            del self._open[id]
            self._add_ended(found)
            while sum(self._sizes.values()) > HELD:
                largest = max(self._sizes, key=lambda tenant: self._sizes[tenant])
                oldest = next(iter(self._ended[largest]))
                if oldest == id and len(self._ended[largest]) == 1:
                    break  # its client has had no time to read it
                await self.remove(oldest)
        return True

    def _add_ended(self, kept: _MemoryEpisode) -> None:
        assert kept.ended is not None
        tenant = kept.begun.tenant
        size = len(kept.ended.verdict)
        size += sum(STEP + len(each.action) + len(each.answer) for each in kept.taken)
        self._ended.setdefault(tenant, {})[kept.begun.id] = size
        self._sizes[tenant] = self._sizes.get(tenant, 0) + size

    def _drop_ended(self, begun: EpisodeStart) -> None:
        sizes = self._ended.get(begun.tenant)
        if sizes is None or begun.id not in sizes:
            return
        self._sizes[begun.tenant] -= sizes.pop(begun.id)
        if not sizes:
            del self._ended[begun.tenant]
            del self._sizes[begun.tenant]

    async def outbox(self, limit: int, after: str = "") -> Sequence[tuple[str, bytes]]:
        """As of ``Journal``."""
        first = [*self._outbox].index(after) + 1 if after in self._outbox else 0
        return [*islice(self._outbox.items(), first, first + limit)]

    async def forget_archived(self, names: Sequence[str]) -> None:
        """As of ``Journal``."""
        for each in names:
            self._outbox.pop(each, None)

    async def remove(self, id: str) -> None:  # noqa: A002 - as above
        """As of ``Journal``."""
        if found := self._kept.pop(id, None):
            self._by_key.pop((found.begun.tenant, found.begun.key), None)
            self._open.pop(id, None)
            self._drop_ended(found.begun)

    async def open_of(self, tenant: str) -> Sequence[Entry]:
        """As of ``Journal``."""
        return [self._kept[id_].entry for id_, owner in self._open.items() if owner == tenant]

    async def probe(self) -> None:
        """As of ``Journal``; memory can always be written."""

    async def recent(self, tenant: str | None, limit: int) -> Sequence[Entry]:
        """As of ``Journal``."""
        found = [each for each in self._kept.values() if tenant in (None, each.begun.tenant)]
        return [each.entry for each in found[: -limit - 1 : -1]]

    async def expire(self, keep: float) -> int:
        """As of ``Journal``."""
        before = time.monotonic() - keep
        old = [id_ for id_, each in self._kept.items() if each.written < before]
        for id_ in old:
            await self.remove(id_)
        return len(old)

    async def close(self) -> None:
        """As of ``Journal``."""
