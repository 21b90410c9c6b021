"""What a launch plan computes with: numbers, shapes, types, and arrays that it cannot look into."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["DTYPES", "SIZES", "Dtype", "Handle", "Refused", "Trouble"]

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
