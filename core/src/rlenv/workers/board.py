"""Memory that a worker writes and its caller reads at any time, also after the worker's death.

Cells of 8 bytes.  The first eight are the worker's; then SLOTS times WIDTH, one slot per item in
flight.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import tempfile
from contextlib import suppress

# header cells
REVOKED = 0
CURRENT = 1
BEAT = 2
SEQ, MARK, DEADLINE, BEGAN, BASE, LIMIT = range(6)  # cells of a slot; the last two are CPU seconds
FIRST = 8
WIDTH = 6
SLOTS = 512
UNCOUNTED = -2  # and below: the marks of checks of the empty response, by stages with a budget
LEAST_SHARE = 0.1  # of a CPU: what gets less waits, or the machine is overloaded
Begun = tuple[int, int, float, float, float, float]  # the cells of a slot
SIZE = 8 * (FIRST + WIDTH * SLOTS)

# F_SEAL_FUTURE_WRITE of memfd_create(2): only what is mapped already can be written
FUTURE_WRITE = 0x10


def make() -> int:
    """A file descriptor of a fresh board, without a name."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("rlenv-board", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(fd, SIZE)
        # or a worker could cut it short, and the caller's next look would be a SIGBUS
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
    else:
        fd, path = tempfile.mkstemp()
        os.unlink(path)
        os.ftruncate(fd, SIZE)
    return fd


def seal(fd: int) -> None:
    """In a worker, once it has mapped the board: a write to each of its descriptors does not reach
    it.
    """
    with suppress(OSError, AttributeError):  # of Linux before 5.1 and other systems
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, FUTURE_WRITE)


class Board:
    """One mapping of it: ``q`` and ``d`` are its cells as integers and as floats."""

    __slots__ = ("_map", "d", "q")

    def __init__(self, fd: int) -> None:
        self._map = mmap.mmap(fd, SIZE)
        cells = memoryview(self._map)
        self.q = cells.cast("q")
        self.d = cells.cast("d")

    def begun(self, slots: int = SLOTS) -> list[Begun]:
        """Of every item that has begun and not ended."""
        q = self.q
        d = self.d
        begun = [at for at in range(FIRST, FIRST + WIDTH * slots, WIDTH) if q[at]]
        return [(q[at], q[at + MARK], *d[at + DEADLINE : at + WIDTH]) for at in begun]  # type: ignore[misc]

    def close(self) -> None:
        self.q.release()
        self.d.release()
        self._map.close()
