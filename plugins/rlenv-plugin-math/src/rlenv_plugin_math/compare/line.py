"""Subsets of the real line as sorted cuts: union, intersection and complement of intervals.

A cut is a place just before (0) or just after (1) a bound; a set is the cuts at which membership
flips.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import total_ordering
from typing import TypeAlias

from rlenv_plugin_math.compare.exact import rational
from rlenv_plugin_math.compare.scalars import infinity
from rlenv_plugin_math.compare.tolerance import number
from rlenv_plugin_math.compare.work import Case, Undefined
from rlenv_plugin_math.tree import Node, Num

_DIGITS = 30


@total_ordering
class Bound:
    """A point of the extended real line, ordered exactly where rational and to 30 digits
    elsewhere.
    """

    __slots__ = ("case", "exact", "node", "value")

    def __init__(self, node: Node, case: Case) -> None:
        self.node = node
        self.case = case
        self.exact: Fraction | None = None
        sign = infinity(node)
        if sign is not None:
            self.value = sign * math.inf
            return
        self.exact = rational(node, case)
        measured = self.exact if self.exact is not None else number(node, case, _DIGITS)
        if measured is None:
            raise Undefined
        try:
            self.value = float(measured)
        except OverflowError:
            raise Undefined from None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Bound):
            return NotImplemented
        if math.isinf(self.value) or math.isinf(other.value):
            return self.value == other.value
        if self.exact is not None and other.exact is not None and not self._decimal(other):
            return self.exact == other.exact
        close = abs(self.value - other.value) <= 1e-5 * (1 + abs(self.value))
        return close and self.case.same(self.node, other.node)

    def _decimal(self, other: Bound) -> bool:
        return any(isinstance(b.node, Num) and bool(b.node.decimals) for b in (self, other))

    def __lt__(self, other: Bound) -> bool:
        if self.exact is not None and other.exact is not None:
            return self.exact < other.exact
        return self.value < other.value

    __hash__ = None  # type: ignore[assignment]


Cut: TypeAlias = tuple[Bound, int]
Cuts: TypeAlias = list[Cut]


def ends(case: Case) -> tuple[Bound, Bound]:
    """Minus and plus infinity."""
    from rlenv_plugin_math.tree import Const, Neg

    return Bound(Neg(Const("inf")), case), Bound(Const("inf"), case)


def interval(low: Bound, high: Bound, *, low_in: bool, high_in: bool) -> Cuts:
    """The points between two bounds; infinity itself never belongs."""
    start = (low, 0 if low_in and not math.isinf(low.value) else 1)
    stop = (high, 1 if high_in and not math.isinf(high.value) else 0)
    return [start, stop] if start < stop else []


def everything(case: Case) -> Cuts:
    """The real line."""
    low, high = ends(case)
    return interval(low, high, low_in=False, high_in=False)


def combine(left: Cuts, right: Cuts, keep: Callable[[bool, bool], bool]) -> Cuts:
    """The points that ``keep`` wants, told by membership in either set."""
    marks = sorted(
        [(cut, 0) for cut in left] + [(cut, 1) for cut in right], key=lambda mark: mark[0]
    )
    inside = [False, False]
    kept: Cuts = []
    now = False
    for index, (cut, side) in enumerate(marks):
        inside[side] = not inside[side]
        if index + 1 < len(marks) and marks[index + 1][0] == cut:
            continue
        wanted = keep(inside[0], inside[1])
        if wanted != now:
            kept.append(cut)
            now = wanted
    return kept


def holds(cuts: Cuts, point: Bound) -> bool:
    """Whether a point belongs: an odd number of cuts lie at or before it."""
    return sum(not (point, 0) < cut for cut in cuts) % 2 == 1


def union(left: Cuts, right: Cuts) -> Cuts:
    return combine(left, right, lambda a, b: a or b)


def intersection(left: Cuts, right: Cuts) -> Cuts:
    return combine(left, right, lambda a, b: a and b)


def difference(left: Cuts, right: Cuts) -> Cuts:
    return combine(left, right, lambda a, b: a and not b)
