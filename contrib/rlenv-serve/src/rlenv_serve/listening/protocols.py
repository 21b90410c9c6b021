"""Uvicorn's protocols with limits: it lacks one for how long a client may take, and for how many
there are.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from rlenv_serve.http.problems import PROBLEM, Problem

from .connections import LARGEST_HEAD, Connections

if TYPE_CHECKING:
    from asyncio import BaseTransport, Transport

    from uvicorn._types import ASGIReceiveEvent

# What lacks of the request that comes: all of it, a part of its head, a part of its body, or
# nothing.
ALL = "all"
HEAD = "head"
BODY = "body"
NOTHING = "nothing"
PIPELINED = 1000  # requests that wait for the answer to the one before, on one connection
BUSY = Problem(
    503,
    "too_many_connections",
    "the server has as many connections as it may have: ask again later",
    Retry_After="5",
)
LATE = Problem(408, "late", "the request did not come in time: send it again")
LONG = Problem(431, "head_too_large", f"the head of a request has at most {LARGEST_HEAD:,} bytes")


def written(problem: Problem) -> bytes:
    """A problem as a whole answer, behind which the connection is closed."""
    made = problem.response()
    lines = [f"HTTP/1.1 {problem.status} {msgspec.json.decode(made.body)['title']}"]
    lines += [f"{name}: {value}" for name, value in problem.headers.items()]
    lines += [f"content-type: {PROBLEM}", f"content-length: {len(made.body)}", "connection: close"]
    return "\r\n".join([*lines, "", ""]).encode() + bytes(made.body)


class _TooManyAtOnceError(Exception):
    """A client sent more requests than may wait on one connection."""


class LimitedHttp(HttpToolsProtocol):
    """HTTP/1.1; ``host_config`` makes a subclass for the connections of one server."""

    limits: Connections

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._lacks = ALL
        self._timer: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None
        self._running: RequestResponseCycle | None = None  # of the request that is answered
        self._since = 0.0  # when the part that lacks began to come, as of the loop's clock
        self._bytes = 0  # of this part

    # -- the life of a connection -----------------------------------------------------------------

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override] # as of uvicorn
        """Take the connection, or refuse it."""
        super().connection_made(transport)
        address = self.client[0] if self.client else ""
        if self.limits.add(transport, address, self._give_way):
            self._look()
        else:
            transport.write(written(BUSY))
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_timers()
        self.limits.remove(self.transport)
        # Uvicorn tells only the newest of pipelined requests, and others would write to what is
        # closed.
        for cycle in (self._running, *(each for each, _ in self.pipeline)):
            if cycle is not None:
                cycle.disconnected = True
        super().connection_lost(exc)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def data_received(self, data: bytes) -> None:
        """Read a part of a request, and see whether it is whole."""
        self._bytes += len(data)
        super().data_received(data)
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            self._stop_timers()
            return
        if self._lacks == HEAD and self._bytes > LARGEST_HEAD:
            self._refuse(LONG)
            return
        self._look()

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection over; it still counts, and what it sends is for its session to wait
        for.
        """
        self._stop_timers()
        self.limits.works(self.transport)
        super().handle_websocket_upgrade()

    # -- what has come ----------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._begin(HEAD)

    def on_headers_complete(self) -> None:
        """Its head is there; the connection ends where too many requests wait for the answer to the
        one before.
        """
        if len(self.pipeline) >= PIPELINED:
            self._stop_timers()
            self.transport.close()
            raise _TooManyAtOnceError  # ends the parser, which has read more of them already
        super().on_headers_complete()
        self._begin(BODY)

    def on_message_complete(self) -> None:
        """All of it is there."""
        super().on_message_complete()
        self._lacks = NOTHING

    def on_response_complete(self) -> None:
        """An answer was sent: the connection may be closed for another, until its next request has
        come.
        """
        super().on_response_complete()
        if self.pipeline:
            # Uvicorn reads on behind each answer, so that a client that sends faster than it is
            # answered fills the memory with requests that wait.
            self.flow.pause_reading()
        if not self.transport.is_closing() and not self.is_answering:
            self.limits.waits(self.transport, self._give_way)

    @property
    def is_answering(self) -> bool:
        """True while a request of this connection is being answered."""
        cycle: RequestResponseCycle | None = self.cycle  # None before the first request
        return cycle is not None and not cycle.response_complete

    # -- time -------------------------------------------------------------------------------------

    def _begin(self, lacks: str) -> None:
        self._lacks = lacks
        self._since = self.loop.time()
        self._bytes = 0
        self._set(None)

    def _look(self) -> None:
        """Set the timer where something lacks of a request, and else take it back."""
        if self.is_answering:
            self.limits.works(self.transport)
        if self._lacks == NOTHING and self.is_answering:
            self._set(None)
        elif self._timer is None:
            # Also where what came was no request, as an empty line behind the last one.
            patience = self.limits.patience
            self._set(patience.body if self._lacks == BODY else patience.head)

    def _set(self, seconds: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if seconds is None else self.loop.call_later(seconds, self._end_if_late)

    def _end_if_late(self) -> None:
        """The time is up, unless a body that an answer waits for came fast enough, or the server
        has paused it.
        """
        self._timer = None
        if self.transport.is_closing():
            return
        patience = self.limits.patience
        if self.flow.read_paused:
            self._since = self.loop.time()
        left = self._since + patience.body + self._bytes / patience.rate - self.loop.time()
        if self._lacks == BODY and self.is_answering and left > 0:
            self._set(left)
        elif self.is_answering and self._lacks != BODY:
            self._set(patience.head)  # the next request waits for the answer to this one
        else:
            self._refuse(LATE)

    # -- ends -------------------------------------------------------------------------------------

    def _refuse(self, problem: Problem) -> None:
        """Close the connection, and say why where that can only be read as the answer to the
        request that lacks.
        """
        self._stop_timers()
        if self._is_next:
            self.transport.write(written(problem))
        self.transport.close()

    @property
    def _is_next(self) -> bool:
        """True where what is written next answers the request of which something lacks."""
        if self._lacks == HEAD:
            return not self.is_answering
        if self._lacks == BODY:
            return self.is_answering and not self.cycle.response_started and not self.pipeline
        return False

    def _give_way(self) -> None:
        self._stop_timers()
        self.transport.close()

    def _stop_timers(self) -> None:
        self._set(None)
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def pause_writing(self) -> None:
        """The client does not read; it must, within a time."""
        super().pause_writing()
        self._stalled = self.loop.call_later(self.limits.patience.stalled, self.transport.abort)

    def resume_writing(self) -> None:
        """The client reads."""
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None


class LimitedWebSocket(WebSocketsSansIOProtocol):
    """A WebSocket, which counts as a connection until it ends; ``host_config`` makes a subclass as
    of ``LimitedHttp``.
    """

    limits: Connections

    def connection_made(self, transport: BaseTransport) -> None:
        """Take the connection over."""
        self._held = transport
        self._stalled: asyncio.TimerHandle | None = None
        super().connection_made(transport)

    def pause_writing(self) -> None:
        """The client does not read: nothing more is read of it, since each ping would be answered
        into memory.
        """
        super().pause_writing()
        self.transport.pause_reading()
        self._stalled = self.loop.call_later(self.limits.patience.stalled, self.transport.abort)

    def resume_writing(self) -> None:
        """The client reads."""
        super().resume_writing()
        self._stop_timer()
        if not self.read_paused:
            self.transport.resume_reading()

    async def receive(self) -> ASGIReceiveEvent:
        """The next message; uvicorn reads on behind it, also where the client does not read."""
        message = await super().receive()
        if not self.writable.is_set():
            self.transport.pause_reading()
        return message

    def _stop_timer(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_timer()
        self.limits.remove(self._held)
        super().connection_lost(exc)
