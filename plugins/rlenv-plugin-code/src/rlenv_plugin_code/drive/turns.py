"""One run at a time on a worker's core, as long as runs are short.

A worker has two places, so that a program that sleeps or computes for long holds up nobody.  Two
short runs at one time only get in each other's way: they share a core, its caches and its wake-ups.
So the second waits for the first, a few milliseconds at most.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary

__all__ = ["PATIENCE_S", "in_turn", "suite_lock"]

PATIENCE_S = 0.006
_queues: WeakKeyDictionary[asyncio.AbstractEventLoop, Turns] = WeakKeyDictionary()
_suites: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


class Turns:
    """Who is at it, and who waits, on one loop."""

    def __init__(self) -> None:
        self.inside = 0
        self.waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> None:
        """Wait until nobody is at it, or for as long as is worth it."""
        if self.inside:
            loop = asyncio.get_running_loop()
            turn = loop.create_future()
            self.waiting.append(turn)
            timer = loop.call_later(PATIENCE_S, _grant, turn)
            try:
                await turn
            finally:
                timer.cancel()
                if turn in self.waiting:
                    self.waiting.remove(turn)
        self.inside += 1

    def leave(self) -> None:
        self.inside -= 1
        if not self.inside and self.waiting:
            _grant(self.waiting.popleft())


def _grant(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)


@asynccontextmanager
async def in_turn() -> AsyncIterator[None]:
    """Hold a turn; whoever says how many places there are (RLENV_SANDBOX_SLOTS) wants all of them
    at work.
    """
    if os.environ.get("RLENV_SANDBOX_SLOTS"):
        yield
        return
    turns = _queues.setdefault(asyncio.get_running_loop(), Turns())
    await turns.enter()
    try:
        yield
    finally:
        turns.leave()


def suite_lock() -> asyncio.Lock:
    """Held by a test suite on trial: a worker has one core, and the clock of a container is too
    coarse to share it.
    """
    return _suites.setdefault(asyncio.get_running_loop(), asyncio.Lock())
