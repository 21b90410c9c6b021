"""What the adapters that keep places of their own have in common: how a place is leased, and one
program after another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ClassVar, Generic, Protocol

from rlenv import ConfigError
from rlenv.sandbox import Exit, Profile, Tier, rank

from .metering import Meter
from .pool import P, Pool
from .start import BUSY, STDIN, message
from .workspace import Files, Leased, Program, Seconds, Workspaces

__all__ = ["Adapter", "OneSession", "Run"]


class Run(Protocol):
    """One program in a place.

    Attributes:
        limit: seconds of CPU after which the guest itself ends it.
    """

    meter: Meter
    limit: float

    async def begin(self, text: bytes, payload: bytes, stdin: bytes) -> None:
        """Start it, as ``message`` says."""

    async def send(self, frame: bytes) -> None: ...

    async def recv(self, most: int, seconds: float) -> bytes: ...

    async def finish(self, wait: float | None, isolation: Tier) -> tuple[Exit, bytes | None]:
        """Its end, and what it left in its workspace."""

    def discard(self) -> None:
        """Let go of what it needed, however it ended."""


Runs = Callable[[P, float, float], Run]  # in a place, with limits of CPU and on its clock


class OneSession(Leased, Generic[P]):
    """See `rlenv.sandbox.Session`.  Used by one event loop, one call at a time."""

    def __init__(self, adapter: Adapter[P], place: P) -> None:
        self.isolation = adapter.tier
        self._adapter = adapter
        self._place = place
        self._run: Run | None = None
        self._closed = False
        self._clock = 0.0  # of the programs before this one

    def clock(self) -> float:
        """See the port."""
        return self._clock + (0.0 if self._run is None else self._run.meter.clock)

    async def start(
        self,
        program: Program,
        files: Files | None = None,
        *,
        stdin: bytes = b"",
        cpu_s: Seconds = None,
        wall_s: Seconds = None,
    ) -> None:
        if self._closed or self._run is not None:
            raise RuntimeError(
                "a session runs one program at a time: finish the current one, or open another"
                " session"
            )
        await self._unspent()
        for top in (name.partition("/")[0] for name in files or ()):
            if top in self._place.taken:
                raise ConfigError(
                    f"file {top!r}: /tmp/{top} of this machine is shown to programs in their"
                    " working directory, since what they run on is installed there: give the file"
                    " another name, or install rlenv elsewhere"
                )
        profile = self._place.profile
        cpu = min(profile.cpu_s, cpu_s or profile.cpu_s)
        wall = min(profile.wall_s, wall_s or profile.wall_s)
        run = self._adapter.runs(self._place, cpu, wall)
        given = (STDIN if stdin else 0) | (0 if self._place.alone() else BUSY)
        text, payload = message(
            program, files or {}, profile.runtime, run.limit, self.given, given=given
        )
        try:
            await run.begin(text, payload, stdin)
        except BaseException:
            run.discard()
            raise
        self._run = run

    async def _unspent(self) -> None:
        """Change a place that serves for one run only, and has, for another."""
        if not self._place.spent:
            return
        profile = self._place.profile
        self._adapter.pool.give_back(self._place)
        self._closed = True
        self._place = await self._adapter.pool.lease(profile)
        self._closed = False

    async def send(self, frame: bytes) -> None:
        await self._running().send(frame)

    async def recv(self, max_bytes: int, timeout: float) -> bytes:  # noqa: ASYNC109 - the port's word
        return await self._running().recv(max_bytes, timeout)

    async def finish(self, wait: float | None = None) -> Exit:
        run = self._running()
        try:
            end, self.left = await run.finish(wait, self.isolation)
            return end
        finally:
            self._clock += run.meter.clock
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
            self._adapter.pool.give_back(self._place)

    def _running(self) -> Run:
        if self._run is None:
            raise RuntimeError("no program was started in this session")
        return self._run


class Adapter(Workspaces, Generic[P]):
    """A sandbox with a pool of places.

    Attributes:
        tier: what it gives.
        remedy: what to do where more is required.
    """

    tier: Tier
    remedy: ClassVar[str]
    _swept = False

    def __init__(self, pool: Pool[P], runs: Runs[P]) -> None:
        self.pool = pool
        self.runs = runs

    async def lease(self, profile: Profile) -> Leased:
        """See `rlenv.sandbox.Sandbox.open`."""
        if rank(profile.min_isolation) > rank(self.tier):
            raise ConfigError(
                f"isolation {profile.min_isolation!r} is required, and this sandbox gives"
                f" {self.tier!r}: {self.remedy}"
            )
        if not self._swept:
            await self._sweep()
            self._swept = True
        return OneSession(self, await self.pool.lease(profile))

    async def _sweep(self) -> None:
        """Remove what processes that are dead have left behind.

        Raises:
            ConfigError: this machine cannot have such sandboxes.
        """

    async def aclose(self) -> None:
        await asyncio.to_thread(self.pool.close)
