"""The worker's side of ``values.Report``: a few stores into shared memory, no system call."""

from __future__ import annotations

import os
from _thread import _count
from collections.abc import Callable
from time import monotonic, process_time

from . import board as b
from . import wire
from .board import BASE, BEGAN, DEADLINE, LIMIT, MARK, SEQ

BEAT_SECONDS = 0.05  # how often a loop says that it is not blocked


class SlotReport:
    """One slot of the board.  ``send`` takes a partial result."""

    __slots__ = ("_d", "_grace_period", "_q", "_send", "problem", "worn")

    def __init__(
        self, board: b.Board, slot: int, grace_period: float, send: Callable[[int, bytes], None]
    ) -> None:
        at = b.FIRST + b.WIDTH * slot
        self._q = board.q[at : at + b.WIDTH]
        self._d = board.d[at : at + b.WIDTH]
        self._grace_period = grace_period
        self._send = send

    def open(self, seq: int) -> None:
        """The item ``seq`` begins; order matters, since the caller may look at any time."""
        self.begin(self._grace_period, -1)
        self.problem = ""  # of the value that the runner is about to return
        self.worn = False  # whether this value may be what another item left behind
        self._q[SEQ] = seq

    def close(self) -> None:
        """The item ended."""
        self._q[SEQ] = 0

    @property
    def mark(self) -> int:
        return self._q[MARK]

    def begin(self, seconds: float, mark: int = 0, cpu: float = 0.0) -> None:
        self._d[BEGAN] = now = monotonic()
        self._d[DEADLINE] = now + seconds
        self._q[MARK] = mark
        if cpu:
            self._d[BASE] = own_seconds()
        self._d[LIMIT] = cpu

    def end(self) -> None:
        self._d[BEGAN] = now = monotonic()
        self._d[DEADLINE] = now + self._grace_period
        self._d[LIMIT] = 0.0

    def partial(self, obj: object) -> None:
        self._send(self._q[SEQ], wire.dump(obj))


def crowded() -> bool:
    """Whether this process has other threads or children, which may be what other items left
    behind.
    """
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return _count() > 0
    return True


def own_seconds() -> float:
    """CPU time of this process, its threads and its children, running and waited for.

    Cheap where it has none.
    """
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return process_time() + sum(os.times()[2:4])
    from .process import cpu_seconds

    return cpu_seconds(os.getpid())
