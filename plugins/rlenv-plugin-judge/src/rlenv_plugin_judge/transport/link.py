"""One connection to a judge's server: one request at a time, its answer whole or an exception."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from .wire import Answer, Broken, Larger, Reader

__all__ = ["Link"]


def _nothing() -> None:
    pass


class Link(asyncio.Protocol):
    """Made by ``loop.create_connection``; ``closed`` is done when its socket is."""

    __slots__ = (
        "_freed",
        "_loop",
        "_most",
        "_reader",
        "_transport",
        "_waiter",
        "closed",
        "idle_since",
    )

    def __init__(self, most: int) -> None:
        self._most = most
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._reader: Reader | None = None
        self._freed: Callable[[], None] = _nothing
        self._waiter: asyncio.Future[Answer] | None = None
        self.closed: asyncio.Future[None] = self._loop.create_future()
        self.idle_since = 0.0

    @property
    def usable(self) -> bool:
        """Whether it can carry a request now."""
        there = self._transport is not None and not self._transport.is_closing()
        return there and self._reader is None

    async def exchange(
        self, request: bytes, deadline: float, freed: Callable[[], None] = _nothing
    ) -> Answer:
        """Send the bytes of one request and read its answer; whoever gives up closes the connection.

        Args:
            deadline: in the loop's time.
            freed: called once, when the connection is in use no more: at the last byte, before anybody looks at
                the answer, so that the next request leaves first.

        Raises:
            TimeoutError: it did not come in time.
            Broken, Larger: see ``Reader``.
        """
        assert self._transport is not None
        self._reader, self._freed = Reader(self._most), freed
        waiter: asyncio.Future[Answer] = self._loop.create_future()
        self._waiter = waiter
        alarm = self._loop.call_at(deadline, self._fail, TimeoutError())
        try:
            self._transport.write(request)
            return await waiter
        except BaseException:
            if waiter.done() and not waiter.cancelled():
                waiter.exception()  # looked at, where a cancellation came between
            if self._waiter is waiter:
                self._release(keep=False)
            raise
        finally:
            alarm.cancel()

    def _release(self, *, keep: bool) -> None:
        self._waiter = None
        if keep and self._transport is not None and not self._transport.is_closing():
            self._reader, self.idle_since = None, self._loop.time()
        else:
            self.abort()
        freed, self._freed = self._freed, _nothing
        freed()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        reader = self._reader
        if self._waiter is None or reader is None:
            self.abort()  # nobody asked for this
            return
        try:
            answer = reader.feed(data)
        except (Broken, Larger) as err:
            self._fail(err)
        else:
            if answer is not None:
                self._give(answer, keep=reader.keep)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._waiter is not None and self._reader is not None:
            try:
                if exc is not None:
                    raise Broken
                self._give(self._reader.end(), keep=False)
            except Broken as err:
                self._fail(err)
        if not self.closed.done():
            self.closed.set_result(None)

    def _give(self, answer: Answer, *, keep: bool) -> None:
        waiter = self._waiter
        self._release(keep=keep)
        if waiter is not None and not waiter.done():
            waiter.set_result(answer)

    def _fail(self, err: Exception) -> None:
        waiter = self._waiter
        self._release(keep=False)
        if waiter is not None and not waiter.done():
            waiter.set_exception(err)
