"""The base of a pipeline, which a file of scores does not name, read off the rewards themselves."""

from __future__ import annotations

import math

from attrs import define

from rlenv_cli.scores.records import ScoreRow, StageRecord

TOLERANCE = 1e-6


@define
class Base:
    """Collects what each row says of the base; rows that were clamped, gated or unscored say
    nothing.
    """

    low: float = math.inf
    high: float = -math.inf

    @property
    def value(self) -> float | None:
        """The base; 1 where no row speaks against it, None where rows contradict each other."""
        if self.low > self.high:
            return 1.0
        if self.high - self.low > TOLERANCE * max(1.0, self.high):
            return None
        return round((self.low + self.high) / 2, 6)

    def add(self, row: ScoreRow) -> None:
        found = implied(row)
        if found is not None:
            self.low, self.high = min(self.low, found), max(self.high, found)


def implied(row: ScoreRow) -> float | None:
    """The one base with which these scores give this reward; None when any of many would."""
    reward = row["reward"]
    if reward is None or row.get("stopped_at") is not None or not 0.0 < reward < 1.0:
        return None
    mean, shaped = parts(row["stages"])
    return (reward - shaped) / mean if mean > TOLERANCE else None


def parts(stages: list[StageRecord]) -> tuple[float, float]:
    """The weighted mean of the scores, and what bonuses and penalties add to it."""
    scored = [(s, score) for s in stages if (score := s["score"]) is not None]
    total = math.fsum(_number(s, "weight") for s, _ in scored)
    if not total:
        return 0.0, 0.0
    mean = math.fsum(_number(s, "weight") * score for s, score in scored) / total
    bonus = math.fsum(_number(s, "bonus") * score for s, score in scored) if mean > 0 else 0.0
    return mean, bonus - math.fsum(_number(s, "penalty") * (1 - score) for s, score in scored)


def _number(stage: StageRecord, key: str) -> float:
    value = stage.get(key)
    return float(value) if isinstance(value, (int, float)) and abs(value) < 1e300 else 0.0
