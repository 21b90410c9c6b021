"""Subagents in rollouts that are replayed, pinned or noisy."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from rlenv import Environment, Task, Tokens, stage
from rlenv_plugin_agent import (
    Config,
    Harness,
    Reply,
    Rollout,
    ToolContext,
    call,
    calls,
    rollout,
    subagent,
    tool,
)
from rlenv_plugin_agent.rollouts.replay import replay
from rlenv_plugin_agent.tools.noise import Noise

Messages = Sequence[Mapping[str, Any]]
ran: list[str] = []


@tool
def look_up(item: str) -> str:
    """Look an item up in the world."""
    ran.append(item)
    return f"{item} {len(ran)}"


@stage(where="inline")
def right(visible: str, answer: str) -> bool:
    return answer in visible


def environment(*tools: Any, **config: Any) -> Environment:
    harness = Harness("tool-use", tools=tools or [subagent(tools=[look_up])])
    return Environment("e", right, tables={"harness": harness, "config": Config(**config)})


def policy(messages: Messages, tools: Messages) -> Reply:
    """Starts two subagents with the same work; each looks something else up."""
    tokens = Tokens((len(messages),), (1,))
    if messages[-1]["role"] == "tool":
        return Reply(" and ".join(str(each["content"]) for each in messages[-2:]), tokens)
    if messages[0]["content"] == "Look.":
        return Reply(call("look_up", item="nut"), tokens)
    return Reply(calls(("task", {"prompt": "Look."}), ("task", {"prompt": "Look."})), tokens)


TASK = Task("How many?", answer="nut")


def play(env: Environment) -> Rollout:
    ran.clear()
    return rollout(env, TASK, policy)


def test_a_rollout_with_subagents_replays_without_its_policy() -> None:
    found = play(environment())
    assert len(found.children) == 2
    ran.clear()

    assert replay(found, environment()) is None
    assert ran == ["nut", "nut"]

    changed = evolve(
        found.children[1],
        messages=(*found.children[1].messages[:-1], {"role": "assistant", "content": "bolt"}),
    )
    ran.clear()
    divergence = replay(evolve(found, children=(found.children[0], changed)), environment())
    assert divergence is not None
    assert (divergence.turn, divergence.what) == (1, "observation")
    assert "bolt" in divergence.found


def test_pinned_tools_of_a_subagent_run_nothing_and_the_subagent_is_trained(tmp_path: Path) -> None:
    log = str(tmp_path / "calls.sqlite")
    first = play(environment(replay="record", call_log=log))
    assert ran == ["nut"]  # the second is recorded already

    again = play(environment(replay="pin", call_log=log))

    assert ran == []
    assert [each.tokens for each in again.children] == [each.tokens for each in first.children]
    assert again.trajectory.final == first.trajectory.final


def test_a_tool_of_a_subagent_that_cannot_be_pinned_is_an_error_of_the_operator(
    tmp_path: Path,
) -> None:
    @tool
    def change(context: ToolContext) -> str:
        """Change what the episode holds."""
        return "changed"

    log = str(tmp_path / "calls.sqlite")
    play(environment(replay="record", call_log=log))

    found = play(environment(subagent(tools=[change]), replay="pin", call_log=log))

    assert found.stop == "error"
    assert "change" in str(found.verdict.fault)


@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_noise_reaches_the_tools_of_subagents_and_not_the_subagent(rate: float) -> None:
    seen = []
    for seed in range(20):
        ran.clear()
        found = rollout(environment(noise=Noise(rate=rate, kinds=["error"])), TASK, policy, seed)
        seen += [
            str(each["content"])
            for child in found.children
            for each in child.messages
            if each["role"] == "tool"
        ]
        assert len(found.children) == 2

    errors = [each for each in seen if each.startswith("{") and json.loads(each)["error"]]
    assert bool(errors) == bool(rate)
