"""The worker's side of ``values.Report``: a few stores into shared memory, no system call."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from time import monotonic, process_time

from . import board as b

BEAT_SECONDS = 0.05  # how often a loop says that it is not blocked


class SlotReport:
    """One slot of the board.  ``send`` takes a partial result that the board has no room for."""

    __slots__ = (
        "_board",
        "_cpu",
        "_d",
        "_deadline",
        "_grace",
        "_limited",
        "_mark",
        "_q",
        "_send",
        "_seq",
        "blob",
    )

    def __init__(
        self, board: b.Board, slot: int, grace: float, send: Callable[[int, bytes], None]
    ) -> None:
        at = b.FIRST + b.WIDTH * slot
        self._board = board if slot == 0 else None
        self._q, self._d = board.q, board.d
        self._seq, self._mark, self._deadline, self._cpu = (
            at,
            at + b.MARK,
            at + b.DEADLINE,
            at + b.CPU,
        )
        self._grace = grace
        self._send = send
        self._limited = False
        self._limit(0.0)  # the slot may have been another item's
        self.blob: bytes | None = None

    def open(self, seq: int, now: float) -> None:
        """The item ``seq`` begins; order matters, since the caller may look at any time."""
        self._d[self._deadline] = now + self._grace
        self._q[self._mark] = -1
        if self._limited:
            self._limit(0.0)
        if self.blob is not None:
            self.blob = None
            self._q[b.PARTIAL] &= 1
        self._q[self._seq] = seq

    def close(self) -> None:
        """The item ended."""
        self._q[self._seq] = 0

    @property
    def mark(self) -> int:
        return self._q[self._mark]

    def begin(self, seconds: float, mark: int = 0, cpu: float = 0.0) -> None:
        self._d[self._deadline] = monotonic() + seconds
        self._q[self._mark] = mark
        if cpu or self._limited:
            self._limit(cpu)

    def end(self) -> None:
        self._d[self._deadline] = monotonic() + self._grace
        self._q[self._mark] = -1
        if self._limited:
            self._limit(0.0)

    def _limit(self, cpu: float) -> None:
        self._limited = cpu > 0
        self._d[self._cpu] = process_time() + cpu if cpu > 0 else 0.0

    def partial(self, obj: object) -> None:
        blob = pickle.dumps(obj, pickle.HIGHEST_PROTOCOL)
        self.blob = blob
        if self._board is None or not self._board.write_partial(blob):
            if self._board is not None:
                self._q[b.PARTIAL] &= 1
            self._send(self._q[self._seq], blob)
