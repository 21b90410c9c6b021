"""Named functions for the evaluator, each with the bound on its error."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from rlenv_plugin_math.compare.arithmetic import Arithmetic, Measured
from rlenv_plugin_math.compare.kernels import MOST_EXPONENT
from rlenv_plugin_math.compare.work import Undefined

_MOST_FACTORIAL = 10**6
_MOST_ARGUMENT = 1e300


def _one(values: list[Measured]) -> Measured:
    if len(values) != 1:
        raise Undefined
    return values[0]


def _smooth(name: str, at: Arithmetic, values: list[Measured]) -> Measured:
    """sin, cos, sinh, cosh, exp: the slope is at most 1 + |f|."""
    value, error = _one(values)
    if abs(value) > (_MOST_ARGUMENT if name in ("sin", "cos") else MOST_EXPONENT):
        raise Undefined
    result = at.kernel.call(name, value)
    return result, 2 * error * (1 + abs(result)) + (abs(result) + abs(value)) * at.eps


def _quotient(top: str, bottom: str, at: Arithmetic, values: list[Measured]) -> Measured:
    """tan, cot and the hyperbolic ones: a pole is not a value."""
    return at.over(_smooth(top, at, values), _smooth(bottom, at, values))


def _inverse_sine(name: str, at: Arithmetic, values: list[Measured]) -> Measured:
    """asin, acos and their hyperbolic kin; the ends of the domain are met within the error."""
    value, error = at.real(_one(values))
    slope = 1 - value * value if name in ("asin", "acos", "atanh") else value * value - 1
    if name in ("asinh", "atan"):
        slope = 1 + value * value
    room = abs(slope)
    if room <= 4 * error:
        if name == "atanh" or at.kernel.is_complex(value):
            raise Undefined
        value = (1 if value > 0 else -1) * (value * 0 + 1)
        error = 2 * at.kernel.call("sqrt", 2 * error)
        result = at.kernel.call(name, value)
        return result, error + abs(result) * at.eps
    result = at.kernel.call(name, value)
    bend = room if name in ("atan", "atanh") else at.kernel.call("sqrt", room)
    return result, 2 * error / bend + abs(result) * at.eps


def _flipped(name: str, at: Arithmetic, values: list[Measured]) -> Measured:
    """sec, csc and the hyperbolic ones: one over the function."""
    return at.over(_unit(at), _smooth(name, at, values))


def _inverse_flipped(name: str, at: Arithmetic, values: list[Measured]) -> Measured:
    """asec and acsc: the inverse function of one over the argument."""
    return _inverse_sine(name, at, [at.over(_unit(at), _one(values))])


def _acot(at: Arithmetic, values: list[Measured]) -> Measured:
    """Between 0 and pi."""
    value, error = _inverse_sine("atan", at, values)
    return at.kernel.pi / 2 - value, error + at.eps * 4


def _unit(at: Arithmetic) -> Measured:
    return at.kernel.number(Fraction(1)), 0.0


def _ln(at: Arithmetic, values: list[Measured]) -> Measured:
    return at.logarithm(_one(values))


def _log(at: Arithmetic, values: list[Measured]) -> Measured:
    """Two arguments: the base is the second.  Alone: natural, see ``scalars`` for the other
    reading.
    """
    if len(values) == 1:
        return at.logarithm(values[0])
    return at.over(at.logarithm(values[0]), at.logarithm(values[1]))


def _sqrt(at: Arithmetic, values: list[Measured]) -> Measured:
    return at.root(_one(values))


def _root(at: Arithmetic, values: list[Measured]) -> Measured:
    if len(values) == 1:
        return at.root(values[0])
    degree = _integer(at, values[1])
    return at.fixed(values[0], Fraction(1, degree)) if degree else _undefined()


def _undefined() -> Measured:
    raise Undefined


def _integer(at: Arithmetic, measured: Measured) -> int:
    value, error = at.real(measured)
    if at.kernel.is_complex(value) or not error < 0.25:
        raise Undefined
    nearest = int(value + (0.5 if value >= 0 else -0.5))
    if abs(value - nearest) > error:
        raise Undefined
    return nearest


def _real(at: Arithmetic, measured: Measured) -> Measured:
    value, error = at.real(measured)
    if at.kernel.is_complex(value):
        raise Undefined
    return value, error


def _abs(_at: Arithmetic, values: list[Measured]) -> Measured:
    value, error = _one(values)
    return abs(value), error


def _step(name: str, at: Arithmetic, values: list[Measured]) -> Measured:
    """floor and ceil; within the error of an integer the value is that integer."""
    value, error = _real(at, _one(values))
    if not error < 0.25:
        raise Undefined
    nearest = at.kernel.call("floor", value + 0.5)
    if abs(value - nearest) <= error:
        return nearest, 0.0
    return at.kernel.call(name, value), 0.0


def _sign(at: Arithmetic, values: list[Measured]) -> Measured:
    value, error = _real(at, _one(values))
    one, none = _unit(at)
    if abs(value) <= error:
        return one * 0, none
    return (one if value > 0 else -one), none


def _factorial(at: Arithmetic, values: list[Measured]) -> Measured:
    value, error = _real(at, _one(values))
    if not -170 < value < _MOST_FACTORIAL:
        raise Undefined
    result = at.kernel.call("gamma", value + 1)
    return result, abs(result) * (error * (1 + abs(value)) + 64 * at.eps)


def _binomial(at: Arithmetic, values: list[Measured]) -> Measured:
    top, chosen = values
    rest = top[0] - chosen[0], top[1] + chosen[1]
    below = at.times(_factorial(at, [chosen]), _factorial(at, [rest]))
    return at.over(_factorial(at, [top]), below)


def _extreme(pick: Callable[..., Any], at: Arithmetic, values: list[Measured]) -> Measured:
    known = [_real(at, value) for value in values]
    return pick(value for value, _ in known), max(error for _, error in known)


def _part(name: str, at: Arithmetic, values: list[Measured]) -> Measured:
    value, error = _one(values)
    if not at.kernel.is_complex(value):
        return (value * 0 if name == "imag" else value), error
    return getattr(value, name), error


def _conj(_at: Arithmetic, values: list[Measured]) -> Measured:
    value, error = _one(values)
    return value.conjugate(), error


def _arg(at: Arithmetic, values: list[Measured]) -> Measured:
    value, error = at.real(_one(values))
    if not abs(value) > error:
        raise Undefined
    return at.kernel.call("arg", value), error / abs(value) + 4 * at.eps


FUNCTIONS: dict[str, Callable[[Arithmetic, list[Measured]], Measured]] = {
    **{name: partial(_smooth, name) for name in ("sin", "cos", "sinh", "cosh", "exp")},
    "tan": partial(_quotient, "sin", "cos"),
    "cot": partial(_quotient, "cos", "sin"),
    "tanh": partial(_quotient, "sinh", "cosh"),
    "coth": partial(_quotient, "cosh", "sinh"),
    **{
        name: partial(_inverse_sine, name)
        for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh")
    },
    "sec": partial(_flipped, "cos"),
    "csc": partial(_flipped, "sin"),
    "sech": partial(_flipped, "cosh"),
    "csch": partial(_flipped, "sinh"),
    "asec": partial(_inverse_flipped, "acos"),
    "acsc": partial(_inverse_flipped, "asin"),
    "acot": _acot,
    "ln": _ln,
    "log": _log,
    "sqrt": _sqrt,
    "root": _root,
    "abs": _abs,
    "floor": partial(_step, "floor"),
    "ceil": partial(_step, "ceil"),
    "sign": _sign,
    "factorial": _factorial,
    "binomial": _binomial,
    "min": partial(_extreme, min),
    "max": partial(_extreme, max),
    "re": partial(_part, "real"),
    "im": partial(_part, "imag"),
    "conj": _conj,
    "arg": _arg,
}
