"""Numbers in memory: what a type keeps of a number, and storages of numbers from bytes and back."""

from __future__ import annotations

import math
import struct
from array import array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["CODES", "SIZES", "packed", "rounded", "storage", "wrap"]

CODES = {
    "f4": "f", "f8": "d", "i1": "b", "i2": "h", "i4": "i", "i8": "q",
    "u1": "B", "u2": "H", "u4": "I", "u8": "Q", "b1": "B",
}  # fmt: skip
SIZES = {
    "f2": 2, "bf16": 2, "f4": 4, "f8": 8, "i1": 1, "i2": 2, "i4": 4, "i8": 8,
    "u1": 1, "u2": 2, "u4": 4, "u8": 8, "b1": 1, "c8": 8, "c16": 16,
}  # fmt: skip


def wrap(value: int, dtype: str) -> int:
    """An integer as its type keeps it: two's complement."""
    bits = SIZES[dtype] * 8
    value &= (1 << bits) - 1
    return value - (1 << bits) if dtype[0] == "i" and value >> (bits - 1) else value


def rounded(value: Any, dtype: str) -> Any:
    """A number as f2, bf16, f4 or c8 keeps it: nearest, ties to even, infinite beyond its range."""
    if dtype == "c8":
        return complex(rounded(value.real, "f4"), rounded(value.imag, "f4"))
    value = float(value)
    if dtype == "f2":
        try:
            return float(struct.unpack("<e", struct.pack("<e", value))[0])
        except OverflowError:
            return float("inf") if value > 0 else float("-inf")
    cell = array("f", [value])
    if dtype == "f4" or math.isnan(value) or cell[0] in (float("inf"), float("-inf")):
        return cell[0]
    (bits,) = struct.unpack("<I", cell.tobytes())
    if cell[0] != value:  # cut and mark what is lost, so that one rounding is left
        bits = (bits - (abs(cell[0]) > abs(value))) | 1
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return float(struct.unpack("<f", struct.pack("<I", bits))[0])


def storage(dtype: str, size: int, data: bytes | None = None) -> Any:
    """Room for so many elements, from their bytes (little endian) or zero."""
    code = CODES.get(dtype)
    if code is not None:
        made = array(code)
        made.frombytes(data if data is not None else bytes(size * SIZES[dtype]))
        return made
    raw = data if data is not None else bytes(size * SIZES[dtype])
    if dtype == "f2":
        return list(struct.unpack(f"<{size}e", raw))
    if dtype == "bf16":
        halves = struct.unpack(f"<{size}H", raw)
        return list(
            struct.unpack(f"<{size}f", struct.pack(f"<{size}I", *(h << 16 for h in halves)))
        )
    parts = struct.unpack(f"<{2 * size}{'f' if dtype == 'c8' else 'd'}", raw)
    return [complex(a, b) for a, b in zip(parts[::2], parts[1::2])]


def packed(dtype: str, data: Any) -> bytes:
    """The bytes of a storage, little endian; numbers too large for their type become infinite."""
    if dtype in CODES:
        return bytes(data.tobytes())
    size = len(data)
    if dtype == "f2":
        return struct.pack(f"<{size}e", *(rounded(x, "f2") for x in data))
    if dtype == "bf16":
        words = struct.unpack(
            f"<{size}I", struct.pack(f"<{size}f", *(rounded(x, "bf16") for x in data))
        )
        return struct.pack(f"<{size}H", *(word >> 16 for word in words))
    flat = array("f" if dtype == "c8" else "d")
    for x in data:
        flat.append(x.real)
        flat.append(x.imag)
    return flat.tobytes()
