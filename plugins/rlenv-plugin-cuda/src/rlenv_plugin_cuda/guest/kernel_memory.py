"""Memory of kernels, element by element: what may be touched, what was written, and who raced whom.

Every buffer of a launch knows, per element, whether it was ever written and which threads read,
wrote or atomically changed it since the launch began.  Two accesses of different threads conflict
when one of them is a plain write, or one is atomic and the other is not, and nothing orders them:
they are of different blocks, or of one block with no barrier between, or of one warp with no warp
barrier either.
"""

from __future__ import annotations

import math

from kernel_row import Row
from kernel_store import CODES, rounded, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, MutableSequence

    from kernel_row import Index, Number

__all__ = ["WARP", "Broken", "Buffer", "Clock", "Input", "Local"]

WARP = 32


class Broken(Exception):
    """The kernel did what no kernel may; the launch ends here."""

    def __init__(self, what: str, said: str) -> None:
        self.what = what
        self.said = said
        self.line = 0  # 0: where it was raised
        super().__init__(said)


class Clock:
    """Who is running, and since which barriers: written by the scheduler, read by every access.

    Attributes:
        thread: number of the thread within the launch, blocks after one another.
        block: number of its block.
        epoch: counts barriers over all blocks, so that no two blocks share one.
        warp_epoch: counts the warp barriers of the running warp in this epoch.
        first: the first epoch of the running block.
        now: (thread, epoch, warp_epoch): one object as long as none of them changes.
        per_block: threads of a block.
        races: what was found, at most one a buffer.
    """

    __slots__ = ("block", "epoch", "first", "now", "per_block", "races", "thread", "warp_epoch")

    def __init__(self) -> None:
        self.thread = self.block = self.epoch = self.first = self.warp_epoch = 0
        self.now = (0, 0, 0)
        self.per_block = 1
        self.races: dict[str, str] = {}

    def turn(self, thread: int) -> None:
        """This thread goes on."""
        self.thread = thread
        self.now = (thread, self.epoch, self.warp_epoch)

    def ordered(self, thread: int, epoch: int, warp_epoch: int) -> bool:
        """Whether an access of then cannot meet one of the running thread, now."""
        if thread == self.thread:
            return True
        if thread // self.per_block != self.block:
            return False
        if epoch != self.epoch:
            return True
        first = self.block * self.per_block
        same_warp = (thread - first) // WARP == (self.thread - first) // WARP
        return same_warp and warp_epoch != self.warp_epoch

    def name(self, thread: int) -> str:
        return f"thread {thread % self.per_block} of block {thread // self.per_block}"


class Input:
    """An array that is only read: bounds are checked, nothing else can go wrong."""

    __slots__ = ("clock", "data", "dtype", "name", "ndim", "shape", "size", "steps")

    def __init__(
        self,
        name: str,
        dtype: str,
        shape: tuple[int, ...],
        data: MutableSequence[Number],
        clock: Clock,
    ) -> None:
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self.ndim = len(shape)
        self.data = data
        self.clock = clock
        steps = []
        step = 1
        for extent in reversed(shape):
            steps.append(step)
            step *= extent
        self.steps = tuple(reversed(steps))
        self.size = step

    def __len__(self) -> int:
        return self.shape[0] if self.shape else 1

    def at(self, index: Index) -> int:
        """The place of an element.

        Raises:
            Broken: outside, negative, of another rank, or no integer.
        """
        if index.__class__ is tuple and self.ndim == 2 and len(index) == 2:
            i, j = index
            rows, columns = self.shape
            if i.__class__ is int and j.__class__ is int and 0 <= i < rows and 0 <= j < columns:
                return i * columns + j
        indices = index if index.__class__ is tuple else (index,)
        if len(indices) != self.ndim:
            raise Broken(
                "index",
                f"{self.name} has {self.ndim} dimensions and is indexed with {len(indices)}",
            )
        place = 0
        for i, extent, step in zip(indices, self.shape, self.steps):
            if i.__class__ is not int and i.__class__ is not bool:
                raise Broken(
                    "index", f"{self.name} is indexed with {i!r:.40}, which is not an integer"
                )
            if not 0 <= i < extent:
                where = "before its beginning" if i < 0 else f"beyond its extent of {extent}"
                raise Broken("bounds", f"{self.name}[{_shown(index)}] is {where} ({self._who()})")
            place += i * step
        return place

    def _fewer(self, index: Index) -> bool:
        return (len(index) if index.__class__ is tuple else 1) < self.ndim

    def _row(self, index: Index) -> Row:
        return Row(self, index if index.__class__ is tuple else (index,))

    def _who(self) -> str:
        return self.clock.name(self.clock.thread)

    def __getitem__(self, index: Index) -> Number:
        if index.__class__ is int and self.ndim == 1 and 0 <= index < self.size:
            return self.data[index]
        if self._fewer(index):
            return self._row(index)
        return self.data[self.at(index)]

    def __setitem__(self, index: Index, value: Number) -> None:
        self.at(index)
        raise Broken("input", f"{self.name} is an input, and is written ({self._who()})")

    def __bool__(self) -> bool:
        raise Broken("type", f"{self.name} is an array and has no truth")


def _shown(index: Index) -> str:
    return ", ".join(map(str, index)) if isinstance(index, tuple) else str(index)


class Buffer(Input):
    """An array that is read and written: outputs, temporaries, shared memory."""

    __slots__ = ("atomics", "init", "reads", "scalar", "second", "writes")

    def __init__(
        self,
        name: str,
        dtype: str,
        shape: tuple[int, ...],
        data: MutableSequence[Number],
        clock: Clock,
        *,
        known: bool,
    ) -> None:
        super().__init__(name, dtype, shape, data, clock)
        self.init = bytearray(b"\1" if known else b"\0") * self.size
        self.scalar = dtype in CODES and dtype != "b1"
        self.forget()

    def forget(self) -> None:
        """Begin a launch: what was accessed before is ordered before everything in it."""
        self.writes: dict[int, tuple[int, int, int]] = {}
        self.reads: dict[int, tuple[int, int, int]] = {}
        self.second: dict[int, tuple[int, int, int]] = {}
        self.atomics: dict[int, list[tuple[int, int, int]]] = {}

    def __getitem__(self, index: Index) -> Number:
        if index.__class__ is int and self.ndim == 1 and 0 <= index < self.size:
            place = index
        elif index.__class__ is tuple and len(index) == self.ndim == 2:
            i, j = index
            rows, columns = self.shape
            if i.__class__ is int and j.__class__ is int and 0 <= i < rows and 0 <= j < columns:
                place = i * columns + j
            else:
                place = self.at(index)
        elif self._fewer(index):
            return self._row(index)
        else:
            place = self.at(index)
        if not self.init[place]:
            raise self._unwritten(place, "is read")
        clock = self.clock
        now = clock.now
        last = self.writes.get(place)
        if (
            last is not None
            and last[0] != now[0]
            and (last[1] == now[1] or last[1] < clock.first)
            and not clock.ordered(*last)
        ):
            self._race(place, "is read", last, "wrote it")
        if self.atomics:
            self._against_atomics(place, "is read")
        first = self.reads.get(place)
        if first is None or (first[1] != now[1] and first[1] >= clock.first):
            self.reads[place] = now
        elif first is not now:
            self._note_read(place, now)
        return self.data[place]

    def _unwritten(self, place: int, doing: str) -> Broken:
        where = f"{self.name}[{self._index(place)}]"
        return Broken("uninitialized", f"{where} {doing} and was never written ({self._who()})")

    def _note_read(self, place: int, now: tuple[int, int, int]) -> None:
        """Keep two readers that between them conflict with every writer that any reader conflicts
        with.
        """
        first = self.reads.get(place)
        if first is None or first[0] == now[0] or self._superseded(first, now):
            self.reads[place] = now
            return
        self.second[place] = now

    def _superseded(self, then: tuple[int, int, int], now: tuple[int, int, int]) -> bool:
        per_block = self.clock.per_block
        return then[1] != now[1] and then[0] // per_block == now[0] // per_block

    def __setitem__(self, index: Index, value: Number) -> None:
        place = (
            index
            if index.__class__ is int and self.ndim == 1 and 0 <= index < self.size
            else self.at(index)
        )
        now = self.clock.now
        if self.writes.get(place) is not now or place in self.reads:
            self._against_plain(place, "is written", "")
        if self.atomics:
            self._against_atomics(place, "is written")
        self.writes[place] = now
        self.init[place] = 1
        self.put(place, value)

    def _against_plain(self, place: int, doing: str, more: str) -> None:
        clock = self.clock
        for log, did in (
            (self.writes, "wrote it"),
            (self.reads, "read it"),
            (self.second, "read it"),
        ):
            last = log.get(place)
            if last is not None and last[0] != clock.thread and not clock.ordered(*last):
                self._race(place, doing, last, did + more)

    def put(self, place: int, value: Number) -> None:
        """Store a number as the type keeps it."""
        if self.scalar:
            try:
                self.data[place] = value
                return
            except (OverflowError, TypeError):
                pass
        self.data[place] = self.kept(value)

    def kept(self, value: Number) -> Number:
        """A number as the array's type holds it.

        Raises:
            Broken: what is not a number.
        """
        kind = value.__class__
        if kind not in (int, float, bool, complex):
            raise Broken("type", f"{self.name} is given a {kind.__name__}, which is not a number")
        if self.dtype[0] == "c":
            return rounded(complex(value), "c8") if self.dtype == "c8" else complex(value)
        if kind is complex:
            raise Broken("type", f"{self.name} is real, and is given a complex number")
        if self.dtype == "b1":
            return int(bool(value))
        if self.dtype[0] in "iu":
            if kind is float:
                if math.isnan(value) or value in (float("inf"), float("-inf")):
                    raise Broken("type", f"{self.name} holds integers, and is given {value}")
                value = int(value)
            return wrap(int(value), self.dtype)
        return float(value) if self.dtype == "f8" else rounded(value, self.dtype)

    def change(
        self, index: Index, value: Number, how: Callable[[Number, Number], Number]
    ) -> Number:
        """Atomically replace an element by ``how(old, value)``; the old one."""
        place = self.at(index)
        self._against_plain(place, "is changed atomically", " without an atomic")
        if not self.init[place]:
            raise self._unwritten(place, "is changed atomically")
        self._note_atomic(place, self.clock.now)
        old = self.data[place]
        self.put(place, how(old, self.kept(value)))
        return old

    def _note_atomic(self, place: int, now: tuple[int, int, int]) -> None:
        kept = self.atomics.setdefault(place, [])
        if not kept or kept[0][0] == now[0] or self._superseded(kept[0], now):
            kept[:1] = [now]
        else:
            kept[1:] = [now]

    def _against_atomics(self, place: int, doing: str) -> None:
        for last in self.atomics.get(place, ()):
            if last[0] != self.clock.thread and not self.clock.ordered(*last):
                self._race(place, doing, last, "changed it atomically")

    def _race(self, place: int, doing: str, last: tuple[int, int, int], did: str) -> None:
        clock = self.clock
        if self.name not in clock.races:
            other = clock.name(last[0])
            clock.races[self.name] = (
                f"{self.name}[{self._index(place)}] {doing} by {self._who()}, and {other} {did}"
                " with nothing between"
            )

    def _index(self, place: int) -> str:
        parts = []
        for step in self.steps:
            parts.append(str(place // step))
            place %= step
        return ", ".join(parts)


class Local(Buffer):
    """An array of one thread alone: nobody races it."""

    __slots__ = ()

    def __getitem__(self, index: Index) -> Number:
        if self._fewer(index):
            return self._row(index)
        place = self.at(index)
        if not self.init[place]:
            raise self._unwritten(place, "is read")
        return self.data[place]

    def __setitem__(self, index: Index, value: Number) -> None:
        place = self.at(index)
        self.init[place] = 1
        self.put(place, value)
