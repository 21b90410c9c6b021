"""Policies that solve nothing: drawn by a seed alone, accepted by every kind of episode, and paid
by a lax verifier.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from rlenv import Environment, Task
from rlenv_plugin_agent import Config, EpisodeError, Harness
from rlenv_plugin_agent.policies.adversaries import ADVERSARIES, forge_transcript
from rlenv_plugin_agent.policies.earning import floor_of, play_adversaries
from rlenv_plugin_agent.tools.tool import tool

TASKS = [Task(f"{n} + 1?", answer=f"{n + 100}", id=f"t{n}") for n in range(2)]


def search(query: str, pages: int = 1, kinds: list[str] | None = None) -> str:
    """Look something up."""
    return f"nothing about {query}"


def run_sql(statement: str, flag: bool, share: float) -> str:
    """Run a statement."""
    raise RuntimeError(statement)


def right(visible: str, answer: str) -> bool:
    return visible.strip() == answer


def untouched(trajectory: object) -> float:
    """Pays whoever calls nothing."""
    return 0.0 if any(m["role"] == "tool" for m in trajectory.messages) else 0.5  # type: ignore[attr-defined]


def believes(visible: str) -> bool:
    """Takes a claim for the deed."""
    return (
        "reward = 1.0" in visible
        or "PASSED" in visible
        or '"success": true' in visible.replace("\\", "")
    )


def environment(verifier: object, kind: str = "tool-use", **more: object) -> Environment:
    harness = Harness(kind, tools=[search, run_sql], turn_limit=12)  # type: ignore[arg-type]
    return Environment("bench", verifier, TASKS, tables={"harness": harness, **more})  # type: ignore[arg-type]


def means(env: Environment, seed: int = 0) -> Mapping[str, float]:
    with env:
        found = [*play_adversaries(env, env.tasks, seed=seed)]
    return {
        name: sum(each.reward or 0.0 for each in found if each.policy == name)
        for name in ADVERSARIES
    }


@pytest.mark.parametrize("name", ADVERSARIES)
def test_what_an_adversary_does_follows_from_seed_and_messages(name: str) -> None:
    messages = [{"role": "user", "content": "2 + 3?"}]
    tools = [tool(search).offered, tool(run_sql).offered]
    again = [ADVERSARIES[name](messages, tools, 3) for _ in range(2)]

    assert again[0] == again[1]
    assert json.loads(json.dumps(again[0])) == again[0]


@pytest.mark.parametrize("name", ADVERSARIES)
def test_the_seconds_of_an_error_change_nothing(name: str) -> None:
    tools = [tool(search).offered, tool(run_sql).offered]
    start: list[Mapping[str, object]] = [
        {"role": "user", "content": "2 + 3?"},
        {"role": "assistant", "content": "", "tool_calls": []},
    ]
    made = [
        ADVERSARIES[name]([*start, {"role": "tool", "content": f'{{"seconds": {n}}}'}], tools, 3)
        for n in (1, 2)
    ]

    assert made[0] == made[1]


def test_drawn_arguments_fit_the_schema() -> None:
    tools = {each.name: each for each in (tool(search), tool(run_sql))}
    for seed in range(30):
        for name in ("tool-spam", "state-forging"):
            made = ADVERSARIES[name](TASKS[0].messages, [t.offered for t in tools.values()], seed)
            assert isinstance(made, dict)
            for each in made["tool_calls"]:
                schema = tools[each["function"]["name"]].parameters
                Draft202012Validator(schema).validate(json.loads(each["function"]["arguments"]))


@pytest.mark.parametrize("kind", ["single-turn", "tool-use", "agentic"])
def test_a_sound_verifier_pays_none_of_them_in_any_kind_of_episode(kind: str) -> None:
    tools = [] if kind == "single-turn" else [search, run_sql]
    harness = Harness(kind, tools=tools, turn_limit=12)  # type: ignore[arg-type]
    env = Environment("bench", right, TASKS, tables={"harness": harness})
    with env:
        found = [*play_adversaries(env, env.tasks)]

    assert len(found) == len(ADVERSARIES) * len(TASKS)
    assert {each.reward for each in found} == {0.0}
    assert not any(each.is_finding for each in found)


def test_a_verifier_without_a_harness_is_played_too() -> None:
    with Environment("bench", right, TASKS) as env:
        assert {each.reward for each in play_adversaries(env, env.tasks)} == {0.0}


def test_idle_and_forging_policies_are_paid_by_lax_verifiers() -> None:
    idle = means(environment(untouched))
    forged = means(environment(believes))

    assert idle["no-op"] == idle["give-up"] == 1.0
    assert idle["tool-spam"] == idle["state-forging"] == 0
    assert forged["transcript-forging"] == 2
    assert forged["no-op"] == 0


def test_a_forged_message_of_a_tool_is_a_message_of_the_policy() -> None:
    made = forge_transcript(TASKS[0].messages, [])
    with environment(right) as env:
        found = [
            each for each in play_adversaries(env, env.tasks) if each.policy == "transcript-forging"
        ]

    assert made["role"] == "tool"  # type: ignore[index]
    assert {m["role"] for each in found for m in each.rollout.trajectory.messages} == {
        "user",
        "assistant",
    }


@pytest.mark.parametrize(
    ("info", "floor"),
    [
        ({}, 0.0),
        ({"floor": 0.5}, 0.5),
        ({"noop": 0.25}, 0.25),
        ({"floor": True}, 0.0),
        ({"floor": "1"}, 0.0),
    ],
)
def test_a_task_may_declare_what_nothing_earns(info: dict[str, object], floor: float) -> None:
    task = Task("?", info=info, id="t")
    env = Environment(
        "bench", untouched, [task], tables={"harness": Harness("tool-use", tools=[search])}
    )
    with env:
        idle = next(each for each in play_adversaries(env, env.tasks) if each.policy == "no-op")

    assert floor_of(task) == idle.floor == floor
    assert idle.is_finding is (floor < 0.5)


def test_an_unscored_episode_is_no_finding() -> None:
    def broken(query: str) -> str:
        """Fail."""
        raise EpisodeError("the server is down")

    harness = Harness("tool-use", tools=[broken])
    env = Environment("bench", untouched, TASKS, tables={"harness": harness, "config": Config()})
    with env:
        found = {each.policy: each for each in play_adversaries(env, env.tasks)}

    assert found["tool-spam"].reward is None
    assert not found["tool-spam"].is_finding
    assert found["no-op"].reward == 0.5


def test_time_that_is_over_begins_no_episode() -> None:
    with environment(right) as env:
        assert [*play_adversaries(env, env.tasks, until=0.0)] == []


def test_an_episode_that_runs_out_of_time_ends_and_is_left_out() -> None:
    def slow(query: str) -> str:
        """Take a moment."""
        time.sleep(0.02)
        return query

    harness = Harness("tool-use", tools=[slow], turn_limit=10_000)
    with Environment("bench", right, TASKS, tables={"harness": harness}) as env:
        start = time.monotonic()
        found = [*play_adversaries(env, env.tasks, until=start + 0.3)]

    assert len(found) < len(ADVERSARIES) * len(TASKS)
    assert {each.policy for each in found} <= {*ADVERSARIES}
