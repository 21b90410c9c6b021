"""How long threads stood ready to run and got no processor, from looks now and then.

It serves judge and guest.
"""

from __future__ import annotations

import os
from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_OURS = "/proc/thread-self"


class Delays:
    """Of the threads of a program that one counts which waited longest since the last look.

    What they do to each other is their own doing: of n threads that never stop, on p processors,
    each waits for n - p others in n even on a machine that does nothing else.  The thread that asks
    counts too, for a program may have to wait until it is heard.

    Args:
        together: of several threads, max or sum: sum where they take turns, as those of gVisor's
            kernel and of the program that it serves do.
    """

    def __init__(self, together: Callable[[Iterable[float]], float] = max) -> None:
        self._together = together
        self._seen: dict[str, tuple[float, float]] = {}
        self._looked = monotonic()
        self._processors = len(os.sched_getaffinity(0))

    def since(self, tasks: Iterable[str]) -> float:
        """Seconds since the last look; ``tasks`` are the threads, as folders of /proc."""
        now = monotonic()
        span = now - self._looked
        self._looked = now
        seen = {task: _times(task) for task in tasks}
        ours = _times(_OURS)
        own = ours[1] - self._seen.get(_OURS, ours)[1]
        grown = [self._grown(task, times) for task, times in seen.items()]
        most = self._together([delay for _, delay in grown] or [0.0])
        if self._together is max:
            most = self._of_others(most, span, grown)
        self._seen = {**seen, _OURS: ours}
        return most + own

    def _grown(self, task: str, times: tuple[float, float]) -> tuple[float, float]:
        before = self._seen.get(task, (0.0, 0.0))
        return times[0] - before[0], times[1] - before[1]

    def _of_others(self, most: float, span: float, grown: list[tuple[float, float]]) -> float:
        """``most`` without what threads of the same program made each other wait in ``span``
        seconds.

        The kernel counts a wait when it ends, so only the sum over many threads tells how many were
        busy.
        """
        busy = sum(map(sum, grown)) / span if span > 0 else 0.0
        if busy <= self._processors:
            return most
        return max(0.0, min(most, span) - span * (1 - self._processors / busy))


def _times(task: str) -> tuple[float, float]:
    """Seconds that one thread ran and waited; zeros when it is gone or the kernel does not say."""
    try:
        with open(task + "/schedstat", "rb") as file:
            ran, waited = file.read().split()[:2]
    except (OSError, ValueError):
        return 0.0, 0.0
    return int(ran) / 1e9, int(waited) / 1e9
