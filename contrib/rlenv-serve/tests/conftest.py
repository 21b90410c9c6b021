"""Fixtures of the server's tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "helpers"))

from database import PostgreSQL, postgres
from rlenv_serve import Server
from serving import Client, Clock, broken, catalog_of, running, single, sums
from ticketing import GATE, close_gate


@pytest.fixture
def ask() -> Iterator[Client]:
    """A server of three environments in memory, without keys."""
    with catalog_of(sums(), single(), broken()) as catalog, running(Server(catalog)) as client:
        yield client


@pytest.fixture(scope="module")
def cluster() -> Iterator[PostgreSQL]:
    """A PostgreSQL of the file's own."""
    with postgres() as found:
        yield found


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock by which episodes and sessions get old."""
    made = Clock()
    for module in ("ors.sessions", "state.age", "state.memory"):
        monkeypatch.setattr(f"rlenv_serve.{module}.time", made)
    return made


@pytest.fixture
def closed_gate() -> Iterator[None]:
    """The gate of `ticketing` is closed until the test has ended."""
    close_gate()
    yield
    GATE.set()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database that outlives a process."""
    if request.param == "postgresql":
        return str(request.getfixturevalue("cluster").empty())
    (tmp_path / "c.sqlite").touch(0o600)
    return f"sqlite:{tmp_path}/c.sqlite"
