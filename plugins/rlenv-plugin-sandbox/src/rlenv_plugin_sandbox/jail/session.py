"""A lease on one place: start a program, exchange frames with it, learn how it ended."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Any, Literal

from rlenv.sandbox import (
    ChannelEnded,
    ChannelTimeout,
    Exit,
    FrameTooLong,
    Tier,
)

from . import watch
from .ending import Report, ending
from .slot import Slot
from .start import message

__all__ = ["Session"]

_LENGTH = struct.Struct("<I")
_CHUNK = 1 << 16
_AHEAD = 1 << 20  # bytes taken from a channel that nobody waits for
_REPORT_S = 10.0  # from an order to kill to the report of the end


class Session:
    """See `rlenv.sandbox.Session`.  Used by one event loop."""

    def __init__(self, slot: Slot, isolation: Tier, release: Callable[[Slot], None]) -> None:
        self.isolation = isolation
        self._slot = slot
        self._release = release
        self._run: _Run | None = None
        self._closed = False

    async def start(
        self,
        program: str | Sequence[str],
        files: Mapping[str, bytes | tuple[bytes, int]] = {},
        *,
        stdin: bytes = b"",
        cpu_s: float | None = None,
        wall_s: float | None = None,
    ) -> None:
        if self._closed or self._run is not None:
            raise RuntimeError(
                "a session runs one program at a time: finish the one before, open another"
            )
        profile = self._slot.profile
        cpu = min(profile.cpu_s, cpu_s or profile.cpu_s)
        wall = min(profile.wall_s, wall_s or profile.wall_s)
        text, payload = message(program, files, profile.runtime, cpu, has_stdin=bool(stdin))
        self._run = _Run(self._slot, cpu, wall)
        try:
            self._run.begin(text, payload, stdin)
        except BaseException:
            self._run.discard()
            self._run = None
            raise

    async def send(self, frame: bytes) -> None:
        await self._running().send(frame)

    async def recv(self, max_bytes: int, timeout: float) -> bytes:  # noqa: ASYNC109 - the port's word
        return await self._running().recv(max_bytes, timeout)

    async def finish(self, wait: float | None = None) -> Exit:
        run = self._running()
        try:
            report = await run.end(wait)
            return ending(report, self._slot, self.isolation)
        finally:
            run.discard()
            self._run = None

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            if self._run is not None:
                await self.finish(0)
        finally:
            self._release(self._slot)

    def _running(self) -> _Run:
        if self._run is None:
            raise RuntimeError("no program was started in this session")
        return self._run


class _Run:
    """One program: its descriptors, and what came out of them so far."""

    def __init__(self, slot: Slot, cpu: float, wall: float) -> None:
        self.slot = slot
        self.cpu = cpu
        self.wall = wall
        self.loop = asyncio.get_running_loop()
        self.report: bytes | None = None
        self.ordered: Literal["", "killed", "wall"] = ""
        self.oversize = False
        self.out: list[bytearray] = [bytearray(), bytearray()]
        self.truncated = False
        self.buffer = bytearray()
        self.ended = False
        self.pid: int | None = None
        self.reading = False
        self.draining = False
        self.waiter: asyncio.Future[None] | None = None
        self.pipes: list[int] = []
        self.channel: socket.socket | None = None
        self.timer: asyncio.TimerHandle | None = None

    # -- beginning and end ---------------------------------------------------------------------------

    def begin(self, text: bytes, payload: bytes, stdin: bytes) -> None:
        """Make the descriptors and hand the far ends to the child that waits."""
        ours, theirs = socket.socketpair()
        self.channel = ours
        ours.setblocking(False)
        given: list[int] = []
        try:
            for _ in range(2):
                near, far = os.pipe()
                self.pipes.append(near)
                given.append(far)
                os.set_blocking(near, False)
            given.append(theirs.fileno())
            given += [_memory(content) for content in (stdin, payload) if content]
            self.slot.started()  # a word left over from a run that died: forget it
            self.began = monotonic()
            self.slot.submit(text, given)
        finally:
            for fd in given:
                if fd != theirs.fileno():
                    os.close(fd)
            theirs.close()
        self.timer = self.loop.call_later(self.wall, self._outran)

    def _outran(self) -> None:
        if self.report is None and not self.ordered:
            self._order("wall")

    def _order(self, why: Literal["killed", "wall"]) -> None:
        """Have it killed; look first how much it waited for a processor."""
        self.stamp = monotonic()
        if why == "wall":
            self.starved = self._starved(self.wall)
        self.ordered = why
        self.slot.kill()
        self._wake()

    async def end(self, wait: float | None) -> Report:
        """Wait for its end, at most this long, then kill it; take in what it left."""
        self._watch_report()
        left = self.began + self.wall - monotonic()
        if wait is None or wait > 0:
            self._drain()
            await self._until_reported(left if wait is None else min(wait, left))
        if self.report is None and not self.ordered:
            self._order("wall" if wait is None else "killed")
        if self.report is None:
            await self._until_reported(_REPORT_S)
        if self.report is None:
            self.report = b""
            self.slot.healthy = False
        self._empty()
        return self._report()

    async def _until_reported(self, seconds: float) -> None:
        deadline = monotonic() + seconds
        while self.report is None and (left := deadline - monotonic()) > 0:
            await self._pause(left)

    def _watch_report(self) -> None:
        self._take_report()
        if self.report is None:
            self.loop.add_reader(self.slot.control.fileno(), self._take_report)

    def _take_report(self) -> None:
        try:
            said = self.slot.control.recv(256)
        except BlockingIOError:
            return
        except OSError:
            said = b""
        self.report = said
        self.loop.remove_reader(self.slot.control.fileno())
        if not said:
            self.slot.healthy = False
        self._wake()

    def _report(self) -> Report:
        now = monotonic()
        return Report(
            data=self.report or b"",
            pid=self._pid(),
            ordered=self.ordered,
            cpu_limit=self.cpu,
            wall=min(
                now - self.began, self.stamp - self.began if self.ordered else now - self.began
            ),
            wall_limit=self.wall,
            starved=getattr(self, "starved", False),
            run_delay=self.delay,
            oom=False,
            truncated=self.truncated,
            stdout=bytes(self.out[0]),
            stderr=bytes(self.out[1]),
        )

    def discard(self) -> None:
        """Let go of every descriptor of this run."""
        if self.timer is not None:
            self.timer.cancel()
        if self.slot.control.fileno() >= 0:
            self.loop.remove_reader(self.slot.control.fileno())
        for fd in self.pipes:
            if self.draining:
                self.loop.remove_reader(fd)
            os.close(fd)
        self.pipes = []
        if self.channel is not None:
            if self.reading:
                self.loop.remove_reader(self.channel.fileno())
            self.channel.close()

    # -- the channel -----------------------------------------------------------------------------------

    async def send(self, frame: bytes) -> None:
        data = memoryview(_LENGTH.pack(len(frame)) + frame)
        assert self.channel is not None
        while data:
            try:
                data = data[self.channel.send(data) :]
            except BlockingIOError:
                await self._writable()
            except OSError:
                raise ChannelEnded("the program no longer reads") from None

    async def _writable(self) -> None:
        assert self.channel is not None
        fd = self.channel.fileno()
        self._drain()
        self.loop.add_writer(fd, self._wake)
        try:
            left = self.began + self.wall - monotonic()
            if left <= 0 or self.ordered:
                raise ChannelEnded("the program was stopped before it read all of the frame")
            await self._pause(left)
        finally:
            self.loop.remove_writer(fd)

    async def recv(self, max_bytes: int, timeout: float) -> bytes:  # noqa: ASYNC109 - the port's word
        begun = monotonic()
        deadline = min(begun + timeout, self.began + self.wall)
        self._fill()
        while (frame := self._frame(max_bytes)) is None:
            if self.ended:
                raise ChannelEnded("the program closed its channel, or ended")
            left = deadline - monotonic()
            if left <= 0 or self.ordered:
                raise ChannelTimeout(
                    f"no frame within {deadline - begun:.3g} s",
                    starved=self._starved(deadline - begun),
                )
            self._listen()
            await self._pause(left if self.draining else min(left, 0.005))
            if not self.draining and not self.buffer and not self.ended:
                self._drain()
        return frame

    def _frame(self, max_bytes: int) -> bytes | None:
        buffer = self.buffer
        if len(buffer) < 4:
            return None
        size = _LENGTH.unpack_from(buffer)[0]
        if size > max_bytes:
            raise FrameTooLong(f"a frame of {size} bytes was announced; {max_bytes} were asked for")
        if len(buffer) < 4 + size:
            return None
        frame = bytes(memoryview(buffer)[4 : 4 + size])
        del buffer[: 4 + size]
        return frame

    def _listen(self) -> None:
        if not self.reading and self.channel is not None:
            self.loop.add_reader(self.channel.fileno(), self._arrived)
            self.reading = True

    def _arrived(self) -> None:
        self._fill()
        if self.waiter is None and len(self.buffer) > _AHEAD and self.channel is not None:
            self.loop.remove_reader(self.channel.fileno())
            self.reading = False
        self._wake()

    def _fill(self) -> None:
        """Take what is there; one piece at a time, so that no flood keeps the loop."""
        assert self.channel is not None
        try:
            data = self.channel.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self.buffer += data
            return
        self.ended = True
        if self.reading:
            self.loop.remove_reader(self.channel.fileno())
            self.reading = False

    # -- standard output and error ---------------------------------------------------------------------

    def _drain(self) -> None:
        """Take in what the program prints, as long as anybody waits for it."""
        if self.draining:
            return
        self.draining = True
        for place, fd in enumerate(self.pipes):
            self.loop.add_reader(fd, self._take, place, fd)

    def _take(self, place: int, fd: int) -> None:
        if not self._read(place, fd):
            self.loop.remove_reader(fd)

    def _read(self, place: int, fd: int) -> bool:
        """Whether there may be more."""
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        room = self.slot.profile.output_bytes - len(self.out[place])
        if len(data) > room:
            self.truncated = True
        self.out[place] += data[: max(0, room)]
        return bool(data)

    def _empty(self) -> None:
        """What is left in the pipes after the end."""
        for place, fd in enumerate(self.pipes):
            for _ in range(64):  # more than any pipe holds
                try:
                    if not self._read(place, fd):
                        break
                    os.read(fd, 0)
                except OSError:
                    break

    # -- waiting ---------------------------------------------------------------------------------------

    async def _pause(self, seconds: float) -> None:
        self.waiter = self.loop.create_future()
        timer = self.loop.call_later(seconds, self._wake)
        try:
            await self.waiter
        finally:
            timer.cancel()
            self.waiter = None

    def _wake(self) -> None:
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(None)

    # -- whose fault a delay was -----------------------------------------------------------------------

    delay: float | None = None

    def _pid(self) -> int | None:
        if self.pid is None:
            self.pid = self.slot.started()
        return self.pid

    def _starved(self, seconds: float) -> bool:
        pid = self._pid()
        if pid is None or not self.slot.isolate:
            return False
        self.delay = watch.run_delay(pid)
        if self.delay is None or self.delay < seconds / 2:
            return False
        return watch.cpu_of_tree(pid) < seconds / 2


def _memory(content: bytes) -> int:
    """A descriptor of a file in memory with this content, at its beginning."""
    fd = os.memfd_create("rlenv")
    view: Any = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
