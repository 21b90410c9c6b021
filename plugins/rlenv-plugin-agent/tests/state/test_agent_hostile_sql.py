"""Statements that try to read what a role may not, or to leave what cannot be compared."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from rlenv import Environment
from rlenv_plugin_agent import Rollout, World, call, rollout
from rlenv_plugin_agent.errors import ToolError
from rlenv_plugin_agent.state.access import Access, tables_of
from rlenv_plugin_agent.state.compare import differences_as_json
from rlenv_plugin_agent.state.database import Database

NOTES = "CREATE TABLE notes(id INTEGER PRIMARY KEY, text TEXT);"
GENERATED = (
    "CREATE TABLE log(n INTEGER PRIMARY KEY, at TEXT, {0} GENERATED ALWAYS AS ({1}) VIRTUAL);"
)
SOLVES = "INSERT INTO notes(text) VALUES ('more')"
ENV = """
name = "notes"
[harness]
kind = "stateful-tool-use"
tools = ["sqlite"]
[state]
schema = "s.sql"
now = "2025-03-04 05:06:07"
[[stage]]
use = "agent/state"
[[task]]
id = "t"
prompt = "Add a note: more."
answer = {{ tables = {{ notes = {{ added = [{{ id = {{ any = true }}, text = "more" }}] }}{listed} \
}}{allow} }}
info = {{ gold = {{ calls = [{gold}] }} }}
"""
GOLD = '{{ name = "sqlite", arguments = {{ statement = "{0}" }} }}'


def env_in(folder: Path, schema: str, *gold: str, listed: str = "") -> Environment:
    (folder / "s.sql").write_text(NOTES + schema)
    allow = "" if listed else ', allow = ["tables.log"]'
    calls = ", ".join(map(GOLD.format, [SOLVES, *gold]))
    (folder / "env.toml").write_text(ENV.format(listed=listed, allow=allow, gold=calls))
    return Environment.from_file(folder / "env.toml")


def played(env: Environment, *statements: str) -> Rollout:
    left = [*(call("sqlite", statement=each) for each in statements), "done"]
    return rollout(env, env.tasks[0], lambda *_: left.pop(0))


def database(schema: str, **options: object) -> Database:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as link:
        link.executescript(schema)
        return Database(link.serialize(), tables_of(link), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [0, 400])  # the larger one is compared in a worker
def test_a_generated_column_that_reads_the_clock_leaves_no_episode_unscored(
    tmp_path: Path, size: int
) -> None:
    fill = (
        f"WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t LIMIT {size}) INSERT INTO"
        " log(at) SELECT hex(zeroblob(500)) FROM t"
    )
    with env_in(tmp_path, GENERATED.format("day", "date(at)")) as env:
        made = played(env, "INSERT INTO log(at) VALUES ('now')", fill, SOLVES)

    assert made.verdict.fault is None
    assert made.verdict.value == 1.0


def test_a_generated_column_has_the_time_of_the_episode_when_it_is_compared(tmp_path: Path) -> None:
    logs = "INSERT INTO log(at) VALUES ('now')"
    listed = ', log = { added = [{ n = 1, at = "now", day = "2025-03-04" }] }'
    with env_in(tmp_path, GENERATED.format("day", "date(at)"), logs, listed=listed) as env:
        assert played(env, SOLVES, logs).verdict.value == 1.0


def test_rows_that_cannot_be_read_earn_0_and_a_beginning_that_cannot_is_a_fault() -> None:
    table = "CREATE TABLE log(n INTEGER PRIMARY KEY, what TEXT"
    column = ", x GENERATED ALWAYS AS (json_extract(what, '$.a')) VIRTUAL"
    add = "INSERT INTO log(n, what) VALUES (1, '{0}')"
    both = {}
    for name, text in (("good", "{}"), ("bad", "{")):
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as link:
            link.executescript(f"{table});{add.format(text)}; PRAGMA writable_schema = ON;")
            link.execute("UPDATE sqlite_schema SET sql = ?", [f"{table}{column})"])
            both[name] = link.serialize()
    tables = [("log", ["n", "what", "x"])]

    found = differences_as_json(both["good"], both["bad"], tables, 5.0)
    assert found == "what the episode wrote to log cannot be read: malformed JSON"
    with pytest.raises(sqlite3.OperationalError, match="malformed JSON"):
        differences_as_json(both["bad"], both["good"], tables, 5.0)


@pytest.mark.parametrize("quotes", ['""', "``", "''", "[]"])
def test_no_way_to_write_the_name_of_a_trigger_gives_its_rights(quotes: str) -> None:
    mark = quotes[0]
    name = f"a{mark}t"
    written = f"[{name}]" if quotes == "[]" else f"{mark}a{quotes}t{mark}"
    schema = (
        "CREATE TABLE log(x); CREATE TABLE secret(v); INSERT INTO secret VALUES ('hidden'); CREATE"
        f" TRIGGER {written} AFTER INSERT ON log BEGIN SELECT v FROM secret; END;"
    )
    found = database(schema, access={"policy": Access(["log"], write=["log"])})

    found.query("INSERT INTO log VALUES (1)")  # it may run the trigger
    with pytest.raises(ToolError, match="prohibited"):
        found.query(f"WITH {written}(v) AS (SELECT v FROM secret) SELECT v FROM {written}")


@pytest.mark.parametrize("written", ['"a""b"', '`a"b`', "'a\"b'", '[a"b]', '"A""B"'])
def test_rows_of_a_role_are_the_same_however_their_table_is_named(written: str) -> None:
    schema = 'CREATE TABLE "a""b"(v); INSERT INTO "a""b" VALUES (1), (2);'
    found = database(schema, access={"policy": Access(['a"b'], {'a"b': "v = 2"})})

    assert found.query(f"SELECT v FROM {written}").rows == [(2,)]


def test_a_statement_that_begins_with_with_tells_how_many_rows_it_changed() -> None:
    found = database("CREATE TABLE t(n)")

    assert found.query("WITH c(n) AS (VALUES (1), (2)) INSERT INTO t SELECT n FROM c").changed == 2
    assert found.query("UPDATE t SET n = 3 WHERE n = 2").changed == 1
    assert found.query("SELECT n FROM t").changed == 0


def test_no_statement_changes_what_was_judged() -> None:
    world = World({}, database("CREATE TABLE t(n)"))
    world.database.query("INSERT INTO t VALUES (1)")
    (final,) = asyncio.run(world.artifacts())

    with pytest.raises(ToolError, match="the episode has ended"):
        world.database.query("INSERT INTO t VALUES (2)")  # of a call that outran its time
    assert asyncio.run(world.final()) == final


def test_the_end_waits_for_the_statement_that_runs_and_for_no_other() -> None:
    found = database("CREATE TABLE t(n)")
    found._lock.acquire()
    late: list[str] = []

    def query() -> None:
        try:
            found.query("INSERT INTO t VALUES (1)")
        except ToolError as error:
            late.append(str(error))

    threads = [threading.Thread(target=query), threading.Thread(target=found.end)]
    for each in threads:
        each.start()
    while not found._is_over:
        time.sleep(0.001)
    assert all(each.is_alive() for each in threads)
    found._lock.release()
    for each in threads:
        each.join(60)

    assert late == ["the episode has ended"]
    assert found.content == found.start
