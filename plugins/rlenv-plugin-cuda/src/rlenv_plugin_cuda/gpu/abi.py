"""How arguments of a launch become parameters of a kernel, for numba and for CUDA C++.

A word is the number of a buffer, whose address takes its place, or the bytes of a value, in
hexadecimal digits.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import TypeAlias

from attrs import frozen

__all__ = ["Given", "Mismatch", "Passed", "Word", "c_words", "numba_words"]

Word: TypeAlias = "int | str"
_FORMATS = {
    "i1": "<b", "i2": "<h", "i4": "<i", "i8": "<q", "u1": "<B", "u2": "<H", "u4": "<I", "u8": "<Q",
    "b1": "<?", "f2": "<e", "f4": "<f", "f8": "<d",
}  # fmt: skip


class Mismatch(Exception):
    """An argument does not fit: the answer's fault, in words."""


@frozen
class Passed:
    """An array as it is passed: a buffer, and what is known of it.

    Args:
        buffer: its number.
        code: of its elements ("f4").
        size: bytes of an element.
        shape: its extents, rows after one another.
    """

    buffer: int
    code: str
    size: int
    shape: tuple[int, ...]


Given: TypeAlias = "Passed | int | float | bool | complex"


def numba_words(arguments: Sequence[Given]) -> list[Word]:
    """The parameters as ``numba.cuda`` flattens them.

    An array is (meminfo, parent, items, bytes of one, data, shape, strides), integers are 64 bits,
    floats double, truths one byte, complex numbers two doubles.

    Raises:
        Mismatch: a number of more than 64 bits.
    """
    words: list[Word] = []
    for given in arguments:
        if isinstance(given, Passed):
            words += _array(given)
        elif isinstance(given, bool):
            words.append(struct.pack("<B", given).hex())
        elif isinstance(given, int):
            words.append(_whole(given))
        elif isinstance(given, float):
            words.append(struct.pack("<d", given).hex())
        else:
            words += [struct.pack("<d", given.real).hex(), struct.pack("<d", given.imag).hex()]
    return words


def _array(given: Passed) -> list[Word]:
    count = math.prod(given.shape)
    strides = [given.size * math.prod(given.shape[a + 1 :]) for a in range(len(given.shape))]
    null = struct.pack("<Q", 0).hex()
    facts = [struct.pack("<q", fact).hex() for fact in (count, given.size)]
    rest = [struct.pack("<q", fact).hex() for fact in (*given.shape, *strides)]
    return [null, null, *facts, given.buffer, *rest]


def _whole(given: int) -> str:
    """numba takes what fits for int64, and the rest for uint64."""
    if not -(1 << 63) <= given < 1 << 64:
        raise Mismatch("a number of more than 64 bits is given to a kernel")
    return struct.pack("<q" if given < 1 << 63 else "<Q", given).hex()


def c_words(parameters: Sequence[tuple[str, str, bool]], arguments: Sequence[Given]) -> list[Word]:
    """As a C++ compiler lays them out: addresses, and values of the parameters' types.

    Args:
        parameters: (name, code of the elements or of the value, whether it is a pointer).

    Raises:
        Mismatch: they do not fit.
    """
    if len(parameters) != len(arguments):
        raise Mismatch(f"{len(parameters)} parameters, and {len(arguments)} arguments")
    pairs = zip(parameters, arguments, strict=True)
    return [_c_word(name, code, pointer, given) for (name, code, pointer), given in pairs]


def _c_word(name: str, code: str, pointer: bool, given: Given) -> Word:  # noqa: FBT001 - a fact of the parameter
    if pointer:
        if not isinstance(given, Passed):
            raise Mismatch(f"`{name}` is a pointer, and is given a number")
        if code and code != given.code:
            raise Mismatch(f"`{name}` points to {code}, and is given an array of {given.code}")
        return given.buffer
    if isinstance(given, (Passed, complex)):
        raise Mismatch(f"`{name}` is a number, and is given something else")
    if code not in _FORMATS:
        raise Mismatch(f"`{name}` has a type that a launch plan cannot pass")
    if code[0] in "iu" and isinstance(given, float):
        raise Mismatch(f"`{name}` is an integer, and is given {given!r:.40}")
    try:
        return struct.pack(_FORMATS[code], given).hex()
    except (struct.error, OverflowError):
        raise Mismatch(f"`{name}` ({code}) cannot hold {given!r:.40}") from None
