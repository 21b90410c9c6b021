"""Owners of the steps of an event loop: those of each call of an async tool are timed.

A step that does not await blocks its loop, and with it every other call there. That time is not
theirs: their deadlines exclude it, and the tool of the call that blocks is the one that is moved to
threads.
"""

from __future__ import annotations

import asyncio
import types
from collections.abc import Coroutine, Generator, Hashable
from time import monotonic
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")
LONG = 0.05  # seconds; shorter steps are no block


class Owner:
    """One call that owns steps.

    Args:
        tool: what it is a call of.
    """

    def __init__(self, tool: Hashable) -> None:
        # seconds of its long steps that have ended
        self.tool = tool
        self.blocked = 0.0


class LoopWatch:
    """Watches the long steps on one event loop; written by the thread of the loop, and read by
    others.
    """

    def __init__(self) -> None:
        self._blocked = 0.0  # seconds of all long steps that have ended
        self._running: tuple[Owner, float] | None = None  # whose step runs, and since when

    @property
    def owner(self) -> Owner | None:
        """Return the call whose step runs now."""
        running = self._running
        return None if running is None else running[0]

    def running(self) -> tuple[Owner | None, float]:
        """Return the call whose step runs now, and for how many seconds; 0.0 for a short step."""
        running = self._running
        if running is None:
            return None, 0.0
        seconds = monotonic() - running[1]
        return running[0], seconds if seconds > LONG else 0.0

    def foreign(self, owner: Owner) -> float:
        """Return the seconds in which other calls than this one have blocked the loop since it
        exists.
        """
        current, seconds = self.running()
        return self._blocked - owner.blocked + (0.0 if current is owner else seconds)

    def begin(self, owner: Owner) -> tuple[Owner, float] | None:
        """A step of this call begins; returns what ran around it, for ``end``."""
        outer = self._running
        self._running = (owner, monotonic())
        return outer

    def end(self, owner: Owner, outer: tuple[Owner, float] | None) -> None:
        """The step is over.

        Args:
            owner: of the step.
            outer: that ``begin`` returned.
        """
        assert self._running is not None
        seconds = monotonic() - self._running[1]
        self._running = outer
        if seconds > LONG:
            owner.blocked += seconds
            self._blocked += seconds


_watches: WeakKeyDictionary[asyncio.AbstractEventLoop, LoopWatch] = WeakKeyDictionary()


def watch_of(loop: asyncio.AbstractEventLoop) -> LoopWatch:
    """Return the watch of a loop; the same each time."""
    return _watches.setdefault(loop, LoopWatch())


async def time_steps(work: Coroutine[Any, Any, T], owner: Owner, watch: LoopWatch) -> T:
    """Await ``work`` and time its steps.

    Args:
        work: of the call.
        owner: the call.
        watch: of the loop that this runs on.
    """
    return await _steps(work, owner, watch)


@types.coroutine
def _steps(work: Coroutine[Any, Any, T], owner: Owner, watch: LoopWatch) -> Generator[Any, Any, T]:
    """Do what ``yield from work`` does, with a clock around each step."""
    value: object = None
    error: BaseException | None = None
    while True:
        outer = watch.begin(owner)
        try:
            awaited = work.send(value) if error is None else work.throw(error)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return] # what the work returns
        finally:
            watch.end(owner, outer)
        value = error = None
        try:
            value = yield awaited
        except BaseException as raised:  # noqa: BLE001 - the work decides
            error = raised


def own_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """Let tasks that a call begins on this loop belong to the call.

    Args:
        loop: of rlenv, not of the caller.
    """
    watch = watch_of(loop)

    def make(on: asyncio.AbstractEventLoop, work: Any, **given: Any) -> asyncio.Task[Any]:
        owner = watch.owner
        if owner is not None and asyncio.iscoroutine(work):
            work = time_steps(work, owner, watch)
        return asyncio.Task(work, loop=on, **given)

    loop.set_task_factory(make)
