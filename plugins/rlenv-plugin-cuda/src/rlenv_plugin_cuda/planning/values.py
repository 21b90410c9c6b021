"""What a launch plan computes with: numbers, shapes, types, and arrays that it cannot look into."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["DTYPES", "SIZES", "Dtype", "Handle", "Refused", "Trouble", "configured"]

SIZES = {
    "f2": 2, "bf16": 2, "f4": 4, "f8": 8, "i1": 1, "i2": 2, "i4": 4, "i8": 8,
    "u1": 1, "u2": 2, "u4": 4, "u8": 8, "b1": 1,
}  # fmt: skip
DTYPES = {
    "float16": "f2", "half": "f2", "bfloat16": "bf16", "float32": "f4", "float": "f4",
    "float64": "f8", "double": "f8", "int8": "i1", "int16": "i2", "int32": "i4", "int": "i4",
    "int64": "i8", "long": "i8", "uint8": "u1", "uint16": "u2", "uint32": "u4", "uint64": "u8",
    "bool": "b1", "int1": "b1",
}  # fmt: skip
_GRID = ((1 << 31) - 1, 65535, 65535)
_BLOCK = (1024, 1024, 64)


class Refused(Exception):
    """The answer says what it may not say.  ``line`` counts from 1 within the program."""

    def __init__(self, line: int, said: str) -> None:
        self.line = line
        self.said = said
        super().__init__(f"line {line}: {said}")


class Trouble(BaseException):
    """What an answer does wrong while it runs: ``what`` in a word, ``said`` for a reader.

    No ``Exception``: nothing between a kernel and us takes it for one of its own.
    """

    def __init__(self, what: str, said: str, line: int = 0) -> None:
        self.what = what
        self.said = said
        self.line = line
        super().__init__(f"{what}: {said}")


class Dtype:
    """The type of elements, by its code ("f4")."""

    __slots__ = ("code",)

    def __init__(self, code: str) -> None:
        self.code = code

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dtype) and other.code == self.code

    def __hash__(self) -> int:
        return hash(self.code)


class Handle:
    """An array as a plan sees it: shape and type, and nothing of what it holds.

    Args:
        buffer: whatever the host keeps behind it; several handles may share one.
        shape: its extents, rows after one another.
        code: of ``SIZES``.
    """

    __slots__ = ("buffer", "code", "shape")

    def __init__(self, buffer: object, shape: Sequence[int], code: str) -> None:
        self.buffer = buffer
        self.shape = tuple(shape)
        self.code = code

    @property
    def size(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)

    @property
    def strides(self) -> tuple[int, ...]:
        """In elements."""
        return tuple(math.prod(self.shape[axis + 1 :]) for axis in range(len(self.shape)))


def configured(
    kernel: str, given: object, shared: int, threads: int
) -> tuple[tuple[int, int, int], tuple[int, int, int], int]:
    """Grid, block and bytes of dynamic shared memory of a launch of numba or CUDA C++.

    Args:
        kernel: its name, for messages.
        given: what stood in the brackets.
        shared: bytes of dynamic shared memory, at most.
        threads: of a block, at most.

    Raises:
        Trouble: no device takes that.
    """
    if not isinstance(given, (tuple, list)) or not 2 <= len(given) <= 4:
        raise Trouble("launch", f"{kernel}[blocks, threads] is launched with {given!r:.60}")
    grid = _three(kernel, given[0], "blocks", _GRID)
    block = _three(kernel, given[1], "threads", _BLOCK)
    dynamic = given[3] if len(given) == 4 else 0
    if len(given) > 2 and given[2] != 0:
        raise Trouble("launch", f"{kernel}: streams have no place in a plan; give 0")
    if type(dynamic) is not int or not 0 <= dynamic <= shared:
        said = f"{kernel}: {dynamic!r:.40} bytes of dynamic shared memory, of {shared}"
        raise Trouble("shared", said)
    count = math.prod(block)
    if count > threads:
        said = f"{kernel}: {count} threads a block, and {threads} are allowed"
        raise Trouble("launch", said)
    return grid, block, dynamic


def _three(kernel: str, given: object, what: str, most: Sequence[int]) -> tuple[int, int, int]:
    sizes = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    if not 1 <= len(sizes) <= 3 or not all(type(size) is int for size in sizes):
        said = f"{kernel} is launched with {given!r:.60}, which are no one to three integers"
        raise Trouble("launch", said)
    x, y, z = (*sizes, 1, 1)[:3]
    if not all(1 <= size <= limit for size, limit in zip((x, y, z), most, strict=True)):
        raise Trouble("launch", f"{kernel}: {(x, y, z)} {what}; each from 1, at most {tuple(most)}")
    return x, y, z
