"""The sandboxes of this process: leased, kept warm, made anew when broken.

Shared by all event loops.
"""

from __future__ import annotations

import asyncio
import atexit
import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Generic, TypeVar

from attrs import evolve
from rlenv.sandbox import Profile

from .files import checked
from .quota import QUOTA, SLOTS, Quota

__all__ = ["Place", "Pool", "default_places"]

_TICK_S = 0.2
# for which a process keeps a place that others wait for: a new one costs a twentieth of that
_TURN_S = 2.0
_SPARE = 2  # idle places of other profiles that stay warm where no quota counts them


def default_places() -> int:
    """How many programs may run at one time: RLENV_SANDBOX_SLOTS, else 2."""
    given = os.environ.get(SLOTS, "")
    return max(1, int(given)) if given.isdecimal() else 2


class Place:
    """What a pool leases: a slot of the jail, or a container.

    Attributes:
        owner: the process that made it.
        healthy: whether it may be leased again.
        taken: names in the working directory that are not a run's.
        beside: whether it holds a place of those that run beside others.
        alone: whether no other program of this process runs now.
        spent: whether it served for one run only, and has.
    """

    taken: frozenset[str] = frozenset()
    beside = False
    alone: Callable[[], bool] = bool

    @property
    def spent(self) -> bool:
        """See the attributes."""
        return False

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.owner = os.getpid()
        self.healthy = True
        self.since = monotonic()

    def fresh(self) -> bool:
        """Whether it can be leased, as far as is known without waiting."""
        return self.healthy

    def ran_out_of_memory(self) -> bool:
        """Whether something in it was killed for want of memory since this was last asked, as far
        as is known.
        """
        return False

    def close(self) -> None:
        """End it, with everything in it.  Blocks."""
        self.healthy = False


P = TypeVar("P", bound=Place)
# Of one who waits, in a loop of its own.
Turn = tuple[asyncio.AbstractEventLoop, "asyncio.Future[None]"]


class Pool(Generic[P]):
    """At most ``places`` programs at work, of any profile, and as many that run beside others.

    Who waited longest is served first: a place that is given back is handed on, never up for grabs
    while somebody waits.  Idle ones of other profiles make room.

    Args:
        adapter: its name in a quota.
        make: a place for this profile; blocks.
        places: how many; None: as many as a quota grants (`quota.shared`); without one
            RLENV_SANDBOX_SLOTS, else 2.
    """

    def __init__(self, adapter: str, make: Callable[[Profile], P], places: int | None) -> None:
        self._adapter = adapter
        self._make = make
        self._places = places
        self._reset()
        atexit.register(self.close)

    def _reset(self) -> None:
        self._lock = Lock()
        self._owner = os.getpid()
        self._idle: deque[P] = deque()
        self._busy = [0, 0]  # of those that run by themselves, and of those that run beside others
        self._ending = 0
        self._waiting: tuple[deque[Turn], deque[Turn]] = deque(), deque()
        self._quota: Quota | None = None
        self._held = self._asking = 0  # places that the quota gave, and that it was asked for
        self._low = 0  # the fewest that were idle since anybody looked

    async def lease(self, profile: Profile) -> P:
        """A place for this profile; waits while all are taken.

        Raises:
            ConfigError, VerifierFault: as ``make`` does; a file of the profile would be written
                elsewhere than among the profile's files.
        """
        if self._owner != os.getpid():
            self._reset()
        beside = profile.beside
        await self._enter(beside)
        if beside:
            profile = evolve(profile, beside=False)  # what is warm is for both
        found, old = self._pick(profile)
        if found is None:
            making: Future[P] = Future()
            making.set_running_or_notify_cancel()  # what was begun is made, wanted or not
            _aside(partial(self._fill, making, profile, beside, old))
            try:
                found = await asyncio.wrap_future(making)
            except BaseException:
                making.add_done_callback(self._unwanted)
                raise
        elif old:
            _aside(partial(self._end, old))
        found.alone = self.alone
        found.beside = beside
        return found

    def alone(self) -> bool:
        """Whether one program at most is at work."""
        return sum(self._busy) < 2

    # -- waiting
    # -------------------------------------------------------------------------------------

    async def _enter(self, beside: bool) -> None:  # noqa: FBT001 - a field of the profile
        """Take a place, or a number in the queue."""
        with self._lock:
            if self._quota is None and self._places is None and QUOTA in os.environ:
                self._quota = Quota(self._adapter)
                Thread(target=self._follow, args=[self._quota], daemon=True).start()
            if self._is_free(beside):
                self._busy[beside] += 1
                return
            turn = (loop := asyncio.get_running_loop(), loop.create_future())
            self._waiting[beside].append(turn)
            self._settle()
        try:
            await turn[1]
        except BaseException:  # a closed loop ends us by GeneratorExit
            with self._lock:
                if turn in self._waiting[beside]:
                    self._waiting[beside].remove(turn)
                else:  # the place was ours already
                    self._busy[beside] -= 1
                self._settle()
            raise

    def _room(self) -> int:
        """How many may run at one time, and as many beside others."""
        if self._quota is not None:
            return self._held
        return self._places or default_places()

    def _is_free(self, beside: int) -> bool:
        return self._busy[beside] + self._ending < self._room()

    def _admit(self) -> None:
        """Give the places that are free to those that wait.  With the lock."""
        for beside, waiting in enumerate(self._waiting):
            while waiting and self._is_free(beside):
                loop, turn = waiting.popleft()
                try:
                    loop.call_soon_threadsafe(_grant, turn)
                except RuntimeError:  # its loop is closed
                    continue
                self._busy[beside] += 1
        if self._quota is not None:
            self._quota.show(len(self._idle), sum(self._busy), sum(map(len, self._waiting)))

    # -- places
    # --------------------------------------------------------------------------------------

    def _pick(self, profile: Profile) -> tuple[P | None, list[P]]:
        """(an idle place, places that have died), or (None, places to end before a new one is
        made).
        """
        old: list[P] = []
        with self._lock:
            for place in [place for place in reversed(self._idle) if place.profile == profile]:
                self._idle.remove(place)
                if place.fresh():
                    break
                old.append(place)
            else:
                place = None
                old = [*old, *self._surplus()]
            self._ending += len(old)
            self._low = min(self._low, len(self._idle))
            self._admit()
        return place, old

    def _surplus(self) -> list[P]:
        """Idle places that there is no room for, taken out.  With the lock."""
        most = self._room() + (_SPARE if self._quota is None else 0)
        over = sum(self._busy) + len(self._idle) - most
        return [self._idle.popleft() for _ in range(min(over, len(self._idle)))]

    def _fill(self, making: Future[P], profile: Profile, beside: bool, old: Sequence[P]) -> None:  # noqa: FBT001 - as above
        """Make a place, in the room of these."""
        try:
            self._end(old)
            checked(dict(profile.files))
            made = self._make(profile)
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it
            with self._lock:
                self._busy[beside] -= 1
                self._settle()
            making.set_exception(error)
        else:
            made.beside = beside
            making.set_result(made)

    def _unwanted(self, making: Future[P]) -> None:
        """Nobody waits any more for what was made: it stays warm."""
        if making.exception() is None:
            self.give_back(making.result())

    def give_back(self, place: P) -> None:
        """The place is free again; a broken one when it has ended."""
        if place.owner != os.getpid():
            return
        with self._lock:
            others = self._quota is not None and self._quota.waiting() > self._asking
            had_turn = others and monotonic() - place.since > _TURN_S
            over = [place] if had_turn or place.spent or not place.healthy else []
            if not over:
                self._idle.append(place)
            self._busy[place.beside] -= 1
            if self._quota is not None:
                over += self._surplus()
            self._ending += len(over)
            self._admit()
        if over:
            _aside(partial(self._end, over))

    def _end(self, places: Sequence[P]) -> None:
        """End places that are counted as ending.  Blocks."""
        for place in places:
            try:
                place.close()
            finally:
                with self._lock:
                    self._ending -= 1
                    self._settle()

    def close(self) -> None:
        """End every idle place; those on lease end when they are given back."""
        if self._owner != os.getpid():
            return
        with self._lock:
            idle = self._idle
            self._idle = deque()
            self._ending += len(idle)
        self._end(idle)

    # -- the quota
    # -----------------------------------------------------------------------------------

    def _take(self, quota: Quota) -> None:
        """Wait for a place; without the quota, as when its server ends, SLOTS is the bound."""
        taken = quota.take()
        with self._lock:
            self._asking -= 1
            self._held += taken
            self._quota = quota if taken else None
            self._admit()
            self._settle()

    def _settle(self) -> None:
        """Return the places that are not used, to who waits longest, and ask for those that are
        lacking.  With the lock.
        """
        while self._quota and self._held > sum(self._busy) + len(self._idle) + self._ending:
            self._held -= 1
            self._quota.give()
        self._admit()
        wanted = sum(self._busy) + sum(map(len, self._waiting))
        while self._quota and self._held + self._asking < wanted:
            self._asking += 1
            Thread(target=self._take, args=[self._quota], daemon=True).start()

    def _follow(self, quota: Quota) -> None:
        """End what has died, what others need, and what nobody does."""
        since = monotonic()
        while quota is self._quota:
            sleep(_TICK_S)
            with self._lock:
                over = [place for place in self._idle if not place.fresh()]
                for place in over:
                    self._idle.remove(place)
                # More would be for programs that were admitted and have not taken theirs yet.
                free = sum(self._busy) + len(self._idle) + len(over) <= self._held
                if free and self._idle and quota.waiting() > self._asking:  # of whom we do not know
                    over.append(self._idle.popleft())
                self._low = min(self._low, len(self._idle))
                if free and monotonic() - since > quota.idle_s:
                    while self._low > 0 and quota.spare():
                        self._low -= 1
                        over.append(self._idle.popleft())
                    self._low = len(self._idle)
                    since = monotonic()
                self._ending += len(over)
                self._settle()
            self._end(over)


def _grant(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)


def _aside(work: Callable[[], None]) -> None:
    """Do it without holding up the loop that this may be called on."""
    try:
        Thread(target=work, name="rlenv-sandbox").start()
    except RuntimeError:  # the interpreter ends: there is no loop to hold up
        work()
