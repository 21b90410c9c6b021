"""Buffers with guards, launches one after another, and clocks, on whatever driver there is.

No code of an answer is here: what it launches came as a list, and what it does, it does on the
device.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
import time

from gpu_driver import Lost, Trap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from gpu_driver import Driver

__all__ = ["GUARD", "Broken", "Machine"]

GUARD = 4096  # bytes on each side of a buffer
TILE = 1 << 20
FLUSH = 3  # times the second cache
COPIED = 256 << 20  # bytes, for the bandwidth
KEPT_BYTES = 1 << 30  # of outputs of timed runs that differ
_PAUSE = 0.0005


class Broken(Exception):
    """The answer's fault: ``what`` in a word, ``said`` for a reader."""

    def __init__(self, what: str, said: str) -> None:
        self.what = what
        self.said = said
        super().__init__(said)


def noise(size: int) -> bytes:
    """Bytes that nobody knows."""
    tile = os.urandom(min(size, TILE))
    return (tile * (size // TILE + 1))[:size] if tile else b""


@contextlib.contextmanager
def _attributed(side: int) -> Iterator[None]:
    """Attribute what fails: the answer (side 0) is broken, a baseline that fails is lost."""
    try:
        yield
    except (Trap, Broken) as trouble:
        if side:
            raise Lost(f"the baseline fails: {trouble}") from None
        if isinstance(trouble, Broken):
            raise
        raise Broken("trap", str(trouble)) from None


class Buffer:
    """Device memory between two guards; ``place`` is where its content begins."""

    def __init__(self, driver: Driver, size: int) -> None:
        self._driver = driver
        self.size = size
        self._before = os.urandom(GUARD)
        self._after = os.urandom(GUARD)
        self._base = driver.alloc(size + 2 * GUARD)
        self.place = self._base + GUARD
        driver.write(self._base, self._before)
        driver.write(self.place + size, self._after)

    def write(self, data: bytes) -> None:
        """All of its content."""
        assert len(data) == self.size
        self._driver.write(self.place, data)

    def read(self) -> bytes:
        """All of its content."""
        found: bytes = self._driver.read(self.place, self.size)
        return found

    def check(self, name: str) -> None:
        """That nobody wrote beside it.

        Raises:
            Broken: somebody did.
        """
        if self._driver.read(self._base, GUARD) != self._before:
            raise Broken("bounds", f"a kernel writes before the beginning of {name}")
        if self._driver.read(self.place + self.size, GUARD) != self._after:
            raise Broken("bounds", f"a kernel writes beyond the end of {name}")

    def free(self) -> None:
        """Give it back."""
        self._driver.free(self._base)


class Machine:
    """Runs and times plans.

    Args:
        driver: a context.
        clock: seconds, for walls and deadlines.
    """

    def __init__(self, driver: Driver, clock: Callable[[], float] = time.perf_counter) -> None:
        self.driver = driver
        self.clock = clock

    def run(
        self,
        images: Sequence[bytes],
        plan: dict[str, Any],
        inputs: Sequence[bytes],
        outputs: Sequence[bytes],
        seconds: float,
    ) -> list[bytes]:
        """What the outputs hold in the end.

        Args:
            images: objects, by number.
            plan: {"temporaries": [bytes, …], "steps": [[image, symbol, grid, block, dynamic,
                words], …]}.
            inputs, outputs: what they hold at first.
            seconds: until it counts as endless.

        Raises:
            Broken: the answer's fault.
            Lost: the machine's.
        """
        first = [*inputs, *outputs]
        buffers = [Buffer(self.driver, len(data)) for data in first]
        for buffer, data in zip(buffers, first):
            buffer.write(data)
        temporaries = [Buffer(self.driver, size) for size in plan["temporaries"]]
        for buffer in temporaries:
            buffer.write(noise(buffer.size))
        modules = [self.driver.load(image) for image in images]
        self.driver.sync()  # copies from a host may still be on their way
        try:
            self._launched(plan, modules, [*buffers, *temporaries])
            self._wait(seconds)
        except Trap as trap:
            raise Broken("trap", str(trap)) from None
        self._check(buffers, temporaries, inputs)
        found = [buffer.read() for buffer in buffers[len(inputs) :]]
        for buffer in (*buffers, *temporaries):
            buffer.free()
        for module in modules:
            self.driver.unload(module)
        return found

    def _launched(
        self, plan: dict[str, Any], modules: Sequence[Any], buffers: Sequence[Buffer]
    ) -> None:
        for function, step, words in self._ready(plan, modules, buffers):
            self.driver.launch(function, step[2], step[3], step[4], words)

    def _ready(
        self, plan: dict[str, Any], modules: Sequence[Any], buffers: Sequence[Buffer]
    ) -> list[tuple[Any, Any, list[bytes]]]:
        """Everything that can be made ready before a clock runs."""
        ready = []
        for step in plan["steps"]:
            function = self.driver.function(modules[step[0]], step[1], step[4])
            words = [
                bytes.fromhex(word)
                if isinstance(word, str)
                else struct.pack("<Q", buffers[word].place)
                for word in step[5]
            ]
            ready.append((function, step, words))
        return ready

    def _wait(self, seconds: float) -> None:
        until = self.clock() + seconds
        while not self.driver.idle():
            if self.clock() > until:
                raise Broken("endless", "it did not end in its time")
            time.sleep(_PAUSE)
        self.driver.sync()

    def _check(
        self, buffers: Sequence[Buffer], temporaries: Sequence[Buffer], inputs: Sequence[bytes]
    ) -> None:
        for number, buffer in enumerate(buffers):
            what = "input" if number < len(inputs) else "output"
            buffer.check(f"an {what}")
        for buffer in temporaries:
            buffer.check("a temporary array")
        for buffer, data in zip(buffers, inputs):
            if buffer.read() != data:
                raise Broken("input", "a kernel writes to an input")

    def timed(
        self,
        sides: Sequence[tuple[Sequence[bytes], Sequence[dict[str, Any]]]],
        sets: Sequence[Sequence[bytes]],
        sizes: Sequence[int],
        sequence: Sequence[Sequence[int]],
        seconds: float,
    ) -> tuple[list[list[Any]], list[tuple[int, list[bytes]]]]:
        """Time runs of both sides.

        Returns ([side, seconds by events, seconds by wall, number of the output], …) and ([set,
        outputs], …).

        Every run finds other inputs at the same addresses, noise in outputs and temporaries,
        modules that were loaded anew, and cold caches; what both sides wrote is overwritten before
        the next begins.

        Args:
            sides: objects of each and its plan for every set; the answer's is 0.
            sets: inputs, several times.
            sizes: of the outputs, in bytes.
            sequence: [side, set] of each run.
            seconds: for one run, until it counts as endless.

        Raises:
            Broken: the answer's fault.
            Lost: the machine's, or the baseline's.
        """
        lengths = [*map(len, sets[0]), *sizes]
        buffers = [Buffer(self.driver, size) for size in lengths]
        keys = {
            (side, *plan["temporaries"]) for side, (_, plans) in enumerate(sides) for plan in plans
        }
        spare = {key: [Buffer(self.driver, size) for size in key[1:]] for key in sorted(keys)}
        flush = self._flusher()
        self.driver.persist_nothing()
        runs: list[list[Any]] = []
        kept: dict[bytes, int] = {}
        found: list[tuple[int, list[bytes]]] = []
        for side, place in sequence:
            with _attributed(side):
                images, plans = sides[side]
                extra = spare[(side, *plans[place]["temporaries"])]
                mine = [*buffers, *extra]
                self._forget([one for each in spare.values() for one in each])
                times = self._once(
                    images, plans[place], mine, sets[place], flush=flush, seconds=seconds
                )
                self._check(buffers, extra, sets[place])
            outputs = [buffer.read() for buffer in buffers[len(sets[0]) :]]
            mark = hashlib.sha256(b"".join([struct.pack("<II", side, place), *outputs])).digest()
            if mark not in kept:
                kept[mark] = len(found)
                found.append((place, outputs))
            if len(found) * sum(sizes) > KEPT_BYTES + 2 * len(sets) * sum(sizes):
                said = "so large outputs for the same inputs must be the same bytes each time"
                raise Lost(said) if side else Broken("unsteady", said)
            runs.append([side, *times, kept[mark]])
        return runs, found

    def _forget(self, spare: Sequence[Buffer]) -> None:
        """Overwrite what either side kept: a kernel finds nothing that another computed."""
        for buffer in spare:
            if buffer.size:
                self.driver.fill(buffer.place, os.urandom(1)[0], buffer.size)
        self.driver.sync()

    def _flusher(self) -> Callable[[], None]:
        size = max(1, FLUSH * int(self.driver.about()["l2"]))
        place = self.driver.alloc(size)
        byte = [0]

        def flush() -> None:
            byte[0] = (byte[0] + 1) % 256
            self.driver.fill(place, byte[0], size)

        return flush

    def _once(  # noqa: PLR0917 - what runs, and on what
        self,
        images: Sequence[bytes],
        plan: dict[str, Any],
        buffers: Sequence[Buffer],
        inputs: Sequence[bytes],
        flush: Callable[[], None],
        seconds: float,
    ) -> tuple[float, float]:
        for buffer, data in zip(buffers, inputs):
            buffer.write(data)
        for buffer in buffers[len(inputs) :]:
            buffer.write(noise(buffer.size))
        modules = [self.driver.load(image) for image in images]
        ready = self._ready(plan, modules, buffers)
        start = self.driver.event()
        end = self.driver.event()
        flush()
        self.driver.sync()
        begun = self.clock()
        self.driver.record(start)
        for function, step, words in ready:
            self.driver.launch(function, step[2], step[3], step[4], words)
        until = begun + seconds
        while not self.driver.idle():
            if self.clock() > until:
                raise Broken("endless", "it did not end in its time")
        self.driver.sync()  # the whole device: what runs beside the stream is waited for, too
        self.driver.record(end)
        self.driver.sync()
        wall = self.clock() - begun
        times = self.driver.elapsed(start, end), wall
        for module in modules:
            self.driver.unload(module)
        return times

    def bandwidth(self, size: int = COPIED) -> float:
        """Bytes per second that a copy reads while it writes as many; the best of five."""
        one = self.driver.alloc(size)
        other = self.driver.alloc(size)
        best = 0.0
        for _ in range(5):
            start = self.driver.event()
            end = self.driver.event()
            self.driver.record(start)
            self.driver.copy(other, one, size)
            self.driver.record(end)
            seconds = self.driver.elapsed(start, end)
            best = max(best, size / seconds if seconds > 0 else 0.0)
        self.driver.free(one)
        self.driver.free(other)
        return best
