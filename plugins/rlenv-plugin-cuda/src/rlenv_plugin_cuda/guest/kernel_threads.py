"""Threads of a launch: blocks one after another, the threads of a block in rounds from barrier to barrier."""

from __future__ import annotations

import math
import random

from kernel_memory import WARP, Broken, Buffer, Clock, Local
from kernel_store import SIZES, storage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

__all__ = ["GRID_LIMITS", "Block", "Shape", "Thread", "run_launch"]

THREADS = 1024
BLOCK_LIMITS = (1024, 1024, 64)
GRID_LIMITS = ((1 << 31) - 1, 65535, 65535)
LOCAL_BYTES = 512 << 10
FULL = 0xFFFFFFFF


class Shape:
    """Blocks and threads of a launch, three numbers each."""

    def __init__(
        self, grid: tuple[int, int, int], block: tuple[int, int, int], dynamic: int = 0
    ) -> None:
        self.grid, self.block, self.dynamic = grid, block, dynamic
        self.blocks = grid[0] * grid[1] * grid[2]
        self.threads = block[0] * block[1] * block[2]


class Block:
    """What the threads of one block share."""

    def __init__(
        self, clock: Clock, shape: Shape, shared_limit: int, poison: random.Random
    ) -> None:
        self.clock, self.shape, self.poison = clock, shape, poison
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
        "_block", "_locals", "_used", "bx", "by", "bz", "gx", "gy", "gz", "laneid", "number", "nx", "ny", "nz", "tx", "ty",
        "tz", "warp", "warpsize",
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
        self.laneid, self.warp, self.warpsize = place % WARP, place // WARP, WARP
        self._block = block
        self._locals: dict[str, Local] = {}
        self._used = 0

    def grid(self, ndim: int) -> Any:
        x = self.bx * self.nx + self.tx
        if ndim == 1:
            return x
        y = self.by * self.ny + self.ty
        return (x, y) if ndim == 2 else (x, y, self.bz * self.nz + self.tz)

    def gridsize(self, ndim: int) -> Any:
        sizes = (self.gx * self.nx, self.gy * self.ny, self.gz * self.nz)
        return sizes[0] if ndim == 1 else sizes[:ndim]

    def shared(self, site: str, extents: Any, dtype: Any) -> Buffer:
        return self._block.array(site, _extents(extents, empty=True), _dtype(dtype))

    def local(self, site: str, extents: Any, dtype: Any) -> Local:
        shape, name = _extents(extents), _dtype(dtype)
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

    # -- numbers ---------------------------------------------------------------------------------------

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        return a * b + c

    def popc(self, x: int) -> int:
        return (x & ((1 << 64) - 1)).bit_count()

    def clz(self, x: int) -> int:
        bits = 64 if not -(1 << 31) <= x < 1 << 32 else 32
        return bits - (x & ((1 << bits) - 1)).bit_length()

    def ffs(self, x: int) -> int:
        return (x & -x).bit_length()

    def brev(self, x: int) -> int:
        return int(f"{x & FULL:032b}"[::-1], 2)

    def selp(self, condition: Any, a: Any, b: Any) -> Any:
        return a if condition else b

    def cbrt(self, x: float) -> float:
        return math.copysign(abs(x) ** (1 / 3), x)

    def rsqrt(self, x: float) -> float:
        return 1 / math.sqrt(x) if x > 0 else math.inf if x == 0 else math.nan

    # -- atomics ---------------------------------------------------------------------------------------

    def atomic_add(self, array: Any, index: Any, value: Any) -> Any:
        return _buffer(array).change(index, value, lambda old, new: old + new)

    def atomic_sub(self, array: Any, index: Any, value: Any) -> Any:
        return _buffer(array).change(index, value, lambda old, new: old - new)

    def atomic_max(self, array: Any, index: Any, value: Any) -> Any:
        return _buffer(array).change(
            index, value, lambda old, new: old if math.isnan(new) or old >= new else new
        )

    def atomic_min(self, array: Any, index: Any, value: Any) -> Any:
        return _buffer(array).change(
            index, value, lambda old, new: old if math.isnan(new) or old <= new else new
        )

    atomic_nanmax, atomic_nanmin = atomic_max, atomic_min

    def atomic_exch(self, array: Any, index: Any, value: Any) -> Any:
        return _buffer(array).change(index, value, lambda _, new: new)

    def atomic_cas(self, array: Any, index: Any, old: Any, value: Any) -> Any:
        return _buffer(array).change(index, value, lambda was, new: new if was == old else was)

    def atomic_inc(self, array: Any, index: Any, value: Any) -> Any:
        return _buffer(array).change(index, value, lambda old, most: 0 if old >= most else old + 1)

    def atomic_dec(self, array: Any, index: Any, value: Any) -> Any:
        return _buffer(array).change(
            index, value, lambda old, most: most if old == 0 or old > most else old - 1
        )

    def atomic_and_(self, array: Any, index: Any, value: Any) -> Any:
        return _buffer(array).change(index, value, lambda old, new: old & new)

    def atomic_or_(self, array: Any, index: Any, value: Any) -> Any:
        return _buffer(array).change(index, value, lambda old, new: old | new)

    def atomic_xor(self, array: Any, index: Any, value: Any) -> Any:
        return _buffer(array).change(index, value, lambda old, new: old ^ new)


def _buffer(thing: Any) -> Buffer:
    if not isinstance(thing, Buffer):
        name = getattr(thing, "name", "that")
        raise Broken("input", f"{name} is an input, and is changed atomically")
    return thing


def _extents(given: Any, *, empty: bool = False) -> tuple[int, ...]:
    extents = given if given.__class__ is tuple else (given,)
    least = 0 if empty and extents == (0,) else 1
    if not all(e.__class__ is int and e >= least for e in extents):
        raise Broken("shape", f"{given!r:.60} is no shape of an array")
    return extents


def _dtype(given: Any) -> str:
    name = getattr(given, "dtype", None)
    if not isinstance(name, str):
        raise Broken("type", f"{given!r:.40} is no type of an array")
    return name


def run_launch(
    code: Callable[..., Any],
    arguments: Sequence[Any],
    shape: Shape,
    clock: Clock,
    *,
    chance: random.Random,
    limit: int,
) -> int:
    """Run every thread; the most bytes of shared memory that a block used.

    Raises:
        Broken: the first thing that no kernel may do.
    """
    clock.per_block = shape.threads
    most = 0
    for number in _order(shape.blocks, chance):
        clock.block = number
        clock.epoch += 1
        clock.warp_epoch = 0
        block = Block(clock, shape, limit, chance)
        gx, gy, _ = shape.grid
        at = (number % gx, number // gx % gy, number // (gx * gy))
        threads = [Thread(block, at, place) for place in range(shape.threads)]
        order = list(_order(shape.threads, chance))
        _run_block(code, arguments, threads, order, clock)
        most = max(most, block.used)
    return most


def _order(count: int, chance: random.Random) -> Sequence[int]:
    """Forward, backward, or anyhow."""
    kind = chance.randrange(3)
    if kind == 0:
        return range(count)
    if kind == 1:
        return range(count - 1, -1, -1)
    order = list(range(count))
    chance.shuffle(order)
    return order


def _run_block(
    code: Any, arguments: Sequence[Any], threads: list[Thread], order: list[int], clock: Clock
) -> None:
    made = []
    for place in order:
        clock.turn(threads[place].number)
        running = code(threads[place], *arguments)
        if running is None:
            continue
        made.append((place, running))
    if made:
        _Rounds(dict(made), threads, order, clock).run()


class _Rounds:
    """The threads of a block whose kernel has barriers."""

    def __init__(
        self, running: dict[int, Any], threads: list[Thread], order: list[int], clock: Clock
    ) -> None:
        self.running, self.threads, self.order, self.clock = running, threads, order, clock
        self.at: dict[int, tuple[Any, ...]] = {}  # who waits where
        self.answers: dict[int, Any] = {}

    def run(self) -> None:
        while self.running:
            for warp in self._warps():
                self.clock.warp_epoch = 0
                self._advance(warp)
                while self._exchange(warp):
                    self.clock.warp_epoch += 1
                    self._advance([place for place in warp if place in self.answers])
            self._barrier()

    def _warps(self) -> Iterator[list[int]]:
        """The lanes of each warp, warps and lanes in the order of this block."""
        warps: dict[int, list[int]] = {}
        for place in self.order:
            if place in self.running:
                warps.setdefault(place // WARP, []).append(place)
        return iter(warps.values())

    def _advance(self, places: Sequence[int]) -> None:
        """Each of these to its next stop."""
        for place in list(places):
            self.clock.turn(self.threads[place].number)
            try:
                self.at[place] = self.running[place].send(self.answers.pop(place, None))
            except StopIteration:
                del self.running[place]
                self.at.pop(place, None)

    def _exchange(self, warp: Sequence[int]) -> bool:
        """Serve the lanes that stand at an operation of their warp; whether there were any."""
        asking = {place: self.at[place] for place in warp if (place in self.at and self.at[place][1][:4] != "sync")
                  or (place in self.at and self.at[place][1] == "syncwarp")}  # fmt: skip
        if not asking:
            return False
        sites = {request[0] for request in asking.values()}
        first = next(iter(asking.values()))
        mask = first[2] if len(first) > 2 else FULL
        lanes = {place % WARP for place in asking}
        alive = {place % WARP for place in warp if place in self.running}
        wanted = {lane for lane in range(WARP) if mask >> lane & 1} & alive
        if len(sites) > 1 or lanes != wanted:
            raise Broken(
                "warp",
                f"{first[1]} at {first[0]}: lanes {_few(lanes)} came, and {_few(wanted)} are named in its mask",
            )
        by_lane = {place % WARP: request for place, request in asking.items()}
        for place, request in asking.items():
            self.answers[place] = _served(request, place % WARP, by_lane)
            del self.at[place]
        return True

    def _barrier(self) -> None:
        """All threads of the block stand at one barrier, or none is left."""
        if not self.running:
            if self.at:
                raise AssertionError("a thread that has ended waits")
            return
        sites = {self.at[place][0] for place in self.running}
        ended = len(self.order) - len(self.running)
        if len(sites) > 1 or ended:
            who = (
                f"{ended} of {len(self.order)} threads have ended"
                if ended
                else f"threads wait at {_few(sites)}"
            )
            raise Broken(
                "barrier",
                f"a barrier that not all threads of the block reach: {who}, others wait at {_few(sites)}",
            )
        name = next(iter(self.at.values()))[1]
        values = [self.at[place][2] if len(self.at[place]) > 2 else 0 for place in self.running]
        joined = {
            "syncthreads_count": sum(map(bool, values)), "syncthreads_and": int(all(values)), "syncthreads_or": int(any(values)),
        }.get(name)  # fmt: skip
        self.answers = dict.fromkeys(self.running, joined)
        self.at.clear()
        self.clock.epoch += 1


def _served(request: tuple[Any, ...], lane: int, by_lane: dict[int, tuple[Any, ...]]) -> Any:
    name, values = request[1], request[3:]
    if name == "syncwarp":
        return None
    if name in ("all_sync", "any_sync", "ballot_sync", "eq_sync"):
        said = {at: bool(other[3]) for at, other in by_lane.items()}
        if name == "ballot_sync":
            return sum(1 << at for at, value in said.items() if value)
        if name == "eq_sync":
            return len({other[3] for other in by_lane.values()}) == 1
        return all(said.values()) if name == "all_sync" else any(said.values())
    value, by = values[0], values[1]
    source = {
        "shfl_sync": by % WARP, "shfl_up_sync": lane - by, "shfl_down_sync": lane + by, "shfl_xor_sync": lane ^ by,
    }[name]  # fmt: skip
    if not 0 <= source < WARP:
        return value  # beyond the warp a lane keeps its own
    if source not in by_lane:
        raise Broken("warp", f"{name}: lane {lane} takes from lane {source}, which is not there")
    return by_lane[source][3]


def _few(things: Any) -> str:
    ordered = sorted(things)
    return ", ".join(map(str, ordered[:6])) + (" …" if len(ordered) > 6 else "")
