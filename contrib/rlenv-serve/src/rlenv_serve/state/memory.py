"""A journal in memory: what it keeps ends with the process."""

from __future__ import annotations

import time
from collections.abc import Sequence

from attrs import define, field

from .journal import Begun, Ended, Entry, Taken


@define
class _Kept:
    begun: Begun
    taken: list[Taken] = field(factory=list)
    ended: Ended | None = None
    written: float = field(factory=time.time)

    @property
    def entry(self) -> Entry:
        return Entry(self.begun, len(self.taken), self.ended)


class MemoryJournal:
    """As of ``Journal``; for one process."""

    durable = False

    def __init__(self) -> None:
        self._kept: dict[str, _Kept] = {}
        self._by_key: dict[tuple[str, str], str] = {}

    async def open(self) -> None:
        """As of ``Journal``."""

    async def begin(self, begun: Begun) -> Begun:
        """As of ``Journal``."""
        if begun.key and (old := self._by_key.setdefault((begun.tenant, begun.key), begun.id)) != begun.id:  # fmt: skip
            return self._kept[old].begun
        self._kept[begun.id] = _Kept(begun)
        return begun

    async def find(self, id: str) -> Entry | None:  # noqa: A002 - the field's name
        """As of ``Journal``."""
        found = self._kept.get(id)
        return None if found is None else found.entry

    async def steps(self, id: str) -> Sequence[Taken]:  # noqa: A002 - as above
        """As of ``Journal``."""
        return [*self._kept[id].taken] if id in self._kept else []

    async def commit(self, id: str, taken: Taken | None, ended: Ended | None) -> bool:  # noqa: A002 - as above
        """As of ``Journal``."""
        found = self._kept.get(id)
        if found is None or found.ended or (taken and taken.number != len(found.taken) + 1):
            return False
        found.taken += [taken] if taken else []
        found.ended, found.written = ended, time.time()
        return True

    async def remove(self, id: str) -> None:  # noqa: A002 - as above
        """As of ``Journal``."""
        if found := self._kept.pop(id, None):
            self._by_key.pop((found.begun.tenant, found.begun.key), None)

    async def open_count(self, tenant: str) -> int:
        """As of ``Journal``."""
        return sum(each.begun.tenant == tenant and not each.ended for each in self._kept.values())

    async def recent(self, tenant: str | None, limit: int) -> Sequence[Entry]:
        """As of ``Journal``."""
        found = [each for each in self._kept.values() if tenant in (None, each.begun.tenant)]
        return [each.entry for each in found[: -limit - 1 : -1]]

    async def expire(self, before: float) -> int:
        """As of ``Journal``."""
        old = [id_ for id_, each in self._kept.items() if each.written < before]
        for id_ in old:
            await self.remove(id_)
        return len(old)

    async def close(self) -> None:
        """As of ``Journal``."""
