"""Worlds: snapshots, forks, worlds that outlive an episode, and what idle ones cost."""

from __future__ import annotations

import asyncio
import tracemalloc
from pathlib import Path

import pytest
from rlenv import Task
from rlenv import sandbox as port
from rlenv.authoring import File
from rlenv.sandbox import Profile
from rlenv_plugin_agent import Database, FinalState, World
from rlenv_plugin_agent.state.open_state import OpenState
from rlenv_plugin_agent.state.table import State

SCHEMA = "CREATE TABLE notes(id INTEGER PRIMARY KEY, text);\nINSERT INTO notes VALUES (1, 'first');"
COUNT = "SELECT count(*) FROM notes"
INSERT = "INSERT INTO notes(text) VALUES ('more')"
TASK = Task("p", id="t")


@pytest.fixture
def state(tmp_path: Path) -> State:
    (tmp_path / "s.sql").write_text(SCHEMA)
    return State(schema=File(str(tmp_path / "s.sql")), values={"n": 0})


def database_of(held: OpenState) -> Database:
    found = held.parts[Database]
    assert isinstance(found, Database)
    return found


def world_of(held: OpenState) -> World:
    found = held.parts[World]
    assert isinstance(found, World)
    return found


def test_a_world_goes_back_to_its_snapshots(state: State) -> None:
    async def main() -> None:
        world = world_of(await state.begin(Task("p", info={"state": {"values": {"a": [1]}}}), 0))
        first = await world.snapshot()
        assert first[1] is world.database.start
        assert isinstance(world.values["a"], list)
        world.values["a"].append(2)
        world.database.query(INSERT)
        second = await world.snapshot()
        fork = await world.fork()
        world.values.clear()
        world.database.query("DELETE FROM notes")
        fork.database.query("DELETE FROM notes WHERE id = 1")

        assert fork.values == {"n": 0, "a": [1, 2]}
        assert fork.database.query(COUNT).rows == [(1,)]
        for _ in range(2):
            await world.restore(second)
            assert world.database.query(COUNT).rows == [(2,)]
            await world.restore(first)
            assert await world.final() == FinalState(
                {"n": 0, "a": [1]}, hash=world.start, start=world.start
            )

    asyncio.run(main())


@pytest.mark.parametrize("copies", [False, True])
def test_files_go_with_their_world(state: State, copies: bool) -> None:
    async def main() -> None:
        profile = Profile(workspace_mb=1)
        one, other = [await port.get("sandbox/jail").open(profile) for _ in range(2)]
        try:
            await one.workspace.write("a.txt", b"1")
            world = world_of(await state.begin(TASK, 0))
            await world.attach(one.workspace)
            before = await world.snapshot()
            await one.workspace.write("a.txt", b"2")
            fork = await world.fork(other.workspace if copies else None)
            await world.restore(before)

            assert await one.workspace.read("a.txt") == b"1"
            assert (await world.final()).files == {}
            assert ((await fork.final()).files != {}) == copies
        finally:
            await one.close()
            await other.close()

    asyncio.run(main())


def test_equal_ends_have_equal_hashes_and_others_have_not(state: State) -> None:
    def ended(*statements: str, **values: object) -> str:
        world = world_of(asyncio.run(state.begin(TASK, 0)))
        world.values.update(values)
        for each in statements:
            world.database.query(each)
        return asyncio.run(world.final()).hash

    update = "UPDATE notes SET text = 'x'"
    assert ended(update, INSERT, a=1, b=2) == ended(
        INSERT, "UPDATE notes SET text = 'x' WHERE id = 1", b=2, a=1
    )
    assert ended(n=0) == ended()
    assert (
        len(
            {
                ended(),
                ended(n=1),
                ended(n=None),
                ended(n=False),
                ended(n="0"),
                ended(INSERT),
                ended(update),
            }
        )
        == 7
    )


def test_an_idle_episode_costs_little(tmp_path: Path) -> None:
    rows = "".join(f"INSERT INTO notes(text) VALUES ('{'x' * 1000}');" for _ in range(500))
    (tmp_path / "s.sql").write_text(SCHEMA + rows)
    state = State(schema=File(str(tmp_path / "s.sql")), values={"n": 0})

    async def main() -> float:
        await state.begin(TASK, 0)
        tracemalloc.start()
        held = [await state.begin(TASK, seed) for seed in range(100)]
        for each in held:
            database_of(each).query(COUNT)
        size, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len({id(database_of(each).content) for each in held}) == 1
        return size / len(held)

    assert asyncio.run(main()) < 20_000  # bytes; what SQLite holds is that of one connection


def test_the_beginning_of_a_state_does_not_depend_on_the_clock(tmp_path: Path) -> None:
    (tmp_path / "s.sql").write_text(
        "CREATE TABLE t(at); INSERT INTO t VALUES (datetime('now')), (random());"
    )
    made = [
        State(schema=File(str(tmp_path / "s.sql")), now=now)
        for now in ["2024-02-29"] * 2 + ["2024-03-01"]
    ]
    contents = [database_of(asyncio.run(state.begin(TASK, 0))).start for state in made]
    starts = [world_of(asyncio.run(state.begin(TASK, 0))).start for state in made]

    assert contents[0] == contents[1] != contents[2]
    assert starts[0] == starts[1] != starts[2]
