"""Numbers as numpy has them, as bytes, and bfloat16 as its bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Values: TypeAlias = NDArray[Any]  # an array of any type of numbers

__all__ = ["NUMPY", "to_bf16", "to_bytes", "to_float"]

NUMPY = {
    "f2": "<f2", "bf16": "<u2", "f4": "<f4", "f8": "<f8", "b1": "?", "c8": "<c8", "c16": "<c16",
    "i1": "i1", "i2": "<i2", "i4": "<i4", "i8": "<i8", "u1": "u1", "u2": "<u2", "u4": "<u4",
    "u8": "<u8",
}  # fmt: skip


def to_bf16(values: ArrayLike) -> Values:
    """Bits of bfloat16, the upper halves of float32 rounded to nearest even.

    Every NaN is 0x7FC0.
    """
    import numpy as np

    with np.errstate(all="ignore"):
        floats = np.ascontiguousarray(values).astype("<f4")
    bits = floats.view("<u4").astype("<u8")
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")
    return np.where(np.isnan(floats), np.uint16(0x7FC0), rounded).reshape(np.shape(values))


def to_float(values: Values, dtype: str) -> Values:
    """What an array holds: bf16 as float32, everything else as it is."""
    if dtype != "bf16":
        return values
    import numpy as np

    return (np.ascontiguousarray(values).astype("<u4") << 16).view("<f4").reshape(np.shape(values))


def to_bytes(values: ArrayLike, dtype: str) -> bytes:
    """The bytes that cross to a runner: little endian, rows after one another."""
    import numpy as np

    return np.ascontiguousarray(values, NUMPY[dtype]).tobytes()
