"""The worker's event loop: items of an asynchronous runner, many in flight."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, ContextVar, copy_context
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVarTuple

from . import board as b
from . import wire
from .report import BEAT_SECONDS, SlotReport

if TYPE_CHECKING:
    from .serve import Server


Ts = TypeVarTuple("Ts")
Call: TypeAlias = Callable[[*Ts], object]
In: TypeAlias = Context | None
RUNNING: ContextVar[Any] = ContextVar("RUNNING")  # whose callback a MarkedLoop runs


def context_of(who: object) -> Context:
    """A context for the task of ``who``; what the task starts inherits it."""
    context = copy_context()
    context.run(RUNNING.set, who)
    return context


class MarkedLoop(asyncio.SelectorEventLoop):
    """Calls ``mark`` with what RUNNING is in the context of each callback that it runs, and then
    with None.

    So a check is found that blocks the loop, also in a task, a timer or a callback that it started.
    """

    mark: Callable[[Any], object] = id

    def call_soon(self, callback: Call[*Ts], *args: *Ts, context: In = None) -> asyncio.Handle:
        return super().call_soon(self._marked, callback, args, context=context)

    def call_soon_threadsafe(
        self, callback: Call[*Ts], *args: *Ts, context: In = None
    ) -> asyncio.Handle:
        return super().call_soon_threadsafe(self._marked, callback, args, context=context)

    def call_at(
        self, when: float, callback: Call[*Ts], *args: *Ts, context: In = None
    ) -> asyncio.TimerHandle:
        return super().call_at(when, self._marked, callback, args, context=context)

    def _marked(self, callback: Callable[..., object], args: tuple[object, ...]) -> None:
        self.mark(RUNNING.get(None))
        try:
            callback(*args)
        finally:
            self.mark(None)


class Loop:
    """One loop for the life of the worker; it stops whenever there is something to read."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._board = server.board
        self._loop = MarkedLoop()
        self._loop.mark = self._mark
        asyncio.set_event_loop(self._loop)
        self._readable = False
        self._loop.add_reader(server.fd, self._stop)
        slots = range(b.SLOTS - 1, 0, -1)
        more = server.grace_period, server.send_partial
        self._free = [SlotReport(server.board, slot, *more) for slot in slots]
        self._tasks: set[asyncio.Task[None]] = set()
        self._beating = False
        self._spoilt: dict[int, wire.WireError] = {}  # by the items whose callbacks did so

    def read(self) -> bytes:
        """Run the loop until the caller sends something."""
        self._readable = False
        # A check may have stopped the loop, or a stray task have raised SystemExit.
        while not self._readable:
            with suppress(BaseException):
                self._loop.run_forever()
        return os.read(self._server.fd, wire.CHUNK)

    def _stop(self) -> None:
        self._readable = True
        self._loop.stop()

    def finish(self, pending: Any) -> None:
        """Wait for what the closing of a runner awaits; at the end, when nothing is in flight."""
        self._loop.remove_reader(self._server.fd)
        self._loop.run_until_complete(pending)
        self._loop.add_reader(self._server.fd, self._stop)

    def start(self, seq: int, runner: Any, body: bytes) -> None:
        """Put one item on the loop."""
        report = self._free.pop()
        report.open(seq)
        item = self._item(seq, runner, body, report)
        task = self._loop.create_task(item, context=context_of(seq))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if not self._beating:
            self._beating = True
            self._beat()

    def _mark(self, seq: int | None) -> None:
        try:
            self._server.wear.repair()
        except wire.WireError as err:
            self._spoilt[self._board.q[b.CURRENT]] = err
        self._board.q[b.CURRENT] = seq or 0

    async def _item(self, seq: int, runner: Any, body: bytes, report: SlotReport) -> None:
        server = self._server
        try:
            value = await runner.arun(wire.unpickle(body), report)
            if seq in self._spoilt:
                raise self._spoilt[seq]
            server.done(seq, value, report)
        except BaseException as err:  # noqa: BLE001 - whatever a runner raises costs its own item only
            server.failed(seq, err, report)
        server.close_item(report)
        self._free.append(report)
        self._loop.call_soon(server.flush)  # with what else ends in this turn

    def _beat(self) -> None:
        self._board.d[b.BEAT] = monotonic()
        if self._tasks:
            self._loop.call_later(BEAT_SECONDS, self._beat)
        else:
            self._beating = False
