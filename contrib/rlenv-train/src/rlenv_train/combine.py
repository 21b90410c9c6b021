"""The rewards of several functions as one, in which a missing reward stays missing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from rlenv import ConfigError

# of a 32-bit float, in which trainers keep rewards; more would be inf there
LARGEST = 3.4028234663852886e38


def checked_weights(weights: Sequence[float] | None, many: int) -> tuple[float, ...]:
    """One finite factor for each function; 1 each where none is given.

    Raises:
        ConfigError: for another number of weights, or one that is not finite.
    """
    given = tuple(weights) if weights is not None else (1.0,) * many
    if len(given) != many or not all(map(math.isfinite, given)):
        wanted = f"{many} finite numbers, one for rlenv and one for each function of also"
        raise ConfigError(f"weights are {wanted}, not {given!r}")
    return given


def numbers(found: Iterable[object], many: int, who: str) -> list[float | None]:
    """What a reward function returned, with None for what is not a finite number.

    Raises:
        ValueError: for another number of rewards than responses.
    """
    read = [None if value is None else _finite(float(value)) for value in found]  # type: ignore[arg-type]
    if len(read) != many:
        raise ValueError(f"{who} returned {len(read)} rewards for {many} responses")
    return read


def _finite(number: float) -> float | None:
    return number if abs(number) <= LARGEST else None  # NaN is not


def combined(
    columns: Sequence[Sequence[float | None]], weights: Sequence[float]
) -> list[float | None]:
    """The weighted sum of each row; None where a function that counts has no number for it."""
    return [_sum(row, weights) for row in zip(*columns, strict=True)]


def _sum(row: Sequence[float | None], weights: Sequence[float]) -> float | None:
    total = 0.0
    for value, weight in zip(row, weights, strict=True):
        if weight and value is None:
            return None
        total += weight * (value or 0.0)
    return _finite(total)
