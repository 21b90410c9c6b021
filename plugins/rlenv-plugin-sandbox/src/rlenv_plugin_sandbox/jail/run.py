"""One program in one place: from START to the report of its end."""

from __future__ import annotations

import _socket
import asyncio
import os
import struct
from math import inf
from time import monotonic
from typing import Literal

from rlenv import VerifierFault
from rlenv.sandbox import ChannelEnded, ChannelTimeout, Exit, Tier

from rlenv_plugin_sandbox.guest.delays import Delays
from rlenv_plugin_sandbox.metering import Meter, Over, Span
from rlenv_plugin_sandbox.start import memory_file

from . import watch
from .channel import Channel
from .ending import Report, ending
from .slot import Slot, lost
from .streams import Streams

__all__ = ["Run"]

_LENGTH = struct.Struct("<I")
_REPORT = struct.Struct("<Id")  # number, when it ended; more follows
_REPORT_S = 10.0  # from an order to kill to the report of the end
_LEAST_S = 0.005  # a clock that stood still for less than that is not asked about
_QUIET_S = 0.005  # so long a wait need not take in what is printed
_START_S = 60.0  # for a program to begin, on however busy a machine


class Run:
    """What a session knows of the program that runs in it.

    Args:
        cpu, wall: its limits, in seconds of CPU and on its clock.
    """

    __slots__ = (
        "_began", "_channel", "_delays", "_ended", "_expecting", "_loop", "_ordered", "_pid",
        "_report", "_said", "_slot", "_span", "_starved", "_streams", "_timer", "_waiter",
        "_watching", "limit", "meter",
    )  # fmt: skip

    def __init__(self, slot: Slot, cpu: float, wall: float) -> None:
        self._slot = slot
        self.limit = cpu
        self._loop = asyncio.get_running_loop()
        self._streams = Streams(self._loop, slot.profile.output_bytes)
        self._channel: Channel | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._report: bytes | None = None  # b"" when the zygote is gone
        self._ordered: Literal["", "killed", "wall"] = ""
        self._said = ""
        self._pid: int | None = None
        self._watching = self._starved = False
        self._expecting = False  # of the loop, to see that it begins
        self._began = self._ended = 0.0
        self._delays = Delays()
        self.meter = Meter()
        self._span = Span(self.meter, cpu, wall)

    # -- beginning
    # -----------------------------------------------------------------------------------

    async def begin(self, text: bytes, payload: bytes, stdin: bytes) -> None:
        """Make the descriptors and hand the far ends to the child that waits.

        Raises:
            VerifierFault: the zygote is gone, or no descriptor could be made.
        """
        try:
            self._submit(text, payload, stdin)
        except OSError as error:
            raise VerifierFault(lost(f"no run can be started: {error}")) from error
        self._timer = self._loop.call_later(self._span.left(), self._tick)

    def _submit(self, text: bytes, payload: bytes, stdin: bytes) -> None:
        near, far = _socket.socketpair()  # without the enumerations that nobody asks for here
        near.setblocking(False)  # noqa: FBT003 - the library's word
        self._channel = Channel(self._loop, near, self._wake)
        given: list[int] = []
        try:
            given = [far.detach()]
            given += [memory_file(content) for content in (stdin, payload) if content]
            self._began = monotonic()
            self._slot.submit(text, given)
        finally:
            for fd in given:
                os.close(fd)
            far.close()

    # -- frames
    # --------------------------------------------------------------------------------------

    async def send(self, frame: bytes) -> None:
        channel = self._open_channel()
        self.meter.ask()
        rest = channel.send(memoryview(_LENGTH.pack(len(frame)) + frame))
        while rest:
            await self._writable(channel)
            rest = channel.send(rest)

    async def _writable(self, channel: Channel) -> None:
        if self._ordered:
            raise ChannelEnded("the program was stopped before it read all of the frame")
        self._drain()
        fd = channel.sock.fileno()
        self._loop.add_writer(fd, self._wake)
        try:
            await self._pause(_START_S)  # its clock wakes us before
        finally:
            self._loop.remove_writer(fd)

    async def recv(self, most: int, seconds: float) -> bytes:
        channel = self._open_channel()
        self.meter.ask()
        if self._slot.alone() and not self._streams.draining:
            channel.soon()
        channel.fill()
        frame = channel.frame(most)
        if frame is None:
            frame = await self._awaited(channel, most, seconds)
        self.meter.rest()
        return frame

    async def _awaited(self, channel: Channel, most: int, seconds: float) -> bytes:
        frame = None
        span = Span(self.meter, seconds, seconds)
        channel.wanted = True
        try:
            while frame is None:
                await self._more(channel, span)
                frame = channel.frame(most)
        finally:
            channel.wanted = False
        return frame

    async def _more(self, channel: Channel, span: Span) -> None:
        """Wait for more of the channel.

        Raises:
            ChannelEnded, ChannelTimeout: there will be none, or not in time.
        """
        if channel.ended:
            raise ChannelEnded("the program closed its channel, or ended")
        channel.listen()
        left = span.left()
        await self._pause(left if self._streams.draining else min(left, _QUIET_S))
        late = self._is_over(span)
        channel.fill()  # what came before its time was up counts, however late we look
        if (late or self._ordered) and channel.lacks():
            starved = late == "machine" or self._starved
            raise ChannelTimeout(f"no frame within {span.clock:.3g} s", starved=starved)
        if monotonic() - span.began >= _QUIET_S:
            self._drain()

    def _open_channel(self) -> Channel:
        assert self._channel is not None
        return self._channel

    # -- the end
    # -------------------------------------------------------------------------------------

    async def finish(self, wait: float | None, isolation: Tier) -> tuple[Exit, bytes | None]:
        end = ending(await self.end(wait), self._slot, isolation)
        return end, await self._slot.left_behind()

    async def end(self, wait: float | None) -> Report:
        """Wait for its end, at most this long (None: to the wall limit), then kill it."""
        self._hear()
        if not self._ordered and wait != 0:
            self.meter.ask()
            await self._reported(wait)
        if self._report is None and monotonic() - self.meter.looked > _LEAST_S:
            self._note()
        self._order("killed")
        await self._reported(_REPORT_S)
        return self._summary()

    async def _reported(self, seconds: float | None) -> None:
        """Wait so long at most for the report; None: until its end is ordered."""
        if self._slot.alone() and (self._ordered or self._open_channel().ended):
            self._slot.soon()
            self._hear()
        if self._report is not None:
            return
        self._drain()
        self._watch()
        ordered = self._ordered
        deadline = monotonic() + (inf if seconds is None else seconds)
        while self._waits(ordered) and (left := deadline - monotonic()) > 0:
            await self._pause(min(left, _START_S))

    def _waits(self, ordered: str) -> bool:
        """Whether there is no report yet, and no order but this one."""
        return self._report is None and self._ordered == ordered

    def _tick(self) -> None:
        """Look at its clock, and stop it when that has run out."""
        self._hear()
        if self._report is not None or self._ordered:
            return
        over = self._is_over(self._span)
        if over:
            self._starved = over == "machine"
            self._order("wall")
            self._watch()
        else:
            self._timer = self._loop.call_later(self._span.left(), self._tick)

    def _order(self, why: Literal["killed", "wall"]) -> None:
        """Have it killed, unless it has ended or that was ordered before."""
        if self._report is not None or self._ordered:
            return
        self._ordered = why
        self._ended = monotonic()
        self.meter.rest()
        self._slot.kill()
        self._wake()

    def _watch(self) -> None:
        if not self._watching and self._report is None:
            self._watching = True
            self._loop.add_reader(self._slot.control.fileno(), self._hear)

    def _unwatch(self) -> None:
        if self._watching:
            self._watching = False
            if self._slot.control.fileno() >= 0:
                self._loop.remove_reader(self._slot.control.fileno())

    def _hear(self) -> None:
        """Take the report, when it is here."""
        if self._report is not None:
            return
        said = self._slot.report()
        if said is not None:
            self._report = said
            self._unwatch()
            self._wake()

    def _summary(self) -> Report:
        if self._report is None:
            self._report = b""
            self._slot.healthy = False
        data = self._report
        ended = self._ended
        if data:
            reported = _REPORT.unpack_from(data)[1]
            ended = min(ended, reported) if ended else reported
        self._look()
        used = self._slot.cpu(mark=True)
        self.meter.rest(ended)
        self.meter.note(used, 0.0)
        out, err = self._streams.rest()
        return Report(
            data=data[_REPORT.size :],
            pid=self._pid,
            ordered=self._ordered,
            cpu_limit=self.limit,
            wall=max(0.0, (ended or monotonic()) - self._began),
            starved=self._starved,
            oom=False,
            truncated=self._streams.truncated,
            stdout=out,
            stderr=err,
            group_cpu=used,
            group_memory=self._slot.peak(),
            said=self._said,
        )

    def discard(self) -> None:
        """Let go of every descriptor; a place whose program may still run is not used again."""
        if self._report is None:
            self._slot.healthy = False
        if self._timer is not None:
            self._timer.cancel()
        self._unwatch()
        self._expect(begin=False)
        self._streams.close()
        if self._channel is not None:
            self._channel.close()

    # -- waiting
    # -------------------------------------------------------------------------------------

    async def _pause(self, seconds: float) -> None:
        self._waiter = self._loop.create_future()
        timer = self._loop.call_later(seconds, self._wake)
        try:
            await self._waiter
        finally:
            timer.cancel()
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # -- its clock
    # -----------------------------------------------------------------------------------

    def _look(self) -> None:
        """Learn whether it began, and as which process."""
        if self._pid is not None or self._said:
            return
        start = self._slot.started()
        if start is not None:
            self._pid = start.pid
            self._said = start.failure
            self._streams.take(start.outputs)
            self._expect(begin=False)

    def _drain(self) -> None:
        """Take in what is printed from now on; before it begins, as soon as it does."""
        self._look()
        self._streams.drain()
        self._expect(begin=self._pid is None and not self._said)

    def _expect(self, *, begin: bool) -> None:
        """Have the loop look when its child says that it begins, or no longer."""
        if begin == self._expecting:
            return
        self._expecting = begin
        if begin:
            self._loop.add_reader(self._slot.job.fileno(), self._look)
        elif self._slot.job.fileno() >= 0:
            self._loop.remove_reader(self._slot.job.fileno())

    def _is_over(self, span: Span) -> Over:
        """Whether a limit has been reached; looks at the clock when there is reason to."""
        if not self.meter.due and monotonic() - span.began < span.clock:
            return ""
        if self._note():
            return span.over()
        return "machine" if monotonic() - self._began > _START_S else ""

    def _note(self) -> bool:
        """Look at the clock; False while there is none, since it has not begun."""
        self._look()
        if self._pid is None:
            self.meter.hold()
            return False
        used = self._slot.cpu() or watch.cpu_of_tree(self._pid)
        self.meter.note(used, self._delays.since(watch.tasks(self._pid)))
        return True
