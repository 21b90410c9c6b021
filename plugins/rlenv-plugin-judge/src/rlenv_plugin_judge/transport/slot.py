"""A place among the requests in flight, given up before the answer is looked at."""

from __future__ import annotations

import asyncio

__all__ = ["Slot"]


class Slot:
    """One request's share of a semaphore; both methods may be called again."""

    __slots__ = ("_gate", "_held")

    def __init__(self, gate: asyncio.Semaphore) -> None:
        self._gate = gate
        self._held = False

    async def take(self) -> None:
        if not self._held:
            await self._gate.acquire()
            self._held = True

    def free(self) -> None:
        if self._held:
            self._held = False
            self._gate.release()
