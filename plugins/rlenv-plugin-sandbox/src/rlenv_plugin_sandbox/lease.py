"""What the sessions of the adapters that have places have in common: a place, and one program in it at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from rlenv.sandbox import Exit, Profile, Tier

from .metering import Meter
from .workspace import Leased, Seconds

__all__ = ["PlaceSession"]


class _Place(Protocol):
    profile: Profile


class _Running(Protocol):
    meter: Meter

    async def send(self, frame: bytes, /) -> None: ...

    async def recv(self, max_bytes: int, timeout: float, /) -> bytes: ...  # noqa: ASYNC109 - the port's word


P = TypeVar("P", bound=_Place)
R = TypeVar("R", bound=_Running)


class PlaceSession(Leased, Generic[P, R]):
    """See `rlenv.sandbox.Session`.  Used by one event loop, one call at a time."""

    def __init__(self, place: P, isolation: Tier, release: Callable[[P], None]) -> None:
        self.isolation = isolation
        self._place, self._release = place, release
        self._run: R | None = None
        self._closed = False
        self._clock = 0.0  # of the programs before this one

    def clock(self) -> float:
        """See the port."""
        return self._clock + (0.0 if self._run is None else self._run.meter.clock)

    def _limits(self, cpu_s: Seconds, wall_s: Seconds) -> tuple[float, float]:
        """Those of a program that is about to start, in seconds of CPU and on its clock."""
        if self._closed or self._run is not None:
            raise RuntimeError(
                "a session runs one program at a time: finish the current one, or open another session"
            )
        profile = self._place.profile
        return min(profile.cpu_s, cpu_s or profile.cpu_s), min(
            profile.wall_s, wall_s or profile.wall_s
        )

    async def send(self, frame: bytes) -> None:
        await self._running().send(frame)

    async def recv(self, max_bytes: int, timeout: float) -> bytes:  # noqa: ASYNC109 - the port's word
        return await self._running().recv(max_bytes, timeout)

    async def finish(self, wait: float | None = None) -> Exit:
        raise NotImplementedError

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            if self._run is not None:
                await self.finish(0)
        finally:
            self._release(self._place)

    def _running(self) -> R:
        if self._run is None:
            raise RuntimeError("no program was started in this session")
        return self._run
