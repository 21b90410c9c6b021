"""How long items with a CPU budget were ready to run and got no processor, which is no time of
theirs.

The kernel counts it (/proc/PID/task/*/schedstat, second field: nanoseconds on a run queue; proc(5)
and the kernel's Documentation/scheduler/sched-stats.rst), so that a worker can neither write it nor
hide it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice

from .board import UNCOUNTED, Begun
from .guard import descendants

MOST = 256  # threads that are looked at

Reader = Callable[[int], dict[str, float]]


class Delays:
    """The delays of the items of one worker since they began.

    Of its threads, the one counts that waited longest since the last look: what they do to each
    other is their own doing, and computing in many of them uses up the budget.

    Args:
        read: seconds on a run queue of each thread of a process and of its descendants.
    """

    def __init__(self, read: Reader) -> None:
        self._read = read
        self._threads: dict[str, float] = {}
        self._total = 0.0  # seconds since the first look
        self._began: dict[tuple[int, float], float] = {}  # of each item, the total when it began

    def look(self, pid: int, begun: Sequence[Begun], now: float) -> dict[int, float]:
        """Seconds by item, of those with a budget; others have to keep their deadline."""
        before = self._total
        threads = self._read(pid)
        grown = [seconds - self._threads.get(name, 0.0) for name, seconds in threads.items()]
        self._total += max([0.0, *grown])
        self._threads = threads
        known: dict[tuple[int, float], float] = {}
        for seq, _, _, began, *_ in begun:
            # what came before the last look, or before the item, is no delay of it
            first = max(before, self._total - max(0.0, now - began))
            known[seq, began] = self._began.get((seq, began), first)
        self._began = known
        return {
            seq: self._total - known[seq, began]
            for seq, mark, _, began, _, limit in begun
            if limit != 0.0 or mark <= UNCOUNTED
        }


def seconds_in_queues(pid: int) -> dict[str, float]:
    """Seconds on a run queue, by thread, of a process and its descendants.

    Empty where the kernel does not say.
    """
    found: dict[str, float] = {}
    for one in (pid, *descendants(pid)):
        with suppress(OSError):
            for thread in islice(os.listdir(f"/proc/{one}/task"), MOST - len(found)):
                with suppress(OSError, ValueError, IndexError):
                    found[thread] = _waited(f"/proc/{one}/task/{thread}/schedstat")
    return found


def _waited(path: str) -> float:
    with open(path, "rb") as file:
        return int(file.read().split()[1]) / 1e9
