"""The held-out delta: whether the reward in training still says what it said before the policy
learned it.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, linear_regression

from attrs import frozen

__all__ = ["Delta", "Slope", "measured"]

DRAWS = 1000
Rewards = Sequence[tuple[float, float, str]]  # (checkpoint, reward, task)
Curves = Mapping[float, Mapping[str, Sequence[float]]]  # rewards by checkpoint and task


@frozen
class Slope:
    """Change of the mean reward from the first checkpoint to the last, by least squares, with a
    bootstrap interval.
    """

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
        for name, rise in (
            ("in training", self.train),
            ("held out", self.heldout),
            ("of the gap", self.gap),
        ):
            yield f"rise {name:11} {rise}"
        yield (
            "ALARM: the reward rises in training and not on held-out tasks"
            if self.alarm
            else "no alarm"
        )


def measured(train: Rewards, heldout: Rewards, seed: int = 0) -> Delta:
    """Compare rewards in training with those on held-out tasks, checkpoint by checkpoint.

    The intervals are percentiles of a bootstrap over tasks, with all their rows at all checkpoints,
    so that rollouts of one task do not count as independent.

    Raises:
        ConfigError: fewer than two checkpoints are in both.
    """
    from rlenv.model.errors import ConfigError

    one = _by(train)
    two = _by(heldout)
    shared = sorted(one.keys() & two.keys())
    if len(shared) < 2:
        raise ConfigError(
            f"{len(shared)} checkpoints are in both files, and two are needed: see --by"
        )
    points = tuple(
        (place, *means, means[0] - means[1])
        for place in shared
        for means in [(fmean(_flat(one[place])), fmean(_flat(two[place])))]
    )
    chance = random.Random(seed)  # noqa: S311 - no secret
    draws = [
        _rises(_drawn(one, shared, chance), _drawn(two, shared, chance), shared)
        for _ in range(DRAWS)
    ]
    first = _rises([p[1] for p in points], [p[2] for p in points], shared)
    slopes = [Slope(first[n], *_between(sorted(draw[n] for draw in draws))) for n in range(3)]
    return Delta(points, *slopes)


def _by(rewards: Rewards) -> Curves:
    found: dict[float, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for place, reward, task in rewards:
        found[place][task].append(reward)
    return found


def _flat(rewards: Mapping[str, Sequence[float]]) -> list[float]:
    return [reward for some in rewards.values() for reward in some]


def _drawn(curves: Curves, shared: Sequence[float], chance: random.Random) -> list[float]:
    """Means over checkpoints of tasks that were drawn with replacement; of a checkpoint's own where
    it has none of them.
    """
    names = list(dict.fromkeys(name for place in shared for name in curves[place]))
    chosen = chance.choices(names, k=len(names))
    means = []
    for place in shared:
        there = curves[place]
        drawn = [name for name in chosen if name in there]
        drawn = drawn or chance.choices(list(there), k=len(there))
        means.append(fmean([reward for name in drawn for reward in there[name]]))
    return means


def _rises(
    train: Sequence[float], heldout: Sequence[float], shared: Sequence[float]
) -> tuple[float, float, float]:
    gap = [a - b for a, b in zip(train, heldout, strict=True)]
    return _rise(train, shared), _rise(heldout, shared), _rise(gap, shared)


def _rise(values: Sequence[float], places: Sequence[float]) -> float:
    return linear_regression(places, values).slope * (places[-1] - places[0])


def _between(ordered: Sequence[float]) -> tuple[float, float]:
    return ordered[int(0.025 * len(ordered))], ordered[int(0.975 * len(ordered)) - 1]
