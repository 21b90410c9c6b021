"""Memory as Triton kernels meet it here: virtual addresses, and every access held against bounds,
poison and races.

A program of a grid runs to its end before the next begins.  Two accesses of different programs to
one element conflict when one of them is a plain write, or one is atomic and the other plain, unless
an atomic with acquire and release has put them in order.  Inside one program what one lane has
written no other lane may read before ``tl.debug_barrier``.  Addresses are drawn: arithmetic leads
from no buffer into another.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rlenv_plugin_cuda.planning.values import SIZES, Trouble

from .races import Buffer, Races

__all__ = ["STORAGE", "Buffer", "Space"]

STORAGE = {
    "f2": "<f2", "bf16": "<u2", "f4": "<f4", "f8": "<f8", "i1": "i1", "i2": "<i2", "i4": "<i4",
    "i8": "<i8", "u1": "u1", "u2": "<u2", "u4": "<u4", "u8": "<u8", "b1": "u1",
}  # fmt: skip
MOST_BYTES = 1 << 28  # of what a plan allocates
_GAP = 1 << 44
_BITS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


class Space:
    """All buffers of one case.

    Args:
        chance: addresses, poison and orders.
    """

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.buffers: list[Buffer] = []
        self._bases: list[int] = []
        self._allocated = 0
        self._next = _GAP + chance.randrange(1 << 40) * 256
        self.races = Races()

    def add(self, buffer: Buffer) -> Buffer:
        """Give a buffer its address."""
        buffer.base = self._next
        buffer.end = buffer.base + buffer.data.size * buffer.item
        self._next = buffer.base + _GAP + self.chance.randrange(1 << 34) * 256
        self.buffers.append(buffer)
        self._bases.append(buffer.base)
        return buffer

    def temporary(self, size: int, code: str) -> Buffer:
        """A new buffer that holds poison."""
        self._allocated += size * SIZES[code]
        if self._allocated > MOST_BYTES:
            raise Trouble("memory", f"arrays of a plan take more than {MOST_BYTES >> 20} MiB")
        data = np.frombuffer(bytearray(self.chance.randbytes(size * SIZES[code])), STORAGE[code])
        return self.add(
            Buffer(f"array {len(self.buffers)}", code, data, writable=True, known=False)
        )

    def launch(self, programs: int) -> None:
        """A launch begins: what came before it is in order with it."""
        for buffer in self.buffers:
            buffer.shadow = None
        self.races.start(programs)

    def load(self, addresses: Any, mask: Any, other: Any, kind: Any) -> Any:
        """What is there; where masked ``other``, or poison where there is none."""
        shape = addresses.shape
        live = np.broadcast_to(mask, shape)
        if other is not None:
            found = np.array(np.broadcast_to(other, shape), kind)
        else:
            found = self._poison(shape, kind, everything=bool(live.all()))
        flat = found.reshape(-1)
        for buffer, lanes, index in self._spots(addresses, live, kind.itemsize, "load"):
            self._known(buffer, index)
            if buffer.writable:
                self.races.reads(buffer, index, lanes)
            flat[lanes] = (
                buffer.data.view(kind)[index] if kind != np.bool_ else buffer.data[index] != 0
            )
        return found

    def store(self, addresses: Any, values: Any, mask: Any) -> None:
        """Write where not masked."""
        values = np.broadcast_to(values, addresses.shape).reshape(-1)
        values = values.view(np.uint8) if values.dtype == np.bool_ else values
        for buffer, lanes, index in self._spots(addresses, mask, values.itemsize, "store"):
            self._writable(buffer)
            self.races.writes(buffer, index, lanes)
            bits = _BITS[buffer.item]
            held = buffer.data.view(bits)
            new = np.ascontiguousarray(values[lanes]).view(bits)
            held[index] = new
            if (held[index] != new).any():
                raise Trouble(
                    "race",
                    "two lanes of one store write different values to an element of"
                    f" `{buffer.name}`",
                )
            if buffer.known is not None:
                buffer.known[index] = True

    def atomic(
        self,
        addresses: Any,
        mask: Any,
        kind: Any,
        change: Callable[[Any, Any], Any],
        *,
        ordered: bool,
    ) -> Any:
        """Change elements one after another, lanes in any order; what stood there.

        Args:
            change: (old values, lanes) -> new values.
            ordered: whether it acquires and releases.
        """
        found = self._poison(addresses.shape, kind, everything=False)
        flat = found.reshape(-1)
        for buffer, lanes, index in self._spots(addresses, mask, kind.itemsize, "atomic"):
            self._writable(buffer)
            self._known(buffer, index)
            one = addresses.size == 1
            if ordered and one:
                self.races.acquire(buffer, int(index[0]))
            self.races.adds(buffer, index)
            held = buffer.data.view(kind)
            for some in self._turns(index):
                old = held[index[some]]
                flat[lanes[some]] = old
                held[index[some]] = change(old, lanes[some])
            if ordered and one:
                self.races.release(buffer, int(index[0]))
        return found

    def _turns(self, index: Any) -> Iterator[Any]:
        """Lanes that touch different elements, together; others one after another."""
        if index.size == 1 or np.unique(index).size == index.size:
            yield slice(None)
            return
        order = np.argsort(index, kind="stable")
        if self.chance.random() < 0.5:
            order = order[::-1]
        ranked = index[order]
        starts = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])
        turn = np.arange(index.size) - np.repeat(starts, np.diff(np.r_[starts, index.size]))
        for number in range(int(turn.max()) + 1):
            yield order[turn == number]

    def _poison(self, shape: Any, kind: Any, *, everything: bool) -> Any:
        if everything:
            return np.empty(shape, kind)
        count = int(np.prod(shape, dtype=np.int64))
        if kind == np.bool_:
            return np.frombuffer(self.chance.randbytes(count), np.uint8).reshape(shape) > 127
        drawn = bytearray(self.chance.randbytes(count * kind.itemsize))
        return np.frombuffer(drawn, kind).reshape(shape)

    def _spots(
        self, addresses: Any, mask: Any, item: int, doing: str
    ) -> Iterator[tuple[Buffer, Any, Any]]:
        """(buffer, lanes, elements) of what is not masked."""
        flat = np.ascontiguousarray(addresses).reshape(-1)
        lanes = np.flatnonzero(np.broadcast_to(mask, addresses.shape).reshape(-1))
        if not lanes.size:
            return
        self.races.clock += 1
        live = flat if lanes.size == flat.size else flat[lanes]
        low = int(live.min())
        high = int(live.max())
        place = bisect_right(self._bases, low) - 1
        if place >= 0 and high < self.buffers[place].end:
            yield self._spot(self.buffers[place], lanes, live, item)
            return
        bases = np.array(self._bases, np.uint64)
        ends = np.array([buffer.end for buffer in self.buffers], np.uint64)
        which = np.searchsorted(bases, live, "right") - 1
        outside = (which < 0) | (live >= ends[np.maximum(which, 0)])
        if outside.any():
            raise Trouble("bounds", self._outside(int(live[outside][0]), doing))
        for place in np.unique(which):
            some = which == place
            yield self._spot(self.buffers[int(place)], lanes[some], live[some], item)

    def _spot(self, buffer: Buffer, lanes: Any, live: Any, item: int) -> tuple[Buffer, Any, Any]:
        if item != buffer.item:
            raise Trouble(
                "type", f"elements of `{buffer.name}` have {buffer.item} bytes, not {item}"
            )
        offsets = (live - np.uint64(buffer.base)).astype(np.int64)
        if (offsets % item).any():
            raise Trouble("alignment", f"an address inside an element of `{buffer.name}`")
        return buffer, lanes, offsets // item

    def _outside(self, address: int, doing: str) -> str:
        if not self.buffers:
            return f"{doing} out of bounds"
        near = min(
            self.buffers,
            key=lambda buffer: min(abs(address - buffer.base), abs(address - buffer.end)),
        )
        if abs(address - near.base) > 1 << 40:
            return f"{doing} at an address that is of no array"
        element = (address - near.base) // near.item
        return (
            f"{doing} out of bounds: element {element} of `{near.name}`, which has {near.data.size}"
        )

    def _known(self, buffer: Buffer, index: Any) -> None:
        if buffer.known is not None and not buffer.known[index].all():
            element = int(index[~buffer.known[index]][0])
            raise Trouble(
                "uninitialized",
                f"element {element} of `{buffer.name}` is read before it is written",
            )

    def _writable(self, buffer: Buffer) -> None:
        if not buffer.writable:
            raise Trouble("input", f"`{buffer.name}` is an input, and is written")
