"""Which endpoint to ask: the first that is well.

A dead one rests and is tried by one call at a time.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from attrs import define

from .endpoint import Endpoint

REST = 5.0  # seconds of the first rest; doubles up to LONGEST
LONGEST = 300.0
IN_A_ROW = 3  # failed calls without a good one between them


@define
class _State:
    failures: int = 0
    rest: float = 0.0
    until: float = 0.0
    falls: int = 0


class Health:
    def __init__(
        self, endpoints: Sequence[Endpoint], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.endpoints = tuple(endpoints)
        self._states = [_State() for _ in endpoints]
        self._clock = clock
        self._lock = threading.Lock()
        os.register_at_fork(after_in_child=self._lock._at_fork_reinit)  # type: ignore[attr-defined]

    def candidates(self) -> Iterator[int]:
        """Indexes of the endpoints to ask in turn.

        One whose rest is over is handed to one caller.
        """
        for i, state in enumerate(self._states):
            with self._lock:
                now = self._clock()
                if state.until > now:
                    continue
                if state.rest:
                    state.until = now + state.rest
            yield i

    def falls(self, i: int) -> int:
        """How often it was sent to rest; more than before means that asking on is in vain."""
        return self._states[i].falls

    def good(self, i: int) -> None:
        """It answered."""
        state = self._states[i]
        if state.failures or state.rest:
            with self._lock:
                state.failures = 0
                state.rest = 0.0
                state.until = 0.0

    def failed(self, i: int, rest: str, seen: int) -> None:
        """A call failed; ``rest`` is "now", "soon" or "".

        ``seen`` is ``falls(i)`` from when the call began.
        """
        state = self._states[i]
        with self._lock:
            if not rest or state.falls != seen:
                return  # a call that was under way when it fell says nothing new
            state.failures += 1
            if rest == "soon" and state.failures < IN_A_ROW and not state.rest:
                return
            state.rest = min(LONGEST, state.rest * 2) if state.rest else REST
            state.until = self._clock() + state.rest
            state.falls += 1
            state.failures = 0

    def wait(self) -> float:
        """Seconds until the next endpoint may be tried."""
        return max(0.0, min(s.until for s in self._states) - self._clock())
