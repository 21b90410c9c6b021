"""examples/support_desk: the expert is paid, and only for the rows that its ticket asks for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

import pytest
from episodes import EXAMPLES, module_of, played, rewards
from rlenv import Environment, Task
from rlenv_plugin_agent import Episode, calls

FOLDER = EXAMPLES / "support_desk"


def close(order: object, resolution: str = "refunded") -> tuple[str, Mapping[str, object]]:
    return "close_ticket", {"order": order, "resolution": resolution}


@pytest.fixture(scope="module")
def env() -> Iterator[Environment]:
    with Environment.from_file(FOLDER / "env.toml") as made:
        yield made


def test_the_files_are_what_the_generator_writes() -> None:
    for name, text in module_of("support_desk", "write_tasks").written().items():
        assert (FOLDER / name).read_text() == text


@pytest.mark.parametrize(("policy", "reward"), [("expert", 1.0), ("idle", 0.0), ("cheater", 0.0)])
def test_only_the_expert_is_paid(env: Environment, policy: str, reward: float) -> None:
    found = played(env, getattr(module_of("support_desk", "policies"), policy))

    assert len(found) == 30
    assert rewards(found) == {reward}


@pytest.mark.parametrize(
    "resolution",
    [
        "refunded",
        "cancelled",
        "changed",
        "too_late",
        "not_broken",
        "already_shipped",
        "not_their_order",
    ],
)
def test_closing_every_ticket_alike_is_paid_for_few(env: Environment, resolution: str) -> None:
    def constant(messages: Sequence[Mapping[str, object]], _tools: object) -> object:
        if messages[-1]["role"] == "tool":
            return "Done."
        number = re.findall(r"order (\d+)", str(messages[-1]["content"]))[0]
        return calls(close(int(number), resolution))

    paid = [each.verdict.value for each in played(env, constant)]

    assert sum(value or 0.0 for value in paid) <= 6


def end(env: Environment, task: Task, *actions: object) -> tuple[float | None, list[str]]:
    """The reward, and what the tools have answered."""
    with Episode(env) as episode:
        episode.reset(task)
        steps = [episode.step(each) for each in (*actions, "done")]
    said = [str(each["content"]) for step in steps for each in step.observation]
    return steps[-1].reward, said


@pytest.fixture(scope="module")
def broken(env: Environment) -> tuple[Task, int, int]:
    """A ticket that is to be refunded, its order and its price."""
    task = env.tasks.by_id("broken-0")
    order = task.answer["tables"]["refunds"]["added"][0]  # type: ignore[index]
    return task, order["order_id"], order["amount"]


def test_what_is_done_besides_is_worth_nothing(
    env: Environment, broken: tuple[Task, int, int]
) -> None:
    task, order, price = broken
    closed = close(order)
    right = ("refund", {"order": order, "amount": price})
    paid = {
        "right": end(env, task, calls(right, closed))[0],
        "twice": end(env, task, calls(right, right, closed))[0],
        "more": end(env, task, calls(("refund", {"order": order, "amount": price * 3}), closed))[0],
        "negative": end(env, task, calls(("refund", {"order": order, "amount": -price}), closed))[
            0
        ],
        "address": end(
            env, task, calls(right, closed, ("change_address", {"order": order, "address": "x"}))
        )[0],
        "cancelled": end(env, task, calls(right, ("cancel", {"order": order}), closed))[0],
        "open": end(env, task, calls(right))[0],
        "ticket alone": end(env, task, calls(closed))[0],
        "another order": end(env, task, calls(right, close(order + 7)))[0],
        "a second guess": end(env, task, calls(right, close(order, "too_late"), closed))[0],
    }

    assert {name for name, value in paid.items() if value} == {"right"}


def test_rows_of_other_customers_are_not_there(env: Environment) -> None:
    task = env.tasks.by_id("stranger-0")
    other = int(task.prompt.partition("(order ")[2].partition(")")[0])
    reward, said = end(
        env,
        task,
        calls(
            ("refund", {"order": other, "amount": 1}),
            ("cancel", {"order": other}),
            ("orders", {}),
            ("customer", {}),
        ),
    )

    assert reward == 0.0
    assert all(f"no order {other}" in text for text in said[:2])
    owner = task.info["state"]["values"]["customer"]  # type: ignore[index]
    assert {each["customer"] for each in json.loads(said[2])} == {owner}
    assert [each["id"] for each in json.loads(said[3])] == [owner]


@pytest.mark.parametrize(
    "arguments",
    [
        '{"order": 1000, "resolution": "refunded", "role": "admin"}',
        '{"order": 1000, "resolution": "refunded", "context": {"role": null}}',
        '{"order": 1000, "resolution": "refunded\'; --"}',
        "[]",
        "{",
        '{"order": 1000, "resolution": null}',
    ],
)
def test_arguments_that_do_not_fit_change_nothing(
    env: Environment, broken: tuple[Task, int, int], arguments: str
) -> None:
    forged = {"tool_calls": [{"function": {"name": "close_ticket", "arguments": arguments}}]}
    reward, said = end(env, broken[0], forged)

    assert reward == 0.0
    assert '"error"' in said[0]


def test_a_text_that_comes_without_an_episode_is_not_paid(env: Environment) -> None:
    assert not env.evaluate(env.tasks[0], "refunded").value
