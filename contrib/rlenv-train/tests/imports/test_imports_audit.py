"""``rlenv audit`` finds what a reward function of a trainer pays for, bare and as a stage."""

from __future__ import annotations

import pytest
from leaks import EXPECTED, audited


@pytest.mark.parametrize("kind", ["trl", "verl"])
@pytest.mark.parametrize("option", ["", "function"], ids=["bare", "stage"])
def test_a_leak_is_found_and_a_sound_function_is_clean(files, monkeypatch, kind, option):
    monkeypatch.chdir(files.folder)
    for name, statuses in EXPECTED.items():
        assert audited(files.folder, f"./{kind}.py:{name}", kind, option) == statuses
