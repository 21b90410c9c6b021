"""The bounds that a quota is given, and what it leaves behind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from rlenv.model.errors import ConfigError
from rlenv_plugin_sandbox.quota import QUOTA, SLOTS, shared


def sets() -> list[str]:
    """The numbers of the kernel's sets of semaphores."""
    return [line.split()[1] for line in Path("/proc/sysvipc/sem").read_text().splitlines()]


def test_the_environment_is_as_it_was_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SLOTS, "7")
    monkeypatch.delenv(QUOTA, raising=False)
    with shared("1:4"):
        assert os.environ[SLOTS] == "4"
        number = os.environ[QUOTA].split(":")[0]
        assert number in sets()
    assert os.environ[SLOTS] == "7"
    assert QUOTA not in os.environ
    assert number not in sets()


@pytest.mark.parametrize(
    "bounds", ["", "0", "0:0", "3:2", "a", "1:", ":2", "-1:2", "1:2:3", "1.5", "1:10001", "²"]
)
def test_bounds_that_are_none_are_rejected(bounds: str) -> None:
    with pytest.raises(ConfigError, match="expected MIN:MAX or N"), shared(bounds):
        pass
