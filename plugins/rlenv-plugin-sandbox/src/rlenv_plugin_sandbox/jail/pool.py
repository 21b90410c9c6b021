"""The places of this process: leased, kept warm, made anew when broken; shared by all event loops."""

from __future__ import annotations

import asyncio
import atexit
import os
from collections import deque
from threading import Lock

from rlenv.sandbox import Profile

from .slot import Slot

__all__ = ["Pool", "default_places"]


def default_places() -> int:
    """How many programs may run at one time: RLENV_SANDBOX_SLOTS, else 2."""
    given = os.environ.get("RLENV_SANDBOX_SLOTS", "")
    return max(1, int(given)) if given.isdecimal() else 2


class Pool:
    """At most ``places`` slots of any profile.

    The one that waited longest is served first; idle slots of other profiles make room.
    """

    def __init__(self, *, isolate: bool, inner: bool, places: int | None = None) -> None:
        self.isolate = isolate
        self.inner = inner
        self._places = places
        self._reset()
        atexit.register(self.close)

    def _reset(self) -> None:
        self._lock = Lock()
        self._owner = os.getpid()
        self._idle: deque[Slot] = deque()
        self._busy = 0
        self._waiting: deque[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = deque()

    async def lease(self, profile: Profile) -> Slot:
        """A slot for this profile; waits while all places are taken.

        Raises:
            NoJail, ConfigError, VerifierFault: as Slot does.
        """
        while True:
            if self._owner != os.getpid():
                self._reset()
            loop = asyncio.get_running_loop()
            turn: asyncio.Future[None] = loop.create_future()
            with self._lock:
                found, old = self._take(profile)
                if found is None and not old:
                    self._waiting.append((loop, turn))
            if found is not None:
                return found
            if old:
                return await self._make(profile, [slot for slot in old if slot is not None])
            try:
                await turn
            except asyncio.CancelledError:
                self._wake()
                raise

    def _take(self, profile: Profile) -> tuple[Slot | None, list[Slot | None]]:
        """(an idle slot, []), (None, slots to end so that a new one can be made) or (None, []) when full."""
        for slot in self._idle:
            if slot.profile == profile:
                self._idle.remove(slot)
                self._busy += 1
                return slot, []
        places = self._places or default_places()
        if self._busy >= places:
            return None, []
        self._busy += 1
        old: list[Slot | None] = [None]
        while self._busy + len(self._idle) > places + 2:  # a few of other profiles stay warm
            old.append(self._idle.popleft())
        return None, old

    async def _make(self, profile: Profile, old: list[Slot]) -> Slot:
        try:
            return await asyncio.to_thread(self._replace, profile, old)
        except BaseException:
            with self._lock:
                self._busy -= 1
            self._wake()
            raise

    def _replace(self, profile: Profile, old: list[Slot]) -> Slot:
        for slot in old:
            slot.close()
        return Slot(profile, isolate=self.isolate, inner=self.inner)

    def give_back(self, slot: Slot) -> None:
        """The place is free again; a broken slot is ended."""
        if slot.owner != os.getpid():
            return
        with self._lock:
            self._busy -= 1
            if slot.healthy:
                self._idle.append(slot)
        if not slot.healthy:
            slot.close()
        self._wake()

    def _wake(self) -> None:
        with self._lock:
            while self._waiting:
                loop, turn = self._waiting.popleft()
                if loop.is_closed() or turn.done():
                    continue
                loop.call_soon_threadsafe(_grant, turn)
                return

    def close(self) -> None:
        """End every idle slot; those on lease end when they are given back."""
        if self._owner != os.getpid():
            return
        with self._lock:
            idle, self._idle = self._idle, deque()
        for slot in idle:
            slot.close()


def _grant(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)
