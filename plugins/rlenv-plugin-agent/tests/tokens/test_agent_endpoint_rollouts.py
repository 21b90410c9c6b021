"""Rollouts of policies that ask servers: samples, stops, and failures that are no rewards."""

from __future__ import annotations

import json
import re

import pytest
from rlenv import ConfigError, Environment, Task, Tokens, stage
from rlenv_plugin_agent import (
    ContextExceeded,
    EndpointError,
    Harness,
    Reply,
    call,
    endpoint,
    rollout,
    rollouts,
    token_endpoint,
)
from rlenv_plugin_agent.clients import server as http
from rlenv_plugin_agent.tools.subagent import subagent
from token_model import encode, save
from token_play import credited, script

CALL = '<tool_call>\n{"name": "add", "arguments": {"a": 2, "b": 3}}\n</tool_call>'
TASK = Task("2 + 3?", answer="5")


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@stage(where="inline")
def passes(visible: str, answer: str) -> bool:
    return visible == answer


@pytest.fixture
def env():
    with Environment("sums", passes, tables={"harness": Harness("tool-use", tools=[add])}) as made:
        yield made


@pytest.mark.parametrize("wire", ["vllm", "sglang"])
def test_an_episode_is_one_sample(env, wires, tmp_path, wire):
    turns = script(wires, "chatml", CALL, "5")
    url = wires.url if wire == "sglang" else f"{wires.url}/v1"
    found = rollout(env, TASK, token_endpoint(url, "m", save(tmp_path, "chatml"), wire=wire))
    (sample,) = found.samples()

    assert (found.stop, found.verdict.value, sample.reward) == ("passed", 1.0, 1.0)
    assert credited([sample]) == [[at for turn in turns for at in turn]]
    assert [turn.tokens for turn in found.trace] == [len(turn) for turn in turns]


def test_many_episodes_at_once_keep_their_ids_apart(env, wires, tmp_path):
    """Each answers with its own number of tokens."""
    policy = token_endpoint(f"{wires.url}/v1", "m", save(tmp_path, "chatml"))

    def sample(ids):
        many = ids[: ids.index(encode("<|im_end|>")[0])].count(encode("h")[0])
        said = CALL if ids.count(encode("<|im_start|>")[0]) == 2 else "5"
        return [*encode("h") * many, *encode(said), *encode("<|im_end|>")]

    wires.sample = sample
    tasks = [Task("h " * n, answer="5") for n in range(1, 9)]
    for index, found in rollouts(env, tasks, policy):
        (one,) = found.samples()
        want = [
            *encode("h") * (index + 1),
            *encode(CALL),
            *encode("<|im_end|>"),
            *encode("h") * (index + 1),
            *encode("5"),
            *encode("<|im_end|>"),
        ]
        assert credited([one]) == [want]


@pytest.mark.parametrize("ids", [True, False])
def test_a_chat_endpoint_plays_episodes(env, wires, ids):
    script(wires, "chatml", CALL, "5")
    found = rollout(env, TASK, endpoint(f"{wires.url}/v1", "m", token_ids=ids))

    assert (found.stop, found.verdict.value, len(found.trajectory.tokens)) == (
        "passed",
        1.0,
        2 * ids,
    )


@pytest.mark.parametrize("first", [True, False])
def test_a_context_that_is_full_truncates_the_episode(env, wires, first):
    script(wires, "chatml", CALL)
    wires.context = 5 if first else 60
    found = rollout(env, TASK, endpoint(f"{wires.url}/v1", "m"))

    assert (found.stop, found.truncated, found.verdict.value) == ("context", True, 0.0)


TASKED = '<tool_call>\n{"name": "task", "arguments": {"prompt": "too"}}\n</tool_call>'


@pytest.fixture
def parent():
    harness = Harness("tool-use", tools=[subagent(tools=[add])])
    with Environment("parent", passes, tables={"harness": harness}) as made:
        yield made


def test_the_calls_of_a_subagent_are_a_sample_of_their_own(parent, wires, tmp_path):
    turns = script(wires, "chatml", TASKED, CALL, "hello", "5")
    policy = token_endpoint(f"{wires.url}/v1", "m", save(tmp_path, "chatml"))
    own, child = rollout(parent, TASK, policy).samples()

    assert credited([own, child]) == [[*turns[0], *turns[3]], [*turns[1], *turns[2]]]
    assert (own.reward, child.reward) == (1.0, 1.0)


def test_a_subagent_whose_context_is_full_is_an_error_to_its_parent(parent, wires):
    turns = script(wires, "chatml", TASKED, "5")

    def sample(ids):
        wires.context = 10 if len(turns) == 2 else 100_000
        return turns.pop(0)

    wires.sample = sample
    full = endpoint(f"{wires.url}/v1", "m")

    async def policy(messages, tools):
        if messages[-1]["role"] == "tool":
            wires.context = 100_000
        return await full(messages, tools)

    found = rollout(parent, TASK, policy)

    assert found.children[0].stop == "context"
    assert "it ended without an answer: context" in found.trajectory.messages[2]["content"]
    assert (found.stop, found.verdict.value) == ("passed", 1.0)


def test_a_policy_without_an_event_loop_says_so_too(env):
    def policy(messages, tools):
        raise ContextExceeded("full")

    assert rollout(env, TASK, policy).stop == "context"


def test_a_broken_server_is_never_a_reward(env, wires, monkeypatch):
    monkeypatch.setattr(http, "PAUSE", 0.0)
    wires.faults += [(500, {}, "broken")] * 3
    policy = endpoint(f"{wires.url}/v1", "m", retries=2)
    with pytest.raises(EndpointError, match="HTTP 500: broken"):
        rollout(env, TASK, policy)

    wires.faults += [(500, {}, "broken")] * 3
    ((_, found),) = rollouts(env, [TASK], policy)
    assert (found.stop, found.verdict.value) == ("error", None)
    assert f"{wires.url}/v1/chat/completions: HTTP 500" in found.verdict.fault.message


def test_calls_that_servers_reject_do_not_make_an_episode_unscored(env, wires):
    """vLLM parses arguments of the history as JSON; OpenAI rejects names with other letters."""
    odd = ["junk", "[1]", '{"a": NaN}', '{"a": ' * 70 + "1" + "}" * 70, '{"a": 2, "b": 3}']
    calls = [
        {"function": {"name": "add it!" if at == 4 else "add", "arguments": each}}
        for at, each in enumerate(odd)
    ]
    wires.faults += [
        (200, {}, json.dumps({"choices": [{"message": {"content": "", "tool_calls": calls}}]}))
    ]
    script(wires, "chatml", "5")

    def accepted(message):
        for each in message.get("tool_calls", ()):
            assert isinstance(json.loads(each["function"]["arguments"], parse_constant=int), dict)
            assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", each["function"]["name"])
        return message

    found = rollout(env, TASK, endpoint(f"{wires.url}/v1", "m"))
    sent = [accepted(each) for each in wires.requests[1][1]["messages"]][1]["tool_calls"]

    assert (found.stop, found.verdict.value) == ("passed", 1.0)
    assert [each["function"]["name"] for each in sent] == ["add"] * 4 + ["add_it_"]
    assert sent[0]["function"]["arguments"] == '{"arguments": "junk"}'
    assert sent[4]["function"]["arguments"] == odd[4]


def test_a_turn_without_ids_is_not_left_out_silently(env):
    def policy(messages, tools):
        if messages[-1]["role"] == "tool":
            return Reply("5", Tokens([1], [2]))
        return call("add", a=2, b=3)

    found = rollout(env, TASK, policy)

    with pytest.raises(ConfigError, match="no token ids in turn 0; pass inexact=True"):
        found.samples()
    assert [each.ids for each in found.samples(inexact=True)] == [(2,)]


def test_a_policy_that_begins_is_begun_once_an_episode(env):
    begun = []

    class Counting:
        def begin(self):
            begun.append(1)
            return lambda messages, tools: "5"

    for _, found in rollouts(env, [TASK] * 3, Counting()):
        assert found.verdict.value == 1.0
    assert rollout(env, TASK, Counting()).verdict.value == 1.0
    assert len(begun) == 4
