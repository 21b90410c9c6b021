"""What a policy writes costs the trainer a bounded amount, and is paid 0 with the reason where it
is too much.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from attrs import evolve
from growth import assert_growth
from rlenv import Environment
from rlenv_plugin_agent import Rollout, World, call, rollout
from rlenv_plugin_agent.errors import ToolError
from rlenv_plugin_agent.state import compare
from rlenv_plugin_agent.state.access import tables_of
from rlenv_plugin_agent.state.compare import TooManyChanges, differences_as_json
from rlenv_plugin_agent.state.database import Database
from rlenv_plugin_agent.state.final import changes

SCHEMA = (
    "CREATE TABLE log(n INTEGER PRIMARY KEY, what TEXT); CREATE TABLE notes(id INTEGER PRIMARY KEY,"
    " text);"
)
FLOOD = (
    "WITH RECURSIVE t(n) AS (SELECT {0} UNION ALL SELECT n + 1 FROM t LIMIT {1}) INSERT INTO log(n)"
    " SELECT n FROM t"
)
ENV = """
name = "notes"
[harness]
kind = "stateful-tool-use"
tools = ["sqlite"]
[state]
schema = "s.sql"
written_rows = {rows}
[[stage]]
use = "agent/state"
[[task]]
id = "t"
prompt = "Add a note: more."
answer = {{ tables = {{ notes = {{ added = [{{ id = {{ any = true }}, text = "more" }}] }} }}, \
allow = ["tables.log"] }}
info = {{ gold = {{ calls = [{{ name = "sqlite", \
arguments = {{ statement = "INSERT INTO notes(text) VALUES ('more')" }} }}] }} }}
"""
SOLVES = "INSERT INTO notes(text) VALUES ('more')"


def env_in(folder: Path, rows: int) -> Environment:
    (folder / "s.sql").write_text(SCHEMA)
    (folder / "env.toml").write_text(ENV.format(rows=rows))
    return Environment.from_file(folder / "env.toml")


def played(env: Environment, *statements: str) -> Rollout:
    left = [*(call("sqlite", statement=each) for each in statements), "done"]
    return rollout(env, env.tasks[0], lambda *_: left.pop(0))


def begun(rows: int = 0) -> Database:
    """An empty log, or one with so many rows in which the last one has changed."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as link:
        link.executescript(SCHEMA)
        if rows:
            link.execute(FLOOD.format(1, rows))
        made = Database(link.serialize(), tables_of(link), written_rows=10_000_000, written_mb=64)
    if rows:
        made.query("UPDATE log SET what = 'changed' WHERE n = 1")
    return made


def test_a_statement_that_writes_too_many_rows_is_an_error_and_the_episode_goes_on(
    tmp_path: Path,
) -> None:
    with env_in(tmp_path, rows=100) as env:
        honest = played(env, FLOOD.format(1, 90), SOLVES)
        over = played(env, FLOOD.format(1, 90), FLOOD.format(100, 20), SOLVES)

    assert honest.verdict.value == over.verdict.value == 1.0
    refused = str(over.trajectory.messages[4]["content"])
    assert "100 rows" in refused
    assert "written_rows" in refused


def test_more_changes_than_are_compared_earn_0_and_the_verdict_says_why(tmp_path: Path) -> None:
    with env_in(tmp_path, rows=100_000) as env:
        found = played(env, FLOOD.format(1, 6_000), SOLVES)

    assert (found.verdict.value, found.stop) == (0.0, "done")
    [result] = found.verdict.results
    assert result.outcome is not None
    assert "too many rows" in result.outcome.detail


@pytest.mark.parametrize("inline", [0, 1 << 30])
def test_a_comparison_that_takes_too_long_earns_0(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inline: int
) -> None:
    monkeypatch.setattr(compare, "SECONDS", 0.002)
    monkeypatch.setattr(compare, "RATE", 1 << 50)
    monkeypatch.setattr(compare, "INLINE", inline)
    with env_in(tmp_path, rows=10_000_000) as env:
        found = played(env, FLOOD.format(1, 100_000), SOLVES)

    assert (found.verdict.value, found.stop) == (0.0, "done")
    [result] = found.verdict.results
    assert result.outcome is not None
    assert "could not be compared" in result.outcome.detail


def test_text_that_is_no_utf_8_is_judged(tmp_path: Path) -> None:
    """Else a policy would choose that its episode is unscored."""
    with env_in(tmp_path, rows=100) as env:
        found = played(env, "INSERT INTO log VALUES (1, CAST(x'ff' AS TEXT))", SOLVES)
        wrong = played(env, "INSERT INTO notes VALUES (1, CAST(x'ff' AS TEXT))")

    assert (found.verdict.value, wrong.verdict.value) == (1.0, 0.0)


MEMORY = """
import resource
from test_agent_limits import FLOOD, begun
from rlenv_plugin_agent.state.compare import TooManyChanges
from rlenv_plugin_agent.state.final import changes

database = begun()
for i in range(4):
    database.query(FLOOD.format(1 + i * 100_000, 100_000))
with open("/proc/self/status") as status:
    data = next(int(line.split()[1]) << 10 for line in status if line.startswith("VmData"))
resource.setrlimit(resource.RLIMIT_DATA, (data + (64 << 20), resource.RLIM_INFINITY))
try:
    changes(database)
except TooManyChanges:
    print("refused")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not count RLIMIT_DATA so")
def test_a_flood_of_rows_is_compared_in_little_memory_of_the_trainer() -> None:
    """It took 470 bytes a row in Python, which are 188 MB here."""
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    found = subprocess.run(
        [sys.executable, "-c", MEMORY],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (found.stdout, found.stderr) == ("refused\n", "")


def test_the_cost_of_a_comparison_is_linear_in_the_rows() -> None:
    def work(database: Database) -> None:
        found = differences_as_json(
            database.start, database.content, [("log", ["n", "what"])], 60.0
        )
        assert isinstance(found, dict)
        assert len(found["log"]) == 2

    assert_growth(partial(work, begun(10_000)), partial(work, begun(20_000)))


def test_a_comparison_in_a_worker_finds_what_one_in_this_process_finds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    database = begun(100)
    for cell in ("9e999", "-9e999", "x'00ff'", "NULL", "CAST(x'ff' AS TEXT)", "'é'", "1e300"):
        database.query(f"INSERT INTO notes(text) VALUES ({cell})")
    here = changes(database)
    monkeypatch.setattr(compare, "INLINE", 0)

    assert repr(changes(database)) == repr(here)
    assert len(here["notes"].added) == 7


def test_rows_that_were_written_count_in_a_fork_and_not_after_a_restore() -> None:
    async def main() -> None:
        world = World({}, evolve(begun(), written_rows=10))
        before = await world.snapshot()
        world.database.query(FLOOD.format(1, 8))
        fork = await world.fork()
        for each in (world, fork):
            with pytest.raises(ToolError, match="10 rows"):
                each.database.query(FLOOD.format(10, 3))
        await world.restore(before)
        world.database.query(FLOOD.format(1, 10))

    asyncio.run(main())


def test_many_equal_rows_are_not_written_out_one_by_one() -> None:
    """One row a million times is one group with a number."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as link:
        link.executescript("CREATE TABLE plain(a)")
        database = Database(link.serialize(), tables_of(link))
    database.query(
        "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t LIMIT 6000) INSERT INTO"
        " plain SELECT 1 FROM t"
    )

    with pytest.raises(TooManyChanges, match="too many rows"):
        changes(database)
