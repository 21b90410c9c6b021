from __future__ import annotations

import sys
from pathlib import Path

import pytest
from rlenv.workers import Pool, Program

HELPERS = str(Path(__file__).parent / "helpers")
if HELPERS not in sys.path:
    sys.path.insert(0, HELPERS)  # the workers get it with the rest of sys.path


@pytest.fixture(scope="module")
def pool():
    with Pool(2, 256) as pool:
        yield pool


@pytest.fixture
def ask(pool):
    """Have one deed done, with 0.3 s (or ``seconds``) to do it."""

    def ask(deed, *args, module="deeds", seconds=""):
        program = Program(f"{module}:Runner", str(seconds).encode())
        return pool.submit(program, (deed, *args)).result(60)

    return ask
