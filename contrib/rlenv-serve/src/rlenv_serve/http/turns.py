"""Whose turn it is: every tenant runs so many requests at the same time, and those that wait take turns by tenant."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rlenv_serve.settings import Limits

from .problems import Problem


class Turns:
    """Places in which requests run.

    Args:
        limits: how many there are, for one tenant and for all.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.running: dict[str, int] = {}
        self.waiting: dict[str, deque[asyncio.Future[None]]] = {}  # in the order of tenants' turns

    @asynccontextmanager
    async def of(self, tenant: str) -> AsyncIterator[None]:
        """A place, as soon as there is one.

        Raises:
            Problem: 429 when too many requests of this tenant wait already.
        """
        await self._take(tenant)
        try:
            yield
        finally:
            self._give(tenant)

    async def _take(self, tenant: str) -> None:
        if tenant not in self.waiting and self._is_free(tenant):
            self.running[tenant] = self.running.get(tenant, 0) + 1
            return
        queue = self.waiting.setdefault(tenant, deque())
        if len(queue) >= self._limits.waiting:
            raise Problem(429, "too_many_requests", f"{len(queue):,} requests wait already: send fewer at the same time", Retry_After="1")  # fmt: skip
        place = asyncio.get_running_loop().create_future()
        queue.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._give(tenant)  # it was its turn just now
            else:
                self._drop(tenant, place)
            raise

    def _is_free(self, tenant: str) -> bool:
        return self.running.get(tenant, 0) < self._limits.running and sum(self.running.values()) < self._limits.at_once  # fmt: skip

    def _give(self, tenant: str) -> None:
        self.running[tenant] -= 1
        if not self.running[tenant]:
            del self.running[tenant]
        for name in list(self.waiting):
            if self._is_free(name):
                self._next(name)

    def _next(self, tenant: str) -> None:
        """The oldest of this tenant runs, and the tenant goes to the end of the line."""
        queue = self.waiting.pop(tenant)
        place = queue.popleft()
        if queue:
            self.waiting[tenant] = queue
        self.running[tenant] = self.running.get(tenant, 0) + 1
        place.set_result(None)

    def _drop(self, tenant: str, place: asyncio.Future[None]) -> None:
        queue = self.waiting.get(tenant)
        if queue and place in queue:
            queue.remove(place)
            if not queue:
                del self.waiting[tenant]
