"""Equal requests at the same time are one request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from attrs import define

from .request import Reply


@define
class _Flight:
    task: asyncio.Task[Reply]
    waiting: int = 0


class SingleFlight:
    """Per event loop; the call ends when the last one that waits for it is cancelled."""

    def __init__(self) -> None:
        self._flights: dict[tuple[int, str], _Flight] = {}

    async def run(self, key: str, call: Callable[[], Coroutine[Any, Any, Reply]]) -> Reply:
        loop = asyncio.get_running_loop()
        where = (id(loop), key)
        flight = self._flights.get(where)
        if flight is None or flight.task.done():
            flight = self._flights[where] = _Flight(loop.create_task(call()))
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if flight.waiting == 0:
                if self._flights.get(where) is flight:
                    del self._flights[where]
                if not flight.task.done():
                    flight.task.cancel()
