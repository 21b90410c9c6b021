"""The held-out delta: whether the reward in training still says what it said before the policy learned it."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from attrs import frozen

__all__ = ["Delta", "Slope", "measured"]

DRAWS = 1000
Rewards = Sequence[tuple[float, float]]  # (checkpoint, reward)


@frozen
class Slope:
    """Change of the mean reward from the first checkpoint to the last, by least squares, with a bootstrap interval."""

    rise: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.rise:+.3f} ({self.low:+.3f} to {self.high:+.3f})"


@frozen
class Delta:
    """Two curves side by side.

    Args:
        points: (checkpoint, mean in training, mean held out, gap), in order.
        train, heldout, gap: rises from the first checkpoint to the last.
    """

    points: tuple[tuple[float, float, float, float], ...]
    train: Slope
    heldout: Slope
    gap: Slope

    @property
    def alarm(self) -> bool:
        """Training rises surely, held-out does not, and the gap widens surely."""
        return self.train.low > 0 and self.heldout.low <= 0 and self.gap.low > 0

    def lines(self) -> Iterator[str]:
        yield f"{'checkpoint':>12} {'train':>8} {'held out':>9} {'gap':>8}"
        for place, train, heldout, gap in self.points:
            yield f"{place:12g} {train:8.3f} {heldout:9.3f} {gap:+8.3f}"
        yield f"rise in training {self.train}, held out {self.heldout}, of the gap {self.gap}"
        yield (
            "ALARM: the reward rises in training and not on held-out tasks"
            if self.alarm
            else "no alarm"
        )


def measured(train: Rewards, heldout: Rewards, seed: int = 0) -> Delta:
    """Compare rewards in training with those on held-out tasks, checkpoint by checkpoint.

    Raises:
        ConfigError: fewer than two checkpoints are in both.
    """
    from rlenv.errors import ConfigError

    one, two = _by(train), _by(heldout)
    shared = sorted(one.keys() & two.keys())
    if len(shared) < 2:
        raise ConfigError(
            f"{len(shared)} checkpoints are in both files, and two are needed: see --by"
        )
    points = tuple(
        (place, _mean(one[place]), _mean(two[place]), _mean(one[place]) - _mean(two[place]))
        for place in shared
    )
    chance = random.Random(seed)  # noqa: S311 - no secret
    draws = [_draw(one, two, shared, chance) for _ in range(DRAWS)]
    first = (
        _rise([p[1] for p in points], shared),
        _rise([p[2] for p in points], shared),
        _rise([p[3] for p in points], shared),
    )
    slopes = [Slope(first[n], *_between(sorted(draw[n] for draw in draws))) for n in range(3)]
    return Delta(points, *slopes)


def _by(rewards: Rewards) -> Mapping[float, list[float]]:
    found: dict[float, list[float]] = defaultdict(list)
    for place, reward in rewards:
        found[place].append(reward)
    return found


def _draw(
    one: Mapping[float, list[float]],
    two: Mapping[float, list[float]],
    shared: Sequence[float],
    chance: random.Random,
) -> tuple[float, float, float]:
    train = [_mean(chance.choices(one[place], k=len(one[place]))) for place in shared]
    heldout = [_mean(chance.choices(two[place], k=len(two[place]))) for place in shared]
    return (
        _rise(train, shared),
        _rise(heldout, shared),
        _rise([a - b for a, b in zip(train, heldout, strict=True)], shared),
    )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _rise(values: Sequence[float], places: Sequence[float]) -> float:
    middle, mean = _mean(places), _mean(values)
    spread = math.fsum((x - middle) ** 2 for x in places)
    slope = (
        math.fsum((x - middle) * (y - mean) for x, y in zip(places, values, strict=True)) / spread
    )
    return slope * (places[-1] - places[0])


def _between(ordered: Sequence[float]) -> tuple[float, float]:
    return ordered[int(0.025 * len(ordered))], ordered[int(0.975 * len(ordered)) - 1]
