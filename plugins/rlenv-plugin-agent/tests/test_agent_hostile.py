"""Whatever a policy returns, an episode goes on or ends, and is never `error`."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv import Environment
from rlenv_plugin_agent import (
    Episode,
    Harness,
    Reply,
    call,
    calls,
    rollout,
)
from rlenv_plugin_agent.messages import Message
from sums import TASK, add, always, counting, error_in, game, sums

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
FUNCTIONS = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["add", "done", ""]) | JSON,
        "arguments": (
            st.sampled_from(["{}", '{"a": 1, "b": NaN}', "[" * 9999, '{"a": 1, "b": 2}']) | JSON
        ),
    },
)
CALLS = st.fixed_dictionaries({}, optional={"id": JSON, "type": JSON, "function": FUNCTIONS | JSON})
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "role": st.sampled_from(["assistant", "tool", "system"]) | JSON,
        "content": JSON,
        "reasoning_content": JSON,
        "tool_calls": st.lists(CALLS | JSON, max_size=3) | JSON,
        "tool_call_id": JSON,
    },
)
REPLIES = st.builds(Reply, MESSAGES)
ACTIONS = (JSON | MESSAGES).filter(lambda each: each is not None) | REPLIES


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["single-turn", "multi-turn", "tool-use", "agentic"]),
    st.lists(ACTIONS, min_size=1, max_size=4),
)
def test_whatever_a_policy_returns_the_episode_goes_on_or_ends(
    kind: str, actions: list[object]
) -> None:
    tools = (add,) if kind in ("tool-use", "agentic") else ()
    user = counting if kind == "multi-turn" else None
    harness = Harness(kind, tools=tools, user=user, turn_limit=4)  # type: ignore[arg-type]
    env = Environment("any", always, tables={"harness": harness})
    with Episode(env) as episode:
        given, _ = episode.reset(TASK)
        before = len(given)
        for action in actions:
            if episode.stop is None:
                episode.step(action)
        if episode.stop is None:
            episode.truncate()

    assert episode.stop != "error"
    assert episode.verdict is not None
    assert episode.verdict.value == 0.5
    added = episode.messages[before:]
    assert sum(each["role"] == "assistant" for each in added) == len(episode.trace)
    assert all(each["role"] != "system" for each in added)
    json.dumps(episode.messages)
    asked = [each["id"] for m in added for each in m.get("tool_calls", ())]  # type: ignore[attr-defined]
    told = [each["tool_call_id"] for each in added if each["role"] == "tool"]
    assert kind in ("single-turn",) or asked == told


def test_a_policy_cannot_write_into_the_history() -> None:
    def policy(messages: list[Message], tools: object) -> object:
        with pytest.raises(TypeError, match="copy it first"):
            messages[0]["content"] = "5 is right"  # type: ignore[index] # what a careless policy does
        with pytest.raises(TypeError, match="copy it first"):
            messages.append({"role": "tool", "content": "5"})
        return "6"

    found = rollout(sums(), TASK, policy)

    assert found.trajectory.messages == (
        {"role": "user", "content": "2 + 3?"},
        {"role": "assistant", "content": "6"},
    )


def test_a_policy_may_read_arguments_in_a_copy_in_each_turn() -> None:
    def policy(messages: list[Message], tools: list[Message]) -> object:
        for message in copy.deepcopy(messages):
            for made in message.get("tool_calls", ()):  # type: ignore[attr-defined]
                made["function"]["arguments"] = json.loads(made["function"]["arguments"])
        return call("add", a=2, b=3) if len(messages) < 8 else "5"

    with sums() as env:
        found = rollout(env, TASK, policy)

    assert (found.stop, found.verdict.value) == ("passed", 1.0)


def test_a_policy_cannot_write_into_calls_or_tools() -> None:
    def policy(messages: list[Message], tools: list[Message]) -> object:
        tools[0]["function"]["parameters"].clear()  # type: ignore[index] # as a careless template does
        if len(messages) == 1:
            return call("add", a=2, b=3)
        with pytest.raises(TypeError, match="copy it first"):
            messages[1]["tool_calls"][0]["function"]["name"] = "other"  # type: ignore[index]
        return messages[2]["content"]

    with sums() as env:
        before = str(Episode(env).tools)
        found = rollout(env, TASK, policy)
        after = str(Episode(env).tools)

    assert found.verdict.value == 1.0
    assert (before, "other" in str(found.trajectory.messages)) == (after, False)


def test_ten_thousand_calls_in_a_turn_are_answered() -> None:
    ran = list[int]()

    def note(n: int) -> str:
        ran.append(n)
        return "noted"

    episode = Episode(sums(note))
    episode.reset(TASK)
    step = episode.step(calls(*(("note", {"n": i}) for i in range(10_000))))

    assert (len(ran), len(step.observation)) == (64, 10_000)
    assert not step.terminated
    assert episode.step("5").reward == 1.0


def test_arguments_of_ten_megabytes_are_an_observation() -> None:
    episode = Episode(sums())
    episode.reset(TASK)
    step = episode.step(call("add", a="1" * 10_000_000, b=1))

    assert error_in(step.observation[0])["type"] == "arguments"
    assert len(str(step.observation)) < 1000


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 9), st.lists(st.integers(0, 9) | st.just("fail"), max_size=4))
def test_equal_seeds_and_actions_give_equal_episodes(seed: int, actions: list[object]) -> None:
    def play() -> tuple[object, ...]:
        episode = Episode(game())
        episode.reset(TASK, seed)
        for action in actions:
            if episode.stop is None:
                episode.step(action)
        return episode.stop, [m for m in episode.messages if "error" not in str(m)]

    assert play() == play()


@pytest.mark.parametrize(
    "text",
    [
        '{"error": {"type": "',
        '{"error": {"type": "a\\',
        '{"error": {"type": "\\ud8',
        '{"error": {"type": "x", ',
    ],
)
def test_a_tool_that_repeats_half_an_error_is_an_observation(text: str) -> None:
    def repeat(text: str) -> str:
        return text

    episode = Episode(sums(repeat))
    episode.reset(TASK)
    step = episode.step(call("repeat", text=text))

    assert step.observation[0]["content"] == text
    assert episode.step("5").reward == 1.0


@pytest.mark.parametrize("bad", ["\ud800", "\x00", "\u202e"])
def test_odd_characters_are_text(bad: str) -> None:
    message = {
        "content": bad,
        "tool_calls": [{"id": bad, "function": {"name": bad, "arguments": bad}}],
    }
    episode = Episode(sums())
    episode.reset(TASK)
    step = episode.step(message)

    assert error_in(step.observation[0])["type"] == "unknown_tool"
    assert episode.step(bad).info["stop"] == "done"


def test_ids_that_are_not_tokens_are_the_caller_s_mistake() -> None:
    with pytest.raises(TypeError, match="Tokens"):
        Reply("5", [1, 2, 3])  # type: ignore[arg-type]


def test_an_observation_that_is_written_to_is_not_the_history() -> None:
    episode = Episode(sums())
    episode.reset(TASK)
    step = episode.step(call("add", a=2, b=3))
    step.observation[0]["content"] = "6"  # type: ignore[index] # what a careless caller does

    assert episode.messages[-1]["content"] == "5"


def test_ids_of_calls_are_kept_where_they_tell_the_calls_apart() -> None:
    def ids(*given: str) -> list[object]:
        function = {"name": "add", "arguments": "{}"}
        episode = Episode(sums())
        episode.reset(TASK)
        step = episode.step({"tool_calls": [{"id": each, "function": function} for each in given]})
        return [each["tool_call_id"] for each in step.observation]

    assert ids("a", "b") == ["a", "b"]
    assert ids("a", "a") == ["call_0_0", "call_0_1"]
    assert ids("a", "b c") == ["call_0_0", "call_0_1"]
