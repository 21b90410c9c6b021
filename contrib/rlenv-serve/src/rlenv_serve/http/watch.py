"""Ends what a request waits for when its client is gone, or its time is up."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from types import TracebackType
from typing import Self

from starlette.requests import ClientDisconnect
from starlette.types import Receive

FIRST = 0.05  # seconds before anyone looks whether the client is there: most requests are answered by then


class Watch:
    """``async with Watch(receive, seconds) as watch``: the block is cancelled at its deadline, and ``watch.late`` says so.

    Args:
        receive: of a request whose body has been read; None: whoever asked may go away.
        seconds: wall seconds for the block; None: any number.

    Raises:
        ClientDisconnect: from the block, when the client is gone.
    """

    def __init__(self, receive: Receive | None, seconds: float | None = None) -> None:
        self._receive, self._seconds = receive, seconds
        self._looks: asyncio.Task[None] | None = None
        self._gone = self.late = False

    async def __aenter__(self) -> Self:
        self._task = asyncio.current_task()
        loop = asyncio.get_running_loop()
        first = FIRST if self._seconds is None else min(FIRST, self._seconds)
        self._timer = loop.call_later(first, self._begin, loop, first)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> bool:
        self._timer.cancel()
        if self._looks is not None:
            self._looks.cancel()
        if not (self._gone or self.late) or kind is not asyncio.CancelledError:
            return False
        assert self._task is not None
        if self._task.uncancel():
            return False  # someone else cancelled it too
        if self._gone:
            raise ClientDisconnect from None
        return True

    def _begin(self, loop: asyncio.AbstractEventLoop, spent: float) -> None:
        self._looks = loop.create_task(self._look(spent))

    async def _look(self, spent: float) -> None:
        left = None if self._seconds is None else self._seconds - spent
        with suppress(TimeoutError):
            async with asyncio.timeout(left):
                await self._leaves()
                self._gone = True
        self.late = not self._gone
        assert self._task is not None
        self._task.cancel()

    async def _leaves(self) -> None:
        if self._receive is None:
            await asyncio.get_running_loop().create_future()
        else:
            while (await self._receive())["type"] != "http.disconnect":
                pass
