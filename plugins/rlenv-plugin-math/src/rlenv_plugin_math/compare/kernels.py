"""Two machines to evaluate with: plain Python floats, and mpmath at a chosen number of digits."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any, Protocol

from rlenv_plugin_math.compare.work import Undefined

MOST_EXPONENT = 1e9  # what exp is asked for; beyond, reducing the argument alone would cost seconds


class Kernel(Protocol):
    """Arithmetic at some precision; values are real where they can be, else complex."""

    eps: Any  # relative error of one operation
    pi: Any
    e: Any
    i: Any
    cost: int  # units per operation

    def number(self, value: Fraction) -> Any: ...
    def is_complex(self, value: Any) -> bool: ...
    def finite(self, value: Any) -> bool: ...
    def magnitude(self, value: Any) -> int: ...
    def call(self, name: str, value: Any) -> Any: ...


class Floats:
    """Doubles, complex only where a value is."""

    eps = 2.0**-51
    pi = math.pi
    e = math.e
    i = 1j
    cost = 1

    def number(self, value: Fraction) -> float:
        if value.denominator == 1:
            return float(value.numerator)
        return value.numerator / value.denominator

    def is_complex(self, value: Any) -> bool:
        return type(value) is complex

    def finite(self, value: Any) -> bool:
        return cmath.isfinite(value)

    def magnitude(self, value: Any) -> int:  # noqa: ARG002 - floats need not know
        return 0

    def call(self, name: str, value: Any) -> Any:
        real, whole = _FLOAT_CALLS[name]
        if type(value) is not complex:
            try:
                return real(value)
            except ValueError:
                value = complex(value)
        if whole is None:
            raise Undefined
        return whole(value)


def _floor(value: float) -> float:
    return float(math.floor(value))


def _ceil(value: float) -> float:
    return float(math.ceil(value))


_FLOAT_CALLS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any] | None]] = {
    "sqrt": (math.sqrt, cmath.sqrt),
    "exp": (math.exp, cmath.exp),
    "ln": (math.log, cmath.log),
    "sin": (math.sin, cmath.sin),
    "cos": (math.cos, cmath.cos),
    "sinh": (math.sinh, cmath.sinh),
    "cosh": (math.cosh, cmath.cosh),
    "asin": (math.asin, cmath.asin),
    "acos": (math.acos, cmath.acos),
    "atan": (math.atan, cmath.atan),
    "asinh": (math.asinh, cmath.asinh),
    "acosh": (math.acosh, cmath.acosh),
    "atanh": (math.atanh, cmath.atanh),
    "arg": (lambda x: 0.0 if x > 0 else math.pi, cmath.phase),
    "floor": (_floor, None),
    "ceil": (_ceil, None),
    "gamma": (math.gamma, None),
}


class Precise:
    """mpmath with a context of its own, so that no caller's precision is touched."""

    cost = 12

    def __init__(self, digits: int) -> None:
        from mpmath import MPContext

        self.context = context = MPContext()
        context.dps = digits + 3
        self.eps = context.mpf(10) ** -digits
        self.pi = +context.pi
        self.e = +context.e
        self.i = context.mpc(0, 1)
        self.cost = 12 + digits // 20
        self._calls = {name: getattr(context, mp) for name, mp in _PRECISE_NAMES.items()}

    def number(self, value: Fraction) -> Any:
        top = self.context.mpf(value.numerator)
        return top if value.denominator == 1 else top / value.denominator

    def is_complex(self, value: Any) -> bool:
        return isinstance(value, self.context.mpc)

    def finite(self, value: Any) -> bool:
        return bool(self.context.isfinite(value))

    def magnitude(self, value: Any) -> int:
        """The absolute binary exponent of ``value``, 0 for zero."""
        size = self.context.mag(value)
        return abs(size) if isinstance(size, int) else 0

    def call(self, name: str, value: Any) -> Any:
        return self._calls[name](value)


_PRECISE_NAMES = {
    **{name: name for name in _FLOAT_CALLS if name not in ("ln", "sqrt")},
    "ln": "log",
    "sqrt": "sqrt",
}


@cache
def floats() -> Floats:
    """The one float machine."""
    return Floats()
