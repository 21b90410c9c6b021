"""`benchmarks/rewards.py diff` prints what differs, and fails where a response is paid more than
before.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REWARDS = Path(__file__).parents[1] / "benchmarks" / "rewards.py"


def rows(path: Path, *values: float | None) -> Path:
    given: list[dict[str, Any]] = [
        {
            "name": f"math {at}",
            "key": "k",
            "value": value,
            "fault": None if value is not None else "error",
        }
        for at, value in enumerate(values)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in given), "utf-8")
    return path


@pytest.mark.parametrize(
    ("after", "reasons", "status"),
    [
        ((0.0, 1.0, None), {}, 0),
        ((0.0, 0.0, None), {}, 1),
        ((0.0, 0.0, None), {"math 1": "a notation was removed"}, 0),
        ((1.0, 1.0, None), {"math 0": "no reason is good enough"}, 1),
        ((None, 1.0, None), {}, 1),
        ((0.0, 1.0, 1.0), {"math 2": "scored now"}, 1),
    ],
)
def test_a_difference_needs_a_reason_and_more_pay_has_none(
    after: tuple[float | None, ...], reasons: dict[str, str], status: int, tmp_path: Path
) -> None:
    paths = [rows(tmp_path / "before", 0.0, 1.0, None), rows(tmp_path / "after", *after)]
    explained = tmp_path / "reasons.json"
    explained.write_text(json.dumps(reasons), "utf-8")
    command = [sys.executable, *map(str, (REWARDS, "diff", *paths, "--explained", explained))]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)

    assert ran.returncode == status, ran.stdout + ran.stderr
