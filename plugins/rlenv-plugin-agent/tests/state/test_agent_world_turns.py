"""Episodes that share a world: none is paid 0, or left unscored, for what another one did."""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path

import pytest
from rlenv import ConfigError, Environment, Task
from rlenv.authoring import File
from rlenv_plugin_agent import Config, Database, Episode, Rollout, call, rollout, rollouts
from rlenv_plugin_agent.episodes.config import Budgets, Schedule
from rlenv_plugin_agent.messages import Message
from rlenv_plugin_agent.state.persistent import read_log
from rlenv_plugin_agent.state.table import State

SCHEMA = (
    "CREATE TABLE orders(id INTEGER PRIMARY KEY, state TEXT); INSERT INTO orders VALUES (1,"
    " 'open'), (2, 'open');"
)
SOLVES = "UPDATE orders SET state = 'closed' WHERE id = 2"
ENV = """
name = "desk"
[harness]
kind = "stateful-tool-use"
tools = ["sqlite"]
[state]
kind = "persistent"
schema = "s.sql"
world = "worlds/w.sqlite"
wait = 600.0
[config.budgets]
seconds = 300
[[stage]]
use = "agent/state"
[[task]]
id = "close"
prompt = "Close order 2."
answer = { tables = { orders = { changed = [{ id = 2, state = "closed" }] } } }
info = { gold = { calls = [{ name = "sqlite", \
arguments = { statement = "UPDATE orders SET state = 'closed' WHERE id = 2" } }] } }
"""
TASK = Task("p", id="t")


def env_in(folder: Path, text: str = ENV) -> Environment:
    (folder / "s.sql").write_text(SCHEMA)
    (folder / "env.toml").write_text(text)
    return Environment.from_file(folder / "env.toml")


def state_in(folder: Path, wait: float = 600.0) -> State:
    (folder / "s.sql").write_text(SCHEMA)
    return State(
        "persistent",
        schema=File(str(folder / "s.sql")),
        world=File(str(folder / "w.sqlite")),
        wait=wait,
    )


def plays(env: Environment, *statements: str) -> Rollout:
    left = [*(call("sqlite", statement=each) for each in statements), "done"]
    return rollout(env, env.tasks[0], lambda *_: left.pop(0))


def perfect(messages: list[Message], _: object) -> object:
    return call("sqlite", statement=SOLVES) if len(messages) == 1 else "done"


def is_unreachable(found: Rollout) -> bool:
    fault = found.verdict.fault
    return fault is not None and fault.transient and "makes this task unreachable" in fault.message


def test_a_perfect_policy_is_never_paid_0_for_what_was_done_before(tmp_path: Path) -> None:
    with env_in(tmp_path) as env:
        found = [made for _, made in rollouts(env, [*env.tasks] * 8, perfect)]

    assert sorted(map(is_unreachable, found)) == [False, *[True] * 7]
    assert [each.verdict.value for each in found if not is_unreachable(each)] == [1.0]
    assert {each.stop for each in found} == {"passed", "error"}


def test_an_episode_that_spoils_a_task_is_paid_0_and_later_ones_are_not(tmp_path: Path) -> None:
    with env_in(tmp_path) as env:
        spoils = plays(env, "DELETE FROM orders WHERE id = 2")
        later = plays(env, SOLVES)

    assert spoils.verdict.value == 0.0
    assert is_unreachable(later)


def test_gold_is_played_apart_from_the_world_and_only_in_its_state(tmp_path: Path) -> None:
    """The first episode changes another row, so the world is not as declared, and the task is still
    possible.
    """
    with env_in(tmp_path) as env:
        first = plays(env, "UPDATE orders SET state = 'lost' WHERE id = 1")
        second = plays(env, SOLVES)

    assert (first.verdict.value, second.verdict.value) == (0.0, 1.0)
    assert len(read_log(tmp_path / "worlds/w.sqlite")) == 2


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("seconds = 300", "seconds = 600", "seconds is 600.*wait of .state. is 600"),
        ("seconds = 300", "seconds = 900.5", "seconds is 900.5.*wait of .state. is 600"),
        ("[config.budgets]\nseconds = 300", "", "seconds has no value.*wait of .state. is 600"),
        ("wait = 600.0", "wait = 20", "seconds is 300.*is 20:.*seconds = 10"),
    ],
)
def test_an_episode_ends_before_others_have_waited_too_long(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    with pytest.raises(ConfigError, match=told):
        env_in(tmp_path, ENV.replace(old, new))


def test_each_step_of_a_schedule_ends_in_time(tmp_path: Path) -> None:
    late = Schedule(steps={"budgets.seconds": [(0, 100), (5, 700)]})
    tables = {
        "state": state_in(tmp_path),
        "config": Config(budgets=Budgets(seconds=10), schedule=late),
    }

    with pytest.raises(ConfigError, match="seconds is 700"):
        Environment("desk", lambda visible: True, tables=tables)


async def writes(state: State) -> int:
    """How many orders an episode found, which adds another."""
    held = await state.begin(TASK, 0)
    database = held.parts[Database]
    assert isinstance(database, Database)
    [(count,)] = database.query("SELECT count(*) FROM orders").rows
    database.query("INSERT INTO orders(state) VALUES ('new')")
    await held.artifacts()
    await held.close()
    assert isinstance(count, int)
    return count


def test_an_episode_that_holds_a_world_too_long_leaves_nothing_and_others_begin(
    tmp_path: Path,
) -> None:
    state = state_in(tmp_path, wait=0.05)

    async def main() -> tuple[int, int]:
        held = await state.begin(TASK, 0)
        database = held.parts[Database]
        assert isinstance(database, Database)
        database.query("INSERT INTO orders(state) VALUES ('late')")
        before = await writes(state)
        await held.artifacts()
        await held.close()
        return before, await writes(state)

    assert asyncio.run(main()) == (2, 3)
    assert len(read_log(state.world.path)) == 2


def test_an_episode_waits_without_end_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    holder = state_in(tmp_path)
    waiter = state_in(tmp_path, wait=0.02)

    async def main() -> int:
        held = await holder.begin(TASK, 0)
        waiting = asyncio.create_task(writes(waiter))
        while not caplog.records:
            await asyncio.sleep(0.01)
        await held.close()
        return await waiting

    with caplog.at_level(logging.WARNING, "rlenv_plugin_agent"):
        assert asyncio.run(main()) == 2
    assert "still waits for the world" in caplog.text


def test_the_time_of_an_episode_begins_when_it_has_the_world(tmp_path: Path) -> None:
    async def main() -> None:
        with env_in(tmp_path) as env:
            async with Episode(env) as first, Episode(env) as second:
                await first.areset(env.tasks[0])
                waiting = asyncio.create_task(second.areset(env.tasks[0]))
                await asyncio.sleep(0.05)
                assert not waiting.done()
                given_back = time.perf_counter()
                await first.aclose()
                await waiting
                assert second.ledger._started > given_back

    asyncio.run(main())


@pytest.mark.parametrize("changes", [True, False])
def test_a_world_is_free_while_stages_judge(tmp_path: Path, changes: bool) -> None:
    state = state_in(tmp_path)

    async def main() -> int:
        held = await state.begin(TASK, 0)
        database = held.parts[Database]
        assert isinstance(database, Database)
        if changes:
            database.query("INSERT INTO orders(state) VALUES ('new')")
        await held.artifacts()
        found = await writes(state)
        await held.close()
        return found

    assert asyncio.run(main()) == 2 + changes
