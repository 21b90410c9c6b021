"""A lease on one container: start a program in it, exchange frames, learn how it ended."""

from __future__ import annotations

import asyncio
import math
import signal
import struct
from collections.abc import Callable, Mapping, Sequence
from time import monotonic

from rlenv.errors import VerifierFault
from rlenv.sandbox import ChannelEnded, ChannelTimeout, Exit, FrameTooLong, Tier

from rlenv_plugin_sandbox.guest import wire
from rlenv_plugin_sandbox.jail.ending import Report, ending
from rlenv_plugin_sandbox.jail.slot import lost
from rlenv_plugin_sandbox.jail.start import message
from rlenv_plugin_sandbox.stream import LinkLost

from .container import Container

__all__ = ["Session"]

_LENGTH = struct.Struct("<I")
_REPORT = struct.Struct("<iddQi")
_REPORT_S = 10.0  # from the order to kill, or from the wall limit, to the report of the end
_PATIENCE_S = 0.05  # a frame that takes longer may become a timeout, so ask how things stood before
_UNREAD = 8 << 20  # bytes of a channel that are kept for a judge who is busy sending


class Session:
    """See `rlenv.sandbox.Session`.  Used by one event loop, one call at a time."""

    def __init__(
        self, container: Container, isolation: Tier, release: Callable[[Container], None]
    ) -> None:
        self.isolation = isolation
        self._container = container
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
        profile = self._container.profile
        cpu = min(profile.cpu_s, cpu_s or profile.cpu_s)
        wall = min(profile.wall_s, wall_s or profile.wall_s)
        text, payload = message(program, files, profile.runtime, cpu, has_stdin=bool(stdin))
        head = wire.START_HEAD.pack(wall, profile.output_bytes, len(text), len(payload))
        run = _Run(self._container, cpu, wall)
        try:
            await self._container.link.send(wire.START, head, text, payload, stdin)
        except LinkLost as error:
            raise VerifierFault(lost(f"the container is gone: {error}")) from error
        self._run = run

    async def send(self, frame: bytes) -> None:
        await self._running().send(frame)

    async def recv(self, max_bytes: int, timeout: float) -> bytes:  # noqa: ASYNC109 - the port's word
        return await self._running().recv(max_bytes, timeout)

    async def finish(self, wait: float | None = None) -> Exit:
        run = self._running()
        try:
            await run.end(wait)
            if run.lost:
                run.short = await asyncio.to_thread(self._container.destroy)
            return run.exit(self.isolation)
        except BaseException:
            self._container.healthy = False
            raise
        finally:
            self._run = None

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            if self._run is not None:
                await self.finish(0)
        finally:
            self._release(self._container)

    def _running(self) -> _Run:
        if self._run is None:
            raise RuntimeError("no program was started in this session")
        return self._run


class _Run:
    """One program, as far as the frames from its container tell."""

    def __init__(self, container: Container, cpu: float, wall: float) -> None:
        self.container = container
        self.link = container.link
        self.cpu = cpu
        self.wall = wall
        self.start = monotonic()
        self.buffer = bytearray()
        self.out = (bytearray(), bytearray())
        self.began = self.silent = self.deaf = self.listening_ended = False
        self.flying = 0
        self.states: list[tuple[float, float]] = []
        self.report: bytes | None = None
        self.lost = ""
        self.short = False  # of memory, so that even the relay was killed
        self.limit = self.start + wall + _REPORT_S

    # -- taking in ---------------------------------------------------------------------------------

    async def _pump(self, until: float) -> bool:
        """Take in one frame; False when none came until then, or none can come any more."""
        if self.report is not None or self.lost:
            return False
        try:
            frame = await self.link.receive(until)
        except LinkLost as error:
            self._lose(str(error))
            return True
        if frame is None:
            return False
        self._take(*frame)
        return True

    def _look(self) -> None:
        """Take in what is here already."""
        try:
            while self.report is None and not self.lost and len(self.buffer) < _UNREAD:
                frame = self.link.take()
                if frame is None:
                    return
                self._take(*frame)
        except LinkLost as error:
            self._lose(str(error))

    def _lose(self, why: str) -> None:
        self.lost = why
        self.container.healthy = False

    def _take(self, kind: int, body: bytes) -> None:
        if kind == wire.DATA:
            if not self.listening_ended:
                self.buffer += body
        elif kind == wire.BEGAN:
            self.began = True
        elif kind in (wire.OUT, wire.ERR):
            self.out[kind - wire.OUT].extend(body)
        elif kind == wire.SILENT:
            self.silent = True
        elif kind == wire.DEAF:
            self.deaf = True
        elif kind == wire.TAKEN:
            self.flying -= _LENGTH.unpack(body)[0]
        elif kind == wire.STATE:
            self.states.append(wire.STATE_BODY.unpack(body))
        elif kind == wire.END:
            self.report = body

    @property
    def over(self) -> bool:
        return self.report is not None or bool(self.lost)

    # -- the channel -------------------------------------------------------------------------------

    async def send(self, frame: bytes) -> None:
        rest = memoryview(_LENGTH.pack(len(frame)) + frame)
        while rest:
            self._look()
            if self.deaf or self.over:
                raise ChannelEnded("the program no longer reads")
            room = wire.AHEAD - self.flying
            if room > 0:
                piece = bytes(rest[:room])
                await self._say(wire.DATA, piece)
                self.flying += len(piece)
                rest = rest[len(piece) :]
            elif len(self.buffer) >= _UNREAD or not await self._pump(self.limit):
                raise ChannelEnded("the program was stopped before it read all of the frame")

    async def _say(self, kind: int, *parts: bytes) -> None:
        try:
            await self.link.send(kind, *parts)
        except LinkLost as error:
            self._lose(str(error))
            raise ChannelEnded(f"the container is gone: {error}") from error

    async def recv(self, max_bytes: int, timeout: float) -> bytes:  # noqa: ASYNC109 - the port's word
        begun = monotonic()
        before: tuple[float, float] | None = None
        while (frame := self._frame(max_bytes)) is None:
            if self.over or self.silent:
                raise self._no_more()
            asks = begun + _PATIENCE_S if before is None else math.inf
            if await self._pump(min(begun + timeout, asks, self.limit)):
                continue
            if monotonic() >= min(begun + timeout, self.limit):
                raise await self._timeout(timeout, before or (0.0, 0.0))
            before = await self._ask() or (0.0, 0.0)
        return frame

    def _no_more(self) -> ChannelEnded | ChannelTimeout:
        if self.report is not None and self.report[5] == wire.WALL:
            return ChannelTimeout(f"the wall limit of {self.wall:g} s", starved=self._end_starved())
        return ChannelEnded(self.lost or "the program closed its channel, or ended")

    async def _timeout(self, timeout: float, before: tuple[float, float]) -> ChannelTimeout:  # noqa: ASYNC109
        after = await self._ask() or (math.nan, math.nan)
        delay, cpu = (late - early for late, early in zip(after, before, strict=True))
        starved = delay >= timeout / 2 > cpu
        return ChannelTimeout(f"no frame within {timeout:.3g} s", starved=starved)

    async def _ask(self) -> tuple[float, float] | None:
        """(run delay, CPU) of the program so far; None when nobody answers."""
        self.states.clear()
        await self._say(wire.ASK)
        until = monotonic() + 1.0
        while not self.states and await self._pump(until):
            continue
        return self.states[-1] if self.states else None

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

    # -- the end -----------------------------------------------------------------------------------

    async def end(self, wait: float | None) -> None:
        """Wait for the end, at most this long, then kill it."""
        self.listening_ended = True
        self.buffer.clear()
        until = self.limit if wait is None else min(self.limit, monotonic() + wait)
        while await self._pump(until):
            continue
        if self.over:
            return
        try:
            await self.link.send(wire.KILL)
        except LinkLost as error:
            self._lose(str(error))
        until = monotonic() + _REPORT_S
        while await self._pump(until):
            continue
        if not self.over:
            self._lose("the container does not answer")

    def _end_starved(self) -> bool:
        assert self.report is not None
        _, _, _, _, _, _, user, system, _, _, delay, _ = wire.END_BODY.unpack_from(self.report)
        return bool(delay >= self.wall / 2 > user + system)

    def exit(self, isolation: Tier) -> Exit:
        wall = monotonic() - self.start
        if self.report is None and self.short and self.began:
            return Exit(
                -signal.SIGKILL, "memory", wall=wall, isolation=isolation,
                stdout=bytes(self.out[0]), stderr=bytes(self.out[1]),
            )  # fmt: skip
        if self.report is None:
            fault = lost(
                f"the container or its daemon went away in the middle of a run: {self.lost}"
            )
            return Exit(
                None, "lost", wall=wall, isolation=isolation, started=self.began, fault=fault
            )
        status, began, order, oom, cut, dirty, user, system, wall, peak, delay, failure = (
            wire.END_BODY.unpack_from(self.report)
        )
        report = Report(
            data=_REPORT.pack(status, user, system, peak, failure),
            pid=1 if began else None,
            ordered=("", "killed", "wall")[order],
            cpu_limit=self.cpu,
            wall=wall,
            wall_limit=self.wall,
            starved=order == wire.WALL and self._end_starved(),
            run_delay=None if math.isnan(delay) else delay,
            oom=bool(oom),
            truncated=bool(cut),
            stdout=bytes(self.out[0]),
            stderr=bytes(self.out[1]),
            said=self.report[wire.END_BODY.size :].decode("utf-8", "replace")
            or self.container.complaint(),
        )
        self.container.healthy = self.container.healthy and not dirty
        return ending(report, self.container, isolation)
