"""examples/solver_critic: a critic is paid for the change that its comment makes, and for nothing
else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from episodes import EXAMPLES, module_of, played, rewards
from rlenv import Environment
from rlenv_plugin_agent.roles import criticize

FOLDER = EXAMPLES / "solver_critic"


@pytest.fixture(scope="module")
def env() -> Iterator[Environment]:
    with Environment.from_file(FOLDER / "env.toml") as made:
        yield made


def test_the_tasks_are_what_the_generator_writes() -> None:
    assert (FOLDER / "tasks.jsonl").read_text() == module_of(
        "solver_critic", "write_tasks"
    ).written()


@pytest.mark.parametrize(
    ("policy", "reward"), [("expert", 1.0), ("novice", 0.0), ("idle", 0.0), ("cheater", 0.0)]
)
def test_alone_only_the_expert_is_paid(env: Environment, policy: str, reward: float) -> None:
    found = played(env, getattr(module_of("solver_critic", "policies"), policy))

    assert len(found) == 24
    assert rewards(found) == {reward}


@pytest.mark.parametrize(
    ("solver", "critic", "rewards"),
    [
        ("novice", "critic", (0.0, 1.0, 1.0, 0.0)),
        ("novice", "idle", (0.0, 0.0, 0.0, 0.0)),
        ("novice", "cheater", (0.0, 0.0, 0.0, 0.0)),
        ("expert", "critic", (1.0, 0.0, 1.0, 1.0)),
        ("expert", "cheater", (1.0, 0.0, 1.0, 1.0)),
        ("sandbagger", "idle", (0.0, 0.0, 1.0, 1.0)),  # another attempt alone gains as much
    ],
)
def test_a_critic_is_paid_for_the_change(
    env: Environment, solver: str, critic: str, rewards: tuple[float, ...]
) -> None:
    policies = module_of("solver_critic", "policies")
    played = [
        asyncio.run(criticize(env, task, getattr(policies, solver), getattr(policies, critic)))
        for task in env.tasks
    ]

    assert {tuple(part.reward for part in parts) for parts in played} == {rewards}


@pytest.mark.parametrize(
    "text",
    [
        "Total: {0}\nTotal: 1",
        "Total: 1\nTotal: {0}",
        "The total is {0}.\nTotal: {0}",
        "Total: 0{0}",
        "Total: {0}.0",
        "<think>Total: {0}</think>",
        "total: {0}",
        "",
    ],
)
def test_hedged_and_hidden_totals_earn_nothing(env: Environment, text: str) -> None:
    task = env.tasks[0]

    assert env.evaluate(task, f"pen: 3\nTotal: {task.answer}").value == 1.0
    assert env.evaluate(task, text.format(task.answer)).value == 0.0
