"""Strengths from pairs: who would win against whom, from who did."""

from __future__ import annotations

import math
from collections.abc import Iterable

__all__ = ["bradley_terry"]

_ROUNDS = 1000
_NEAR = 1e-12


def bradley_terry(
    matches: Iterable[tuple[int, int, float]], players: int, *, prior: float = 0.5
) -> list[float]:
    """The chance of each player to win against a middling one, in (0, 1).

    Bradley and Terry (1952), fitted by the iteration of Hunter (2004), "MM algorithms for
    generalized Bradley-Terry models".  A tie counts as half a win for both.  Every player also
    draws ``prior`` of a match with a player of strength 1, so that one who won or lost everything
    stays finite.

    Args:
        matches: (first, second, score of the first in [0, 1]).
        players: how many there are, numbered from 0; one without a match gets 1/2.
        prior: weight of that draw, above 0.

    Raises:
        ValueError: a player plays itself or is none of these, or a score is outside [0, 1].
    """
    wins, games = _tables(matches, players)
    strengths = [1.0] * players
    for _ in range(_ROUNDS):
        fitted = [_next(place, wins, games, strengths, prior) for place in range(players)]
        moved = max(
            (abs(math.log(new / old)) for new, old in zip(fitted, strengths, strict=True)),
            default=0.0,
        )
        strengths = fitted
        if moved < _NEAR:
            break
    return [strength / (1.0 + strength) for strength in strengths]


def _tables(
    matches: Iterable[tuple[int, int, float]], players: int
) -> tuple[list[float], list[dict[int, float]]]:
    """(wins of each, how often each met each)."""
    wins = [0.0] * players
    games: list[dict[int, float]] = [{} for _ in range(players)]
    for first, second, score in matches:
        if first == second or not (0 <= first < players and 0 <= second < players):
            raise ValueError(f"a match of {first} against {second}, of {players} players")
        if not 0.0 <= score <= 1.0:
            raise ValueError(f"the score of a match lies in [0, 1], not at {score!r}")
        wins[first] += score
        wins[second] += 1.0 - score
        games[first][second] = games[first].get(second, 0.0) + 1.0
        games[second][first] = games[second].get(first, 0.0) + 1.0
    return wins, games


def _next(
    place: int,
    wins: list[float],
    games: list[dict[int, float]],
    strengths: list[float],
    prior: float,
) -> float:
    own = strengths[place]
    met = math.fsum(count / (own + strengths[other]) for other, count in games[place].items())
    return (wins[place] + prior / 2) / (met + prior / (own + 1.0))
