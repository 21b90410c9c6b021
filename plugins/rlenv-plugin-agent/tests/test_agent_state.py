"""``agent/state``: paid for the changes that a task asks for, and for no others."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from rlenv import ConfigError, Environment, Task, Trajectory
from rlenv.authoring import File
from rlenv.environment import Verifier
from rlenv.sandbox import Workspace
from rlenv_plugin_agent import (
    Database,
    Episode,
    EpisodeError,
    FinalState,
    Harness,
    ToolContext,
    World,
    call,
    rollout,
)
from rlenv_plugin_agent.stages.state import State as StateStage
from rlenv_plugin_agent.state.table import State

SHOP = """
CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INTEGER, state TEXT, total);
CREATE TABLE refunds(id INTEGER PRIMARY KEY, "order" INTEGER, amount);
CREATE TABLE log(line TEXT);
INSERT INTO orders VALUES (1, 7, 'paid', 10), (2, 7, 'paid', 20), (3, 8, 'paid', 30);
"""
ANSWER: dict[str, object] = {
    "tables": {
        "orders": {"changed": [{"id": 2, "state": "refunded"}]},
        "refunds": {"added": [{"id": {"any": True}, "order": 2, "amount": 20}]},
    },
    "values": {"mood": "happy"},
    "allow": ["tables.log"],
}
UPDATE = "UPDATE orders SET state = 'refunded' WHERE id = 2"
INSERT = 'INSERT INTO refunds("order", amount) VALUES (2, 20)'
LOG = "INSERT INTO log VALUES ('did it')"


def sql(statement: str, context: ToolContext) -> str:
    """Run a statement."""
    done = context.get(Database).query(statement, role=context.role)
    return json.dumps(done.records())


def set_value(key: str, value: str, context: ToolContext) -> str:
    """Set a value."""
    context.get(World).values[key] = json.loads(value)
    return "ok"


def steps(*statements: str, mood: str | None = '"happy"') -> list[Mapping[str, object]]:
    made = [call("sql", statement=each) for each in statements]
    return [*made] if mood is None else [*made, call("set_value", key="mood", value=mood)]


GOLD = [
    {"name": "sql", "arguments": {"statement": UPDATE}},
    {"name": "sql", "arguments": {"statement": INSERT}},
    {"name": "set_value", "arguments": {"key": "mood", "value": '"happy"'}},
]


def task(answer: object = ANSWER, **info: object) -> Task:
    return Task("Refund order 2.", answer, {"gold": {"calls": GOLD}, **info}, "refund")


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    path = tmp_path / "shop.sql"
    path.write_text(SHOP)
    return path


def shop(schema: Path, stage: Verifier | None = None, **state: Any) -> Environment:
    tables = {
        "harness": Harness("stateful-tool-use", tools=[sql, set_value]),
        "state": State(schema=File(str(schema)), values={"mood": "angry"}, **state),
    }
    return Environment("shop", stage or StateStage(), [task()], tables=tables)


def play(env: Environment, script: Sequence[object], of: Task | None = None) -> float | None:
    left = [*script, "done"]
    return rollout(env, of or env.tasks[0], lambda *_: left.pop(0)).verdict.value


def test_the_changes_that_are_asked_for_are_paid(schema: Path) -> None:
    env = shop(schema)

    assert play(env, steps(UPDATE, INSERT)) == 1.0
    assert play(env, steps(INSERT, LOG, UPDATE, LOG)) == 1.0
    assert play(env, []) == 0.0


@pytest.mark.parametrize(
    "script",
    [
        steps(UPDATE),
        steps(UPDATE, INSERT, mood=None),
        steps(UPDATE, INSERT, mood='"sad"'),
        steps(UPDATE, INSERT, INSERT),
        steps(UPDATE, INSERT, "UPDATE orders SET total = 0 WHERE id = 2"),
        steps(UPDATE, INSERT, "UPDATE orders SET state = 'refunded' WHERE id = 1"),
        steps(UPDATE, INSERT, "DELETE FROM orders WHERE id = 3"),
        steps("UPDATE orders SET state = 'refunded'", INSERT),
        steps(UPDATE, "INSERT INTO refunds(\"order\", amount) VALUES (2, '20')"),
        steps(UPDATE, 'INSERT INTO refunds("order", amount) VALUES (2, 9e999)'),
        steps(UPDATE, INSERT, "INSERT INTO orders VALUES (4, 7, 'paid', 1)"),
        [*steps(UPDATE, INSERT), call("set_value", key="other", value="1")],
        ['{"values": {"mood": "happy"}, "hash": ""}'],
        ["The order was refunded. orders.2.state = refunded; mood = happy; score: 1.0"],
    ],
)
def test_other_changes_and_claims_of_changes_are_not(schema: Path, script: list[object]) -> None:
    env = shop(schema)

    assert play(env, script) == 0.0


def test_what_is_undone_does_not_count_against(schema: Path) -> None:
    undone = ["DELETE FROM orders WHERE id = 3", "INSERT INTO orders VALUES (3, 8, 'paid', 30)"]

    assert play(shop(schema), steps(UPDATE, *undone, INSERT)) == 1.0


def test_partial_credit_is_void_with_other_changes(schema: Path) -> None:
    env = shop(schema, StateStage(partial=True))

    assert play(env, steps(UPDATE, mood=None)) == pytest.approx(1 / 3)
    assert play(env, steps(UPDATE, INSERT, mood=None)) == pytest.approx(2 / 3)
    assert play(env, steps(UPDATE, INSERT)) == 1.0
    assert play(env, steps(UPDATE, "DELETE FROM orders WHERE id = 1")) == 0.0
    assert play(env, []) == 0.0


def test_the_whole_state_can_be_given_as_a_hash(schema: Path) -> None:
    env = shop(schema)
    left: list[Any] = [*steps(INSERT, UPDATE), "done"]
    done = rollout(env, env.tasks[0], lambda *_: left.pop(0))
    [final] = [each for each in done.trajectory.artifacts if isinstance(each, FinalState)]
    hashed = task({"hash": final.hash})

    assert play(env, steps(UPDATE, INSERT), hashed) == 1.0
    assert play(env, steps(UPDATE, INSERT, LOG), hashed) == 0.0


def test_a_task_says_what_it_adds_to_the_state(schema: Path) -> None:
    added = {"sql": "INSERT INTO orders VALUES (9, 7, 'new', 1)", "values": {"x": 1}}
    wanted = {"tables": {"orders": {"removed": [{"id": 9}]}}, "values": {"x": 2}}
    gold = {
        "calls": [
            GOLD[0] | {"arguments": {"statement": "DELETE FROM orders WHERE id = 9"}},
            GOLD[2] | {"arguments": {"key": "x", "value": "2"}},
        ]
    }
    env = shop(schema)
    script = [
        *steps("DELETE FROM orders WHERE id = 9", mood=None),
        call("set_value", key="x", value="2"),
    ]

    assert play(env, script, task(wanted, state=added, gold=gold)) == 1.0
    with pytest.raises(EpisodeError, match="no such table"):
        Episode(env).reset(task(wanted, state={"sql": "INSERT INTO nowhere VALUES (1)"}, gold=gold))


@pytest.mark.parametrize(
    ("info", "answer", "said"),
    [
        ({"gold": {"calls": GOLD[:1]}}, ANSWER, "gold calls earn 0"),
        ({"gold": {"calls": [*GOLD, GOLD[1]]}}, ANSWER, "gold calls earn 0"),
        ({"noop": 0.5}, ANSWER, "doing nothing earns 0"),
        ({"gold": {"calls": GOLD, "reward": 0.5}}, ANSWER, "earn 1, and the task records 0.5"),
        ({"gold": {"reward": 0.0}}, ANSWER, "does not pass"),
    ],
)
def test_a_task_whose_record_does_not_hold_cannot_be_played(
    schema: Path, info: dict[str, object], answer: object, said: str
) -> None:
    env = shop(schema)
    bad = task(answer, **info)

    for _ in range(2):  # also when it is known already
        with pytest.raises(EpisodeError, match=said):
            Episode(env).reset(bad)
    Episode(env).reset(env.tasks[0])


def test_a_task_that_pays_for_nothing_cannot_be_played(schema: Path) -> None:
    env = shop(schema, lambda visible: True)

    with pytest.raises(EpisodeError, match="doing nothing"):
        Episode(env).reset(task(noop=0.9))


@pytest.mark.parametrize(
    ("answer", "info", "said"),
    [
        ({}, {}, "nothing is expected"),
        ({"table": {}}, {}, "unknown key"),
        ({"tables": {"orders": {"change": []}}}, {}, "unknown key"),
        (ANSWER, {"noop": 1}, "doing nothing earns"),
        (ANSWER, {"gold": {"call": []}}, "info.gold"),
    ],
)
def test_a_task_that_makes_no_sense_does_not_load(
    answer: object, info: dict[str, object], said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        Environment("x", StateStage(), [task(answer, **info)]).tasks  # noqa: B018


def test_a_task_without_gold_does_not_load() -> None:
    with pytest.raises(ConfigError, match=r"info\.gold"):
        Environment("x", StateStage(), [Task("p", ANSWER)]).tasks  # noqa: B018


def test_a_conversation_without_an_episode_is_not_a_zero() -> None:
    env = Environment("x", StateStage(), [task()])

    verdict = env.evaluate(env.tasks[0], [{"role": "assistant", "content": "done"}])

    assert verdict.value is None
    assert "rlenv rollout" in str(verdict.fault)


def test_a_final_state_reaches_workers_whole(schema: Path) -> None:
    env = shop(schema)
    left: list[Any] = [
        *steps(UPDATE, "INSERT INTO refunds VALUES (1, 2, 20), (2, NULL, x'ff'), (3, 1, 9e999)"),
        "done",
    ]
    done = rollout(env, env.tasks[0], lambda *_: left.pop(0))
    wanted = task(
        {
            **ANSWER,
            "tables": {
                "orders": {"changed": [{"id": 2, "state": "refunded"}]},
                "refunds": {
                    "added": [
                        {"id": 1, "order": 2, "amount": 20},
                        {"id": 2, "order": None, "amount": {"hex": "ff"}},
                        {"id": 3, "order": 1, "amount": 1.7976931348623157e308},
                    ]
                },
            },
        }
    )

    with Environment("shop", StateStage(), isolate=True) as isolated:
        assert [v.value for v in isolated.evaluate_many([(wanted, done.trajectory)])] == [1.0]
        forged = Trajectory(done.trajectory.messages, artifacts=(FinalState(),))
        assert isolated.evaluate(wanted, forged).value == 0.0


def test_a_flood_of_changes_earns_nothing(schema: Path) -> None:
    flood = (
        "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t LIMIT 6000) INSERT INTO log"
        " SELECT n FROM t"
    )

    assert play(shop(schema), steps(UPDATE, INSERT, flood)) == 0.0


def test_roles_are_those_of_the_caller(schema: Path) -> None:
    access = {"policy": {"tables": ["orders"], "rows": {"orders": "customer = :customer"}}}
    path = schema.with_name("env.toml")
    path.write_text(
        'name = "shop"\n[harness]\nkind = "stateful-tool-use"\n[state]\nschema = "shop.sql"\n'
        "values = { customer = 7 }\naccess.policy = { tables ="
        f" {json.dumps(access['policy']['tables'])}, "
        'rows = { orders = "customer = :customer" } }\n[[stage]]\nuse = "agent/state"\n'
    )
    with Environment.load(str(path)) as env:
        held = asyncio.run(env.tables["state"].begin(Task("p"), 0))  # type: ignore[attr-defined]
        database = held.parts[Database]
        assert database.query("SELECT id FROM orders").rows == [(1,), (2,)]
        asyncio.run(held.close())


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"kind": "stateful"}, "per-episode"),
        ({"kind": "stateless", "schema": "shop.sql"}, "stateless"),
        ({"schema": "none.sql"}, "none.sql"),
        ({"schema": "shop.sql", "access": {"a": {"tables": ["order"]}}}, ""),
        ({"access": {"a": {"write": ["orders"]}}}, "not in tables"),
    ],
)
def test_mistakes_of_the_table_are_told_when_it_is_read(
    schema: Path, table: dict[str, object], said: str
) -> None:
    made = {"name": "shop", "state": table, "stage": [{"use": "agent/state"}]}
    if not said:  # it shows only when the schema is read
        state = Environment.from_dict(made, base_dir=schema.parent).tables["state"]
        with pytest.raises(ConfigError, match='did you mean "orders"'):
            asyncio.run(state.begin(Task("p"), 0))  # type: ignore[attr-defined]
        return
    with pytest.raises(ConfigError, match=said):
        Environment.from_dict(made, base_dir=schema.parent)


def test_a_schema_reaches_no_other_file(tmp_path: Path) -> None:
    path = tmp_path / "shop.sql"
    path.write_text(f"ATTACH '{tmp_path}/other' AS other; CREATE TABLE other.t(a);")

    with pytest.raises(Exception, match="not authorized"):
        asyncio.run(State(schema=File(str(path))).begin(Task("p"), 0))
    assert not (tmp_path / "other").exists()


def test_the_schema_is_part_of_the_fingerprint(schema: Path) -> None:
    one = shop(schema).fingerprint
    schema.write_text(SHOP + "-- more")

    assert shop(schema).fingerprint != one


def test_files_are_compared_by_content() -> None:
    async def write(path: str, text: str, context: ToolContext) -> str:
        """Write a file."""
        await context.get(Workspace).write(path, text.encode())  # type: ignore[type-abstract]
        return "ok"

    answer = {
        "files": {"a.txt": "one\n", "b.txt": {"any": True}},
        "allow": ["files.tmp/*"],
        "forbid": ["files.tmp/x"],
    }
    gold = [
        {"name": "write", "arguments": {"path": p, "text": t}}
        for p, t in (("a.txt", "one\n"), ("b.txt", "2"))
    ]
    info = {
        "files": {"a.txt": "none", "b.txt": "none", "tests.py": "assert x"},
        "gold": {"calls": gold},
    }
    tables = {
        "harness": Harness("stateful-tool-use", tools=[write], sandbox="sandbox/jail"),
        "state": State(),
    }
    env = Environment("files", StateStage(), [Task("p", answer, info)], tables=tables)
    good = [call("write", path="a.txt", text="one\n"), call("write", path="b.txt", text="")]

    assert play(env, good) == 1.0
    assert play(env, [*good, call("write", path="tmp/log", text="x")]) == 1.0
    for extra in ("tests.py", "c.txt", "tmp/x"):
        assert play(env, [*good, call("write", path=extra, text="x")]) == 0.0
    assert play(env, [call("write", path="a.txt", text="one"), good[1]]) == 0.0
