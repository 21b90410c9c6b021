"""``endpoint``: replies of a hostile server are tokens, a message or a named failure."""

from __future__ import annotations

import asyncio
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv import Tokens
from rlenv_plugin_agent.clients import EndpointError, endpoint
from rlenv_plugin_agent.clients import server as http
from rlenv_plugin_agent.clients.reading import message_of, tokens_of
from rlenv_plugin_agent.messages import assistant
from token_play import play

ASK = [{"role": "user", "content": "use hello"}]


@pytest.fixture(autouse=True)
def _fast(monkeypatch):
    monkeypatch.setattr(http, "PAUSE", 0.0)


def ask(policy, tools=()):
    return asyncio.run(policy(ASK, [*tools]))


FINE = {
    "prompt_ids": [1, 2],
    "ids": [3, 4],
    "logprobs": [-1.0, -0.5],
    "names": ["token_id:3", "token_id:4"],
    "counts": (2, 2),
}


def told(**changed):
    given_ = {**FINE, **changed}
    given_["usage"] = dict(
        zip(("prompt_tokens", "completion_tokens"), given_.pop("counts"), strict=True)
    )
    return tokens_of(given_.pop("prompt_ids"), given_.pop("ids"), given_.pop("logprobs"), **given_)


def test_what_agrees_is_exact():
    assert told() == Tokens([1, 2], [3, 4], [-1.0, -0.5])
    assert told(logprobs=None, names=None) == Tokens([1, 2], [3, 4])
    assert told(logprobs=[1e-9, -0.5]).logprobs == (0.0, -0.5)


def test_prompts_that_are_alike_share_their_ids():
    """A server's reply holds new integers, 28 bytes each, in every call of an episode."""
    one, two = (told(prompt_ids=json.loads("[100001, 100002]")).prompt_ids for _ in range(2))

    assert [*map(id, one)] == [*map(id, two)]


def test_a_log_probability_that_vllm_does_not_have_is_none():
    assert told(logprobs=[-9999.0, -0.5]) == Tokens([1, 2], [3, 4])


@pytest.mark.parametrize(
    "changed",
    [
        {"ids": None},
        {"ids": []},
        {"ids": [3, -4]},
        {"ids": [3, 1 << 64]},
        {"ids": [3, 4.0]},
        {"ids": [3, True]},
        {"ids": "34"},
        {"ids": {"3": 4}},
        {"ids": [[3], 4]},
        {"ids": [3]},
        {"ids": [3, 5]},
        {"prompt_ids": None},
        {"prompt_ids": [1]},
        {"prompt_ids": [-1, 2]},
        {"logprobs": [-1.0]},
        {"logprobs": [-1.0, 0.5]},
        {"logprobs": [math.nan, -1]},
        {"logprobs": [-math.inf, -1]},
        {"logprobs": [None, -1]},
        {"logprobs": "ab"},
        {"names": ["3", "4"]},
        {"names": ["token_id:3"]},
        {"counts": (2, 3)},
        {"counts": (None, None)},
        {"counts": (2.0, 2)},
        {"counts": (2, 10**400)},
    ],
)
def test_what_does_not_agree_is_not_exact(changed):
    assert not told(**changed).exact


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "message",
                    "content",
                    "tool_calls",
                    "function",
                    "name",
                    "arguments",
                    "token_ids",
                    "text",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(junk)
def test_a_reply_of_any_shape_is_a_message_or_a_named_failure(found):
    try:
        message = message_of({"message": found}, "here")
    except EndpointError:
        assert not isinstance(found, dict)
        return
    json.dumps(assistant(message, 0)).encode()
    assert isinstance(message["content"], str)


@given(junk, junk, junk, junk)
def test_ids_of_any_shape_are_tokens(prompt, ids, logprobs, names):
    assert isinstance(
        tokens_of(
            prompt,
            ids,
            logprobs,
            names=names,
            usage={"prompt_tokens": prompt, "completion_tokens": ids},
        ),
        Tokens,
    )


def test_half_a_surrogate_can_still_be_written(wires):
    wires.faults += [(200, {}, '{"choices": [{"message": {"content": "\\ud800x"}}]}')]

    assert ask(endpoint(f"{wires.url}/v1", "m")).message["content"] == "?x"


def test_a_huge_reply_is_not_read_to_its_end(wires, monkeypatch):
    monkeypatch.setattr(http, "LARGEST", 1000)
    wires.faults += [(200, {}, "x" * 100_000)]

    with pytest.raises(EndpointError, match="more than 1,000 bytes"):
        ask(endpoint(f"{wires.url}/v1", "m", retries=0))


@pytest.mark.parametrize("body", ['{"choices": []}', '{"choices": [{}]}', '{"choices": 3}', "{}"])
def test_a_reply_without_a_message_names_the_server(wires, body):
    wires.faults += [(200, {}, body)]

    with pytest.raises(EndpointError, match=r"/v1/chat/completions: the reply has"):
        ask(endpoint(f"{wires.url}/v1", "m"))


def test_thinking_that_the_server_took_apart_is_kept_and_sent_again(wires):
    said = {"content": "hello", "reasoning": "too"}
    wires.faults += [(200, {}, json.dumps({"choices": [{"message": said}]}))] * 2
    trajectory = play(endpoint(f"{wires.url}/v1", "m"), ["go"], tools=())

    assert trajectory.messages[1] == {
        "role": "assistant",
        "content": "hello",
        "reasoning_content": "too",
    }
    assert wires.requests[1][1]["messages"][1]["reasoning"] == "too"
