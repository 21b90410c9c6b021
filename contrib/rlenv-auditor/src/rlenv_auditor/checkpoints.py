"""Reads the rewards of checkpoints from a file of scores."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

from rlenv.model.errors import InputError

__all__ = ["read_rewards"]


def read_rewards(path: Path, by: str) -> tuple[list[tuple[float, float, str]], int]:
    """Returns ((checkpoint, reward, task) of each row, number of rows without a reward)."""
    from rlenv.config.rows import read_rows

    found = []
    left = 0
    for number, row in read_rows(path):
        if "schema" in row:
            continue
        reward = row.get("reward", row.get("score"))
        if reward is None:
            left += 1
            continue
        place = _checkpoint(row.get(by))
        if place is None or not isinstance(reward, (int, float)) or not math.isfinite(reward):
            raise InputError(
                f"{path}: row {number} needs a number as reward, and a checkpoint (12, or a name"
                f" with one number, as ckpt-12) as {by} (--by names the column); it has"
                f" {reward!r:.40} and {row.get(by)!r:.40}"
            )
        found.append((place, float(reward), str(row.get("task", f"row {number}"))))
    if not found:
        raise InputError(f"{path}: no row has a reward")
    return found, left


def _checkpoint(said: Any) -> float | None:
    """12, "12" and "ckpt-12" are 12."""
    if isinstance(said, (int, float)) and not isinstance(said, bool):
        return float(said) if math.isfinite(said) else None
    numbers = re.findall(r"\d+(?:\.\d+)?", said) if isinstance(said, str) else []
    return float(numbers[0]) if len(numbers) == 1 else None
