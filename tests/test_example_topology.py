"""examples/topology trains while one of its environments is killed, and leaves no process
behind.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples" / "topology"


ONE = pytest.param(1, marks=pytest.mark.slow)  # as with three, which are more to go wrong


@pytest.mark.parametrize("environments", [ONE, 3])
def test_training_goes_on_when_an_environment_is_killed(environments: int, tmp_path: Path) -> None:
    folder = shutil.copytree(FOLDER, tmp_path / "topology")  # a path that no other process has
    words = [sys.executable, str(folder / "train.py"), str(environments), "60", "1"]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)

    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    means = [float(mean) for mean in re.findall(r"mean reward (\S+)", ran.stdout)]
    assert means[0] < 0.5
    assert means[-1] > 0.85
    assert "4800 rewards for 4800 responses, 1 environment replaced" in ran.stdout
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(folder) not in left
