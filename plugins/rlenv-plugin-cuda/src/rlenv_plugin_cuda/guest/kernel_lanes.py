"""One thread of a launch as its code sees it, and what the threads of a block share."""

from __future__ import annotations

import math

from kernel_memory import WARP, Broken, Buffer, Clock, Local
from kernel_store import SIZES, storage

TYPE_CHECKING = False
if TYPE_CHECKING:
    import random

__all__ = ["FULL", "Block", "Shape", "Thread"]

LOCAL_BYTES = 512 << 10
FULL = 0xFFFFFFFF


class Shape:
    """Blocks and threads of a launch, three numbers each."""

    def __init__(
        self, grid: tuple[int, int, int], block: tuple[int, int, int], dynamic: int = 0
    ) -> None:
        self.grid = grid
        self.block = block
        self.dynamic = dynamic
        self.blocks = grid[0] * grid[1] * grid[2]
        self.threads = block[0] * block[1] * block[2]


class Block:
    """What the threads of one block share."""

    def __init__(
        self, clock: Clock, shape: Shape, shared_limit: int, poison: random.Random
    ) -> None:
        self.clock = clock
        self.shape = shape
        self.poison = poison
        self.limit = shared_limit
        self.shared: dict[str, Buffer] = {}
        self.used = 0

    def array(self, site: str, extents: tuple[int, ...], dtype: str) -> Buffer:
        found = self.shared.get(site)
        if found is not None:
            return found
        if extents == (0,):
            extents = (self.shape.dynamic // SIZES[dtype],)
        size = math.prod(extents)
        self.used += size * SIZES[dtype]
        if self.used > self.limit:
            raise Broken(
                "shared", f"{self.used} bytes of shared memory, and {self.limit} are allowed"
            )
        data = storage(dtype, size, self.poison.randbytes(size * SIZES[dtype]))
        made = Buffer(f"shared memory of {site}", dtype, extents, data, self.clock, known=False)
        self.shared[site] = made
        return made


class Thread:
    """One thread as its code sees it: ``_c``."""

    __slots__ = (
        "_block", "_locals", "_used", "bx", "by", "bz", "gx", "gy", "gz", "laneid", "number", "nx",
        "ny", "nz", "tx", "ty", "tz", "warp", "warpsize",
    )  # fmt: skip

    def __init__(self, block: Block, at: tuple[int, int, int], place: int) -> None:
        shape = block.shape
        self.bx, self.by, self.bz = at
        self.nx, self.ny, self.nz = shape.block
        self.gx, self.gy, self.gz = shape.grid
        self.tx = place % self.nx
        self.ty = place // self.nx % self.ny
        self.tz = place // (self.nx * self.ny)
        self.number = block.clock.block * shape.threads + place
        self.laneid = place % WARP
        self.warp = place // WARP
        self.warpsize = WARP
        self._block = block
        self._locals: dict[str, Local] = {}
        self._used = 0

    def grid(self, ndim: int) -> int | tuple[int, ...]:
        x = self.bx * self.nx + self.tx
        if ndim == 1:
            return x
        y = self.by * self.ny + self.ty
        return (x, y) if ndim == 2 else (x, y, self.bz * self.nz + self.tz)

    def gridsize(self, ndim: int) -> int | tuple[int, ...]:
        sizes = (self.gx * self.nx, self.gy * self.ny, self.gz * self.nz)
        return sizes[0] if ndim == 1 else sizes[:ndim]

    def shared(self, site: str, extents: object, dtype: object) -> Buffer:
        return self._block.array(site, _extents(extents, empty=True), _dtype(dtype))

    def local(self, site: str, extents: object, dtype: object) -> Local:
        shape = _extents(extents)
        name = _dtype(dtype)
        size = math.prod(shape)
        found = self._locals.get(site)
        if found is None:
            self._used += size * SIZES[name]
            if self._used > LOCAL_BYTES:
                raise Broken("local", f"{self._used} bytes of local memory for one thread")
            found = Local(
                f"local memory of {site}",
                name,
                shape,
                storage(name, size),
                self._block.clock,
                known=False,
            )
            self._locals[site] = found
        return found

    def fence(self) -> None:
        """Orders memory for others; who reads without a barrier races all the same."""

    def activemask(self) -> int:
        return FULL

    # -- numbers

    def popc(self, x: int) -> int:
        return (x & ((1 << 64) - 1)).bit_count()

    def clz(self, x: int) -> int:
        bits = 64 if not -(1 << 31) <= x < 1 << 32 else 32
        return bits - (x & ((1 << bits) - 1)).bit_length()

    def ffs(self, x: int) -> int:
        return (x & -x).bit_length()

    def brev(self, x: int) -> int:
        return int(f"{x & FULL:032b}"[::-1], 2)

    def selp(self, condition: object, a: object, b: object) -> object:
        return a if condition else b

    def cbrt(self, x: float) -> float:
        return math.copysign(abs(x) ** (1 / 3), x)

    def rsqrt(self, x: float) -> float:
        if x > 0:
            return 1 / math.sqrt(x)
        return math.inf if x == 0 else math.nan

    # -- atomics

    def atomic_add(self, array: object, index: object, value: object) -> object:
        return _buffer(array).change(index, value, lambda old, new: old + new)

    def atomic_sub(self, array: object, index: object, value: object) -> object:
        return _buffer(array).change(index, value, lambda old, new: old - new)

    def atomic_max(self, array: object, index: object, value: object) -> object:
        return _buffer(array).change(
            index, value, lambda old, new: old if math.isnan(new) or old >= new else new
        )

    def atomic_min(self, array: object, index: object, value: object) -> object:
        return _buffer(array).change(
            index, value, lambda old, new: old if math.isnan(new) or old <= new else new
        )

    atomic_nanmax = atomic_max
    atomic_nanmin = atomic_min

    def atomic_exch(self, array: object, index: object, value: object) -> object:
        return _buffer(array).change(index, value, lambda _, new: new)

    def atomic_cas(self, array: object, index: object, old: object, value: object) -> object:
        buffer = _buffer(array)
        old = getattr(buffer, "of", buffer).kept(old)
        return buffer.change(index, value, lambda was, new: new if was == old else was)

    def atomic_compare_and_swap(self, array: object, old: object, value: object) -> object:
        return self.atomic_cas(array, 0, old, value)

    def atomic_inc(self, array: object, index: object, value: object) -> object:
        return _buffer(array).change(index, value, lambda old, most: 0 if old >= most else old + 1)

    def atomic_dec(self, array: object, index: object, value: object) -> object:
        return _buffer(array).change(
            index, value, lambda old, most: most if old == 0 or old > most else old - 1
        )

    def atomic_and_(self, array: object, index: object, value: object) -> object:
        return _buffer(array).change(index, value, lambda old, new: old & new)

    def atomic_or_(self, array: object, index: object, value: object) -> object:
        return _buffer(array).change(index, value, lambda old, new: old | new)

    def atomic_xor(self, array: object, index: object, value: object) -> object:
        return _buffer(array).change(index, value, lambda old, new: old ^ new)


def _buffer(thing: object) -> Buffer:
    if not isinstance(getattr(thing, "of", thing), Buffer):
        name = getattr(thing, "name", "that")
        raise Broken("input", f"{name} is an input, and is changed atomically")
    return thing


def _extents(given: object, *, empty: bool = False) -> tuple[int, ...]:
    extents = given if given.__class__ is tuple else (given,)
    least = 0 if empty and extents == (0,) else 1
    if not all(e.__class__ is int and e >= least for e in extents):
        raise Broken("shape", f"{given!r:.60} is no shape of an array")
    return extents


def _dtype(given: object) -> str:
    name = getattr(given, "dtype", None)
    if not isinstance(name, str):
        raise Broken("type", f"{given!r:.40} is no type of an array")
    return name
