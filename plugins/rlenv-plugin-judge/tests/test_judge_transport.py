"""Servers in trouble, of every dialect, at dead addresses: a reply, or a fault that says what to
do.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from typing import Any

import pytest
from rlenv.model.errors import ConfigError, VerifierFault
from rlenv_plugin_judge.transport.client import Client
from rlenv_plugin_judge.transport.endpoint import Endpoint
from rlenv_plugin_judge.transport.errors import TooLong
from rlenv_plugin_judge.transport.limits import Limits, Retries
from rlenv_plugin_judge.transport.request import Reply, Request

QUICK = Retries(times=3, base=0.001, cap=0.002, after_cap=0.01)
HELLO = Request("", ({"role": "user", "content": "Hello?"},), {"max_tokens": 100})


def replies(
    endpoints: Sequence[Endpoint], *requests: Request, **options: Any
) -> list[Reply | BaseException]:
    """What one client answers, one request after the other."""

    async def run() -> list[Reply | BaseException]:
        client = Client(endpoints, **{"retries": QUICK, **options})
        found: list[Reply | BaseException] = []
        for request in requests:
            found += await asyncio.gather(client.send(request), return_exceptions=True)
        await client.close()
        return found

    return asyncio.run(run())


def at(server: Any, *models: str, **fields: Any) -> list[Endpoint]:
    return [Endpoint(server.url, m, **{"key_env": None, **fields}) for m in models]


def one(endpoints: Sequence[Endpoint], **options: Any) -> Reply:
    (found,) = replies(endpoints, HELLO, **options)
    if isinstance(found, BaseException):
        raise found
    return found


@pytest.mark.parametrize("model", ["busy-then-fine", "error-then-fine", "drops-then-fine"])
def test_trouble_that_passes_is_waited_for(judge_server: Any, model: str) -> None:
    assert one(at(judge_server, model)).text == "Hello."
    assert judge_server.counts[model] in {3, len(judge_server.requests)}


LASTING = {
    "dead": ("HTTP 503", True, 4),
    "busy": ("HTTP 429", True, 4),
    "drops": ("the connection broke", True, 4),
    "truncated": ("the connection broke", True, 4),
    "html": ("no JSON", True, 4),
    "deep": ("no JSON", True, 4),
    "not-object": ("no JSON object", True, 4),
    "empty-choices": ("no choice", True, 4),
    "error-in-200": ("code 503", True, 4),
    "huge": ("larger than", True, 4),
    "zipped": ("compressed", True, 4),
    "missing": ("no model 'missing'", False, 1),
    "keyed": ("it wants a key", False, 1),
    "refuses-request": ("the request is rejected", False, 1),
    "redirect": ("not followed", False, 1),
}


@pytest.mark.parametrize("model", sorted(LASTING))
def test_trouble_that_lasts_is_a_fault_that_says_what(judge_server: Any, model: str) -> None:
    said, transient, calls = LASTING[model]
    with pytest.raises(VerifierFault, match=said) as caught:
        one(at(judge_server, model))
    fault = caught.value.fault
    assert (fault.kind, fault.transient) == ("unavailable", transient)
    assert judge_server.url in fault.message
    assert len(judge_server.requests) == calls or model == "drops"


def test_a_redirect_leads_nowhere(judge_server: Any) -> None:
    with pytest.raises(VerifierFault):
        one(at(judge_server, "redirect"))
    assert len(judge_server.authorizations) == 1


def test_an_answer_that_does_not_come_is_a_fault(judge_server: Any) -> None:
    with pytest.raises(VerifierFault, match=r"no answer within 0\.05 s"):
        one(at(judge_server, "slow"), timeout=0.05, retries=Retries(times=0))


def test_what_no_context_holds_is_the_response_s_doing(judge_server: Any) -> None:
    with pytest.raises(TooLong):
        one(at(judge_server, "short-context"))
    assert len(judge_server.requests) == 1


def test_a_longer_context_is_tried_next(judge_server: Any) -> None:
    assert one(at(judge_server, "short-context", "honest")).model == "honest"


def test_newer_names_of_parameters_are_learned_once(judge_server: Any) -> None:
    ask = Request("", HELLO.messages, {"max_tokens": 50, "temperature": 0})
    more = Request("", ({"role": "user", "content": "And?"},), {"max_tokens": 50, "temperature": 0})
    found = replies(at(judge_server, "new-openai"), ask, more)
    assert [getattr(r, "text", r) for r in found] == ["Hello.", "Hello."]
    sent = [
        {"max_tokens", "max_completion_tokens", "temperature"} & set(r)
        for r in judge_server.requests
    ]
    assert sent == [
        {"max_tokens", "temperature"},
        {"max_completion_tokens", "temperature"},
        {"max_completion_tokens"},
        {"max_completion_tokens"},
    ]


def test_usage_that_is_not_told_is_estimated(judge_server: Any) -> None:
    assert one(at(judge_server, "no-usage")).usage.estimated
    assert one(at(judge_server, "no-usage")).usage.total > 0
    assert not one(at(judge_server, "honest")).usage.estimated


@pytest.fixture
def nobody() -> Endpoint:
    """An address where no server is."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return Endpoint(f"http://127.0.0.1:{port}/v1", "honest", key_env=None)


def test_a_dead_address_is_a_fault(nobody: Endpoint) -> None:
    with pytest.raises(VerifierFault, match="no connection"):
        one([nobody])


def test_the_next_endpoint_takes_over_and_the_dead_one_rests(
    judge_server: Any, nobody: Endpoint
) -> None:
    others = [Request("", ({"role": "user", "content": str(i)},)) for i in range(5)]
    found = replies([nobody, *at(judge_server, "dead", "honest")], *others)
    assert {getattr(r, "model", r) for r in found} == {"honest"}
    # Three calls of four tries, then it rests.
    assert judge_server.counts == {"dead": 12, "honest": 5}


def test_an_endpoint_that_rests_alone_is_not_asked(nobody: Endpoint) -> None:
    first, second = replies([nobody], HELLO, HELLO)
    assert "no connection" in str(first)
    assert "failed a moment ago" in str(second)
    assert "no connection" in str(second)


def test_a_wrong_key_is_named_to_all_and_is_nothing_that_passes(judge_server: Any) -> None:
    found = replies(at(judge_server, "keyed"), HELLO, HELLO)
    assert len(judge_server.requests) == 1
    for err in found:
        assert isinstance(err, VerifierFault)
        assert "it wants a key" in err.fault.message
        assert not err.fault.transient


def test_a_request_that_is_rejected_keeps_nobody_else_from_being_judged(judge_server: Any) -> None:
    endpoints = at(judge_server, "refuses-request")
    found = replies(endpoints, *[HELLO] * 5)
    assert len(judge_server.requests) == 5
    assert all("rejected" in str(f) for f in found)


def test_equal_requests_at_once_are_one(judge_server: Any) -> None:
    async def run() -> list[Reply]:
        client = Client(at(judge_server, "slow"))
        found = await asyncio.gather(*(client.send(HELLO) for _ in range(20)))
        await client.close()
        return found

    assert len({r.text for r in asyncio.run(run())}) == 1
    assert len(judge_server.requests) == 1


@pytest.mark.parametrize("who", [0, 1])
def test_one_that_gives_up_leaves_the_others_their_reply(judge_server: Any, who: int) -> None:
    async def run() -> list[Any]:
        client = Client(at(judge_server, "slow"))
        asked = [asyncio.ensure_future(client.send(HELLO)) for _ in range(4)]
        while not judge_server.requests:
            await asyncio.sleep(0.005)
        asked.pop(who).cancel()
        found = await asyncio.gather(*asked)
        await client.close()
        return found

    assert [r.text for r in asyncio.run(run())] == ["Hello."] * 3
    assert len(judge_server.requests) == 2 - who  # he who made the call took it with him


def test_equal_requests_that_fail_fail_alike(judge_server: Any) -> None:
    async def run() -> list[Any]:
        client = Client(at(judge_server, "refuses-request"))
        asked = [client.send(HELLO) for _ in range(4)]
        found = await asyncio.gather(*asked, return_exceptions=True)
        await client.close()
        return found

    assert all(isinstance(err, VerifierFault) for err in asyncio.run(run()))
    assert len(judge_server.requests) == 1


def test_at_most_so_many_are_in_flight(judge_server: Any) -> None:
    async def run() -> None:
        client = Client(at(judge_server, "slow"), concurrency=5)
        asked = (Request("", ({"role": "user", "content": str(i)},)) for i in range(15))
        await asyncio.gather(*(client.send(r) for r in asked))
        await client.close()

    asyncio.run(run())
    assert judge_server.most_at_once == 5


def test_one_client_serves_several_loops_and_leaves_no_socket_even_unclosed(
    judge_server: Any,
) -> None:
    client = Client(at(judge_server, "honest"))
    for i in range(3):
        request = Request("", ({"role": "user", "content": str(i)},))
        assert asyncio.run(client.send(request)).text == "Hello."
    assert client.spent.calls == 3


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (Limits(calls=3), "budget of 3 calls"),
        (Limits(tokens=400), "budget of 400 tokens"),
        (Limits(money=0.0004), "budget of 0.0004 in money"),
    ],
)
def test_a_budget_is_never_overrun_and_its_end_is_unscored(
    judge_server: Any, limits: Limits, said: str
) -> None:
    async def run() -> tuple[list[Any], Client]:
        endpoints = at(judge_server, "honest", price_in=1.0, price_out=1.0)
        client = Client(endpoints, budget=limits)
        asked = (
            Request("", ({"role": "user", "content": f"{i} " * 100},), {"max_tokens": 50})
            for i in range(30)
        )
        found = await asyncio.gather(*(client.send(r) for r in asked), return_exceptions=True)
        await client.close()
        return found, client

    found, client = asyncio.run(run())
    faults = [f for f in found if isinstance(f, VerifierFault)]
    assert 0 < len(faults) < 30
    assert all(said in f.fault.message and not f.fault.transient for f in faults)
    assert client.spent.calls <= (limits.calls or 30)
    assert client.spent.tokens <= (limits.tokens or 10**6)
    assert client.spent.money <= (limits.money or 1.0)


@pytest.mark.parametrize(
    ("base", "said"),
    [
        ("ftp://example.org", "http:// or https://"),
        ("example.org/v1", "http:// or https://"),
        ("https://", "http:// or https://"),
        ("https://me:secret@example.org/v1", "name or password"),
        ("https://example.org/v1?key=secret", "query"),
        ("https://example.org/v1#x", "query or fragment"),
        ("https://example.org/v1/chat/completions", "which is appended"),
        ("https://exa mple.org", "blanks"),
        ("https://example.org\r\nX: y/v1", "base_url"),
        ("http://example.org/v1", "in the clear"),
        ("http://93.184.216.34/v1", "in the clear"),
        ("http://169.254.169.254/v1", "link-local"),
        ("http://0.0.0.0/v1", "link-local or none"),
        ("http://[::1/v1", "cannot be read"),
        ("http://localhost:99999/v1", "cannot be read"),
    ],
)
def test_a_base_url_that_cannot_be_used_is_refused(
    monkeypatch: pytest.MonkeyPatch, base: str, said: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-something-long")
    with pytest.raises(ConfigError, match=said) as caught:
        Client([Endpoint(base, "m")])
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "base",
    [
        "https://a.org/v1/",
        "http://127.0.0.1:1/v1",
        "http://judge:8000/v1",
        "http://10.0.0.7/v1",
        "http://x.internal",
    ],
)
def test_a_base_url_that_can_be_used_is_taken(monkeypatch: pytest.MonkeyPatch, base: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-something-long")
    assert Client([Endpoint(base, "m")]).endpoints[0].base_url == base


def test_a_client_without_endpoints_or_room_is_refused() -> None:
    local = Endpoint("http://localhost/v1", "m", key_env=None)
    with pytest.raises(ConfigError, match="at least one endpoint"):
        Client([])
    for wrong in ({"concurrency": 0}, {"timeout": 0}):
        with pytest.raises(ConfigError, match="at least 1"):
            Client([local], **wrong)  # type: ignore[arg-type]
