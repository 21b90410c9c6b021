"""Who touched which element when, within a launch, and what of that is a race."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlenv_plugin_cuda.planning.values import SIZES, Trouble

__all__ = ["Buffer", "Races"]

MOST_PROGRAMS = 1 << 13  # of a launch whose order by atomics is followed
_NEVER = np.zeros(1, np.bool_)


class Buffer:
    """One array.

    Args:
        name: for messages.
        code: of ``STORAGE``.
        data: its elements, in one dimension.
        writable: whether kernels may write it.
        known: whether it holds something yet.
    """

    def __init__(self, name: str, code: str, data: Any, *, writable: bool, known: bool) -> None:
        self.name = name
        self.code = code
        self.data = data
        self.writable = writable
        self.known: Any = None if known else np.zeros(data.size, np.bool_)
        self.base = 0
        self.end = 0
        self.item = SIZES[code]
        self.shadow: _Shadow | None = None


class _Shadow:
    """Who touched each element of a buffer last in this launch, and when; -1: nobody."""

    def __init__(self, size: int) -> None:
        self.writer = np.full(size, -1, np.int32)
        self.write_time = np.zeros(size, np.int64)
        self.lane = np.zeros(size, np.int32)
        self.reader = np.full(size, -1, np.int32)
        self.read_time = np.zeros(size, np.int64)
        self.readers = np.zeros(size, np.bool_)
        self.read_lane = np.zeros(size, np.int32)
        self.adder = np.full(size, -1, np.int32)
        self.add_time = np.zeros(size, np.int64)
        self.adders = np.zeros(size, np.bool_)


class Races:
    """The accesses of one launch; the program that runs, and what it has seen of others."""

    def __init__(self) -> None:
        self.program = 0
        self.clock = 0
        self._programs = 0
        self._barrier = 0
        self._seen: Any = None
        self._released: dict[tuple[str, int], Any] = {}

    def start(self, programs: int) -> None:
        """A launch of so many programs begins: what came before it is in order with it."""
        self._programs = programs
        self._released.clear()

    def begin(self, program: int) -> None:
        """The next program of the grid begins."""
        self.program = program
        self.clock += 1
        self._barrier = self.clock
        self._seen = None

    def barrier(self) -> None:
        """All lanes of a program see what all have written."""
        self.clock += 1
        self._barrier = self.clock

    def _others(self, who: Any, when: Any, several: Any) -> Any:
        """Where somebody else was last, and nothing puts that before us."""
        mine = self.program
        if self._seen is None:
            return ((who != mine) & (who >= 0)) | (several & (who >= 0))
        return (who != mine) & (who >= 0) & (when > self._seen[np.maximum(who, 0)])

    def _near(self, who: Any, when: Any, lane: Any, index: Any, lanes: Any) -> Any:
        """Where another lane of this program was last, since the last barrier."""
        since = (who[index] == self.program) & (when[index] > self._barrier)
        return since & (lane[index] != lanes)

    def _race(self, buffer: Buffer, index: Any, bad: Any, said: str) -> None:
        if bad.any():
            raise Trouble("race", f"{said} element {int(index[bad][0])} of `{buffer.name}`")

    def _shadow(self, buffer: Buffer) -> _Shadow:
        if buffer.shadow is None:
            buffer.shadow = _Shadow(buffer.data.size)
        return buffer.shadow

    def reads(self, buffer: Buffer, index: Any, lanes: Any) -> None:
        """Plain reads of elements by lanes."""
        shadow = self._shadow(buffer)
        writer = shadow.writer[index]
        when = shadow.write_time[index]
        self._race(
            buffer,
            index,
            self._others(writer, when, _NEVER),
            "one program writes and another reads",
        )
        near = self._near(shadow.writer, shadow.write_time, shadow.lane, index, lanes)
        self._race(
            buffer,
            index,
            near,
            "one lane writes and another reads, with no tl.debug_barrier between,",
        )
        added = self._others(shadow.adder[index], shadow.add_time[index], shadow.adders[index])
        self._race(buffer, index, added, "one program changes atomically and another reads plainly")
        last = shadow.reader[index]
        shadow.readers[index] |= (last >= 0) & (last != self.program)
        shadow.reader[index] = self.program
        shadow.read_time[index] = self.clock
        shadow.read_lane[index] = lanes

    def writes(self, buffer: Buffer, index: Any, lanes: Any) -> None:
        """Plain writes of elements by lanes."""
        shadow = self._shadow(buffer)
        wrote = self._others(shadow.writer[index], shadow.write_time[index], _NEVER)
        self._race(buffer, index, wrote, "two programs write")
        read = self._others(shadow.reader[index], shadow.read_time[index], shadow.readers[index])
        self._race(buffer, index, read, "one program reads and another writes")
        added = self._others(shadow.adder[index], shadow.add_time[index], shadow.adders[index])
        self._race(
            buffer, index, added, "one program changes atomically and another writes plainly"
        )
        twice = self._near(shadow.writer, shadow.write_time, shadow.lane, index, lanes)
        self._race(buffer, index, twice, "two lanes write, with no tl.debug_barrier between,")
        after = self._near(shadow.reader, shadow.read_time, shadow.read_lane, index, lanes)
        said = "one lane reads and another writes, with no tl.debug_barrier between,"
        self._race(buffer, index, after, said)
        shadow.writer[index] = self.program
        shadow.write_time[index] = self.clock
        shadow.lane[index] = lanes
        for who, several in ((shadow.reader, shadow.readers), (shadow.adder, shadow.adders)):
            who[index] = -1
            several[index] = False

    def adds(self, buffer: Buffer, index: Any) -> None:
        """Atomic changes of elements."""
        shadow = self._shadow(buffer)
        wrote = self._others(shadow.writer[index], shadow.write_time[index], _NEVER)
        self._race(
            buffer, index, wrote, "one program writes plainly and another changes atomically"
        )
        read = self._others(shadow.reader[index], shadow.read_time[index], shadow.readers[index])
        self._race(buffer, index, read, "one program reads plainly and another changes atomically")
        last = shadow.adder[index]
        shadow.adders[index] |= (last >= 0) & (last != self.program)
        shadow.adder[index] = self.program
        shadow.add_time[index] = self.clock

    def acquire(self, buffer: Buffer, element: int) -> None:
        """See what has been released here."""
        found = self._released.get((buffer.name, element))
        if found is not None:
            self._seen = found.copy() if self._seen is None else np.maximum(self._seen, found)

    def release(self, buffer: Buffer, element: int) -> None:
        """Let others see what this program has done and seen."""
        if self._programs > MOST_PROGRAMS:
            return
        old = self._released.get((buffer.name, element))
        new = np.zeros(self._programs, np.int64) if old is None else old
        if self._seen is not None:
            new = np.maximum(new, self._seen)
        new[self.program] = self.clock
        self._released[buffer.name, element] = new
