"""Ends what a request waits for when its client is gone, or its time is up."""

from __future__ import annotations

import asyncio
import math
from types import TracebackType

from starlette.requests import ClientDisconnect
from starlette.types import Receive

# Seconds before anyone looks whether the client is there: most requests are answered by then.
FIRST = 0.05


class Watch:
    """``async with Watch(receive, seconds)``: the block is cancelled when the client is gone, and at its deadline.

    It costs less than ``asyncio.timeout`` alone, since most blocks end before it begins to look.

    Args:
        receive: of a request whose body has been read; None: whoever asked may go away.
        seconds: wall seconds for the block.

    Raises:
        ClientDisconnect: from the block, when the client is gone.
        TimeoutError: from the block, at its deadline.
    """

    def __init__(self, receive: Receive | None, seconds: float = math.inf) -> None:
        self._receive, self._seconds = receive, seconds
        self._looks: asyncio.Task[None] | None = None
        self._why: type[Exception] | None = None

    async def __aenter__(self) -> None:
        self._task = asyncio.current_task()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(min(FIRST, self._seconds), self._begin, loop)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._timer.cancel()
        if self._looks is not None:
            self._looks.cancel()
        assert self._task is not None
        if self._why and kind is asyncio.CancelledError and not self._task.uncancel():
            raise self._why from None  # nobody else cancelled it too

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._seconds < math.inf:
            self._timer = loop.call_later(max(0.0, self._seconds - FIRST), self._end, TimeoutError)
        if self._receive is not None:
            self._looks = loop.create_task(self._look(self._receive))

    async def _look(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._end(ClientDisconnect)

    def _end(self, why: type[Exception]) -> None:
        if self._why is None:
            self._why = why
            assert self._task is not None
            self._task.cancel()
