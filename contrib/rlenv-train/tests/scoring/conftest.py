"""Fixtures of the tests of the cache."""

from __future__ import annotations

import pytest
from scoring_runs import ASKED


@pytest.fixture(autouse=True)
def _asked():
    ASKED.clear()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "verdicts.sqlite"
