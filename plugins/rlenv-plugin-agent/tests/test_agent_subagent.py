"""Subagents: messages, limits and samples of their own, and never more than their share."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from rlenv import ConfigError, Tokens
from rlenv_plugin_agent import Reply, ToolContext, call, tool
from rlenv_plugin_agent.messages import calls
from rlenv_plugin_agent.tools.calling import observe
from rlenv_plugin_agent.tools.subagent import Actor, subagent
from rlenv_plugin_agent.tools.tool import Tool

Messages = Sequence[Mapping[str, Any]]


@tool
def double(n: int, context: ToolContext) -> str:
    """Double a number."""
    return f"{2 * n} for {context.role}"


def asked(actor: Actor, *tools: Tool, prompt: str = "Go.", role: str = "policy") -> str:
    """What the first of the tools says to the policy."""
    context = ToolContext(role=role, parts={Actor: actor})
    named = {each.name: each for each in tools}
    return asyncio.run(observe(named, tools[0].name, {"prompt": prompt}, context))


def problem(observation: str) -> str:
    return str(json.loads(observation)["error"]["message"])


def reply(text: str | Mapping[str, object], n: int = 2) -> Reply:
    return Reply(text, Tokens((1, 2), tuple(range(n))))


def test_a_subagent_sees_its_own_messages_alone_and_returns_its_last() -> None:
    def policy(messages: Messages, tools: Messages) -> Reply:
        assert [each["content"] for each in messages[:2]] == ["Be brief.", "Double 4."]
        assert [each["function"]["name"] for each in tools] == ["double"]
        return reply(messages[-1]["content"]) if messages[2:] else reply(call("double", n=4))

    actor = Actor(policy)

    found = asked(
        actor,
        subagent(tools=[double], system_prompt="Be brief."),
        prompt="Double 4.",
        role="solver",
    )

    assert found == "8 for solver"
    (child,) = actor.children
    assert (child.depth, child.stop, len(child.messages), len(child.tokens)) == (1, "done", 5, 2)


def test_a_policy_writes_neither_into_the_messages_of_a_subagent_nor_into_its_tools() -> None:
    def policy(messages: Messages, tools: Messages) -> Reply:
        tools[0]["function"]["parameters"].clear()
        if not messages[1:]:
            return reply(call("double", n=4))
        with pytest.raises(TypeError, match="read-only"):
            messages[1]["tool_calls"][0]["function"]["name"] = "other"
        return reply(messages[-1]["content"])

    actor = Actor(policy)
    helper = subagent(tools=[double])

    assert [asked(actor, helper), asked(actor, helper)] == ["8 for policy"] * 2
    assert "other" not in str(actor.children)


def test_the_policy_may_be_async_and_another_one_leaves_no_samples() -> None:
    async def other(messages: Messages, tools: Messages) -> Reply:
        return reply("from another")

    actor = Actor(lambda _, __: "never")

    assert asked(actor, subagent(other)) == "from another"
    assert actor.children[0].tokens == ()


def test_turns_end_a_subagent() -> None:
    actor = Actor(lambda _, __: reply(call("double", n=1)))

    assert "turn_limit" in problem(asked(actor, subagent(tools=[double], turns=3)))
    assert len(actor.children[0].tokens) == 3


@pytest.mark.parametrize("reports", [True, False])
def test_tokens_end_a_subagent_whether_they_are_reported_or_not(reports: bool) -> None:
    message = {**call("double", n=1), "content": "x" * 400}
    actor = Actor(lambda _, __: Reply(message, Tokens((), (7,) * 100) if reports else None))

    asked(actor, subagent(tools=[double], turns=100, tokens=1_000))

    assert actor.children[0].stop == "budget"
    assert len(actor.children[0].messages) <= 21


def test_subagents_share_what_their_parent_has_and_give_back_the_rest() -> None:
    actor = Actor(lambda _, __: reply("done", 30), tokens=100)
    task = subagent(tokens=80)

    assert asked(actor, task) == "done"
    assert actor.tokens == 70

    async def at_once() -> list[str]:
        context = ToolContext(parts={Actor: actor})
        return await asyncio.gather(
            *(observe({"task": task}, "task", {"prompt": "x"}, context) for _ in range(4))
        )

    actor.tokens = 100
    actor.policy = lambda _, __: reply("done", 80)
    found = asyncio.run(at_once())

    assert sum(each == "done" for each in found) <= 2
    assert actor.tokens is not None
    assert 0 <= actor.tokens <= 20


def test_ten_thousand_starts_are_eight() -> None:
    starts = 0

    def policy(messages: Messages, tools: Messages) -> str:
        nonlocal starts
        starts += 1
        return "done"

    actor = Actor(policy)
    task = subagent()
    found = [asked(actor, task) for _ in range(100)]

    assert starts == 8
    assert "8 times" in problem(found[-1])


def test_depth_is_bounded_and_a_deep_one_spends_its_parents_share() -> None:
    def nested(depth: int) -> Tool:
        inner = subagent(name="inner", depth=2, tokens=10**6)
        return subagent(tools=[inner], depth=depth, tokens=50)

    def policy(messages: Messages, tools: Messages) -> Reply:
        if messages[-1]["role"] == "tool":
            return reply(messages[-1]["content"], 1)
        return reply(call("inner", prompt="x") if tools else "deep", 20)

    actor = Actor(policy)
    assert asked(actor, nested(1)) == "deep"
    assert [(each.depth, each.stop) for each in actor.children] == [(2, "done"), (1, "done")]

    only_one = subagent(tools=[subagent(name="inner", depth=1)])
    assert "1 deep" in asked(Actor(policy), only_one)

    greedy = Actor(lambda _, tools: reply(call("inner", prompt="x") if tools else call("x"), 20))
    asked(greedy, nested(2))
    assert sum(len(each.ids) for child in greedy.children for each in child.tokens) <= 50 + 2 * 20


def test_a_policy_that_raises_is_not_hidden() -> None:
    def policy(messages: Messages, tools: Messages) -> str:
        raise ConnectionError("the endpoint is down")

    actor = Actor(policy)

    assert "ConnectionError" in problem(asked(actor, subagent()))
    assert isinstance(actor.failed, ConnectionError)


def test_time_cuts_a_subagent_and_keeps_what_it_did() -> None:
    async def policy(messages: Messages, tools: Messages) -> Reply:
        if messages[1:]:
            await asyncio.sleep(60)
        return reply(call("double", n=1))

    actor = Actor(policy, tokens=1_000)

    assert (
        json.loads(asked(actor, subagent(tools=[double], timeout=3.0, tokens=500)))["error"]["type"]
        == "timeout"
    )
    assert (actor.children[0].stop, len(actor.children[0].tokens)) == ("cut", 1)
    assert actor.tokens == 998


def test_a_message_of_a_subagent_makes_64_calls_at_most() -> None:
    many = calls(*[("double", {"n": n}) for n in range(1_000)])
    actor = Actor(lambda messages, _: "done" if messages[1:] else many)

    assert asked(actor, subagent(tools=[double], tokens=10**6)) == "done"
    answers = [str(each["content"]) for each in actor.children[0].messages[2:-1]]
    assert sum("may make 64 calls" in each for each in answers) == 1_000 - 64


@pytest.mark.parametrize("wrong", [{"turns": 0}, {"tokens": -1}, {"depth": 1.5}, {"starts": True}])
def test_a_wrong_limit_is_an_error(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        subagent(**wrong)


def test_an_episode_without_a_policy_for_it_says_so() -> None:
    text = asyncio.run(observe({"task": subagent()}, "task", {"prompt": "x"}, ToolContext()))

    assert "Actor" in problem(text)
