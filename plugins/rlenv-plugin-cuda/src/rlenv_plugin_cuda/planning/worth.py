"""What a launch plan's functions are worth."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from .values import DTYPES, SIZES, Dtype, Handle, Trouble

__all__ = [
    "BITS",
    "builtin",
    "dtype_of",
    "is_number",
    "meaning",
    "of_math",
    "reshaped",
    "truth",
    "whole",
]

BITS = 256  # of an integer


def is_number(value: object) -> bool:
    """Whether a plan may compute with it."""
    return isinstance(value, (int, float))


def truth(value: object) -> bool:
    """Of numbers, texts and tuples."""
    if isinstance(value, Handle):
        raise Trouble("type", "an array has no truth in a plan")
    return bool(value)


def meaning(full: str) -> Any:
    """What a full name is worth."""
    module, _, name = full.rpartition(".")
    return getattr(math, name) if module == "math" else Dtype(DTYPES[name])


def dtype_of(value: object) -> Dtype:
    """The type of an array, which may be said in words as numpy has it ("int32", "i4")."""
    if isinstance(value, str):
        code = {"int": "i8", "float": "f8"}.get(value) or DTYPES.get(value, value)  # not torch's
        value = Dtype(code) if code in SIZES else value
    if not isinstance(value, Dtype):
        raise Trouble("type", f"{value!r:.40} is no type of an array")
    return value


def whole(args: list[Any], count: int) -> list[int]:
    """The arguments, which are integers."""
    if len(args) != count or not all(isinstance(number, int) for number in args):
        raise Trouble("error", "integers were expected")
    return args


def of_math(name: str, args: list[object]) -> Any:
    """A function of math, of numbers."""
    numbers = args[0] if name == "prod" and len(args) == 1 and isinstance(args[0], tuple) else args
    if not all(is_number(number) for number in numbers):
        raise Trouble("error", f"math.{name} takes numbers")
    value = getattr(math, name)(*args)
    if isinstance(value, int) and value.bit_length() > BITS:
        raise Trouble("error", "a number that is too large for a plan")
    return value


def builtin(name: str, args: list[Any], named: dict[str, Any]) -> Any:
    """One of Python's few functions."""
    if named:
        raise Trouble("error", f"{name} takes its arguments by position")
    if name == "len" and len(args) == 1:
        return args[0].shape[0] if isinstance(args[0], Handle) else len(args[0])
    listed = name in ("max", "min", "tuple") and len(args) == 1 and isinstance(args[0], tuple)
    if not all(is_number(value) for value in (args[0] if listed else args)):
        raise Trouble("error", f"{name} takes numbers")
    calls: Mapping[str, Callable[..., Any]] = {
        "abs": abs, "bool": bool, "float": float, "int": int, "max": max, "min": min,
        "range": range, "round": round, "tuple": tuple,
    }  # fmt: skip
    return calls[name](*args)


def reshaped(array: Handle, args: list[Any]) -> Handle:
    """The same elements in another shape."""
    shape = args[0] if len(args) == 1 and isinstance(args[0], tuple) else tuple(args)
    if not all(type(extent) is int and extent >= -1 for extent in shape) or shape.count(-1) > 1:
        raise Trouble("shape", f"{shape!r:.60} is no shape of an array")
    known = math.prod(extent for extent in shape if extent != -1)
    if -1 in shape:
        shape = tuple(array.size // max(known, 1) if extent == -1 else extent for extent in shape)
    if math.prod(shape) != array.size:
        raise Trouble("shape", f"{array.size} elements are not of the shape {shape!r:.60}")
    return Handle(array.buffer, shape, array.code)
