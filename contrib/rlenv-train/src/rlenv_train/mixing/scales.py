"""The scale of an environment's rewards."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean, pstdev

from attrs import frozen

LEAST = 1e-6  # a smaller deviation is the noise of floats


@frozen
class Scale:
    """Mean and deviation of rewards.

    Attributes:
        deviation: the population deviation; 1 for fewer than two rewards, or rewards that are all
            equal. Then the reward itself becomes 0, and another one its difference to the mean.
        count: rewards that were measured.
    """

    mean: float
    deviation: float
    count: int

    @classmethod
    def of(cls, rewards: Iterable[float | None]) -> Scale:
        """The scale of these rewards; unscored ones (None) do not count.

        Raises:
            ValueError: for a reward that is not in [0, 1].
        """
        found = [_checked(reward) for reward in rewards if reward is not None]
        deviation = pstdev(found) if found else 0.0
        return cls(
            fmean(found) if found else 0.0, deviation if deviation > LEAST else 1.0, len(found)
        )

    def apply(self, reward: float | None) -> float | None:
        """``(reward - mean) / deviation``; None stays None."""
        return None if reward is None else (_checked(reward) - self.mean) / self.deviation


def _checked(reward: float) -> float:
    if not 0.0 <= reward <= 1.0:
        raise ValueError(f"a reward is in [0, 1] or None, not {reward!r}")
    return reward
