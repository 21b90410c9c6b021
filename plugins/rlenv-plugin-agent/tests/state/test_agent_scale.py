"""A world of 164 tables and 512 tools, made here."""

from __future__ import annotations

from typing import Any

import pytest
from rlenv import Environment, Task
from rlenv.authoring import File
from rlenv_plugin_agent import Database, Harness, Policy, ToolContext, call, rollouts, tool
from rlenv_plugin_agent.stages.state import State as StateStage
from rlenv_plugin_agent.state.access import Access
from rlenv_plugin_agent.state.table import State
from rlenv_plugin_agent.tools.tool import Tool

TABLES = 164
TOOLS = 512
ROWS = 20


def schema() -> str:
    found = []
    for n in range(TABLES):
        up = f", up INTEGER REFERENCES t{n // 2}(id)" if n else ""
        found.append(
            f"CREATE TABLE t{n}(id INTEGER PRIMARY KEY, owner INTEGER, name TEXT, amount REAL{up});"
        )
        found += [
            f"INSERT INTO t{n}(id, owner, name, amount) VALUES ({i}, {i % 3}, 'n{i}', {i}.5);"
            for i in range(ROWS)
        ]
    return "\n".join(found)


def made(n: int) -> Tool:
    """Tools of four kinds, each on a table of its own."""
    table = n % TABLES
    kind = n // TABLES

    def act(row: int, context: ToolContext) -> str:
        """Look at a row, or change it."""
        statement = (
            f"SELECT * FROM t{table} WHERE id = ?",
            f"UPDATE t{table} SET amount = 0 WHERE id = ?",
            f"DELETE FROM t{table} WHERE id = ?",
            f"INSERT INTO t{table}(owner, name) SELECT 0, 'new' WHERE ? >= 0",
        )[kind]
        done = context.get(Database).query(statement, [row], role="policy" if kind == 0 else None)
        return str([*done.rows, done.changed])

    return tool(name=f"tool_{n}")(act)


def task(n: int) -> Task:
    """Change a row of one table, and remove one of another."""
    table = n % TABLES
    other = (n * 7 + 1) % TABLES
    answer = {"tables": {f"t{table}": {"changed": [{"id": 3, "amount": 0}]}}}
    answer["tables"].setdefault(f"t{other}", {})["removed"] = [{"id": 6}]
    calls = [
        {"name": f"tool_{TABLES + table}", "arguments": {"row": 3}},
        {"name": f"tool_{2 * TABLES + other}", "arguments": {"row": 6}},
    ]
    return Task(f"Task {n}.", answer, {"gold": {"calls": calls}}, str(n))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    path = tmp_path_factory.mktemp("scale") / "world.sql"
    path.write_text(schema())
    names = [f"t{n}" for n in range(TABLES)]
    access = {"policy": Access(names, dict.fromkeys(names[1::2], "owner = :owner"), names[::2])}
    state = State(schema=File(str(path)), access=access, values={"owner": 0})
    tables = {
        "harness": Harness("stateful-tool-use", tools=[made(n) for n in range(TOOLS)]),
        "state": state,
    }
    return Environment("world", StateStage(), [task(n) for n in range(8)], tables=tables)


class Replay:
    """A policy that makes the calls of a task, and one more."""

    def __init__(self, env: Environment, extra: list[Any]) -> None:
        self.env = env
        self.extra = extra

    def __call__(self, messages: list[Any], tools: list[Any]) -> Any:
        assert len(tools) == TOOLS
        found = next(t for t in self.env.tasks if t.prompt == messages[0]["content"])
        calls = [*found.info["gold"]["calls"], *self.extra]  # type: ignore[index]
        turn = len(messages) // 2
        return (
            call(calls[turn]["name"], **calls[turn]["arguments"]) if turn < len(calls) else "done"
        )


@pytest.mark.slow  # making the large world takes seconds
def test_episodes_on_a_large_world_are_judged_row_by_row(world: Environment) -> None:
    def values(policy: Policy) -> list[float | None]:
        done = sorted(rollouts(world, world.tasks, policy))
        return [rollout.verdict.value for _, rollout in done]

    assert values(Replay(world, [])) == [1.0] * 8
    assert (
        values(Replay(world, [{"name": "tool_0", "arguments": {"row": 0}}])) == [1.0] * 8
    )  # it looks
    other_row = [{"name": f"tool_{TABLES + 9}", "arguments": {"row": 9}}]
    assert values(Replay(world, other_row)) == [0.0] * 8
