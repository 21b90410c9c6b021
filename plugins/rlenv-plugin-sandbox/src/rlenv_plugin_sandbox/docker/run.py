"""One program in one container: start it, exchange frames, learn how it ended."""

from __future__ import annotations

import asyncio
import math
import struct
from contextlib import suppress
from time import monotonic
from typing import Literal

from rlenv import VerifierFault
from rlenv.sandbox import ChannelEnded, ChannelTimeout, Exit, Tier

from rlenv_plugin_sandbox.guest import wire
from rlenv_plugin_sandbox.jail.ending import REPORT, Report, ending
from rlenv_plugin_sandbox.jail.slot import lost
from rlenv_plugin_sandbox.metering import WALL, Over, Span
from rlenv_plugin_sandbox.stream import LinkLost, program_frame

from .clock import ContainerClock
from .container import Container

__all__ = ["Run"]

_LENGTH = struct.Struct("<I")
_KILL_S = 1.0  # from the order to kill to the report of the end; then the container is killed
_PACKING_S = 300.0  # for the relay to hand over a workspace
_STATE_S = 0.5  # for the relay to say how things stand; a tree of processes may keep it from that
_START_S = 60.0  # for a program to begin, on however busy a machine
_UNREAD = 8 << 20  # bytes of a channel that are kept for a judge who is busy sending


class Run:
    """One program, as far as the frames from its container tell."""

    def __init__(self, container: Container, cpu: float, wall: float) -> None:
        self.container = container
        self.link = container.link
        self.cpu = cpu
        self.wall = wall
        self.most = WALL * max(cpu, wall) + _START_S
        # gVisor's limits of CPU count what the machine did not give, too.
        self.limit = self.most if container.kind.gvisor else cpu
        self.start = monotonic()
        self.clock = ContainerClock(container, gvisor=container.kind.gvisor)
        self.meter = self.clock.meter
        self.span = Span(self.meter, cpu, wall)
        self.ordered: Literal["", "killed", "wall"] = ""
        self.starved = False
        self.buffer = bytearray()
        self.out = (bytearray(), bytearray())
        self.began = self.silent = self.deaf = self.listening_ended = False
        self.flying = 0
        self.states: list[tuple[float, float, float]] = []
        self.report: bytes | None = None
        self.lost = ""
        self.left: bytearray | None = None  # of the workspace: it has ended when that comes

    async def begin(self, text: bytes, payload: bytes, stdin: bytes) -> None:
        self.container.runs += 1
        kept = self.container.profile.output_bytes
        head = wire.START_HEAD.pack(self.most, kept, len(text), len(payload))
        try:
            await self.link.send(wire.START, head, text, payload, stdin)
        except LinkLost as error:
            raise VerifierFault(lost(f"the container is gone: {error}")) from error

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
            self.meter.hold()
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
        elif kind == wire.TREE:
            self.left = bytearray() if self.left is None else self.left
            self.left += body
        elif kind == wire.END:
            self.report = body
            delay, asked, user, system = wire.END_BODY.unpack_from(body)[6:10]
            self.clock.ended(delay, asked, user + system)

    @property
    def over(self) -> bool:
        return self.report is not None or bool(self.lost)

    # -- the channel -------------------------------------------------------------------------------

    async def send(self, frame: bytes) -> None:
        self.meter.ask()
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
            elif len(self.buffer) >= _UNREAD or self.ordered:
                raise ChannelEnded("the program was stopped before it read all of the frame")
            else:
                await self._step(self.span)

    async def _say(self, kind: int, *parts: bytes) -> None:
        try:
            await self.link.send(kind, *parts)
        except LinkLost as error:
            self._lose(str(error))
            raise ChannelEnded(f"the container is gone: {error}") from error

    async def recv(self, max_bytes: int, timeout: float) -> bytes:  # noqa: ASYNC109 - the port's word
        self.meter.ask()
        span = Span(self.meter, timeout, timeout)
        over = ""
        while (frame := program_frame(self.buffer, max_bytes)) is None:
            if self.over or self.silent:
                raise ChannelEnded(self.lost or "the program closed its channel, or ended")
            if over or self.ordered:
                starved = over == "machine" or self.starved
                raise ChannelTimeout(f"no frame within {timeout:.3g} s", starved=starved)
            over = await self._step(span)
        self.meter.rest()
        return frame

    async def _step(self, span: Span, until: float = math.inf) -> Over:
        """Take in a frame, or look at the clock when it is time; whether the limit of this part is
        reached.
        """
        left = min(span.left(), self.span.left())
        await self._pump(min(until, monotonic() + left))
        late = monotonic() - span.began >= span.clock
        if self.over or self.left is not None or not (late or self.meter.due):
            return ""
        if not self.began:
            self.meter.hold()
            return "machine" if monotonic() - self.start > _START_S else ""
        await self.clock.look(await self._ask())
        over = self.span.over()
        if over:
            self.starved = over == "machine"
            await self._order("wall")
        return span.over()

    async def _order(self, why: Literal["killed", "wall"]) -> None:
        """Have the program killed, unless it has ended or that was ordered before."""
        if self.over or self.ordered or self.left is not None:
            return
        self.ordered = why
        answered = self.meter.rest()
        try:
            await self.link.send(wire.KILL, wire.KILL_BODY.pack(answered))
        except LinkLost as error:
            self._lose(str(error))

    async def _ask(self) -> tuple[float, float, float] | None:
        """What the relay says of the program's clock; None when it says nothing."""
        self.states.clear()
        with suppress(ChannelEnded):
            await self._say(wire.ASK)
        until = monotonic() + _STATE_S
        while not self.states and await self._pump(until):
            continue
        return self.states[-1] if self.states else None

    # -- the end -----------------------------------------------------------------------------------

    async def end(self, wait: float | None) -> None:
        """Wait for the end, at most this long, then kill it."""
        self.listening_ended = True
        self.buffer.clear()
        if wait != 0:
            self.meter.ask()
        until = math.inf if wait is None else monotonic() + wait
        while not self.over and not self.ordered and monotonic() < until:
            await self._step(self.span, until)
        await self._order("killed")
        begun = monotonic()
        while await self._pump(begun + (_KILL_S if self.left is None else _PACKING_S)):
            continue
        if not self.over:
            self._lose("the container does not answer")

    async def finish(self, wait: float | None, isolation: Tier) -> tuple[Exit, bytes | None]:
        try:
            await self.end(wait)
            if self.lost:
                await asyncio.to_thread(self.container.destroy)
            left = None if self.report is None or self.left is None else bytes(self.left)
            return self.exit(isolation), left
        except BaseException:
            self.container.healthy = False
            raise

    def discard(self) -> None:
        """It needed nothing but the container."""

    def exit(self, isolation: Tier) -> Exit:
        data = b""
        began = self.began
        order = 0
        oom = 0
        cut = 0
        dirty = 0
        cpu = self.meter.now.cpu
        said = f"the container or its daemon ended during a run: {self.lost}"
        if self.report is not None:
            status, began, order, oom, cut, dirty, _, _, user, system, _, peak, failure = (
                wire.END_BODY.unpack_from(self.report)
            )
            own = max(0.0, user - self.clock.overcount)
            data = REPORT.pack(status, own, system, peak, failure)
            cpu = 0.0
            said = self.report[wire.END_BODY.size :].decode("utf-8", "replace")
        report = Report(
            data=data,
            pid=1 if began else None,
            ordered=self.ordered or ("", "killed", "wall")[order],
            cpu_limit=self.cpu,
            wall=monotonic() - self.start,
            starved=self.starved or order == wire.WALL,
            oom=bool(oom),
            truncated=bool(cut),
            stdout=bytes(self.out[0]),
            stderr=bytes(self.out[1]),
            group_cpu=cpu,
            said=said or self.container.complaint(),
        )
        self.container.healthy = self.container.healthy and not dirty
        return ending(report, self.container, isolation)
