"""A policy that learns by REINFORCE to choose one draft of each task, and the curves of many such
policies.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist

import numpy as np
from attrs import frozen
from world import DRAFTS, Floats, Split

__all__ = ["EVERY", "Band", "Lesson", "Look", "band", "learned", "look"]

EVERY = 10  # steps between two measurements
# tasks of a step, and drafts chosen for each
BATCH = 16
ROLLOUTS = 4
RATE = 2.0


@frozen(eq=False)
class Look:
    """What one split is to one policy: N tasks of DRAFTS drafts.

    Args:
        seen: N × DRAFTS × 2 features.
        paid: N × DRAFTS rewards.
    """

    seen: Floats
    paid: Floats

    def chances(self, weights: Floats) -> Floats:
        """How likely each draft is chosen: softmax of weights · features."""
        raised = np.exp((self.seen - self.seen.max()) @ weights)
        return np.asarray(raised / raised.sum(-1, keepdims=True))

    def earns(self, weights: Floats) -> float:
        """The policy's expected reward, over all tasks: exact, not sampled."""
        return float((self.chances(weights) * self.paid).sum(-1).mean())


def look(split: Split, rewards: Floats, seed: int) -> Look:
    """The drafts of a seed."""
    drafts = split.drafts(seed)
    rows = np.arange(len(drafts))[:, None]
    return Look(split.seen[rows, drafts], rewards[rows, drafts])


@frozen(eq=False)
class Lesson:
    """One training run, measured every ``EVERY`` steps; M measurements, the first before any step.

    Args:
        weights: M × 2: of the real signal and of the leak.
        train, heldout: M expected rewards.
    """

    weights: Floats
    train: Floats
    heldout: Floats


def learned(train: Look, heldout: Look, steps: int, seed: int) -> Lesson:
    """REINFORCE with a baseline: what the other choices for the same task earned on average.

    Williams, Machine Learning 8, 1992; the baseline is Kool, van Hoof and Welling's, ICLR workshop
    2019.
    """
    chance = np.random.default_rng([seed, 0])
    weights = np.zeros(2)
    kept = []
    for step in range(steps + 1):
        if step % EVERY == 0:
            kept.append((*weights, train.earns(weights), heldout.earns(weights)))
        at = chance.integers(0, len(train.paid), BATCH)
        part = Look(train.seen[at], train.paid[at])
        weights = weights + RATE * _gradient(part, weights, chance)
    found = np.array(kept)
    return Lesson(found[:, :2], found[:, 2], found[:, 3])


def _gradient(part: Look, weights: Floats, chance: np.random.Generator) -> Floats:
    """The mean of advantage × gradient of the log of what was chosen."""
    likely = part.chances(weights)
    drawn = chance.random((BATCH, ROLLOUTS, 1))
    chosen = (likely.cumsum(-1)[:, None, :] < drawn).sum(-1).clip(0, DRAFTS - 1)
    rows = np.arange(BATCH)[:, None]
    paid = part.paid[rows, chosen]
    advantage = paid - (paid.sum(1, keepdims=True) - paid) / (ROLLOUTS - 1)
    expected = (likely[..., None] * part.seen).sum(1, keepdims=True)
    return np.asarray((advantage[..., None] * (part.seen[rows, chosen] - expected)).mean((0, 1)))


@frozen
class Band:
    """A curve over measurements: its mean over seeds, and Student's 95 % interval of that mean."""

    mean: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]

    def record(self) -> Mapping[str, Sequence[float]]:
        return {"mean": self.mean, "low": self.low, "high": self.high}


def band(curves: Floats, least: float = -math.inf, most: float = math.inf) -> Band:
    """Of seeds × M values, of at least two seeds, that lie between ``least`` and ``most``."""
    seeds = len(curves)
    mean = curves.mean(0)
    wide = student(seeds - 1) * curves.std(0, ddof=1) / math.sqrt(seeds)
    low = np.maximum(mean - wide, least)
    high = np.minimum(mean + wide, most)
    return Band(*([round(float(v), 4) for v in values] for values in (mean, low, high)))


def student(freedom: int) -> float:
    """The 97.5 % quantile of Student's t; Abramowitz and Stegun 26.7.5, to 1 % from 3 degrees of
    freedom on.

    Below that the exact values stand.
    """
    if freedom < 3:
        return (12.7062, 4.3027)[freedom - 1]
    z = NormalDist().inv_cdf(0.975)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return math.fsum(term / freedom**power for power, term in enumerate(terms))
