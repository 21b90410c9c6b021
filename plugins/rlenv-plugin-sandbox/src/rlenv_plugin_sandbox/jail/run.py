"""One program in one place: from START to the report of its end."""

from __future__ import annotations

import _socket
import asyncio
import os
import struct
from time import monotonic
from typing import Literal

from rlenv.sandbox import ChannelEnded, ChannelTimeout

from . import watch
from .channel import Channel
from .ending import Report
from .slot import Slot
from .streams import Streams

__all__ = ["Run"]

_LENGTH = struct.Struct("<I")
_REPORT = struct.Struct("<Id")  # number, when it ended; more follows
_REPORT_S = 10.0  # from an order to kill to the report of the end
_QUIET_S = 0.005  # so long a wait need not take in what is printed


class Run:
    """What a session knows of the program that runs in it.

    Args:
        cpu, wall: its limits, in seconds.
    """

    __slots__ = (
        "_began", "_channel", "_cpu", "_ended", "_loop", "_ordered", "_pid", "_report",
        "_said", "_slot", "_starved", "_streams", "_timer", "_waiter", "_wall", "_watching", "delay",
    )  # fmt: skip

    def __init__(self, slot: Slot, cpu: float, wall: float) -> None:
        self._slot, self._cpu, self._wall = slot, cpu, wall
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
        self._began = self._ended = 0.0
        self.delay: float | None = None

    # -- beginning -----------------------------------------------------------------------------------

    def begin(self, text: bytes, payload: bytes, stdin: bytes) -> None:
        """Make the descriptors and hand the far ends to the child that waits.

        Raises:
            VerifierFault: the zygote is gone.
            OSError: no descriptor could be made.
        """
        near, far = _socket.socketpair()  # without the enumerations that nobody asks for here
        near.setblocking(False)  # noqa: FBT003 - the library's word
        self._channel = Channel(self._loop, near, self._wake)
        given: list[int] = []
        try:
            given = self._streams.pipes()
            given.append(far.detach())
            given += [_memory(content) for content in (stdin, payload) if content]
            self._began = monotonic()
            self._slot.submit(text, given)
        finally:
            for fd in given:
                os.close(fd)
            far.close()
        self._timer = self._loop.call_later(self._wall, self._outran)

    # -- frames --------------------------------------------------------------------------------------

    async def send(self, frame: bytes) -> None:
        channel = self._open_channel()
        rest = channel.send(memoryview(_LENGTH.pack(len(frame)) + frame))
        while rest:
            await self._writable(channel)
            rest = channel.send(rest)

    async def _writable(self, channel: Channel) -> None:
        left = self._began + self._wall - monotonic()
        if left <= 0 or self._ordered:
            raise ChannelEnded("the program was stopped before it read all of the frame")
        self._streams.drain()
        fd = channel.sock.fileno()
        self._loop.add_writer(fd, self._wake)
        try:
            await self._pause(left)
        finally:
            self._loop.remove_writer(fd)

    async def recv(self, most: int, seconds: float) -> bytes:
        channel = self._open_channel()
        if self._slot.alone() and not self._streams.draining:
            channel.soon()
        channel.fill()
        frame = channel.frame(most)
        if frame is not None:
            return frame
        begun = monotonic()
        deadline = min(begun + seconds, self._began + self._wall)
        channel.wanted = True
        try:
            while frame is None:
                await self._more(channel, begun, deadline)
                frame = channel.frame(most)
        finally:
            channel.wanted = False
        return frame

    async def _more(self, channel: Channel, begun: float, deadline: float) -> None:
        """Wait for more of the channel.

        Raises:
            ChannelEnded, ChannelTimeout: there will be none, or not in time.
        """
        if channel.ended:
            raise ChannelEnded("the program closed its channel, or ended")
        left = deadline - monotonic()
        if left <= 0 or self._ordered:
            seconds = deadline - begun
            raise ChannelTimeout(f"no frame within {seconds:.3g} s", starved=self._hungry(seconds))
        channel.listen()
        await self._pause(left if self._streams.draining else min(left, _QUIET_S))
        channel.fill()
        if monotonic() - begun >= _QUIET_S:
            self._streams.drain()

    def _open_channel(self) -> Channel:
        assert self._channel is not None
        return self._channel

    # -- the end -------------------------------------------------------------------------------------

    async def end(self, wait: float | None) -> Report:
        """Wait for its end, at most this long (None: to the wall limit), then kill it."""
        self._hear()
        if self._report is None and (wait is None or wait > 0):
            left = self._began + self._wall - monotonic()
            await self._reported(left if wait is None else min(wait, left))
        if self._report is None and not self._ordered:
            self._order("wall" if wait is None else "killed")
        if self._report is None:
            await self._reported(_REPORT_S)
        if self._report is None:
            self._report = b""
            self._slot.healthy = False
        return self._summary()

    async def _reported(self, seconds: float) -> None:
        """Wait so long at most for the report."""
        if self._slot.alone() and (self._ordered or self._channel_ended()):
            self._slot.soon()
            self._hear()
        if self._report is not None or seconds <= 0:
            return
        self._streams.drain()
        self._watch()
        deadline = monotonic() + seconds
        while not self._over() and (left := deadline - monotonic()) > 0:
            await self._pause(left)

    def _over(self) -> bool:
        return self._report is not None

    def _channel_ended(self) -> bool:
        return self._channel is not None and self._channel.ended

    def _outran(self) -> None:
        self._hear()
        if self._report is None and not self._ordered:
            self._order("wall")
            self._watch()

    def _order(self, why: Literal["killed", "wall"]) -> None:
        """Have it killed; look first how much it waited for a processor."""
        if why == "wall":
            self._starved = self._hungry(self._wall)
        self._ordered = why
        self._ended = monotonic()
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
        data = self._report or b""
        ended = self._ended
        if data:
            reported = _REPORT.unpack_from(data)[1]
            ended = min(ended, reported) if ended else reported
        self._look()
        out, err = self._streams.rest()
        return Report(
            data=data[_REPORT.size :],
            pid=self._pid,
            ordered=self._ordered,
            cpu_limit=self._cpu,
            wall=max(0.0, (ended or monotonic()) - self._began),
            wall_limit=self._wall,
            starved=self._starved,
            run_delay=self.delay,
            oom=False,
            truncated=self._streams.truncated,
            stdout=out,
            stderr=err,
            group_cpu=self._slot.cpu(mark=True),
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
        self._streams.close()
        if self._channel is not None:
            self._channel.close()

    # -- waiting -------------------------------------------------------------------------------------

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

    # -- whose fault a delay was ---------------------------------------------------------------------

    def _look(self) -> None:
        """Learn whether it began, and as which process."""
        if self._pid is None and not self._said:
            self._pid, self._said = self._slot.started()

    def _hungry(self, seconds: float) -> bool:
        """Whether it stood ready for half that time without a processor, and not because of itself.

        What its own other processes used is taken off: nobody buys this by keeping himself busy.
        """
        self._look()
        if self._pid is None or not self._slot.isolate:
            return False
        times = watch.times(self._pid)
        if times is None:
            return False
        ran, self.delay = times
        if self.delay < seconds / 2:
            return False
        used = self._slot.cpu() or watch.cpu_of_tree(self._pid)
        others = max(0.0, used - ran)
        most = seconds / 4 if others > seconds / 10 else seconds / 2
        return used < most and self.delay - others >= seconds / 2


def _memory(content: bytes) -> int:
    """A descriptor of a file in memory with this content, at its beginning."""
    fd = os.memfd_create("rlenv")
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
