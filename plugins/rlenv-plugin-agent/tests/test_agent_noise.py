"""Noise: seeded, marked for the operator alone, and nowhere near the grader."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from functools import partial
from time import perf_counter

import pytest
from rlenv import ConfigError, Environment, Task, stage
from rlenv_plugin_agent import Harness, ToolError, call, rollout, tool
from rlenv_plugin_agent.episodes.config import Config
from rlenv_plugin_agent.messages import Message
from rlenv_plugin_agent.tools.calling import observe
from rlenv_plugin_agent.tools.context import ToolContext
from rlenv_plugin_agent.tools.keys import OWN
from rlenv_plugin_agent.tools.noise import KINDS, Noise, Noisy

RAN: list[str] = []


@tool(timeout=30.0)
def look(at: str) -> str:
    """Look at something."""
    RAN.append(at)
    return f"I see {at} and {len(RAN)} things."


@tool(category=OWN)
def finish() -> str:
    """End."""
    return "over"


TOOLS = {"look": look, "finish": finish}
WANTED = [("look", json.dumps({"at": f"thing {i % 7}"})) for i in range(400)]


def seen(
    noise: Noise, *, seed: int = 0, split: str = "train", wanted: list[tuple[str, str]] = WANTED
) -> tuple[list[str], list[str]]:
    """What the policy sees of these calls, one in each turn, and what the operator does."""
    noisy = Noisy(partial(observe, TOOLS), lambda: TOOLS, noise)
    context = ToolContext(task=Task("Look.", split=split).public(), seed=seed)
    RAN.clear()

    async def all_of_them() -> list[str]:
        found = []
        for context.turn, (name, arguments) in enumerate(wanted):
            found.append(await noisy(name, arguments, context))
        return found

    return asyncio.run(all_of_them()), [mark for _, mark in context.marks]


@pytest.mark.parametrize("rate", [0.05, 0.1])
def test_noise_comes_at_its_rate_in_all_kinds(rate: float) -> None:
    marks = [mark for seed in range(5) for mark in seen(Noise(rate), seed=seed)[1]]
    counted = Counter(marks)

    assert 0.7 * rate < len(marks) / 2_000 < 1.3 * rate
    assert set(counted) == {f"noise/{kind}" for kind in KINDS}


def test_equal_seeds_give_equal_noise_and_others_do_not() -> None:
    noise = Noise(0.1)

    assert seen(noise, seed=3) == seen(noise, seed=3)
    assert seen(noise, seed=3)[1] != seen(noise, seed=4)[1]
    assert seen(noise, seed=3)[0] != seen(Noise(0.0), seed=3)[0]


def test_noise_does_not_depend_on_how_arguments_are_written() -> None:
    wide = [(name, arguments.replace(":", " :  ")) for name, arguments in WANTED]

    assert seen(Noise(0.1), wanted=wide) == seen(Noise(0.1))


def test_each_kind_changes_what_the_policy_sees_and_says_nothing_of_noise() -> None:
    clean, _ = seen(Noise(0.0))
    for kind in KINDS:
        found, marks = seen(Noise(0.5, kinds=(kind,)))
        changed = [(a, b) for a, b in zip(clean, found, strict=True) if a != b]
        assert marks
        assert {*marks} == {f"noise/{kind}"}
        assert not any("noise" in text or "simulated" in text for text in found)
        if kind in ("error", "timeout"):
            assert len(RAN) == 400 - len(marks)
            errors = [json.loads(each)["error"] for each in found if each.startswith("{")]
            assert {each["type"] for each in errors} == {kind}
            assert {each["tool"] for each in errors} == {"look"}
        else:
            assert len(RAN) == 400
        if kind == "truncation":
            assert all(a.startswith(b) for a, b in changed)
        if kind == "empty":
            assert {b for _, b in changed} == {""}
        if kind == "stale":
            assert all(b in clean for _, b in changed)


def test_a_simulated_timeout_says_the_tools_time_and_takes_none() -> None:
    begin = perf_counter()
    found, marks = seen(Noise(0.5, kinds=("timeout",)))
    errors = [json.loads(each)["error"] for each in found if each.startswith("{")]

    assert {each["seconds"] for each in errors} == {30.0}
    assert len(marks) == len(errors)
    assert perf_counter() - begin < 30 * len(errors)


def test_only_the_splits_that_are_named_have_noise() -> None:
    assert seen(Noise(0.5), split="test")[1] == []
    assert seen(Noise(0.5, splits=("test",)), split="test")[1]
    assert seen(Noise(0.5, splits=()), split="train")[1] == []


def test_calls_that_run_no_tool_and_the_episodes_own_tools_have_no_noise() -> None:
    wanted = [("finish", "{}"), ("lok", "{}"), ("look", "{"), ("look", "{}")] * 50

    assert seen(Noise(0.5), wanted=wanted)[1] == []


@pytest.mark.parametrize(
    "options", [{"rate": 0.6}, {"rate": -0.1}, {"rate": True}, {"kinds": ()}, {"kinds": ("fire",)}]
)
def test_options_are_checked(options: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=r"rate|kinds"):
        Noise(**options)  # type: ignore[arg-type] # that is the point


def test_each_call_is_drawn_for_itself_and_each_episode_begins_anew() -> None:
    noisy = Noisy(partial(observe, TOOLS), lambda: TOOLS, Noise(0.5, kinds=("stale", "error")))

    async def same_call(turn: int, times: int) -> tuple[list[str], list[tuple[str, str]]]:
        context = ToolContext(task=Task("Look.").public(), turn=turn)
        RAN.clear()
        return [await noisy("look", '{"at": "x"}', context) for _ in range(times)], context.marks

    first = asyncio.run(same_call(0, 40))
    again = asyncio.run(same_call(0, 40))

    assert 5 < len(first[1]) < 35
    assert first == again
    assert [asyncio.run(same_call(turn, 1))[1] for turn in range(40)].count([]) not in (0, 40)


def test_a_timeout_may_take_its_time_also_of_an_inline_tool() -> None:
    @tool(timeout=0.05, where="inline")
    def quick() -> str:
        """Be quick."""
        return "here"

    tables = {
        "harness": Harness("tool-use", tools=[quick]),
        "config": Config(noise=Noise(0.5, kinds=("timeout",), wait=True)),
    }
    env = Environment("quick", stage(where="inline")(graded), tables=tables)
    played = rollout(
        env, Task("Go."), lambda messages, tools: call("quick") if len(messages) < 20 else "done"
    )
    waited = [turn.seconds for turn in played.trace if turn.marks]

    assert waited
    assert min(waited) >= 0.05


def graded(visible: str) -> bool:
    seen_by_grader = [str(look(at="grade")) for _ in range(200)]
    return all(each.startswith("I see grade") for each in seen_by_grader)


def test_the_grader_uses_the_same_tool_without_noise() -> None:
    def policy(messages: list[Message], tools: list[Message]) -> object:
        return call("look", at="x") if len(messages) < 40 else "done"

    tables = {
        "harness": Harness("tool-use", tools=[look], turn_limit=50),
        "config": Config(noise=Noise(0.5)),
    }
    env = Environment("looks", stage(where="inline")(graded), tables=tables)
    played, other = (
        rollout(env, Task("Look.", split=split), policy) for split in ("train", "test")
    )

    assert played.verdict.value == 1.0
    assert 4 < sum(len(turn.marks) for turn in played.trace) < 20
    assert not any(turn.marks for turn in other.trace)


def test_what_is_cut_in_the_middle_of_an_error_is_an_observation_like_any_other() -> None:
    @tool
    def echo(text: str) -> str:
        """Echo."""
        return text

    def policy(messages: list[Message], tools: list[Message]) -> object:
        return call("echo", text='{"error": {"type": "ab') if len(messages) < 2 else "done"

    tables = {"harness": Harness("tool-use", tools=[echo])}
    played = rollout(
        Environment("echo", stage(where="inline")(graded), tables=tables), Task("Go."), policy
    )

    assert played.stop == "passed"
    assert played.trace[0].calls[0].error == ""


def test_an_error_is_not_changed_since_its_seconds_would_decide_where_it_is_cut() -> None:
    @tool
    def fails(at: str) -> str:
        """Fail."""
        raise ToolError(f"no {at}")

    noisy = Noisy(
        partial(observe, {"fails": fails}),
        lambda: {"fails": fails},
        Noise(0.5, ["truncation", "empty"]),
    )

    async def all_of_them() -> list[str]:
        return [
            await noisy("fails", json.dumps({"at": str(n)}), ToolContext({"split": "train"}))
            for n in range(40)
        ]

    assert all(json.loads(each)["error"]["message"] for each in asyncio.run(all_of_them()))
