"""The launch plan: what ``run`` may do with arrays that it cannot look into."""

from __future__ import annotations

import math
import random

from kernel_memory import Broken, Buffer, Clock, Input
from kernel_numbers import Half, Single
from kernel_store import CODES, SIZES, storage
from kernel_threads import BLOCK_LIMITS, GRID_LIMITS, THREADS, Shape, run_launch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

__all__ = ["Handle", "Host"]

LAUNCHES = 4096
TEMPORARY_BYTES = 256 << 20
SHARED_BYTES = 48 << 10
NUMBERS = (int, float, bool, complex, Single, Half)


class Handle:
    """An array as ``run`` sees it: its shape and nothing of its content."""

    __slots__ = ("_array", "dtype", "ndim", "shape", "size")

    def __init__(self, array: Input) -> None:
        self._array = self.dtype = (
            array  # of an array and of its type a plan can do the same: ask for another
        )
        self.shape = array.shape
        self.size = array.size
        self.ndim = array.ndim

    def __len__(self) -> int:
        return len(self._array)

    def __bool__(self) -> bool:
        raise Broken("type", f"{self._array.name} is an array and has no truth")


class Host:
    """``_h``: allocates, launches, counts.

    Args:
        kernels: (name, arguments) → rewritten code, for arguments of these types.
        limits: "shared" bytes and "threads_per_block" at most.
        chance: orders of blocks and threads, poison of what is allocated.
    """

    def __init__(
        self,
        kernels: Callable[[str, Sequence[object]], object],
        buffers: Sequence[Input],
        limits: Mapping[str, int],
        chance: random.Random,
        clock: Clock,
    ) -> None:
        self.kernels = kernels
        self.buffers = list(buffers)
        self.shared_limit = limits.get("shared") or SHARED_BYTES
        self.threads_limit = min(THREADS, limits.get("threads_per_block") or THREADS)
        self.chance = chance
        self.clock = clock
        self.launches = 0
        self.most_shared = 0
        self.most_threads = 0
        self.launched: dict[tuple[Any, ...], list[Any]] = {}
        self._temporary = 0

    def device_array(self, shape: object, dtype: object = None) -> Handle:
        name: Any = getattr(dtype, "dtype", "f8" if dtype is None else None)
        extents = shape if shape.__class__ is tuple else (shape,)
        if name not in CODES and name not in SIZES:
            raise Broken("type", f"{dtype!r:.40} is no type of an array")
        if not all(e.__class__ is int and e >= 0 for e in extents):
            raise Broken("shape", f"{shape!r:.60} is no shape of an array")
        size = math.prod(extents)
        self._temporary += size * SIZES[name]
        if self._temporary > TEMPORARY_BYTES:
            raise Broken(
                "memory",
                f"{self._temporary} bytes of temporary arrays; {TEMPORARY_BYTES} are allowed",
            )
        made = self.made(f"temporary {len(self.buffers)}", name, extents)
        self.buffers.append(made)
        return Handle(made)

    def made(self, name: str, dtype: str, shape: tuple[int, ...]) -> Any:
        """A temporary array, which holds chance."""
        size = math.prod(shape)
        data = storage(dtype, size, self.chance.randbytes(size * SIZES[dtype]))
        return Buffer(name, dtype, shape, data, self.clock, known=False)

    def device_array_like(self, other: object) -> Handle:
        if not isinstance(other, Handle):
            raise Broken("type", "device_array_like of what is not an array")
        return self.device_array(other.shape, other.dtype)

    def synchronize(self) -> None:
        """Launches are in order already."""

    def launch(self, name: str, shape: object, *arguments: object) -> None:
        """Run one kernel to its end.

        Raises:
            Broken: what no launch may be, or its kernel does.
        """
        self.launches += 1
        if self.launches > LAUNCHES:
            raise Broken("launches", f"more than {LAUNCHES} launches")
        configured = self._shape(name, shape)
        given = [
            argument._array if isinstance(argument, Handle) else argument for argument in arguments
        ]
        for argument in given:
            if not hasattr(argument, "ndim") and argument.__class__ not in NUMBERS:
                raise Broken(
                    "type",
                    f"{name} is given {type(argument).__name__}; kernels take arrays and numbers",
                )
        self._note(name, given, configured)
        self.most_threads = max(self.most_threads, configured.threads)
        self.most_shared = max(self.most_shared, self.ran(name, configured, given))

    def ran(self, name: str, shape: Shape, given: Sequence[object]) -> int:
        """Run every thread; bytes of shared memory of a block, at most."""
        for buffer in self.buffers:
            if isinstance(buffer, Buffer):
                buffer.forget()
        self.clock.races.clear()
        code = self.kernels(name, given)
        chance = self.chance
        used: int = run_launch(
            code, given, shape, self.clock, chance=chance, limit=self.shared_limit
        )
        for said in self.clock.races.values():
            raise Broken("race", said)
        return used

    def _note(self, name: str, given: Sequence[Any], shape: Shape) -> None:
        kinds = [f"{a.dtype}[{a.ndim}]" if hasattr(a, "ndim") else type(a).__name__ for a in given]
        self.launched.setdefault((name, *kinds), [name, kinds, shape.dynamic, shape.threads])

    def _shape(self, name: str, given: object) -> Shape:
        if given.__class__ is not tuple or not 2 <= len(given) <= 4:
            raise Broken("launch", f"{name}[blocks, threads] is launched with {given!r:.60}")
        grid = _three(name, given[0])
        block = _three(name, given[1])
        dynamic = given[3] if len(given) == 4 else 0
        if len(given) > 2 and given[2] != 0:
            raise Broken("launch", f"{name}: streams have no place in a plan; give 0")
        if dynamic.__class__ is not int or not 0 <= dynamic <= self.shared_limit:
            raise Broken(
                "shared",
                f"{name}: {dynamic!r:.40} bytes of dynamic shared memory, of {self.shared_limit}",
            )
        for what, sizes, most in (("blocks", grid, GRID_LIMITS), ("threads", block, BLOCK_LIMITS)):
            for size, limit in zip(sizes, most):
                if not 1 <= size <= limit:
                    raise Broken("launch", f"{name}: {sizes} {what}; each from 1, at most {most}")
        shape = Shape(grid, block, dynamic)
        if shape.threads > self.threads_limit:
            raise Broken(
                "launch",
                f"{name}: {shape.threads} threads a block, and {self.threads_limit} are allowed",
            )
        return shape


def _three(name: str, given: object) -> tuple[int, int, int]:
    sizes = given if given.__class__ is tuple else (given,)
    if not 1 <= len(sizes) <= 3 or not all(size.__class__ is int for size in sizes):
        raise Broken(
            "launch", f"{name} is launched with {given!r:.60}, which are no one to three integers"
        )
    return (*sizes, 1, 1)[:3]
