"""The arithmetic of a summary: pure functions of counts and sums, no files and no printing.

Intervals are 95 % score (Wilson) intervals, so they stay in [0, 1] and say something at 0 and at 1
too. Several responses to one task are no independent draws: their interval is taken from the sums
per task.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import NormalDist

from attrs import frozen

Z95 = NormalDist().inv_cdf(0.975)


@frozen
class Cluster:
    """The scored responses to one task: how many, the sum of their values, each value in [0, 1]."""

    n: int
    total: float
    squares: float


@frozen
class Interval:
    """A mean with its 95 % bounds; ``low`` and ``high`` are None where one task says nothing of
    others.
    """

    mean: float
    low: float | None
    high: float | None
    method: str


def wilson(successes: float, n: float, z: float = Z95) -> tuple[float, float]:
    """The Wilson score interval of ``successes`` out of ``n > 0``; both may be fractional."""
    p = successes / n
    center = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(0.0, center - half) if p > 0 else 0.0, min(1.0, center + half) if p < 1 else 1.0


def student_t(df: int) -> float:
    """The 97.5 % quantile of Student's t with ``df >= 1`` degrees of freedom (relative error <
    4e-4).
    """
    if df <= 3:
        return (12.706204736, 4.302652730, 3.182446305)[df - 1]
    z = Z95
    g1 = (z**3 + z) / 4
    g2 = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    g3 = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    g4 = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160
    return z + g1 / df + g2 / df**2 + g3 / df**3 + g4 / df**4


def mean_variance(clusters: Sequence[Cluster]) -> float:
    """The variance of the pooled mean, tasks taken as independent (the sandwich with C / (C -
    1)).
    """
    n = sum(c.n for c in clusters)
    mean = math.fsum(c.total for c in clusters) / n
    spread = math.fsum((c.total - c.n * mean) ** 2 for c in clusters)
    return spread / n**2 * len(clusters) / (len(clusters) - 1)


def interval(clusters: Iterable[Cluster]) -> Interval | None:
    """The mean of all values with its interval; None without any value.

    The Wilson interval at the effective sample size m(1 - m) / variance.  Where nothing varies the
    variance says nothing, and the number of tasks is the sample size: never narrower than the
    truth.
    """
    kept = [c for c in clusters if c.n]
    if not kept:
        return None
    n = sum(c.n for c in kept)
    total = math.fsum(c.total for c in kept)
    mean = min(1.0, max(0.0, total / n))
    if all(c.n == 1 for c in kept):
        return _single(kept, mean)
    if len(kept) == 1:
        return Interval(mean, None, None, "one task: no interval")
    size = _effective(mean, mean_variance(kept), len(kept))
    size *= (Z95 / student_t(len(kept) - 1)) ** 2
    return Interval(mean, *wilson(mean * size, size), "Wilson, clustered by task")


def _single(kept: Sequence[Cluster], mean: float) -> Interval:
    n = len(kept)
    if n == 1 or all(c.total in {0.0, 1.0} for c in kept):
        return Interval(mean, *wilson(mean * n, n), "Wilson")
    spread = math.fsum((c.total - mean) ** 2 for c in kept) / (n - 1)
    size = _effective(mean, spread / n, n)
    return Interval(mean, *wilson(mean * size, size), "Wilson, effective sample size")


def _effective(mean: float, variance: float, fallback: int) -> float:
    if variance < 1e-15 or mean in {0.0, 1.0}:
        return float(fallback)
    return mean * (1 - mean) / variance


def pass_at_k(n: int, passes: int, k: int) -> float:
    """The unbiased chance that at least one of ``k <= n`` responses drawn from these ``n``
    passes.
    """
    if n - passes < k:
        return 1.0
    return 1.0 - math.comb(n - passes, k) / math.comb(n, k)


class Quantiles:
    """Quantiles of a stream of seconds in bounded memory: a histogram of 2 % wide buckets."""

    _WIDTH = math.log(1.02)
    _LEAST = 1e-9

    def __init__(self) -> None:
        self._buckets: dict[int, int] = {}
        self._n = 0

    def add(self, value: float) -> None:
        bucket = round(math.log(max(value, self._LEAST)) / self._WIDTH)
        self._buckets[bucket] = self._buckets.get(bucket, 0) + 1
        self._n += 1

    def at(self, q: float) -> float:
        """The value below which a share ``q`` of the stream lies, within 1 %; 0.0 for an empty
        stream.
        """
        wanted = q * self._n
        seen = 0
        for bucket in sorted(self._buckets):
            seen += self._buckets[bucket]
            if seen >= wanted:
                value = math.exp(bucket * self._WIDTH)
                return 0.0 if value <= self._LEAST * 1.02 else value
        return 0.0
