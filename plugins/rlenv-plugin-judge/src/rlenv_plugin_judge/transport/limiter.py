"""Token buckets: so many requests and tokens a minute, over all loops and threads of this
process.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Awaitable, Callable

from .limits import Rate

BURST = 6.0  # seconds whose allowance may be used at once


class Bucket:
    """Fills at ``per_minute / 60`` a second up to BURST seconds' worth (at least 1).

    It may be overdrawn, which is waited for.
    """

    def __init__(self, per_minute: float, clock: Callable[[], float]) -> None:
        self._rate = per_minute / 60.0
        self._size = max(1.0, self._rate * BURST)
        self._level = self._size
        self._clock = clock
        self._at = clock()

    def take(self, amount: float) -> float:
        """Take ``amount``; the seconds until it is really there."""
        now = self._clock()
        self._level = min(self._size, self._level + (now - self._at) * self._rate)
        self._at = now
        self._level -= amount
        return max(0.0, -self._level / self._rate)

    def give(self, amount: float) -> None:
        """Give back what was not used; a negative amount is used up on top."""
        self._level = min(self._size, self._level + amount)


class Limiter:
    def __init__(
        self,
        rate: Rate,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._lock = threading.Lock()
        os.register_at_fork(after_in_child=self._lock._at_fork_reinit)  # type: ignore[attr-defined]
        self._requests = None if rate.requests is None else Bucket(rate.requests, clock)
        self._tokens = None if rate.tokens is None else Bucket(rate.tokens, clock)
        self._sleep = sleep

    async def enter(self, tokens: int) -> None:
        """Wait for one request of about so many tokens."""
        if self._requests is None and self._tokens is None:
            return
        with self._lock:
            wait = max(
                self._requests.take(1) if self._requests else 0.0,
                self._tokens.take(tokens) if self._tokens else 0.0,
            )
        if wait <= 0:
            return
        try:
            await self._sleep(wait)
        except BaseException:
            with self._lock:
                if self._requests:
                    self._requests.give(1)
                if self._tokens:
                    self._tokens.give(tokens)
            raise

    def settle(self, tokens: int, used: int) -> None:
        """It took ``used`` tokens where ``tokens`` were expected."""
        if self._tokens:
            with self._lock:
                self._tokens.give(tokens - used)
