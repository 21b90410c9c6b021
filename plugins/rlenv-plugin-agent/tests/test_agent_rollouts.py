"""Rollouts: one or many, sync or async, and what becomes of a policy that raises or never
returns.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest
from rlenv import ConfigError, Environment, Task, Tokens, UnknownTask, stage
from rlenv_plugin_agent import (
    Budgets,
    Config,
    Harness,
    Reply,
    Rollout,
    arollouts,
    call,
    rollout,
    rollouts,
)
from rlenv_plugin_agent.messages import Message


def double(n: int) -> int:
    """Double a number."""
    return 2 * n


@stage(where="inline")
def equal(visible: str, answer: str) -> bool:
    return visible == answer


def environment(*tools: Callable[..., object], **config: object) -> Environment:
    tables = {"harness": Harness("tool-use", tools=tools or (double,)), "config": Config(**config)}  # type: ignore[arg-type]
    tasks = [Task(str(n), answer=str(2 * n), id=f"t{n}") for n in range(40)]
    return Environment("doubles", equal, tasks, tables=tables)


def solve(messages: list[Message], tools: object) -> object:
    if messages[-1]["role"] == "tool":
        return messages[-1]["content"]
    return call("double", n=int(str(messages[0]["content"])))


async def asolve(messages: list[Message], tools: object) -> object:
    await asyncio.sleep(0)
    return solve(messages, tools)


PROMPTS = [str(n) for n in range(40)]


@pytest.mark.parametrize("policy", [solve, asolve])
def test_a_rollout_has_trajectory_trace_and_verdict(policy: Callable[..., object]) -> None:
    found = rollout(environment(), "21", policy, seed=3)

    assert (found.stop, found.verdict.value, found.seed, found.task.id) == ("passed", 1.0, 3, "t21")
    assert [each["role"] for each in found.trajectory.messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert [[made.tool for made in turn.calls] for turn in found.trace] == [["double"], []]
    assert (found.terminated, found.truncated) == (True, False)
    assert found.seconds >= sum(turn.seconds + turn.waited for turn in found.trace)


def test_tokens_of_the_last_calls_reach_the_trajectory() -> None:
    def policy(messages: list[Message], tools: object) -> object:
        said = solve(messages, tools)
        return said if len(messages) == 1 else Reply(said, Tokens([1, 2], [3]))

    found = rollout(environment(), "4", policy)

    assert found.trajectory.tokens == (Tokens([1, 2], [3]),)
    assert [turn.exact for turn in found.trace] == [False, True]


def test_an_unknown_task_and_a_policy_that_raises_are_the_caller_s() -> None:
    def policy(messages: object, tools: object) -> str:
        raise LookupError("mine")

    with pytest.raises(UnknownTask):
        rollout(environment(), "no such prompt", solve)
    with pytest.raises(LookupError, match="mine"):
        rollout(environment(), "4", policy)


def test_a_policy_that_does_not_return_is_truncated() -> None:
    async def policy(messages: object, tools: object) -> str:
        await asyncio.sleep(60)
        return ""

    found = rollout(environment(budgets=Budgets(seconds=0.05)), "4", policy)

    assert (found.stop, found.verdict.value, found.truncated) == ("timeout", 0.0, True)


@pytest.mark.parametrize("policy", [solve, asolve])
def test_many_rollouts_are_those_of_one_at_a_time(policy: Callable[..., object]) -> None:
    found = dict(rollouts(environment(), PROMPTS, policy, concurrent=16))

    assert sorted(found) == [*range(40)]
    assert {each.stop for each in found.values()} == {"passed"}
    alone = rollout(environment(), "7", policy)
    assert found[7].trajectory == alone.trajectory


def test_episodes_run_at_the_same_time_and_no_more_than_said() -> None:
    running = 0
    most = 0

    async def policy(messages: list[Message], tools: object) -> object:
        nonlocal running, most
        running += 1
        most = max(most, running)
        while most < 8:  # the first ones wait for each other
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.01)
        running -= 1
        return solve(messages, tools)

    found = [*rollouts(environment(), PROMPTS, policy, concurrent=8)]

    assert len(found) == 40
    assert most == 8


def test_a_policy_that_raises_in_one_episode_loses_no_other() -> None:
    def policy(messages: list[Message], tools: object) -> object:
        if messages[0]["content"] == "3":
            raise LookupError("the endpoint is down")
        return solve(messages, tools)

    found = dict(rollouts(environment(), PROMPTS, policy))

    assert {i for i, each in found.items() if each.stop != "passed"} == {3}
    assert found[3].verdict.fault is not None
    assert (found[3].stop, found[3].verdict.fault.kind) == ("error", "unavailable")
    assert "endpoint" in found[3].verdict.fault.message


def test_leaving_the_iterator_ends_the_episodes() -> None:
    begun = list[str]()
    cancelled = list[str]()

    async def policy(messages: list[Message], tools: object) -> object:
        begun.append("begun")
        try:
            while messages[0]["content"] != "0" or len(begun) < 5:
                await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            cancelled.append("cancelled")
            raise
        return "0"

    running = rollouts(environment(), PROMPTS[:5], policy)
    assert next(running)[0] == 0
    running.close()  # type: ignore[attr-defined]

    assert cancelled == ["cancelled"] * 4


def test_a_caller_with_a_loop_gets_them_as_they_are_done() -> None:
    async def play() -> dict[int, Rollout]:
        return {i: each async for i, each in arollouts(environment(), PROMPTS[:5], asolve)}

    assert {each.stop for each in asyncio.run(play()).values()} == {"passed"}


def test_concurrent_is_an_integer_from_1() -> None:
    with pytest.raises(ConfigError, match="concurrent"):
        next(rollouts(environment(), PROMPTS, solve, concurrent=0))


def test_waiting_on_the_loop_for_itself_is_an_error_that_says_what_to_do() -> None:
    async def policy(messages: object, tools: object) -> str:
        rollout(environment(), "4", asolve)
        return ""

    with pytest.raises(RuntimeError, match="arollout"):
        rollout(environment(), "4", policy)


def test_many_threads_may_play_at_once() -> None:
    env = environment()
    stops = list[str]()

    def play() -> None:
        stops.append(rollout(env, "4", asolve).stop)

    threads = [threading.Thread(target=play) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert stops == ["passed"] * 8
