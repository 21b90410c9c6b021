"""Equal requests at the same time are one request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from .request import Reply


class SingleFlight:
    """Per event loop: the first to ask makes the call, the others wait for it; when he gives up, one of them asks."""

    def __init__(self) -> None:
        self._flights: dict[tuple[int, str], asyncio.Future[Reply | None]] = {}

    async def run(self, key: str, call: Callable[[], Awaitable[Reply]]) -> Reply:
        loop = asyncio.get_running_loop()
        where = (id(loop), key)
        while (flying := self._flights.get(where)) is not None:
            reply = await asyncio.shield(flying)
            if reply is not None:
                return reply
        mine = self._flights[where] = loop.create_future()
        found: Reply | None = None
        try:
            found = await call()
            return found
        except Exception as err:
            mine.set_exception(err)
            mine.exception()  # looked at, even if nobody waits
            raise
        finally:
            del self._flights[where]
            if not mine.done():
                mine.set_result(found)
