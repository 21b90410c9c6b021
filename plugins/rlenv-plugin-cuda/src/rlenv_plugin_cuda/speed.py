"""What times say about speed: a median of ratios, how sure it is, and a score.

Nothing here measures.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from statistics import median

from attrs import field, frozen, validators

__all__ = ["CLOCKS", "SPREAD", "Ratio", "agree", "impossible", "order", "ratio", "score", "within"]

CLOCKS = 1.5  # how many times the one clock's time the other's may be
SLACK_S = 20e-6  # by which two clocks differ whatever they measure
SPREAD = 0.25  # of the logarithm's interval, beyond which nothing is said
IMPOSSIBLE = 2.0  # times faster than memory
DRAWS = 1000


@frozen
class Ratio:
    """How many times faster than the baseline: its median and an interval that holds it 95 times of
    100.

    Args:
        value: median of baseline over own, pair by pair.
        low, high: the interval, by bootstrap.
        pairs: how many there were.
    """

    value: float = field(validator=validators.gt(0))
    low: float
    high: float
    pairs: int

    @property
    def spread(self) -> float:
        """Half of the interval's logarithm: 0.02 is about two percent."""
        return math.log(self.high / self.low) / 2


def order(pairs: int) -> tuple[bool, ...]:
    """Whether each run is the answer's, A-B-B-A: what warms up or slows down meets both alike.

    Args:
        pairs: of one run each, from 1.
    """
    return tuple(own for pair in range(pairs) for own in ((True, False), (False, True))[pair % 2])


def ratio(own: Sequence[float], base: Sequence[float], *, draws: int = DRAWS) -> Ratio:
    """Of times in seconds, pair by pair; the same times always give the same interval.

    Args:
        own, base: positive, as many of one as of the other, from 1.
        draws: of the bootstrap (Efron 1979, percentile interval).

    Raises:
        ValueError: for other times.
    """
    if not own or len(own) != len(base) or not all(0 < t < math.inf for t in (*own, *base)):
        raise ValueError("times come in pairs and are positive")
    ratios = [theirs / ours for ours, theirs in zip(own, base, strict=True)]
    rng = random.Random(len(ratios))  # noqa: S311 - a bootstrap
    medians = sorted(median(rng.choices(ratios, k=len(ratios))) for _ in range(draws))
    low = medians[int(0.025 * draws)]
    high = medians[int(0.975 * draws)]
    middle = median(ratios)
    return Ratio(middle, min(low, middle), max(high, middle), len(ratios))


def score(value: float, cap: float) -> float:
    """``clip(log(value) / log(cap), 0, 1)``: 0 as fast as the baseline or slower, 1 at ``cap``
    times as fast.

    Args:
        value: how many times faster, from 0.
        cap: more than 1.
    """
    if not value > 1:
        return 0.0
    return min(1.0, math.log(value) / math.log(cap))


def within(value: float, cap: float) -> float:
    """The score where there is no baseline: 1 as fast as memory, 0 at ``cap`` times as long as
    that.

    Args:
        value: the least time that memory allows over the answer's, from 0.
        cap: more than 1.
    """
    if value <= 0:
        return 0.0
    return min(1.0, max(0.0, 1.0 + math.log(value) / math.log(cap)))


def agree(events: Sequence[float], walls: Sequence[float]) -> bool:
    """Whether a device's clock and a host's say the same, run by run: a median within ``CLOCKS``
    times.

    Args:
        events, walls: seconds, as many of one as of the other.
    """
    if not events or len(events) != len(walls):
        return False
    one = median(events)
    other = median(walls)
    longer = max(one, other)
    shorter = min(one, other)
    return shorter > 0 and longer <= CLOCKS * shorter + SLACK_S


def impossible(seconds: float, read: int, bandwidth: float) -> bool:
    """Whether this is too short for reading the inputs once.

    Args:
        seconds: of a run whose caches were flushed before.
        read: bytes of the inputs; what is written may stay in a cache.
        bandwidth: bytes per second that a copy was seen to read; 0: unknown.
    """
    return bandwidth > 0 and seconds * IMPOSSIBLE < read / bandwidth
