"""The worker's loop: take records, run items, send results back in batches."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pkgutil import resolve_name
from time import monotonic
from traceback import walk_tb
from typing import Any

from . import board as b
from . import wire
from .guard import HEADROOM, limit_memory
from .report import SlotReport
from .wear import Wear

OUT_OF_MEMORY = 86  # exit status of a worker that had no memory left to say so
IN_FLIGHT = 64


def describe(err: BaseException) -> str:
    """One line: what was raised, and where."""
    try:
        said = f"{type(err).__name__}: {err}"[:500]
    except Exception:  # noqa: BLE001 - an exception whose text raises is still an exception
        said = type(err).__name__
    *_, (frame, line) = walk_tb(err.__traceback__)  # caught here, so there is one
    code = frame.f_code
    return f"{said} ({os.path.basename(code.co_filename)}:{line} in {code.co_name})"


class Server:
    """Everything a worker has: its socket, its board, its runners."""

    make_loop: Callable[[Server], Any]  # imports asyncio, which few workers need

    def __init__(self, fd: int, board: b.Board, grace_period: float, memory: int) -> None:
        self.fd = fd
        self.board = board
        self.grace_period = grace_period
        self.memory = memory
        limit_memory(memory)
        self.out: list[bytes] = []
        self._results: list[bytes] = []  # of items since the last record
        self._size = 0  # bytes of them
        self.runners: dict[int, Any] = {}
        self.buffer = wire.Buffer(wire.LONGEST_SENT)
        self.loop: Any = None
        self._flushed = self._spent_since = monotonic()
        self._count = 0
        self.wear = Wear(memory)
        self._report = SlotReport(board, 0, grace_period, self.send_partial)
        self._pid = os.getpid()

    def run(self) -> None:
        """Serve until the caller hangs up; then let runners put away what they hold."""
        while True:
            data = os.read(self.fd, wire.CHUNK) if self.loop is None else self.loop.read()
            if not data:
                break
            self._spent_since = self._flushed = monotonic()
            for tag, first, body in self.buffer.feed(data):
                if tag == wire.CONTROL:
                    self.build(*wire.unpickle(body))
                    continue
                runner = self.runners.get(tag)
                start = self.loop.start if getattr(runner, "is_async", False) else self.work
                for seq, payload in enumerate(wire.unpickle(body), first):
                    start(seq, runner, payload)
            if self.out or self._count:  # else items begin at once on the loop
                self.flush()
        for runner in self.runners.values():
            self._close_runner(runner)

    def work(self, seq: int, runner: Any, body: bytes) -> None:
        """One item of a plain runner."""
        if seq <= self.board.q[b.REVOKED]:
            return
        now = monotonic()
        if now - self._flushed > wire.FLUSH_SECONDS:
            self.flush()
        report = self._report
        report.open(seq)
        try:
            self.done(seq, runner(wire.unpickle(body), report), report)
        except BaseException as err:  # noqa: BLE001 - whatever a runner raises costs its own item only
            self.failed(seq, err, report)
        self.close_item(report)
        self._count += 1

    def done(self, seq: int, value: object, report: SlotReport) -> None:
        """Keep a result for the next flush."""
        self.wear.repair()
        blob = wire.dump((seq, value))
        self.count(seq, report.problem, report)
        self._results.append(blob[1:-1])
        self._size += len(blob)
        if self._size > wire.CHUNK:
            self.flush()

    def count(self, seq: int, problem: str, report: SlotReport) -> None:
        """Say before a result whether a worn worker may have caused it.

        Then the rest is for another.
        """
        if self.wear.count(problem) or report.worn:
            self.board.q[b.REVOKED] = sys.maxsize
            self.say(wire.WORN, seq)

    def close_item(self, report: SlotReport) -> None:
        """An item has ended.

        A runner that closed the socket ends its worker while the cause is known.
        """
        try:
            os.get_inheritable(self.fd)
        except OSError:
            os._exit(1)
        report.close()

    def build(self, number: int, factory: str | None, blob: bytes) -> None:
        """Make the runner of a program; what goes wrong is told to the caller.

        No factory: forget it.
        """
        if factory is None:
            self._close_runner(self.runners.pop(number, None))
            return
        self.flush()
        self._report.open(-number)
        problem = ""
        in_flight = 0
        spoilt = self.wear.is_spoilt()
        try:
            runner = resolve_name(factory)(blob)
            if getattr(runner, "is_async", False):
                in_flight = min(int(getattr(runner, "in_flight", IN_FLIGHT)), b.SLOTS - 1)
                self.loop = self.loop or self.make_loop(self)
            self.runners[number] = runner
            limit_memory(self.memory)
            self.wear = Wear(self.memory, spoilt=spoilt)
        except BaseException as err:  # noqa: BLE001 - the program is broken, the worker is not
            problem = f"cannot build {factory}: {describe(err)}"
        self._report.close()
        self.say(wire.BUILT, number, wire.dump((problem, in_flight)))
        self.flush()
        self._spent_since = monotonic()

    def failed(self, seq: int, err: BaseException, report: SlotReport) -> None:
        """Tell what a runner raised.

        Where the memory ran out, end: a full heap is not trusted again.
        """
        with suppress(wire.WireError):
            self.wear.repair()
        full = isinstance(err, MemoryError)
        kind = "error"
        if full:
            kind = "memory"
        elif isinstance(err, wire.WireError):
            kind = "contract"
        try:
            if full:
                limit_memory(self.memory and HEADROOM)  # room to report it
            what = "MemoryError: the worker's memory limit is reached" if full else describe(err)
            self.count(seq, what, report)
            self.say(wire.FAILED, seq, wire.dump((kind, what, report.mark)))
            if full:
                self.flush()
        finally:
            if full:
                os._exit(OUT_OF_MEMORY)

    def send_partial(self, seq: int, blob: bytes) -> None:
        self.say(wire.PARTIAL, seq, blob)
        self.flush()

    def say(self, tag: int, seq: int, body: bytes = b"") -> None:
        """Keep a record for the next flush, behind the results so far."""
        self._bundle()
        self.out.append(wire.record(tag, seq, body))

    def _bundle(self) -> None:
        """Make one record of the results so far."""
        if self._results:
            body = b"[%b]" % b",".join(self._results)
            self._results = []
            self._size = 0
            self.out.append(wire.record(wire.DONE, 0, body))

    def flush(self) -> None:
        """Send what is finished."""
        now = self._flushed = monotonic()
        self._bundle()
        if self._count:
            spent = int((now - self._spent_since) * 1e9)
            self.say(wire.SPENT, spent // self._count)
            self._count = 0
            self._spent_since = now
        if os.getpid() != self._pid:
            os._exit(0)  # a runner forked and its child came back here: the parent answers
        self._write()
        if self.wear.look(now):  # which takes a moment: nobody waits for it
            self.say(wire.WORN, 0)
            self._write()

    def _write(self) -> None:
        if self.out:
            data = memoryview(b"".join(self.out))
            self.out.clear()
            try:
                while data:
                    data = data[os.write(self.fd, data) :]
            except OSError:
                os._exit(1)  # nobody listens any more

    def _close_runner(self, runner: Any) -> None:
        close: Callable[[], Any] | None = getattr(runner, "close", None)
        try:
            pending = close() if close is not None else None
            if hasattr(pending, "__await__"):
                self.loop.finish(pending)
        except BaseException as err:  # noqa: BLE001 - nobody is left to hear of it
            sys.stderr.write(describe(err))
