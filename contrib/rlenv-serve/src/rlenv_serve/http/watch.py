"""Ends what a request waits for when its client is gone."""

from __future__ import annotations

import asyncio
from types import TracebackType

from starlette.requests import ClientDisconnect
from starlette.types import Receive

FIRST = 0.05  # seconds before anyone looks whether the client is there: most requests are answered by then


class Watch:
    """``async with Watch(receive)``: the block is cancelled when the client is gone.

    Args:
        receive: of a request whose body has been read; None: whoever asked may go away.

    Raises:
        ClientDisconnect: from the block, when the client is gone.
    """

    def __init__(self, receive: Receive | None) -> None:
        self._receive, self._gone = receive, False
        self._looks: asyncio.Task[None] | None = None

    async def __aenter__(self) -> None:
        self._task = asyncio.current_task()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(FIRST, self._begin, loop)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._timer.cancel()
        if self._looks is not None:
            self._looks.cancel()
        assert self._task is not None
        if self._gone and kind is asyncio.CancelledError and not self._task.uncancel():
            raise ClientDisconnect from None  # nobody else cancelled it too

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._receive is not None:
            self._looks = loop.create_task(self._look(self._receive))

    async def _look(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._gone = True
        assert self._task is not None
        self._task.cancel()
