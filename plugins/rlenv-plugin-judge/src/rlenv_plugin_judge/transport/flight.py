"""Equal requests at the same time are one request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from .request import Reply


class SingleFlight:
    """Per event loop: the first to ask makes the call, the others wait for it.

    When he gives up, one of them asks.
    """

    def __init__(self) -> None:
        self._flights: dict[tuple[int, str], list[asyncio.Future[Reply | None]]] = {}

    async def run(self, key: str, call: Callable[[], Awaitable[Reply]]) -> Reply:
        loop = asyncio.get_running_loop()
        where = (id(loop), key)
        while (waiting := self._flights.get(where)) is not None:
            mine: asyncio.Future[Reply | None] = loop.create_future()
            waiting.append(mine)
            reply = await mine
            if reply is not None:
                return reply
        others = self._flights[where] = []
        found: Reply | None = None
        try:
            found = await call()
            return found
        except Exception as err:
            for other in others:
                if not other.done():
                    other.set_exception(err)
            raise
        finally:
            del self._flights[where]
            for other in others:
                if not other.done():
                    other.set_result(found)
