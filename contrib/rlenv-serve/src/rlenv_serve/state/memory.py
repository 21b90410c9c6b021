"""A journal in memory: what it keeps ends with the process."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from attrs import define, evolve, field

from .journal import Begun, Ended, Entry, Taken


@define
class _Kept:
    begun: Begun
    taken: list[Taken] = field(factory=list)
    ended: Ended | None = None
    written: float = field(factory=time.monotonic)

    @property
    def entry(self) -> Entry:
        ended = self.ended and evolve(self.ended, trajectory=b"")
        return Entry(self.begun, len(self.taken), ended)


class MemoryJournal:
    """As of ``Journal``; for one process."""

    durable = False
    shared = False

    def __init__(self) -> None:
        self._kept: dict[str, _Kept] = {}
        self._by_key: dict[tuple[str, str], str] = {}
        self._open: Counter[str] = Counter()  # episodes of each tenant

    async def open(self) -> None:
        """As of ``Journal``."""

    async def begin(self, begun: Begun, limit: int) -> Begun | None:
        """As of ``Journal``."""
        if begun.key and (old := self._by_key.get((begun.tenant, begun.key))):
            return self._kept[old].begun
        if self._open[begun.tenant] >= limit:
            return None
        if begun.key:
            self._by_key[begun.tenant, begun.key] = begun.id
        self._kept[begun.id] = _Kept(begun)
        self._open[begun.tenant] += 1
        return begun

    async def find(self, id: str) -> Entry | None:  # noqa: A002 - the field's name
        """As of ``Journal``."""
        found = self._kept.get(id)
        return None if found is None else found.entry

    async def steps(self, id: str) -> Sequence[Taken]:  # noqa: A002 - as above
        """As of ``Journal``."""
        return [*self._kept[id].taken] if id in self._kept else []

    async def trajectory(self, id: str) -> bytes:  # noqa: A002 - as above
        """As of ``Journal``."""
        found = self._kept.get(id)
        return found.ended.trajectory if found and found.ended else b""

    async def commit(self, id: str, taken: Taken, ended: Ended | None = None) -> bool:  # noqa: A002 - as above
        """As of ``Journal``."""
        found = self._kept.get(id)
        if found is None or found.ended or taken.number != len(found.taken) + 1:
            return False
        found.taken.append(taken)
        found.ended, found.written = ended, time.monotonic()
        if ended:
            self._less(found.begun.tenant)
        return True

    async def remove(self, id: str) -> None:  # noqa: A002 - as above
        """As of ``Journal``."""
        if found := self._kept.pop(id, None):
            self._by_key.pop((found.begun.tenant, found.begun.key), None)
            if not found.ended:
                self._less(found.begun.tenant)

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

    def _less(self, tenant: str) -> None:
        self._open[tenant] -= 1
        if not self._open[tenant]:
            del self._open[tenant]
