"""``endpoint``: what is sent, what is read, what is tried again, and what a hostile server cannot
do.
"""

from __future__ import annotations

import asyncio

import pytest
from rlenv import ConfigError, Tokens
from rlenv_plugin_agent.clients import ContextExceeded, EndpointError, endpoint
from rlenv_plugin_agent.clients import server as http
from token_model import encode
from token_play import TOOL, script

ASK = [{"role": "user", "content": "use hello"}]


@pytest.fixture(autouse=True)
def _fast(monkeypatch):
    monkeypatch.setattr(http, "PAUSE", 0.0)


def ask(policy, tools=()):
    return asyncio.run(policy(ASK, [*tools]))


def test_the_message_comes_back_with_its_calls(wires):
    script(
        wires,
        "chatml",
        'too\n<tool_call>{"name": "user", "arguments": {"a": 1}}</tool_call><tool_call>{"name":'
        ' "user", "arguments": {}}</tool_call>',
    )
    reply = ask(endpoint(f"{wires.url}/v1", "m", sampling={"temperature": 0.5}), [TOOL])

    assert reply.tokens is None
    assert reply.message["content"] == "too"
    assert [c["function"] for c in reply.message["tool_calls"]] == [
        {"name": "user", "arguments": '{"a": 1}'},
        {"name": "user", "arguments": "{}"},
    ]
    path, body, headers = wires.requests[0]
    assert (path, body) == (
        "/v1/chat/completions",
        {"model": "m", "messages": ASK, "tools": [TOOL], "temperature": 0.5},
    )
    assert "Authorization" not in headers


def test_ids_are_those_that_the_server_sampled(wires):
    (sampled,) = script(wires, "chatml", "hello")
    reply = ask(endpoint(f"{wires.url}/v1/chat/completions/", "m", token_ids=True))

    assert reply.tokens == Tokens(
        encode("<|im_start|>user\nuse hello<|im_end|>\n<|im_start|>assistant\n"),
        sampled,
        [-0.5 - i for i in range(len(sampled))],
    )
    assert sampled[:2] == [*encode("he"), *encode("llo")] != encode("hello")


# -- what is tried again ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        (429, {"Retry-After": "0.01"}, ""),
        (500, {}, "broken"),
        (503, {"Retry-After": "soon"}, ""),
        (200, {}, "<html>"),
        (200, {}, "[1]"),
        (200, {}, '{"error": {"code": 502}}'),
        (200, {}, "[" * 100_000),
        (0, {}, ""),
    ],
)
def test_what_may_succeed_in_a_moment_is_tried_again(wires, fault):
    script(wires, "chatml", "too")
    wires.faults += [fault, fault]

    assert ask(endpoint(f"{wires.url}/v1", "m")).message["content"] == "too"
    assert len(wires.requests) == 3


def test_too_many_requests_are_no_full_context(wires):
    script(wires, "chatml", "too")
    wires.faults += [(429, {}, "tokens per minute exceeded by your context length")]

    assert ask(endpoint(f"{wires.url}/v1", "m")).message["content"] == "too"


def test_it_waits_as_long_as_the_server_asks(wires, monkeypatch):
    script(wires, "chatml", "too")
    waited = []

    async def sleep(seconds):
        waited.append(seconds)

    monkeypatch.setattr("rlenv_plugin_agent.clients.server.asyncio", Asyncio(sleep))
    wires.faults += [
        (429, {"Retry-After": "7"}, ""),
        (429, {"Retry-After": "999999"}, ""),
        (503, {}, ""),
    ]
    ask(endpoint(f"{wires.url}/v1", "m"))

    assert waited == [7.0, 120.0, 0.0]


class Asyncio:
    """The module, with another ``sleep``."""

    def __init__(self, sleep):
        self.sleep = sleep

    def __getattr__(self, name):
        return getattr(asyncio, name)


def test_the_last_failure_is_told_with_its_place(wires):
    wires.faults += [(503, {}, "no capacity")] * 3

    with pytest.raises(
        EndpointError,
        match=r"127.0.0.1:\d+/v1/chat/completions: HTTP 503: no capacity \(tried 3 times\)",
    ):
        ask(endpoint(f"{wires.url}/v1", "m", retries=2))


@pytest.mark.parametrize("status", [301, 307, 400, 401, 404, 422])
def test_what_stays_wrong_is_not_tried_again(wires, status):
    wires.faults += [(status, {"Location": "http://127.0.0.1:1/"}, "no")]

    with pytest.raises(EndpointError, match=f"HTTP {status}: no"):
        ask(endpoint(f"{wires.url}/v1", "m"))
    assert len(wires.requests) == 1


def test_a_server_that_is_not_there_is_told():
    with pytest.raises(EndpointError, match=r"127.0.0.1:9/v1/chat.*no reply \(Client"):
        ask(endpoint("http://127.0.0.1:9/v1", "m", retries=0))


def test_a_conversation_that_is_too_long_ends_the_episode(wires):
    wires.context = 3

    with pytest.raises(ContextExceeded, match="longer than the model's context"):
        ask(endpoint(f"{wires.url}/v1", "m"))
    assert len(wires.requests) == 1


def test_a_request_that_is_too_large_ends_the_episode_too(wires):
    wires.faults += [(413, {}, "Request Entity Too Large")]

    with pytest.raises(ContextExceeded):
        ask(endpoint(f"{wires.url}/v1", "m"))


@pytest.mark.parametrize(
    "body",
    [
        "This model's maximum context length is 8 tokens",
        '{"error": {"code": "context_length_exceeded"}}',
        "Requested token count exceeds the model's maximum context length of 8 tokens.",
        "the request exceeds the available context size",
    ],
)
def test_servers_have_many_words_for_it(wires, body):
    wires.faults += [(400, {}, body)]

    with pytest.raises(ContextExceeded):
        ask(endpoint(f"{wires.url}/v1", "m"))


# -- keys and arguments ----------------------------------------------------------------------------


def test_a_key_is_sent_and_never_shown(wires, monkeypatch):
    monkeypatch.setenv("POLICY_KEY", "sk-abc123")
    wires.faults += [(401, {}, "bad key sk-abc123")]

    with pytest.raises(EndpointError, match=r"bad key \[key\]") as told:
        ask(endpoint(f"{wires.url}/v1", "m", key_env="POLICY_KEY"))
    assert "sk-abc123" not in str(told.value)
    assert wires.requests[0][2]["Authorization"] == "Bearer sk-abc123"


@pytest.mark.parametrize(
    "wrong",
    [
        {"url": "ftp://x/v1"},
        {"url": "x"},
        {"url": "http://a:b@x/v1"},
        {"url": "http://x/v1?k=1"},
        {"key_env": "POLICY_NONE"},
        {"timeout": 0},
        {"retries": -1},
        {"concurrency": 0},
        {"sampling": {"n": 2}},
    ],
)
def test_what_cannot_be_used_is_said_at_once(wrong):
    with pytest.raises(ConfigError):
        endpoint(**{"url": "http://127.0.0.1:9/v1", "model": "m", **wrong})


def test_no_more_requests_than_allowed_are_in_flight(wires):
    policy = endpoint(f"{wires.url}/v1", "m", concurrency=3)
    now = 0
    most = 0
    inner = policy.server._try

    async def counted(*given):
        nonlocal now, most
        now += 1
        most = max(most, now)
        try:
            return await inner(*given)
        finally:
            now -= 1

    async def many():
        policy.server._try = counted
        wires.sample = lambda ids: encode("too")
        await asyncio.gather(*(policy(ASK, []) for _ in range(20)))

    asyncio.run(many())
    assert (most, len(wires.requests)) == (3, 20)


def test_an_event_loop_that_ends_is_forgotten(wires):
    policy = endpoint(f"{wires.url}/v1", "m")
    wires.sample = lambda ids: encode("too")
    for _ in range(5):
        ask(policy)

    assert len(policy.server._gates) == 1
