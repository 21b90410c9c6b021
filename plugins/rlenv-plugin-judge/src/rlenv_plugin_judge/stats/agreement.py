"""How far raters agree beyond chance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from itertools import permutations
from typing import Literal

__all__ = ["Z95", "cohen", "krippendorff", "wilson"]

Z95 = 1.959963984540054  # the normal quantile of 0.975
Weights = Literal["linear", "quadratic"]
Level = Literal["nominal", "ordinal", "interval"]


def cohen(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    *,
    order: Sequence[Hashable] | None = None,
    weights: Weights | None = None,
) -> float:
    """Cohen's kappa: 1 for full agreement, 0 for as much as by chance, below 0 for less.

    Cohen (1960); with weights Cohen (1968).  NaN where both raters only ever say one and the same.

    Args:
        first, second: one category per item, of two raters.
        order: the categories from low to high; sorted by themselves when None.  Only weights need it.
        weights: how much a disagreement by d steps counts: not at all more than another (None), d, or d².

    Raises:
        ValueError: the raters judged different numbers of items, or none.
    """
    if len(first) != len(second) or not first:
        raise ValueError(
            f"{len(first)} and {len(second)} ratings: both judge the same items, at least one"
        )
    categories = list(order) if order is not None else sorted({*first, *second}, key=_key)
    rank = {category: place for place, category in enumerate(categories)}
    cost = _cost(weights)
    total = len(first)
    observed = math.fsum(cost(rank[a], rank[b]) for a, b in zip(first, second, strict=True)) / total
    ours, theirs = Counter(first), Counter(second)
    expected = math.fsum(
        cost(rank[a], rank[b]) * ours[a] * theirs[b] for a in ours for b in theirs
    ) / (total * total)
    return 1.0 - observed / expected if expected else math.nan


def _key(category: Hashable) -> tuple[str, object]:
    kind = "number" if isinstance(category, (bool, int, float)) else type(category).__name__
    return kind, category


def _cost(weights: Weights | None) -> Callable[[int, int], float]:
    if weights is None:
        return lambda a, b: float(a != b)
    return (
        (lambda a, b: float(abs(a - b)))
        if weights == "linear"
        else lambda a, b: float((a - b) ** 2)
    )


def krippendorff(ratings: Sequence[Sequence[float | None]], *, level: Level = "nominal") -> float:
    """Krippendorff's alpha of any number of raters, some of whom may have left items out.

    Krippendorff (2011), "Computing Krippendorff's alpha-reliability".  NaN where no two ratings of one
    item exist, or all ratings are one value.

    Args:
        ratings: one row per rater, one number per item, None where that rater gave none.
        level: what a difference means: another category, another rank, or so far on a scale.

    Raises:
        ValueError: rows of different lengths.
    """
    if len({len(row) for row in ratings}) > 1:
        raise ValueError("raters have rows of different lengths: None stands for an item left out")
    units = [
        [value for value in column if value is not None] for column in zip(*ratings, strict=True)
    ]
    units = [unit for unit in units if len(unit) > 1]
    together: Counter[tuple[float, float]] = Counter()
    for unit in units:
        for pair, count in Counter(permutations(unit, 2)).items():
            together[pair] += count / (len(unit) - 1)  # type: ignore[assignment]
    totals: Counter[float] = Counter()
    for (value, _), count in together.items():
        totals[value] += count
    return _alpha(together, totals, _distance(level, totals))


def _alpha(
    together: Counter[tuple[float, float]],
    totals: Counter[float],
    distance: Callable[[float, float], float],
) -> float:
    n = math.fsum(totals.values())
    if n <= 1:
        return math.nan
    observed = math.fsum(count * distance(*pair) for pair, count in together.items()) / n
    expected = math.fsum(totals[a] * totals[b] * distance(a, b) for a in totals for b in totals) / (
        n * (n - 1)
    )
    return 1.0 - observed / expected if expected else math.nan


def _distance(level: Level, totals: Counter[float]) -> Callable[[float, float], float]:
    if level == "nominal":
        return lambda a, b: float(a != b)
    if level == "interval":
        return lambda a, b: (a - b) ** 2
    values = sorted(totals)

    def ordinal(a: float, b: float) -> float:
        low, high = min(a, b), max(a, b)
        between = math.fsum(totals[value] for value in values if low <= value <= high)
        return (between - (totals[a] + totals[b]) / 2) ** 2

    return ordinal


def wilson(hits: int, total: int, z: float = Z95) -> tuple[float, float]:
    """The interval of a share that Wilson (1927) gives; (0, 1) of nothing."""
    if not total:
        return 0.0, 1.0
    share, square = hits / total, z * z / total
    middle = (share + square / 2) / (1 + square)
    half = z / (1 + square) * math.sqrt(share * (1 - share) / total + square / (4 * total))
    return max(0.0, middle - half), min(1.0, middle + half)
