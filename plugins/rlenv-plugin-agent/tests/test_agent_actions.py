"""What a policy returns is played as it is meant, or raises: it is never a silent 0."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from rlenv import Environment, Task
from rlenv_plugin_agent import (
    ActionError,
    Episode,
    Harness,
    Reply,
    arollout,
    call,
    rollout,
    rollouts,
    subagent,
)
from rlenv_plugin_agent.clients.reading import message_of
from rlenv_plugin_agent.episodes.gym import Episodes
from sums import TASK, always, counting, game, sums


class Sdk:
    """An object as the SDKs of models have: it is no dict, but makes one."""

    def __init__(self, **fields: object) -> None:
        self.__dict__ |= fields

    def model_dump(self) -> dict[str, object]:
        made = {
            key: value.model_dump() if isinstance(value, Sdk) else value
            for key, value in vars(self).items()
        }
        calls = made.get("tool_calls")
        if isinstance(calls, list):
            made["tool_calls"] = [
                each.model_dump() if isinstance(each, Sdk) else each for each in calls
            ]
        return made


class OldSdk:
    def to_dict(self) -> dict[str, object]:
        return {"role": "assistant", "content": "5"}


class Hostile(dict[str, object]):
    def get(self, *_: object) -> object:
        raise MemoryError

    def __contains__(self, key: object) -> bool:
        return True


FUNCTION = {"name": "add", "arguments": '{"a": 2, "b": 3}'}
CALL = Sdk(id="c1", type="function", function=Sdk(**FUNCTION))
EMPTY = {"content": None, "refusal": None, "function_call": None}
CALLING: Mapping[str, object] = {
    "an object of an SDK": Sdk(role="assistant", tool_calls=[CALL], **EMPTY),
    "a dict with its calls": {"role": "assistant", "content": None, "tool_calls": [CALL]},
    "a legacy function_call": {"role": "assistant", "content": None, "function_call": FUNCTION},
    "an object with a legacy function_call": Sdk(role="assistant", function_call=Sdk(**FUNCTION)),
    "a Reply": Reply(Sdk(role="assistant", tool_calls=[CALL], **EMPTY)),
}
NOT_ACTIONS: Mapping[str, object] = {
    "None": None,
    "bytes": b"5",
    "object": object(),
    "a class": OldSdk,
    "a function": asyncio.sleep,
    "a generator": (each for each in "5"),
    "Hostile": Hostile(),
    '"choices"': {"id": "x", "choices": [{"message": {"role": "assistant", "content": "5"}}]},
    "choices": Sdk(id="x", choices=[{"message": {"role": "assistant", "content": "5"}}]),
    '"message"': {"index": 0, "message": {"role": "assistant", "content": "5"}},
    '"output"': Sdk(object="response", output=[]),
    "tool_use": {
        "role": "assistant",
        "content": [{"type": "tool_use", "name": "add", "input": {}}],
    },
    "a Reply of None": Reply(None),
}


def returning(action: object) -> Callable[..., Any]:
    """A policy that returns this, and then what the tool said."""

    def policy(messages: list[Any], _: object) -> object:
        return messages[-1]["content"] if messages[-1]["role"] == "tool" else action

    return policy


@pytest.mark.parametrize("action", CALLING.values(), ids=CALLING)
def test_a_call_is_made_in_whichever_form_it_comes(action: object) -> None:
    assert rollout(sums(), TASK, returning(action)).verdict.value == 1.0


@pytest.mark.parametrize("action", [OldSdk(), Sdk(role="assistant", content="5"), 5, "5"])
def test_texts_and_values_are_actions(action: object) -> None:
    assert rollout(sums(), TASK, lambda _, __: action).verdict.value == 1.0


@pytest.mark.parametrize("action", NOT_ACTIONS.values(), ids=NOT_ACTIONS)
def test_no_way_to_play_pays_what_is_no_action(action: object) -> None:
    env = sums()

    async def act(_: object, __: object) -> object:
        return action

    with pytest.raises(ActionError, match="the policy returned"):
        rollout(env, TASK, returning(action))
    with pytest.raises(ActionError):
        asyncio.run(arollout(env, TASK, act))
    ((_, made),) = rollouts(env, [TASK], act)
    assert made.verdict.value is None
    assert made.verdict.fault is not None
    assert (made.verdict.fault.kind, made.verdict.fault.transient) == ("input", False)
    played = Episodes(env, lambda _: 0.0, lambda _: {})
    played.reset(TASK, 0)
    with pytest.raises(ActionError):
        played.step(action)


def test_an_episode_goes_on_as_it_was_where_no_action_came() -> None:
    with Episode(sums()) as episode:
        episode.reset(TASK)
        with pytest.raises(ActionError, match=r"None.*return a text, a message"):
            episode.step(None)
        assert len(episode.messages) == 1
        assert episode.step("5").reward == 1.0


def test_a_model_that_writes_a_message_of_another_protocol_writes_a_text() -> None:
    text = '{"content": [{"type": "tool_use"}], "tool_calls": []}'
    played = Episodes(sums(), lambda verdict: verdict.value or 0.0, lambda _: {})
    played.reset(TASK, 0)

    assert played.step(text)[1] == 0.0


def test_the_user_of_a_game_takes_any_object_but_none() -> None:
    class Move:
        def model_dump(self) -> dict[str, object]:
            return {"row": 1}

    given = list[object]()

    def user(action: object) -> object:
        given.append(action)
        return "go on"

    move = Move()
    actions: list[object] = [move, b"x", {"choices": [{}]}, Sdk(role="assistant", content="hello")]
    with Episode(game(user)) as episode:
        episode.reset(TASK)
        for action in actions:
            episode.step(action)
        with pytest.raises(ActionError):
            episode.step(None)

    assert given == [None, move, b"x", {"choices": [{}]}, "hello"]


@pytest.mark.parametrize("own", [True, False])
def test_a_subagent_whose_policy_returns_none_is_no_score(own: bool) -> None:
    def helper(_: object, __: object) -> object:
        return None

    def policy(messages: list[Any], _: object) -> object:
        if messages[0]["content"] == "help":
            return None
        return call("task", prompt="help") if len(messages) == 1 else "5"

    tool = subagent(None if own else helper)
    with pytest.raises(ActionError):
        rollout(sums(tool), TASK, policy)


def test_a_server_s_legacy_function_call_is_a_call() -> None:
    message = message_of({"message": {"content": None, "function_call": FUNCTION}}, "here")

    assert rollout(sums(), TASK, returning(message)).verdict.value == 1.0


def test_a_tool_may_have_an_argument_called_name() -> None:
    made = call("skill", name="refunds")
    assert made["tool_calls"] == [
        {"type": "function", "function": {"name": "skill", "arguments": '{"name": "refunds"}'}}
    ]


def test_no_two_messages_of_the_user_follow_each_other_where_the_user_opens() -> None:
    with Episode(game(system_prompt="Play.")) as episode:
        given, info = episode.reset(Task("Guess.", id="g"), seed=4)
        assert [each["content"] for each in given] == ["Play.", "Guess.\n\nseed 4"]
        assert info["observation"] == "seed 4"
        given, _ = episode.reset(Task("", id="e"), seed=4)
        assert [each["content"] for each in given] == ["Play.", "seed 4"]


def test_what_a_user_says_first_is_behind_the_parts_of_a_prompt() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:,x"}}
    task = Task(
        "p",
        info={
            "messages": [{"role": "user", "content": [picture]}, {"role": "user", "content": "p"}]
        },
    )
    harness = Harness("multi-turn", user=counting)
    with Episode(Environment("game", always, tables={"harness": harness})) as episode:
        given, _ = episode.reset(task)

    assert [each["role"] for each in given] == ["user", "user"]  # as the task has them
    assert given[-1]["content"] == "p\n\nseed 0"


@pytest.mark.parametrize(
    "written",
    [
        {"name": "add", "args": {"a": 2, "b": 3}, "id": "c1", "type": "tool_call"},  # LangChain
        {"type": "function_call", "name": "add", "arguments": '{"a": 2, "b": 3}', "call_id": "c1"},
        {"name": "add", "arguments": {"a": 2, "b": 3}},  # as models write them into their text
    ],
)
def test_a_call_without_function_is_a_call(written: dict[str, object]) -> None:
    left: list[object] = [{"content": "", "tool_calls": [written]}, "5"]
    made = rollout(sums(), TASK, lambda *_: left.pop(0))

    assert made.verdict.value == 1.0
    assert made.trajectory.messages[2]["content"] == "5"


@pytest.mark.parametrize(
    "returned",
    [
        [Sdk(type="text", text="5")],  # `content` of Anthropic
        [Sdk(index=0, message=Sdk(role="assistant", content="5"))],  # `choices` of OpenAI
        [{"type": "function_call", "name": "add", "arguments": "{}", "call_id": "c"}],
        {"type": "function_call", "name": "add", "arguments": "{}", "call_id": "c"},
        [{"role": "user", "content": "2 + 3?"}, {"role": "assistant", "content": "5"}],
        [{"generated_text": "5"}],  # a pipeline of transformers
        ("5", object()),
    ],
)
def test_a_list_of_what_an_sdk_writes_is_no_action(returned: object) -> None:
    with pytest.raises(ActionError, match="message"):
        rollout(sums(), TASK, lambda *_: returned)


@pytest.mark.parametrize("returned", [[5], ["5"], [None, 5], [[1], {"a": 5}], (5, 1.5)])
def test_a_list_of_values_is_a_value(returned: object) -> None:
    assert rollout(sums(), TASK, lambda *_: returned).verdict.scored
