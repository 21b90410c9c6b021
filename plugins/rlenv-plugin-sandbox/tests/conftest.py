"""What the tests of all adapters share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rlenv_plugin_sandbox.jail.setup import interpreter, prefixes, taken


@pytest.fixture
def below_tmp() -> list[str]:
    """What every program sees in /tmp: the first names of an interpreter that is installed below
    it.
    """
    return sorted(taken(prefixes(interpreter("python"))))


HELPERS = str(Path(__file__).parent / "helpers")
if HELPERS not in sys.path:
    sys.path.append(HELPERS)
from sandbox_server import OPENED, SESSIONS, TOKEN, Server  # noqa: E402 - found by the line above


@pytest.fixture
def hang_up() -> Iterator[None]:
    """Closes every connection of the test."""
    yield
    while OPENED:
        OPENED.pop().close()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server of the sandbox "process", with few sessions, that never ends with an
    exception.
    """
    made = Server("--sessions", str(SESSIONS))
    yield made
    said = made.end()
    assert "Traceback" not in said
    assert TOKEN not in said
