"""From the score of a judge to a calibrated one: expected calibration error, and an isotonic
map.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from attrs import field, frozen
from rlenv import ConfigError

__all__ = ["Bin", "Isotonic", "bins", "ece", "isotonic"]


@frozen
class Bin:
    """Scores of one stretch: how many, their mean, and the mean of their labels."""

    count: int
    score: float
    label: float


def bins(scores: Sequence[float], labels: Sequence[float], count: int = 10) -> tuple[Bin, ...]:
    """Scores in [0, 1] in ``count`` stretches of one width; empty ones are left out.

    Raises:
        ValueError: not one label per score.
    """
    found: dict[int, list[tuple[float, float]]] = {}
    for score, label in zip(scores, labels, strict=True):
        found.setdefault(min(int(score * count), count - 1), []).append((score, label))
    return tuple(
        Bin(
            len(pairs),
            math.fsum(score for score, _ in pairs) / len(pairs),
            math.fsum(label for _, label in pairs) / len(pairs),
        )
        for _, pairs in sorted(found.items())
    )


def ece(scores: Sequence[float], labels: Sequence[float], count: int = 10) -> float:
    """Expected calibration error: how far mean score and mean label are apart, weighted by bin.

    Naeini, Cooper and Hauskrecht (2015).  NaN of nothing.
    """
    found = bins(scores, labels, count)
    total = sum(each.count for each in found)
    if not total:
        return math.nan
    return math.fsum(each.count * abs(each.score - each.label) for each in found) / total


def _numbers(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


@frozen
class Isotonic:
    """A map that never falls: straight lines between knots, level beyond both ends.

    Args:
        scores: where the knots are, rising.
        values: what they are worth, in [0, 1], never falling.
    """

    scores: tuple[float, ...] = field(converter=_numbers)
    values: tuple[float, ...] = field(converter=_numbers)

    def __attrs_post_init__(self) -> None:
        sound = self.scores and len(self.scores) == len(self.values)
        rising = all(a < b for a, b in pairwise(self.scores))
        never_falls = all(a <= b for a, b in pairwise(self.values))
        within = all(0.0 <= value <= 1.0 for value in self.values)
        if not (sound and rising and never_falls and within):
            raise ConfigError(
                "an isotonic map has scores that rise, and as many values in [0, 1] that never fall"
            )

    def apply(self, score: float) -> float:
        """What a score is worth."""
        place = bisect_right(self.scores, score)
        if place == 0:
            return self.values[0]
        if place == len(self.scores):
            return self.values[-1]
        left = self.scores[place - 1]
        right = self.scores[place]
        low = self.values[place - 1]
        high = self.values[place]
        return low + (high - low) * (score - left) / (right - left)

    def to_dict(self) -> dict[str, list[float]]:
        """As JSON keeps it."""
        return {"scores": list(self.scores), "values": list(self.values)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Isotonic:
        """What ``to_dict`` wrote.

        Raises:
            ConfigError: it is no such map.
        """
        try:
            return cls(data["scores"], data["values"])
        except (KeyError, TypeError, ValueError) as err:
            raise ConfigError(f"no isotonic map: a table with scores and values ({err})") from None


def isotonic(scores: Sequence[float], labels: Sequence[float]) -> Isotonic:
    """The map that fits labels best (least squares) among those that never fall, by pooling
    neighbors.

    Ayer and others (1955), the pool-adjacent-violators algorithm.  Equal scores count as one, with
    the mean of their labels.

    Raises:
        ValueError: no score, or not one label per score.
    """
    if not scores:
        raise ValueError("no score to fit")
    gathered: dict[float, list[float]] = {}
    for score, label in zip(scores, labels, strict=True):
        gathered.setdefault(float(score), []).append(float(label))
    pools: list[tuple[float, int, list[float]]] = []  # (mean, weight, scores)
    for score in sorted(gathered):
        said = gathered[score]
        pools.append((math.fsum(said) / len(said), len(said), [score]))
        while len(pools) > 1 and pools[-2][0] >= pools[-1][0]:
            right = pools.pop()
            left = pools.pop()
            weight = left[1] + right[1]
            mean = (left[0] * left[1] + right[0] * right[1]) / weight
            pools.append((mean, weight, left[2] + right[2]))
    knots = [
        (score, min(1.0, max(0.0, mean)))
        for mean, _, held in pools
        for score in dict.fromkeys((held[0], held[-1]))
    ]
    return Isotonic([score for score, _ in knots], [value for _, value in knots])
