"""A run of the tests that is ended leaves no temporary files; one that is killed leaves them to the
next run.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

WAITS = """
import tempfile, time

def test_waits():
    tempfile.mkdtemp(prefix="left-")
    time.sleep(60)
"""
PASSES = "def test_passes():\n    pass\n"


@pytest.fixture
def outer(tmp_path: Path, house: Path) -> Path:
    """The folder of the temporary files of runs, beside tests with this repository's settings."""
    shutil.copy(house / "conftest.py", tmp_path)
    (tmp_path / "test_waits.py").write_text(WAITS)
    (tmp_path / "test_passes.py").write_text(PASSES)
    (tmp_path / "outer").mkdir()
    return tmp_path / "outer"


def run(outer: Path, name: str) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"test_{name}.py"]
    environ = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    environ["TMPDIR"] = str(outer)
    return subprocess.Popen(argv, cwd=outer.parent, env=environ, stdout=subprocess.DEVNULL)


def ended(outer: Path, number: int) -> None:
    """End a run while a test waits."""
    with run(outer, "waits") as waits:
        while not list(outer.glob("rlenv-tests-*/left-*")):
            assert waits.poll() is None
            time.sleep(0.05)
        waits.send_signal(number)
        waits.wait(60)


INTERRUPT = pytest.param(signal.SIGINT, marks=pytest.mark.slow)  # a whole run of pytest


@pytest.mark.parametrize("number", [signal.SIGTERM, INTERRUPT])
def test_a_run_that_is_ended_leaves_nothing(outer: Path, number: int) -> None:
    ended(outer, number)

    assert list(outer.glob("rlenv-*")) == []


def test_what_a_killed_run_leaves_is_removed_by_a_later_one(outer: Path) -> None:
    ended(outer, signal.SIGKILL)
    (left,) = outer.glob("rlenv-*")
    assert run(outer, "passes").wait(60) == 0
    assert left.exists()  # a run that has just begun looks like that

    os.utime(left, (0, 0))
    assert run(outer, "passes").wait(60) == 0
    assert list(outer.glob("rlenv-*")) == []
