"""Worlds that outlive an episode: what the next one sees, who may write, and what a crash
leaves.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from contextvars import copy_context
from pathlib import Path

import pytest
from rlenv import ConfigError, Environment, Task
from rlenv.authoring import File
from rlenv_plugin_agent import Database, Rollout, World, call, replay, rollout
from rlenv_plugin_agent.policies.earning import _apart
from rlenv_plugin_agent.rollouts.records import from_row, to_row
from rlenv_plugin_agent.state import persistent
from rlenv_plugin_agent.state.open_state import OpenState
from rlenv_plugin_agent.state.persistent import read_log
from rlenv_plugin_agent.state.table import State

SCHEMA = "CREATE TABLE notes(id INTEGER PRIMARY KEY, text);\nINSERT INTO notes VALUES (1, 'first');"
COUNT = "SELECT count(*) FROM notes"
INSERT = "INSERT INTO notes(text) VALUES ('more')"
TASK = Task("p", id="t")
ENV = """
name = "notes"
[harness]
kind = "stateful-tool-use"
tools = ["sqlite"]
[state]
kind = "persistent"
schema = "s.sql"
world = "worlds/w.sqlite"
[config.budgets]
seconds = 300
[[stage]]
use = "agent/state"
[[task]]
id = "t"
prompt = "Add a note: more."
answer = { tables = { notes = { added = [{ id = { any = true }, text = "more" }] } } }
info = { gold = { calls = [{ name = "sqlite", \
arguments = { statement = "INSERT INTO notes(text) VALUES ('more')" } }] } }
"""


def state_in(folder: Path, **options: object) -> State:
    (folder / "s.sql").write_text(SCHEMA)
    given = {"schema": File(str(folder / "s.sql")), "world": File(str(folder / "worlds/w.sqlite"))}
    return State("persistent", values={"n": 0}, **{**given, **options})  # type: ignore[arg-type]


@pytest.fixture
def state(tmp_path: Path) -> State:
    return state_in(tmp_path)


@pytest.fixture
def env(tmp_path: Path) -> Environment:
    (tmp_path / "s.sql").write_text(SCHEMA)
    (tmp_path / "env.toml").write_text(ENV)
    return Environment.from_file(tmp_path / "env.toml")


def played(env: Environment, *statements: str, seed: int = 0) -> Rollout:
    left = [*(call("sqlite", statement=each) for each in statements), "done"]
    return rollout(env, env.tasks[0], lambda *_: left.pop(0), seed)


def path_of(env: Environment) -> Path:
    found = env.tables["state"]
    assert isinstance(found, State)
    return Path(found.world.path)


def database_of(held: OpenState) -> Database:
    found = held.parts[Database]
    assert isinstance(found, Database)
    return found


async def lived(state: State, seed: int = 0, *, ends: bool = True) -> int:
    """How many notes an episode found, which writes another."""
    held = await state.begin(TASK, seed)
    try:
        [(count,)] = database_of(held).query(COUNT).rows
        assert isinstance(count, int)
        world = held.parts[World]
        assert isinstance(world, World)
        world.values["n"] = count
        await asyncio.sleep(0)
        database_of(held).query(INSERT)
        if ends:
            await held.artifacts()
    finally:
        await held.close()
    return count


def test_the_next_episode_sees_what_the_last_one_left_and_the_log_who_left_it(state: State) -> None:
    assert [asyncio.run(lived(state, seed)) for seed in range(3)] == [1, 2, 3]

    log = read_log(state.world.path)
    assert [(each["number"], each["task"], each["seed"]) for each in log] == [
        (1, "t", 0),
        (2, "t", 1),
        (3, "t", 2),
    ]
    assert [each["values"] for each in log] == [{"n": n} for n in (1, 2, 3)]
    assert [each["after"] for each in log[:-1]] == [each["before"] for each in log[1:]]
    changes = log[2]["tables"]
    assert isinstance(changes, dict)
    assert changes["notes"]["added"] == [[4, "more"]]


def test_an_episode_that_does_not_end_or_changes_nothing_leaves_nothing(state: State) -> None:
    async def reads() -> None:
        held = await state.begin(TASK, 0)
        await held.artifacts()
        await held.close()

    assert asyncio.run(lived(state)) == 1
    assert asyncio.run(lived(state, ends=False)) == 2
    asyncio.run(reads())

    assert asyncio.run(lived(state)) == 2
    assert len(read_log(state.world.path)) == 2


def test_episodes_of_one_process_take_turns(state: State) -> None:
    async def main() -> list[int]:
        return await asyncio.gather(*(lived(state, seed) for seed in range(8)))

    assert sorted(asyncio.run(main())) == [*range(1, 9)]


WORKER = """
import asyncio, sys
from rlenv import Task
from rlenv.authoring import File
from rlenv_plugin_agent.state.database import Database
from rlenv_plugin_agent.state.table import State

state = State(
    "persistent",
    schema=File(sys.argv[1] + "/s.sql"),
    world=File(sys.argv[1] + "/worlds/w.sqlite"),
    values={"n": 0},
)


async def lived(seed):
    held = await state.begin(Task("p", id="t"), seed)
    held.parts[Database].query("INSERT INTO notes(text) VALUES ('more')")
    await held.artifacts()
    await held.close()


print("begun", flush=True)
for seed in range(int(sys.argv[2])):
    asyncio.run(lived(seed))
    print("ended", flush=True)
"""


def worker(folder: Path, episodes: int) -> subprocess.Popen[str]:
    argv = [sys.executable, "-c", WORKER, str(folder), str(episodes)]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)


def test_processes_that_share_a_world_lose_nothing(tmp_path: Path) -> None:
    state = state_in(tmp_path)
    workers = [worker(tmp_path, 5) for _ in range(3)]

    assert [each.communicate()[0].count("ended") for each in workers] == [5, 5, 5]
    assert asyncio.run(lived(state)) == 16
    assert len(read_log(state.world.path)) == 16


def test_what_an_episode_has_left_survives_a_killed_process(tmp_path: Path) -> None:
    state = state_in(tmp_path)
    for _ in range(2):
        with worker(tmp_path, 10_000) as other:
            assert other.stdout is not None
            other.stdout.readline()
            ended = [other.stdout.readline() for _ in range(4)].count("ended\n")
            time.sleep(0.003)  # wherever it is then: in an episode, or in its commit
            os.kill(other.pid, signal.SIGKILL)
            ended += other.stdout.read().count("ended\n")
        notes = asyncio.run(lived(state))

        assert notes == len(
            read_log(state.world.path)
        )  # the first was declared, and this one's came after
        assert notes > ended


def test_a_commit_that_was_cut_short_is_rolled_back(state: State) -> None:
    assert asyncio.run(lived(state)) == 1
    cut = f"""
import os, sqlite3
link = sqlite3.connect({str(state.world.path)!r}, isolation_level=None)
link.execute("PRAGMA cache_size = 1")
link.execute("BEGIN IMMEDIATE")
link.execute("DELETE FROM log")
link.execute("UPDATE state SET content = zeroblob(1000000)")
os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", cut], check=False)
    assert Path(f"{state.world.path}-journal").exists()

    assert len(read_log(state.world.path)) == 1
    assert asyncio.run(lived(state)) == 2


def test_a_policy_that_floods_the_world_leaves_nothing_and_is_judged(
    env: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(persistent, "MOST", 100_000)
    flood = "INSERT INTO notes(text) VALUES (zeroblob(200000))"

    assert played(env, INSERT, flood).verdict.value == 0.0
    assert played(env, INSERT).verdict.value == 1.0
    assert len(read_log(path_of(env))) == 1


def test_a_world_does_not_grow_without_end_nor_do_its_copies(
    env: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(persistent, "MOST", 350_000)
    monkeypatch.setattr(persistent, "KEPT", 600_000)
    grow = "INSERT INTO notes(text) VALUES (zeroblob(100000))"
    for _ in range(5):
        played(env, grow)

    assert len(read_log(path_of(env))) == 3
    with closing(sqlite3.connect(path_of(env))) as link:
        assert link.execute("SELECT count(*) FROM state").fetchone() == (1,)
    assert played(env, INSERT).verdict.value == 1.0


def test_gold_and_no_op_are_played_apart_from_the_world(env: Environment) -> None:
    assert played(env, INSERT).verdict.value == 1.0
    assert played(env, INSERT, INSERT).verdict.value == 0.0
    assert played(env).verdict.value == 0.0

    log = read_log(path_of(env))
    assert [each["task"] for each in log] == ["t", "t"]
    assert played(env, COUNT).trajectory.messages[-2]["content"] == '{"rows": [{"count(*)": 4}]}'


def test_an_audit_leaves_nothing_in_the_world(env: Environment) -> None:
    played(env, INSERT)
    before = path_of(env).read_bytes()
    found = copy_context().run(_apart, env, env.tasks[:1], seed=0, until=time.monotonic() + 60)

    assert {each.reward for each in found} == {0.0}
    assert path_of(env).read_bytes() == before


def test_a_rollout_is_replayed_with_the_state_that_it_began_with(env: Environment) -> None:
    made = [played(env, COUNT, INSERT, COUNT, seed=seed) for seed in range(3)]
    before = path_of(env).read_bytes()

    assert len({each.start for each in made}) == 3
    assert [replay(from_row(to_row(each)), env) for each in made] == [None] * 3
    assert path_of(env).read_bytes() == before
    assert [each.start for each in made] == [each["before"] for each in read_log(path_of(env))]


def test_a_state_that_is_not_kept_is_named(tmp_path: Path, env: Environment) -> None:
    (tmp_path / "env.toml").write_text(
        ENV.replace("[config.budgets]", "keep = 2\n[config.budgets]", 1)
    )
    few = Environment.from_file(tmp_path / "env.toml")
    first, *_, last = [played(few, INSERT) for _ in range(4)]

    assert replay(last, few) is None
    differs = replay(first, few)
    assert differs is not None
    assert "keeps the last 2 states" in str(differs)


def test_a_world_of_another_schema_is_not_used(tmp_path: Path, state: State) -> None:
    asyncio.run(lived(state))
    other = state_in(tmp_path)
    (tmp_path / "s.sql").write_text(SCHEMA + "CREATE TABLE more(x);")
    changed = State("persistent", schema=other.schema, world=other.world, values={"n": 0})

    with pytest.raises(
        ConfigError, match=r"another schema; go back to that schema, or name another"
    ):
        asyncio.run(lived(changed))
    (tmp_path / "s.sql").write_text(SCHEMA + "INSERT INTO notes VALUES (9, 'rows do not matter');")
    same = State("persistent", schema=other.schema, world=other.world, values={"n": 0})
    assert asyncio.run(lived(same)) == 2


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE state SET content = CAST(replace(hex(content), '6D6F7265', '6C657373') AS BLOB)",
        "UPDATE state SET named = '{\"n\": 99}'",
        "DELETE FROM state WHERE number = 3",
        "UPDATE log SET entry = json_set(entry, '$.after', 'x') WHERE number = 3",
        "UPDATE log SET entry = json_set(entry, '$.values.n', 99) WHERE number = 3",
        "UPDATE log SET entry = json_set(entry, '$.seed', 9) WHERE number = 1",
        "DELETE FROM log WHERE number = 2",
        "UPDATE log SET number = number + 1 WHERE number = 3",
    ],
)
def test_a_world_that_somebody_edited_is_noticed(state: State, edit: str) -> None:
    for seed in range(3):
        asyncio.run(lived(state, seed))
    with closing(sqlite3.connect(state.world.path)) as link:
        link.execute(edit)
        link.commit()

    with pytest.raises(ConfigError, match="log"):
        print(asyncio.run(lived(state)), read_log(state.world.path))


def test_a_file_that_is_no_world_is_not_taken_for_one(state: State) -> None:
    path = Path(state.world.path)
    path.parent.mkdir()
    path.write_text("text" * 1000)

    with pytest.raises(ConfigError, match="cannot be used"):
        asyncio.run(lived(state))
    path.unlink()
    path.symlink_to("elsewhere.sqlite")
    with pytest.raises(ConfigError, match="not a regular file"):
        asyncio.run(lived(state))


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("persistent", {}),
        ("per-episode", {"world": File("w")}),
        ("persistent", {"world": File("w"), "keep": 0}),
    ],
)
def test_options_that_make_no_world_are_refused(kind: str, options: dict[str, object]) -> None:
    with pytest.raises((ConfigError, ValueError), match=r"world|keep"):
        State(kind, **options)  # type: ignore[arg-type]
