"""Requests take turns: every tenant runs so much at the same time, and those that wait take turns
by tenant.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from attrs import define
from rlenv.workers import usable_cpus

from .limits import Limits
from .problems import Problem

# Seconds of work of one tenant, for each core, that may wait for workers before another's.
QUEUED = 0.001
RECENT = 10.0  # seconds after which a tenant that asked for nothing counts no longer


@define(eq=False)
class _Place:
    ready: asyncio.Future[None]
    cost: float


@define
class _Running:
    count: int = 0
    cost: float = 0.0


class Turns:
    """Places in which requests run, and the responses of large ones.

    Args:
        limits: how many there are, for one tenant and for all.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._cores = usable_cpus()
        self.running: dict[str, _Running] = {}
        self.waiting: dict[str, deque[_Place]] = {}  # in the order of tenants' turns
        self._last = self._other = ("", float("-inf"))  # the two tenants that asked last, and when

    @asynccontextmanager
    async def of(self, tenant: str) -> AsyncIterator[None]:
        """A place of this tenant, as soon as there is one, for what needs no worker.

        Raises:
            Problem: 429 when too many requests of this tenant wait already.
        """
        self.admit(tenant)
        await self.take(tenant)
        try:
            yield
        finally:
            self.give(tenant)

    def admit(self, tenant: str) -> None:
        """
        Raises:
            Problem: 429 when too many requests of this tenant wait already.
        """
        if (waiting := len(self.waiting.get(tenant, ()))) >= self._limits.waiting:
            raise Problem(
                429,
                "too_many_requests",
                f"{waiting:,} requests wait already: send fewer at the same time",
                Retry_After="1",
            )

    async def take(self, tenant: str, cost: float = 0.0) -> None:
        """Wait for a place; ``give`` gives it back.

        Args:
            tenant: whose turn it is.
            cost: seconds for which this will likely keep a worker; 0 where it needs none.  While
                several tenants ask, each has no more work in the line for the workers than they do
                in a moment, and leaves one of them free.
        """
        if self._last[0] != tenant:
            self._other = self._last
        self._last = (tenant, time.monotonic())
        if tenant not in self.waiting and self._is_free(tenant, cost):
            self._run(tenant, cost)
            return
        place = _Place(asyncio.get_running_loop().create_future(), cost)
        self.waiting.setdefault(tenant, deque()).append(place)
        try:
            await place.ready
        except asyncio.CancelledError:
            if place.ready.done() and not place.ready.cancelled():
                self.give(tenant, cost)  # it was its turn just now
            else:
                self._drop(tenant, place)
            raise

    def give(self, tenant: str, cost: float = 0.0) -> None:
        """Give a place back, to those that wait.

        Args:
            tenant: the name of the one that had it.
            cost: as it was taken.
        """
        running = self.running[tenant]
        running.count -= 1
        running.cost -= cost
        if not running.count:
            del self.running[tenant]
        for name in list(self.waiting):
            if self._is_free(name, self.waiting[name][0].cost):
                self._next(name)

    @property
    def queue(self) -> int:
        """Number of those that wait."""
        return sum(map(len, self.waiting.values()))

    def _is_free(self, tenant: str, cost: float) -> bool:
        running = self.running.get(tenant)
        if running is None:
            return self._total() < self._limits.at_once
        if running.count >= self._limits.running or self._total() >= self._limits.at_once:
            return False
        is_little = running.cost + cost <= QUEUED * self._cores
        if not cost or is_little or running.count < self._cores - 1:
            return True
        return self._other[1] < time.monotonic() - RECENT  # no other tenant asks

    def _total(self) -> int:
        return sum([each.count for each in self.running.values()])

    def _run(self, tenant: str, cost: float) -> None:
        running = self.running.setdefault(tenant, _Running())
        running.count += 1
        running.cost += cost

    def _next(self, tenant: str) -> None:
        """The oldest of this tenant runs, and the tenant goes to the end of the line."""
        queue = self.waiting.pop(tenant)
        while queue:
            place = queue.popleft()
            if not place.ready.done():  # else its request was ended in this turn of the loop
                self._run(tenant, place.cost)
                place.ready.set_result(None)
                break
        if queue:
            self.waiting[tenant] = queue

    def _drop(self, tenant: str, place: _Place) -> None:
        queue = self.waiting.get(tenant)
        if queue and place in queue:
            queue.remove(place)
            if not queue:
                del self.waiting[tenant]
