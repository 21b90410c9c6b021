"""All parts in one environment: state, workspace, user, context manager, budgets, noise, rows and
replay.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from rlenv import Environment
from rlenv import sandbox as port
from rlenv_plugin_agent import Rollout, calls, replay, rollout, rollouts
from rlenv_plugin_agent.messages import Message
from rlenv_plugin_agent.rollouts.records import from_row, to_row

TOOLS = '''
from rlenv_plugin_agent import Database, End, ToolContext


def sql(statement: str, context: ToolContext) -> list[dict[str, object]]:
    """Run one SQL statement on the table orders."""
    return context.get(Database).query(statement, role=context.role).records()


def user(action, context):
    if action is None:
        return "Please refund order 2, and note it in done.txt."
    return End("Thanks.") if "refunded" in action else "Is it refunded?"
'''
ENV = """
name = "shop"

[harness]
kind = "stateful-tool-use"
tools = ["./tools.py:sql", "file_write", "file_read"]
user = "./tools.py:user"
context = "recency"
sandbox = "sandbox/jail"
turn_limit = 12

[state]
schema = "shop.sql"

[state.access.policy]
tables = ["orders"]
write = ["orders"]

[config]
context_budget = 4000

[config.budgets]
calls = 60
seconds = 60
NOISE
[[stage]]
use = "agent/state"

[[task]]
id = "refund"
prompt = "Serve the customer."
answer = { tables = { orders = { changed = [{ id = 2, state = "refunded" }] } }, \
files = { "done.txt" = "order 2" } }

[task.info.gold]
calls = [
    { name = "sql", \
arguments = { statement = "UPDATE orders SET state = 'refunded' WHERE id = 2" } },
    { name = "file_write", arguments = { file = "done.txt", content = "order 2" } },
]
reply = "It is refunded."
"""
SQL = (
    "CREATE TABLE orders(id INTEGER PRIMARY KEY, state TEXT);\nINSERT INTO orders VALUES (1,"
    " 'paid'), (2, 'paid');\n"
)
REFUND = ("sql", {"statement": "UPDATE orders SET state = 'refunded' WHERE id = 2"})
NOTE = ("file_write", {"file": "done.txt", "content": "order 2"})


def environment(folder: Path, noise: str = "") -> Environment:
    (folder / "tools.py").write_text(TOOLS)
    (folder / "shop.sql").write_text(SQL)
    (folder / "env.toml").write_text(ENV.replace("NOISE", noise))
    return Environment.from_file(folder / "env.toml")


def expert(messages: list[Message], tools: object) -> object:
    """Repeats a call until it has a result without an error."""
    results = [str(each["content"]) for each in messages if each["role"] == "tool"]
    if len(results) >= 2 and not any("error" in each for each in results[-2:]):
        return "It is refunded."
    return calls(REFUND, NOTE)


def wild(seed: int) -> object:
    """Calls anything with anything."""

    def policy(messages: list[Message], tools: list[Message]) -> object:
        draw = random.Random(f"{seed} {len(messages)}")
        names = ["sql", "file_write", "file_read", "done", "", "\ud800"]
        given = [
            REFUND[1],
            NOTE[1],
            {"statement": "DROP TABLE orders"},
            {"statement": "ATTACH 'x' AS y"},
            {"file": "../x"},
            {"file": "done.txt", "content": "x" * 9000},
            {},
        ]
        made = [(draw.choice(names), draw.choice(given)) for _ in range(draw.randint(0, 5))]
        return calls(*made, content="It is refunded." if draw.random() < 0.1 else "hm")

    return policy


@pytest.fixture(autouse=True)
def _closed() -> object:
    yield
    port.close_all()


def test_an_expert_passes_and_its_rollout_survives_json_and_replays(tmp_path: Path) -> None:
    with environment(tmp_path) as env:
        found = rollout(env, env.tasks.by_id("refund"), expert)
        assert (found.stop, found.verdict.value) == ("passed", 1.0), found.verdict
        read = from_row(json.loads(json.dumps(to_row(found))))
        assert read.trajectory.messages == found.trajectory.messages
        assert replay(read, env) is None


def test_an_expert_that_looks_at_errors_passes_noise(tmp_path: Path) -> None:
    noise = "[config.noise]\nrate = 0.2\n"
    with environment(tmp_path, noise) as env:
        task = env.tasks.by_id("refund")
        found = [rollout(env, task, expert, seed) for seed in range(8)]
        again = [rollout(env, task, expert, seed) for seed in range(8)]

    assert all(each.stop in ("passed", "done", "turn_limit", "budget") for each in found)
    assert [each.trajectory.messages for each in found] == [
        each.trajectory.messages for each in again
    ]
    assert any(turn.marks for each in found for turn in each.trace)


def test_no_policy_gets_a_reward_or_an_error_by_chance(tmp_path: Path) -> None:
    with environment(tmp_path) as env:
        task = env.tasks.by_id("refund")
        found: list[Rollout] = [rollout(env, task, wild(seed)) for seed in range(12)]  # type: ignore[arg-type]

    assert "error" not in {each.stop for each in found}
    for each in found:
        json.dumps([*each.trajectory.messages])
        assert each.verdict.value == 1.0 or each.stop != "passed"


def test_many_run_at_once_without_seeing_each_other(tmp_path: Path) -> None:
    def mixed(messages: list[Message], tools: list[Message]) -> object:
        return expert(messages, tools)

    with environment(tmp_path) as env:
        tasks = [env.tasks.by_id("refund")] * 12
        found = dict(rollouts(env, tasks, mixed, concurrent=6))

    assert {each.stop for each in found.values()} == {"passed"}
