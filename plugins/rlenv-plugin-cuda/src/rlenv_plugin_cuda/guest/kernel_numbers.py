"""Arithmetic as a kernel has it: no exceptions for 1 / 0 or log(0), integers of 64 bits, types that
round.
"""

from __future__ import annotations

import math
import struct
from array import array
from functools import partial

from kernel_memory import Broken
from kernel_store import rounded, wrap
from kernel_words import DTYPES, MATH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sized
    from typing import Any, Self, TypeAlias

    Number: TypeAlias = Any  # bool, int, float or complex: which, each operation finds out
    Rounds: TypeAlias = Callable[[Number], Number]

__all__ = ["HELPERS"]

_MOST = 1 << 63
INF = math.inf
NAN = math.nan


def _mul(a: Number, b: Number) -> Number:
    made = a * b
    if made.__class__ is int and not -_MOST <= made < _MOST:
        return wrap(made, "i8")
    return made


def _div(a: Number, b: Number) -> Number:
    try:
        return a / b
    except ZeroDivisionError:
        if a.__class__ is complex or b.__class__ is complex:
            return complex(NAN, NAN)
        if math.isnan(a) or a == 0:
            return NAN
        return math.copysign(INF, a) * math.copysign(1.0, b)
    except OverflowError:
        return math.copysign(INF, a) * math.copysign(1.0, b)


def _floordiv(a: Number, b: Number) -> Number:
    try:
        return a // b
    except ZeroDivisionError:
        raise Broken("zero", f"{a} // 0: an integer is divided by zero") from None


def _mod(a: Number, b: Number) -> Number:
    try:
        return a % b
    except ZeroDivisionError:
        raise Broken("zero", f"{a} % 0: an integer is divided by zero") from None


def _fdiv(a: Number, b: Number, to: Rounds) -> Number:
    """``a // b`` of floats, each step rounded, as numba and CPython have it."""
    if b == 0:
        return _div(a, b)
    mod = _remainder(a, b)
    div = to(to(a - mod) / b)
    if mod and (b < 0) != (mod < 0):
        div = to(div - 1.0)
    if not div:
        return math.copysign(0.0, a / b)
    if math.isnan(div) or math.isinf(div):
        return div
    found = float(math.floor(div))
    return to(found + 1.0) if to(div - found) > 0.5 else found


def _fmod(a: Number, b: Number, to: Rounds) -> Number:
    """``a % b`` of floats, with the sign of ``b``."""
    mod = _remainder(a, b)
    if not mod:
        return math.copysign(0.0, b)
    return to(mod + b) if (b < 0) != (mod < 0) else mod


def _remainder(a: Number, b: Number) -> float:
    try:
        return math.fmod(a, b)
    except ValueError:
        return NAN


def _pow(a: Number, b: Number) -> Number:
    if a.__class__ in (int, bool) and b.__class__ in (int, bool):
        if b >= 0:
            return wrap(pow(int(a), int(b), 1 << 64), "i8")
        if a == 0:
            raise Broken("zero", f"{a} ** {b}: an integer is divided by zero")
        return int(a) if a in (1, -1) and b % 2 else int(a in (1, -1))  # integers stay whole
    try:
        made = a**b
        odd = made.__class__ is complex and complex not in (a.__class__, b.__class__)
        return NAN if odd else made
    except ZeroDivisionError:
        return math.copysign(INF, a) if b.__class__ is int and b % 2 else INF
    except OverflowError:
        return -INF if a.__class__ is float and a < 0 and b % 2 == 1 else INF


def _powi(a: Number, times: int, to: Rounds) -> Number:
    """A float to an integral power by repeated squaring, each product rounded, as numba unrolls
    it.
    """
    if abs(times) > 1 << 16:
        return to(_pow(a, float(times)))
    made = 1.0
    left = abs(times)
    while left:
        if left & 1:
            made = to(made * a)
        left >>= 1
        a = to(a * a)
    return to(_div(1.0, made)) if times < 0 else made


def _fma(a: float, b: float, c: float, to: Rounds) -> Number:
    """``a * b + c`` in one rounding."""
    product = a * b
    made = product + c
    if not math.isfinite(made):
        return to(made)
    if to is _same:
        from fractions import Fraction

        exact = Fraction(a) * Fraction(b) + Fraction(c)
        return float(exact) if exact else made
    # the product is exact; what the sum loses is put into its last bit, so that the second rounding
    # is right
    part = made - product
    lost = (product - (made - part)) + (c - part)
    if lost and not struct.pack("<d", made)[0] & 1:
        made = math.nextafter(made, math.copysign(INF, lost))
    return to(made)


def _real_pow(a: Number, b: Number) -> Number:
    made = _pow(float(a), b)
    return NAN if made.__class__ is complex else made


def _shl(a: Number, b: Number) -> Number:
    if not 0 <= b < 64:
        raise Broken("shift", f"a shift by {b} bits")
    return wrap(a << b, "i8")


def _shr(a: Number, b: Number) -> Number:
    if not 0 <= b < 64:
        raise Broken("shift", f"a shift by {b} bits")
    return a >> b


def _int(value: Number) -> int:
    if value.__class__ is float:
        if math.isnan(value) or value in (INF, -INF):
            raise Broken("type", f"int({value})")
        value = wrap(int(value), "i8")
    whole: int = int(value)
    return whole


def _float(value: Number) -> float:
    try:
        return float(value)
    except OverflowError:
        return INF if value > 0 else -INF


def _round(value: Number, digits: Number = None) -> Number:
    if value.__class__ is float and (math.isnan(value) or value in (INF, -INF)):
        return value
    return round(value) if digits is None else round(value, digits)


def _len(thing: Sized) -> int:
    if not hasattr(thing, "ndim") and thing.__class__ is not tuple:
        raise Broken("type", "len of what is not an array")
    return len(thing)


def _type(dtype: str) -> Rounds:
    """What makes a number of a type.

    It carries its name, so that it can be the dtype of an array too.
    """
    if dtype[0] in "iu":

        def convert(value: Number = 0) -> Number:
            return wrap(_int(value), dtype)
    elif dtype == "b1":

        def convert(value: Number = False) -> Number:  # noqa: FBT002 - numpy's own signature
            return bool(value)
    elif dtype == "f8":

        def convert(value: Number = 0.0) -> Number:
            return _float(value)
    elif dtype[0] == "c":

        def convert(value: Number = 0j) -> Number:
            return rounded(complex(value), dtype)
    else:

        def convert(value: Number = 0.0) -> Number:
            return rounded(_sticky(value), dtype)

    convert.dtype = dtype  # type: ignore[attr-defined]
    return convert


def _sticky(value: Number) -> Number:
    """An integer with its last bits in one, so that a float of 53 bits can be made of it before a
    narrower one.
    """
    if value.__class__ is int and value.bit_length() > 54:
        shift = value.bit_length() - 54
        return (value >> shift | bool(value & ((1 << shift) - 1))) << shift
    return value


def _same(value: Number) -> Number:
    return value


def _to_i8(value: int) -> int:
    return value if -_MOST <= value < _MOST else wrap(value, "i8")


def _to_f4() -> Callable[[float], float]:
    cell = array("f", [0.0])

    def convert(value: float) -> float:
        cell[0] = value
        return cell[0]

    return convert


class Single(float):
    """A float32 that a plan gives to a kernel."""

    dtype = "f4"

    def __new__(cls, value: Number = 0.0) -> Self:
        """Rounded."""
        return super().__new__(cls, rounded(_sticky(value), cls.dtype))


class Half(Single):
    """A float16 that a plan gives to a kernel."""

    dtype = "f2"


def _guarded(name: str) -> Number | Callable[..., Number]:
    """A function of ``math`` that answers where Python's raises."""
    found = getattr(math, name)
    if not callable(found):
        return found
    poles = {"log": -INF, "log2": -INF, "log10": -INF, "gamma": INF, "lgamma": INF}
    grows = {"exp", "exp2", "expm1", "cosh", "gamma", "lgamma", "ldexp"}

    def call(*args: Number) -> Number:
        try:
            return found(*args)
        except ValueError:
            x = args[0]
            if name in poles and x == 0:
                return poles[name]
            if name == "log1p" and x == -1:
                return -INF
            if name == "atanh" and abs(x) == 1:
                return math.copysign(INF, x)
            return NAN
        except OverflowError:
            if name in ("floor", "ceil", "trunc"):
                return args[0]
            return INF if name in grows or args[0] > 0 else -INF

    return call


def _integral(name: str) -> Rounds:
    """floor and the like, which give floats on a device; in a plan they are Python's."""
    found = HELPERS[f"_host_{name}"] = _guarded(name)

    def call(x: Number) -> Number:
        if math.isnan(x) or x in (INF, -INF):
            return x
        return math.copysign(float(found(x)), x)

    return call


HELPERS: dict[str, Callable[..., object]] = {
    "_mul": _mul, "_div": _div, "_floordiv": _floordiv, "_mod": _mod, "_pow": _pow, "_shl": _shl,
    "_shr": _shr, "_fdiv": _fdiv, "_fmod": _fmod, "_powi": _powi, "_fma": _fma, "_to_i8": _to_i8,
    "_to_f4": _to_f4(), "_to_f8": _same, "_abs": abs, "_bool": bool, "_complex": complex,
    "_float": _float, "_int": _int, "_len": _len, "_max": max, "_min": min, "_round": _round,
    "range": range,
}  # fmt: skip
HELPERS.update({f"_math_{name}": _guarded(name) for name in MATH if hasattr(math, name)})
HELPERS.update({f"_math_{name}": _integral(name) for name in ("floor", "ceil", "trunc")})
HELPERS["_math_pow"] = _real_pow
HELPERS.update({f"_type_{name}": _type(dtype) for name, dtype in DTYPES.items()})
HELPERS.update({f"_to_{dtype}": partial(rounded, dtype=dtype) for dtype in ("f2", "bf16", "c8")})
HELPERS.update({f"_to_{dtype}": partial(wrap, dtype=dtype) for dtype in ("i1", "i2", "i4")})
HELPERS.update({f"_host_{name}": HELPERS[f"_type_{name}"] for name in DTYPES})
HELPERS.update(_host_float32=Single, _host_float16=Half)
