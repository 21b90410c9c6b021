"""`make soak`, small: every value is right, none is lost, and nothing grows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SOAK = Path(__file__).parents[1] / "benchmarks" / "soak.py"


@pytest.mark.parametrize(
    ("verdicts", "catastrophes"),
    [
        (1_500, 20),
        pytest.param(7_500, 80, marks=pytest.mark.slow),  # long enough to see small growth
        pytest.param(0, 350, marks=pytest.mark.slow),  # many of these run to a deadline
    ],
)
def test_a_short_soak_ends_well(verdicts: int, catastrophes: int) -> None:
    command = [sys.executable, str(SOAK), str(verdicts), "--catastrophes", str(catastrophes)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)

    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-4000:]
    assert "every value is right, none is lost, nothing grew" in ran.stdout
