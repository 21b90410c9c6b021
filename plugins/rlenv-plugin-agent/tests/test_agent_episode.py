"""Episodes: what ends them, what each kind asks for, and what no policy can do."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest
from rlenv import ConfigError, Environment, Task, Tokens
from rlenv_plugin_agent import (
    Budgets,
    Config,
    End,
    Episode,
    EpisodeError,
    Harness,
    Reply,
    Step,
    call,
    calls,
    rollout,
    tool,
)
from rlenv_plugin_agent.episodes.config import Schedule
from sums import TASK, add, counting, ends, equal, error_in, game, sums

# -- the loop -----------------------------------------------------------------------------------


def test_an_episode_without_a_harness_is_one_message() -> None:
    _, step = ends(Environment("sums", equal), "5")

    assert (step.reward, step.terminated, step.truncated) == (1.0, True, False)
    assert step.info["stop"] == "passed"


def test_a_tool_answers_and_a_message_without_calls_ends() -> None:
    with Episode(sums()) as episode:
        given, info = episode.reset(TASK)
        first = episode.step(call("add", a=2, b=3))
        last = episode.step("5")

    assert (given, info) == ([{"role": "user", "content": "2 + 3?"}], {"id": "sum"})
    assert first[1:] == (0.0, False, False, {})
    assert first.observation == [{"role": "tool", "tool_call_id": "call_0_0", "content": "5"}]
    assert (last.reward, last.terminated) == (1.0, True)
    assert [each["role"] for each in episode.messages] == ["user", "assistant", "tool", "assistant"]
    assert [[made[0] for made in turn.calls] for turn in episode.trace] == [["add"], []]


def test_what_ends_without_passing_is_done() -> None:
    assert ends(sums(), "6")[1].info["stop"] == "done"


def test_the_async_methods_play_the_same_episode() -> None:
    async def play() -> Step:
        async with Episode(sums()) as episode:
            await episode.areset(TASK)
            await episode.astep(call("add", a=2, b=3))
            return await episode.astep("5")

    assert asyncio.run(play())[1:4] == (1.0, True, False)


def test_inline_tools_run_in_the_thread_of_the_caller_one_after_another() -> None:
    ran = list[str]()

    async def later() -> None: ...

    @tool(where="inline")
    def where(n: int) -> str:
        ran.append(threading.current_thread().name)
        if n < 0:
            raise ValueError("secret")
        return str(n)

    episode = Episode(sums(where))
    episode.reset(TASK)
    step = episode.step(calls(("where", {"n": 1}), ("where", {"n": -1}), ("none", {})))

    assert ran == [threading.current_thread().name] * 2
    assert step.observation[0]["content"] == "1"
    assert "ValueError" in error_in(step.observation[1])["message"]
    assert error_in(step.observation[2])["type"] == "unknown_tool"
    with pytest.raises(ConfigError, match="async"):
        tool(where="inline")(later)


def test_the_sync_methods_work_where_a_loop_runs() -> None:
    async def notebook() -> float | None:
        return rollout(sums(), TASK, lambda messages, tools: "5").verdict.value

    assert asyncio.run(notebook()) == 1.0


def test_a_step_without_an_episode_is_an_error_of_the_caller() -> None:
    episode = Episode(sums())
    with pytest.raises(RuntimeError, match="reset"):
        episode.step("5")
    episode.reset(TASK)
    episode.step("5")
    with pytest.raises(RuntimeError, match="reset"):
        episode.step("5")
    episode.reset(TASK)

    assert episode.step("5").reward == 1.0


def test_the_system_prompt_of_the_harness_wins() -> None:
    task = Task(
        "p",
        info={
            "messages": [{"role": "system", "content": "theirs"}, {"role": "user", "content": "p"}]
        },
    )
    given, _ = Episode(sums(system_prompt="ours")).reset(task)

    assert [each["content"] for each in given] == ["ours", "p"]


# -- kinds --------------------------------------------------------------------------------------


def test_a_user_opens_answers_and_ends() -> None:
    with Episode(game()) as episode:
        given, info = episode.reset(TASK, seed=4)
        second = episode.step(3)
        last = episode.step(8)

    assert given == [{"role": "user", "content": "2 + 3?\n\nseed 4"}]
    assert info["observation"] == "seed 4"
    assert second.observation == [{"role": "user", "content": '{"turn": 0}'}]
    assert second.info == {"observation": {"turn": 0}}
    assert (last.terminated, last.info["stop"], last.info["observation"]) == (
        True,
        "done",
        "well done",
    )
    assert [m["content"] for m in episode.messages if m["role"] == "assistant"] == ["3", "8"]


def test_a_text_and_a_message_reach_the_user_as_a_text() -> None:
    episode = Episode(game())
    episode.reset(TASK, seed=4)

    assert episode.step({"role": "assistant", "content": "8"}).terminated


def test_an_async_user_answers_too() -> None:
    async def user(action: object) -> object:
        await asyncio.sleep(0)
        return None if action is None else End(str(action))

    episode = Episode(game(user))
    episode.reset(TASK)

    assert episode.step("hello").info["observation"] == "hello"


@pytest.mark.parametrize(("action", "told"), [("fail", "no such move"), ("crash", "KeyError")])
def test_a_user_that_raises_is_an_observation(action: str, told: str) -> None:
    episode = Episode(game())
    episode.reset(TASK)
    step = episode.step(action)

    assert told in error_in(step.observation[0])["message"]
    assert "secret" not in str(step.observation)
    assert not step.terminated


def test_a_user_that_fails_before_the_policy_acts_is_the_environment_s_fault() -> None:
    def user(action: object) -> object:
        raise OSError("down")

    episode = Episode(game(user))
    with pytest.raises(EpisodeError, match="down"):
        episode.reset(TASK)

    assert rollout(game(user), TASK, lambda messages, tools: "x").stop == "error"


def test_a_user_of_other_parameters_is_rejected() -> None:
    with pytest.raises(ConfigError, match="action"):
        Harness("multi-turn", user=lambda reply: reply)


def test_an_agentic_episode_goes_on_until_done() -> None:
    env = sums(kind="agentic")
    with Episode(env) as episode:
        episode.reset(TASK)
        nudged = episode.step("thinking aloud")
        last = episode.step(calls(("add", {"a": 1, "b": 1}), ("done", {}), content="5"))

    assert "done" in str(nudged.observation[0]["content"])
    assert last.observation[0]["content"] == "2"
    assert (last.terminated, last.info["stop"], last.reward) == (True, "passed", 1.0)


def test_giving_up_is_judged_too() -> None:
    _, step = ends(sums(kind="agentic"), calls(("give_up", {}), content="5"))

    assert (step.info["stop"], step.terminated, step.reward) == ("gave_up", True, 1.0)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"kind": "single-turn", "tools": (add,)}, "no tools"),
        ({"kind": "single-turn", "user": counting}, "no user"),
        ({"kind": "multi-turn"}, "user"),
        ({"kind": "tools"}, "kind"),
        ({"turn_limit": 0}, "turn_limit"),
        ({"kind": "tool-use", "tools": (add, add)}, "two tools"),
    ],
)
def test_a_harness_that_makes_no_sense_is_rejected(options: dict[str, object], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        Harness(**options)  # type: ignore[arg-type]


def test_a_stateful_episode_needs_a_state() -> None:
    with pytest.raises(ConfigError, match="state"):
        Episode(sums(kind="stateful-tool-use"))


def test_an_unknown_context_manager_is_rejected() -> None:
    with pytest.raises(ConfigError, match="nonsense"):
        Episode(sums(context="nonsense"))


# -- limits -------------------------------------------------------------------------------------


def nap() -> str:
    """Sleep longer than the episode."""
    time.sleep(0.3)
    return "awake"


ADD = call("add", a=1, b=1)


def limited(**budgets: float) -> Environment:
    return sums(config=Config(budgets=Budgets(**budgets)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("env", "actions", "stop"),
    [
        (sums(turn_limit=2), [ADD, ADD], "turn_limit"),
        (limited(calls=1), [ADD, ADD], "budget"),
        (
            limited(tokens=10),
            [Reply(ADD, Tokens([1], [*range(9)])), Reply(ADD, Tokens([1], [1]))],
            "budget",
        ),
        (sums(nap, config=Config(budgets=Budgets(seconds=0.05))), [call("nap")], "timeout"),
        (sums(config=Config(context_budget=560)), [ADD, call("add", a=10**30, b=1)], "context"),
    ],
)
def test_a_limit_truncates(env: Environment, actions: Sequence[object], stop: str) -> None:
    episode, step = ends(env, *actions)

    assert (step.terminated, step.truncated, step.info["stop"]) == (False, True, stop)
    assert step.reward == 0.0
    assert episode.messages[-1]["role"] == "tool"  # the last calls were made


def test_an_answer_at_the_turn_limit_is_an_answer() -> None:
    assert ends(sums(turn_limit=1), "5")[1].info["stop"] == "passed"


def test_calls_beyond_the_budget_are_not_made() -> None:
    made = list[int]()

    def note(n: int) -> str:
        made.append(n)
        return "noted"

    env = sums(note, config=Config(budgets=Budgets(calls=2)))
    _, step = ends(env, calls(*(("note", {"n": i}) for i in range(4))))

    assert sorted(made) == [0, 1]
    assert [error_in(each)["type"] for each in step.observation[2:]] == ["limit", "limit"]


def test_the_budget_of_the_context_grows_with_the_schedule() -> None:
    config = Config(context_budget=10, schedule=Schedule([(5, 20), (9, 40)]))

    assert [config.budget_at(turn) for turn in (0, 4, 5, 8, 9, 99)] == [10, 10, 20, 20, 40, 40]
    with pytest.raises(ConfigError, match="rising"):
        Schedule([(5, 20), (5, 40)])


def test_values_change_with_the_step_of_training() -> None:
    steps: dict[str, Any] = {
        "context_budget": [(0, 100), (5, 200)],
        "noise.rate": [(5, 0.1)],
        "budgets.calls": [(2, 1)],
    }
    config = Config(budgets=Budgets(calls=9), schedule=Schedule(steps=steps))
    found = [config.at(step) for step in (0, 2, 5, 1_000)]

    assert [each.context_budget for each in found] == [100, 100, 200, 200]
    assert [each.noise and each.noise.rate for each in found] == [None, None, 0.1, 0.1]
    assert [each.budgets.calls for each in found] == [9, 1, 1, 1]


def test_an_episode_is_of_a_step_of_training() -> None:
    env = sums(config=Config(schedule=Schedule(steps={"budgets.calls": [(0, 0), (100, 5)]})))
    prints = env.fingerprint

    def stops(step: int) -> str:
        return rollout(
            env, TASK, lambda m, t: "5" if m[1:] else call("add", a=2, b=3), training_step=step
        ).stop

    assert [stops(99), stops(100)] == ["budget", "passed"]
    assert env.fingerprint == prints


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        ({"noise.rates": [(0, 0.1)]}, "noise.rate"),
        ({"noise.rate": [(0, 0.9)]}, "rate"),
        ({"context_budget": [(0, 0.5)]}, "context_budget"),
        ({"budgets.calls": [(5, 1), (5, 2)]}, "rising"),
        ({"call_log": [(0, 1)]}, "can change"),
    ],
)
def test_a_schedule_that_cannot_be_is_an_error_at_once(steps: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        Config(schedule=Schedule(steps=steps))


def test_what_reset_gives_to_a_policy_is_a_copy() -> None:
    with Episode(sums()) as episode:
        given, _ = episode.reset(TASK)
        given[0]["content"] = "changed"  # type: ignore[index]

        assert episode.messages[0]["content"] == "2 + 3?"
