"""Shares and their exact intervals: what a reviewer may ask of a rate that was measured on a few
hundred tasks.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

from attrs import frozen

__all__ = ["Rate", "at_least", "holm", "interval", "kappa", "paired", "quantile", "rate", "slope"]

LEVEL = 0.95


@frozen
class Rate:
    """``hits`` of ``trials``, with the exact interval of Clopper and Pearson (Biometrika 26, 1934).

    Args:
        hits, trials: counts; a trial is a task, so that many responses to one task count once.
        low, high: bounds of the share at 95 %; (0, 1) where nothing was tried.
    """

    hits: int
    trials: int
    low: float
    high: float

    @property
    def share(self) -> float | None:
        """hits / trials; None where nothing was tried, which is not 0."""
        return self.hits / self.trials if self.trials else None

    def __str__(self) -> str:
        return self.of("")

    def of(self, noun: str) -> str:
        """ "3 of 40 tasks: 7.5 % (1.6–20.4)", and "0 of 40 tasks: ≤ 8.8 %" where nothing was
        hit.
        """
        if not self.trials:
            return "not measured"
        count = f"{self.hits} of {self.trials}{' ' if noun else ''}{noun}"
        if not self.hits:
            return f"{count}: ≤ {100 * self.high:.1f} %"
        share = f"{100 * self.hits / self.trials:.1f} %"
        return f"{count}: {share} ({100 * self.low:.1f}–{100 * self.high:.1f})"


def rate(hits: int, trials: int) -> Rate:
    """A share with its interval.

    Raises:
        ValueError: when the counts make no sense.
    """
    return Rate(hits, trials, *interval(hits, trials))


def interval(hits: int, trials: int, level: float = LEVEL) -> tuple[float, float]:
    """Clopper and Pearson's exact interval of a binomial share, two-sided: 0 of 300 is at most 1.2
    %.

    Raises:
        ValueError: when the counts make no sense.
    """
    if not 0 <= hits <= trials:
        raise ValueError(f"{hits} hits of {trials} trials")
    if not trials:
        return 0.0, 1.0
    sides = (1 - level) / 2
    low = 0.0 if not hits else _root(lambda p: at_least(hits, trials, p) - sides)
    high = 1.0 if hits == trials else _root(lambda p: sides - _at_most(hits, trials, p))
    return low, high


def at_least(hits: int, trials: int, share: float) -> float:
    """P(X ≥ hits) for X ~ Binomial(trials, share): the p-value of "the share is no more than
    this".
    """
    if hits <= 0:
        return 1.0
    return min(1.0, math.fsum(_mass(k, trials, share) for k in range(hits, trials + 1)))


def _at_most(hits: int, trials: int, share: float) -> float:
    return min(1.0, math.fsum(_mass(k, trials, share) for k in range(hits + 1)))


def _mass(k: int, n: int, p: float) -> float:
    if p <= 0 or p >= 1:
        return float(k == (n if p >= 1 else 0))
    log = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(log + k * math.log(p) + (n - k) * math.log1p(-p))


def _root(rising: Callable[[float], float]) -> float:
    low = 0.0
    high = 1.0
    for _ in range(50):
        middle = (low + high) / 2
        if rising(middle) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def holm(values: Sequence[float]) -> list[float]:
    """p-values corrected for their number (Holm, Scandinavian Journal of Statistics 6, 1979), in
    the same order.
    """
    order = sorted(range(len(values)), key=values.__getitem__)
    corrected = [0.0] * len(values)
    most = 0.0
    for place, index in enumerate(order):
        most = max(most, min(1.0, (len(values) - place) * values[index]))
        corrected[index] = most
    return corrected


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which this share of the values lies, between neighbors by a straight line.

    Raises:
        ValueError: when there is no value.
    """
    if not values:
        raise ValueError("no value, so no quantile")
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def paired(values: Sequence[float], seed: int = 0, draws: int = 400) -> tuple[float, float, float]:
    """(mean, low, high) of differences, one per task: a percentile bootstrap over tasks (Efron,
    1979), at 95 %.

    Raises:
        ValueError: when there is no value.
    """
    if not values:
        raise ValueError("no value, so no mean")
    chance = random.Random(f"paired/{seed}")  # noqa: S311 - no secret
    count = len(values)
    means = [math.fsum(chance.choices(values, k=count)) / count for _ in range(draws)]
    return math.fsum(values) / count, quantile(means, 0.025), quantile(means, 0.975)


def slope(
    curves: Sequence[Sequence[tuple[float, float]]], seed: int = 0, draws: int = 400
) -> tuple[float, float, float]:
    """(slope, low, high) of y over x within curves, one per task: least squares about each task's
    own mean.

    The interval is a percentile bootstrap over tasks, so that points of one task do not count as
    independent.
    """
    parts = [_moments(curve) for curve in curves if len(curve) > 1]
    if not parts:
        return 0.0, 0.0, 0.0
    chance = random.Random(f"slope/{seed}")  # noqa: S311 - no secret
    drawn = [_ratio(chance.choices(parts, k=len(parts))) for _ in range(draws)]
    return _ratio(parts), quantile(drawn, 0.025), quantile(drawn, 0.975)


def _moments(curve: Sequence[tuple[float, float]]) -> tuple[float, float]:
    middle = math.fsum(x for x, _ in curve) / len(curve)
    mean = math.fsum(y for _, y in curve) / len(curve)
    return math.fsum((x - middle) * (y - mean) for x, y in curve), math.fsum(
        (x - middle) ** 2 for x, _ in curve
    )


def _ratio(parts: Sequence[tuple[float, float]]) -> float:
    below = math.fsum(part[1] for part in parts)
    return math.fsum(part[0] for part in parts) / below if below else 0.0


def kappa(pairs: Sequence[tuple[bool, bool]]) -> float | None:
    """Cohen's kappa (1960) of two judges; a pair is (what the first said, whether the second
    agreed).

    None where nothing was judged, or where both say the same of everything, so that agreement tells
    nothing.
    """
    if not pairs:
        return None
    count = len(pairs)
    agreed = sum(same for _, same in pairs) / count
    one = sum(first for first, _ in pairs) / count
    two = sum(first is same for first, same in pairs) / count  # the second said yes
    chance = one * two + (1 - one) * (1 - two)
    return None if chance >= 1 else (agreed - chance) / (1 - chance)
