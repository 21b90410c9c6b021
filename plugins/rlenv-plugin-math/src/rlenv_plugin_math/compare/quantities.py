"""Values with units: conversion where both sides have one, leniency where one left it out."""

from __future__ import annotations

from fractions import Fraction

from rlenv_plugin_math.compare.exact import rational
from rlenv_plugin_math.compare.tolerance import decimal
from rlenv_plugin_math.compare.work import Case
from rlenv_plugin_math.held import frozen
from rlenv_plugin_math.tree import Add, Const, Div, Mul, Neg, Node, Num, Quantity
from rlenv_plugin_math.units import Unit, convert

_PERCENT: Unit = (("%", 1),)
_PERMILLE: Unit = (("permille", 1),)
_DEGREES: Unit = (("deg", 1),)
_ANGLES = frozenset((_DEGREES, (("rad", 1),)))


@frozen
class Measure:
    """An expression and its unit."""

    value: Node
    unit: Unit


def measure(node: Node) -> Measure | None:
    """``node`` as one value with one unit, sums such as 5 ft 3 in included; None when it has no
    unit.
    """
    if isinstance(node, Quantity):
        return Measure(node.value, node.unit) if _real(node.unit) else Measure(node.value, ())
    if isinstance(node, Neg):
        inner = measure(node.arg)
        return None if inner is None else Measure(Neg(inner.value), inner.unit)
    if isinstance(node, Mul) and sum(isinstance(arg, Quantity) for arg in node.args) == 1:
        parts = [arg.value if isinstance(arg, Quantity) else arg for arg in node.args]
        unit = next(arg.unit for arg in node.args if isinstance(arg, Quantity))
        return Measure(Mul(tuple(parts)), unit)
    return _sum(node) if isinstance(node, Add) else None


def _real(unit: Unit) -> bool:
    """ "12 square units" says no unit."""
    return any(name not in ("unit", "sq") for name, _ in unit)


def _sum(node: Add) -> Measure | None:
    parts = [measure(arg) for arg in node.args]
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts):
        return None
    unit = known[-1].unit
    terms: list[Node] = []
    for part in known:
        scale = ratio(part.unit, unit)
        if scale is None:
            return None
        terms.append(part.value if scale == 1 else Mul((part.value, Num(scale))))
    return Measure(Add(tuple(terms)), unit)


def ratio(unit: Unit, other: Unit) -> Fraction | None:
    """How many ``other`` one ``unit`` is, None where they measure different things."""
    if unit == other:
        return Fraction(1)
    (factor, dimension) = convert(unit)
    (divisor, target) = convert(other)
    return factor / divisor if dimension == target else None


def same_quantity(gold: Node, given: Node, case: Case) -> bool:
    """Whether two values are equal, at least one of which has a unit."""
    given = _glued(gold, given)
    wanted = measure(gold)
    found = measure(given)
    if wanted is not None and not wanted.unit:
        gold = wanted.value
        wanted = None
    if found is not None and not found.unit:
        given = found.value
        found = None
    if wanted is not None and found is not None:
        return _both(wanted, found, case)
    if wanted is not None:
        return not case.options.require_unit and _bare(wanted, given, case, flipped=False)
    if found is not None:
        return _bare(found, gold, case, flipped=True)
    return case.same(gold, given)


def _glued(gold: Node, given: Node) -> Node:
    """``2m`` for a gold of 2 m is no product."""
    if not isinstance(gold, Quantity) or len(gold.unit) != 1 or not isinstance(given, Mul):
        return given
    *rest, last = given.args
    if gold.unit != ((getattr(last, "name", ""), 1),):
        return given
    return Quantity(rest[0] if len(rest) == 1 else Mul(tuple(rest)), gold.unit)


def _both(wanted: Measure, found: Measure, case: Case) -> bool:
    if wanted.unit in _ANGLES and found.unit in _ANGLES and wanted.unit != found.unit:
        return case.same(_radians(wanted), _radians(found))
    scale = ratio(wanted.unit, found.unit)
    if scale is None:
        return False
    if scale == 1:
        return case.same(wanted.value, found.value)
    if decimal(wanted.value) is not None and decimal(found.value) is None:
        return case.same(wanted.value, Mul((found.value, Num(1 / scale))))
    return case.same(Mul((wanted.value, Num(scale))), found.value)


def _radians(angle: Measure) -> Node:
    if angle.unit != _DEGREES:
        return angle.value
    return Div(Mul((angle.value, Const("pi"))), Num(Fraction(180)))


def _bare(angle: Measure, plain: Node, case: Case, *, flipped: bool) -> bool:
    """One side has a unit; ``flipped`` when that is the given one."""

    def same(left: Node, right: Node) -> bool:
        return case.same(right, left) if flipped else case.same(left, right)

    if angle.unit == _PERMILLE:
        return same(Div(angle.value, Num(Fraction(1000))), plain)
    if angle.unit == _PERCENT:
        value = rational(angle.value, case)
        if same(_hundredth(angle.value, value), plain):
            return True
        if value is None or abs(value) <= 1 or case.options.percent == "exact":
            return False
        return _alike(angle.value, plain) and same(angle.value, plain)
    if same(angle.value, plain):
        return True
    return angle.unit == _DEGREES and same(_radians(angle), plain)


def _alike(value: Node, plain: Node) -> bool:
    """Only a number written the same way may have lost its percent sign: 4 4/9 % is not 40/9."""
    return (isinstance(value, Num) and isinstance(plain, Num)) or value == plain


def _hundredth(node: Node, value: Fraction | None) -> Node:
    if value is None:
        return Div(node, Num(Fraction(100)))
    written = decimal(node)
    places = None if written is None else len(str(written.unit.denominator)) + 1
    return Num(value / 100, places)
