"""Credit of each turn of an episode; a turn is a message of the assistant, counted from 0.

Messages of tools and of users lie between turns and are no turns, so that a reward crosses them
undiscounted.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate


def returns(steps: Iterable[tuple[int, float]], turns: int, gamma: float = 1.0) -> list[float]:
    """Return the discounted return of each turn: ``G[t] = r[t] + gamma * G[t + 1]``.

    Sutton and Barto 2018, "Reinforcement Learning", 2nd edition, equation 3.9.

    Args:
        steps: (turn, reward) pairs, as of ``Outcome.steps``; rewards of one turn are added.  That
            of the whole episode is ``(turns - 1, reward)``.
        turns: how many there are.
        gamma: discount for each turn, in [0, 1].
    """
    rewards = [0.0] * turns
    for turn, reward in steps:
        rewards[turn] += reward
    return [*accumulate(reversed(rewards), lambda later, now: now + gamma * later)][::-1]


def reward_to_go(steps: Iterable[tuple[int, float]], turns: int, gamma: float = 1.0) -> list[float]:
    """Divide ``returns`` by what it is when each step from that turn on is 1, so that it is in [0,
    1] as a score is.

    Args:
        steps: (turn, score) pairs; a turn has one at most.
        turns: how many there are.
        gamma: discount for each turn, in [0, 1].
    """
    found = [*steps]
    most = returns([(turn, 1.0) for turn, _ in found], turns, gamma)
    return [g / m if m else 0.0 for g, m in zip(returns(found, turns, gamma), most, strict=True)]
