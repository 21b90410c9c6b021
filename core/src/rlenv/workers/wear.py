"""Whether a worker holds more than it did after its first items, so that a fresh one should go
on.
"""

from __future__ import annotations

import builtins
import math
import os
import signal
import sys

from .guard import children, own_memory
from .wire import WireError

MORE = 64  # descriptors; as many threads and child processes
FIRST_ITEMS = 16  # of a program: what they take, the program needs
LOOK = 0.05  # seconds from one look at the process to the next
_builtins = vars(builtins)
SIGNS = ("[Errno 23]", "[Errno 24]", "can't start new thread")  # ENFILE, EMFILE


class Wear:
    """Of one process since a program was built.

    ``memory`` is its limit in bytes, of which growth may take half; 0 for none.  ``spoilt``: by
    items of another program.
    """

    def __init__(self, memory: int, *, spoilt: bool = False) -> None:
        self._most = MORE, MORE, memory // 2 or math.inf
        self._items = 0
        self._next = 0.0
        self._builtins = _builtins.copy()
        self._values = [*_builtins.values()]
        self._names = [*os.environ]
        self._state = [] if spoilt else self._leavings()

    def count(self, problem: str) -> bool:
        """An item has ended, with this problem if any; whether the worker may have caused it."""
        self._items += 1
        if self._items == 1:
            self._base = _holdings()
        if not problem:
            return False
        return any(sign in problem for sign in SIGNS) or self.is_spoilt() or self._grown()

    def is_spoilt(self) -> bool:
        """Whether an item has left in the interpreter what changes what comes after it."""
        return self._state != self._leavings()

    def repair(self) -> None:
        """Put back the builtins; called first, since without them nothing else can be relied on.

        Raises:
            WireError: when an item had replaced one; it may add others.
        """
        if [*_builtins.values()] == self._values:
            return
        lost = [name for name, value in self._builtins.items() if _builtins.get(name) is not value]
        _builtins.update(self._builtins)
        self._values = [*_builtins.values()]
        if lost:
            self._state = []
            raise WireError(f"the stage replaced builtins: {', '.join(lost)}")

    def look(self, now: float) -> bool:
        """Whether the process has grown too much; looked at now and then."""
        if now < self._next or not self._items:
            return False
        self._next = now + LOOK
        if self._items <= FIRST_ITEMS:
            self._base = _holdings()
        return self._grown()

    def _grown(self) -> bool:
        found = zip(_holdings(), self._base, self._most, strict=True)
        return any(now - before > most for now, before, most in found)

    def _leavings(self) -> list[object]:
        streams = sys.stdin, sys.stdout, sys.stderr, *map(os.path.exists, range(3))  # descriptors
        lost = [name for name in self._names if name not in os.environ]
        alarms = map(signal.getsignal, (signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF))
        return [*map(id, (*sys.meta_path, *sys.path_hooks, *streams, *alarms)), *lost]


def _holdings() -> tuple[int, int, int]:
    """Descriptors, threads with children and orphans, and bytes of memory of this process."""
    try:
        tasks = [*os.listdir("/proc/self/task"), *children(os.getpid()), *children(os.getppid())]
        return len(os.listdir("/proc/self/fd")), len(tasks), own_memory()
    except OSError:  # no descriptor is left to look with, or the system has no such files
        return sys.maxsize, 0, 0
