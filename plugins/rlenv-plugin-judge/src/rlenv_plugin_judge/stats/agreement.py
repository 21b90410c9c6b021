"""How far raters agree beyond chance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import permutations

__all__ = ["Z95", "cohen", "krippendorff", "wilson"]

Z95 = 1.959963984540054  # the normal quantile of 0.975


def cohen(
    first: Sequence[float], second: Sequence[float], *, levels: Sequence[float] = ()
) -> float:
    """Cohen's kappa: 1 for full agreement, 0 for as much as by chance, below 0 for less.

    Cohen (1960); with levels Cohen (1968).  NaN where both raters only ever say one and the same.

    Args:
        first, second: one category per item, of two raters.
        levels: the categories from low to high: then a disagreement by d of them counts d², else
            all count alike.

    Raises:
        ValueError: the raters judged different numbers of items, or none.
    """
    if len(first) != len(second) or not first:
        raise ValueError(
            f"{len(first)} and {len(second)} ratings: both judge the same items, at least one"
        )
    rank = {level: place for place, level in enumerate(levels)}

    def cost(a: float, b: float) -> float:
        return float((rank[a] - rank[b]) ** 2) if levels else float(a != b)

    observed = math.fsum(map(cost, first, second)) * len(first)
    ours = Counter(first)
    theirs = Counter(second)
    expected = math.fsum(cost(a, b) * ours[a] * theirs[b] for a in ours for b in theirs)
    return 1.0 - observed / expected if expected else math.nan


def krippendorff(ratings: Sequence[Sequence[float | None]]) -> float:
    """Krippendorff's alpha, on an interval scale, of any number of raters, some of whom may have
    left items out.

    Krippendorff (2011), "Computing Krippendorff's alpha-reliability".  NaN where no two ratings of
    one item exist, or all ratings are one value.

    Args:
        ratings: one row per rater, one number per item, None where that rater gave none.

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
    n = math.fsum(totals.values())
    if n <= 1:
        return math.nan
    observed = math.fsum(count * (a - b) ** 2 for (a, b), count in together.items()) / n
    expected = math.fsum(totals[a] * totals[b] * (a - b) ** 2 for a in totals for b in totals)
    return 1.0 - observed * n * (n - 1) / expected if expected else math.nan


def wilson(hits: int, total: int, z: float = Z95) -> tuple[float, float]:
    """The interval of a share that Wilson (1927) gives; (0, 1) of nothing."""
    if not total:
        return 0.0, 1.0
    share = hits / total
    square = z * z / total
    middle = (share + square / 2) / (1 + square)
    half = z / (1 + square) * math.sqrt(share * (1 - share) / total + square / (4 * total))
    return max(0.0, middle - half), min(1.0, middle + half)
