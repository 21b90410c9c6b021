"""Threads of a launch: blocks one after another, the threads of a block in rounds from barrier to
barrier.
"""

from __future__ import annotations

import random

from kernel_lanes import FULL, Block, Shape, Thread
from kernel_memory import WARP, Broken, Clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from typing import Any

__all__ = ["THREADS", "Shape", "run_launch"]

THREADS = 1024


def run_launch(
    code: Callable[..., object],
    arguments: Sequence[object],
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
        clock.first = clock.epoch
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
        self,
        running: dict[int, Generator[tuple[Any, ...], object, None]],
        threads: list[Thread],
        order: list[int],
        clock: Clock,
    ) -> None:
        self.running = running
        self.threads = threads
        self.order = order
        self.clock = clock
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
        asking = {
            place: self.at[place]
            for place in warp
            if (place in self.at and self.at[place][1][:4] != "sync")
            or (place in self.at and self.at[place][1] == "syncwarp")
        }
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
                f"{first[1]} at {first[0]}: lanes {_few(lanes)} came, and {_few(wanted)} are named"
                " in its mask",
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
                f"a barrier that not all threads of the block reach: {who}, others wait at"
                f" {_few(sites)}",
            )
        name = next(iter(self.at.values()))[1]
        values = [self.at[place][2] if len(self.at[place]) > 2 else 0 for place in self.running]
        joined = {
            "syncthreads_count": sum(map(bool, values)),
            "syncthreads_and": int(all(values)),
            "syncthreads_or": int(any(values)),
        }.get(name)
        self.answers = dict.fromkeys(self.running, joined)
        self.at.clear()
        self.clock.epoch += 1


def _served(request: tuple[Any, ...], lane: int, by_lane: dict[int, tuple[Any, ...]]) -> Any:
    name = request[1]
    values = request[3:]
    if name == "syncwarp":
        return None
    if name in ("all_sync", "any_sync", "ballot_sync", "eq_sync"):
        said = {at: bool(other[3]) for at, other in by_lane.items()}
        if name == "ballot_sync":
            return sum(1 << at for at, value in said.items() if value)
        if name == "eq_sync":
            return len({other[3] for other in by_lane.values()}) == 1
        return all(said.values()) if name == "all_sync" else any(said.values())
    value = values[0]
    by = values[1]
    source = {
        "shfl_sync": by % WARP,
        "shfl_up_sync": lane - by,
        "shfl_down_sync": lane + by,
        "shfl_xor_sync": lane ^ by,
    }[name]
    if not 0 <= source < WARP:
        return value  # beyond the warp a lane keeps its own
    if source not in by_lane:
        raise Broken("warp", f"{name}: lane {lane} takes from lane {source}, which is not there")
    return by_lane[source][3]


def _few(things: Any) -> str:
    ordered = sorted(things)
    return ", ".join(map(str, ordered[:6])) + (" …" if len(ordered) > 6 else "")
