"""When a decimal may stand for a value that it does not equal.

A decimal is accepted for the other value when it is that value rounded or cut at its last place and
shows at least six significant digits.  A gold of fewer digits is met by the exact value that it
rounds.  An integer is never an approximation and is never approximated, and a gold that states more
digits than it was given is not met.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from rlenv_plugin_math.compare.evaluate import Evaluator
from rlenv_plugin_math.compare.exact import bits, rational
from rlenv_plugin_math.compare.kernels import floats
from rlenv_plugin_math.compare.numeric import precise
from rlenv_plugin_math.compare.work import Case, Undefined
from rlenv_plugin_math.held import frozen
from rlenv_plugin_math.tree import Mul, Neg, Node, Num, Pow

_MOST_DIGITS = 4096
_DOUBT = 1e-15  # of a measured value, relative to it where it is large


@frozen
class Decimal:
    """A decimal as written: its value, one unit of its last place, and its significant digits."""

    value: Fraction
    unit: Fraction
    digits: int


def decimal(node: Node) -> Decimal | None:
    """``node`` as a decimal literal, perhaps signed or times a power of ten; None for all else."""
    if isinstance(node, Neg):
        inner = decimal(node.arg)
        return None if inner is None else Decimal(-inner.value, inner.unit, inner.digits)
    if isinstance(node, Num):
        return _literal(node)
    if isinstance(node, Mul) and len(node.args) == 2:
        inner = decimal(node.args[0])
        scale = _power_of_ten(node.args[1])
        if inner is not None and scale is not None:
            return Decimal(inner.value * scale, inner.unit * scale, inner.digits)
    return None


def _literal(node: Num) -> Decimal | None:
    if not node.decimals or node.repeating:
        return None
    unit = Fraction(1, 10**node.decimals)
    return Decimal(node.value, unit, len(str(abs(int(node.value / unit)))))


def _power_of_ten(node: Node) -> Fraction | None:
    if not isinstance(node, Pow) or not isinstance(node.base, Num) or node.base.value != 10:
        return None
    exponent = node.exponent.arg if isinstance(node.exponent, Neg) else node.exponent
    if (
        not isinstance(exponent, Num)
        or exponent.value.denominator != 1
        or abs(exponent.value) > 999
    ):
        return None
    whole = int(exponent.value)
    return Fraction(10) ** (whole if exponent is node.exponent else -whole)


def near(gold: Node, given: Node, case: Case) -> bool:
    """Whether unequal values are close enough under the options."""
    options = case.options
    if (options.rel_tol or options.abs_tol) and _within(gold, given, case):
        return True
    if options.tolerance == "none":
        return False
    stated = decimal(gold)
    shown = decimal(given)
    if stated is None and shown is None:
        return False
    if shown is not None and (stated is None or shown.unit <= stated.unit):
        exact, rounded = (gold, shown) if stated is None else (given, stated)
    elif stated is not None and shown is None:
        if stated.digits < options.digits:
            return _rounded_gold(given, stated, case)
        exact = given
        rounded = stated
    else:
        return False
    if rounded.digits < options.digits:
        return False
    return _rounds_to(exact, rounded.value, _printed_unit(rounded), case)


def _rounded_gold(exact: Node, gold: Decimal, case: Case) -> bool:
    """Whether a gold of few digits is ``exact`` rounded to its last place: 0.33 for 1/3, 17.32 for
    a root of 300.

    What is irrational needs four digits.  A fraction must be a convergent of the gold (Legendre: an
    error below one in twice its denominator squared), so that it is the fraction that was rounded
    and not one nearby.
    """
    value = rational(exact, case)
    if value is None:
        convergent = gold.digits >= 4
    else:
        convergent = abs(value - gold.value) * 2 * value.denominator**2 < 1
    fine = gold.digits >= 3 or (gold.digits == 2 and gold.unit <= Fraction(1, 100))
    return convergent and fine and near_rounded(exact, gold.value, gold.unit, case)


def _printed_unit(shown: Decimal) -> Fraction:
    """A binary double prints 16 or 17 digits, of which the last is not the value's own."""
    return shown.unit * {16: 2, 17: 4}.get(shown.digits, 1)


def _rounds_to(exact: Node, rounded: Fraction, unit: Fraction, case: Case) -> bool:
    value = rational(exact, case)
    if value is not None and value.denominator == 1:
        return False
    half = unit / 2
    cut = rounded + (half if rounded > 0 else -half)  # the middle of what was cut off
    return near_rounded(exact, rounded, unit, case) or near_rounded(
        exact, cut, unit, case, ends=False
    )


def near_rounded(
    exact: Node, rounded: Fraction, unit: Fraction, case: Case, *, ends: bool = True
) -> bool:
    """Whether ``rounded`` is within half of ``unit`` of the value of ``exact``; ``ends``: half of
    it counts.
    """
    value = rational(exact, case)
    if value is not None:
        off = abs(value - rounded) * 2
        return off < unit or (ends and off == unit)
    digits = 20 + (bits(unit) + bits(rounded)) // 3  # a decimal digit takes more than three bits
    measured = number(exact, case, digits)
    if measured is None:
        return False
    machine = precise(digits)
    return bool(abs(measured - machine.number(rounded)) * 2 < machine.number(unit))


def number(node: Node, case: Case, digits: int) -> Any:
    """The real value of a constant to ``digits`` digits as an mpmath number.

    None where it has none, and when more than 4096 digits are asked for.
    """
    if digits > _MOST_DIGITS:
        return None
    at = Evaluator(precise(digits), {}, case)
    try:
        value, error = at.real(at.of(node))
    except Undefined:
        return None
    sure = error <= _DOUBT * (1 + abs(value))
    return value if sure and not at.kernel.is_complex(value) else None


def _within(gold: Node, given: Node, case: Case) -> bool:
    at = Evaluator(floats(), {}, case)
    try:
        (wanted, _) = at.real(at.of(gold))
        (found, _) = at.real(at.of(given))
    except Undefined:
        return False
    room = max(case.options.abs_tol, case.options.rel_tol * abs(wanted))
    return bool(abs(wanted - found) <= room)
