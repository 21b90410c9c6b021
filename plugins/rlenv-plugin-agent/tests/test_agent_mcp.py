"""MCP servers as programs: pinned, isolated, bounded; whatever they do, a policy gets an
observation.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest
from rlenv import ConfigError, Fault, VerifierFault
from rlenv.sandbox import ChannelEnded, ChannelTimeout, Exit, close_all
from rlenv_plugin_agent.errors import EpisodeError
from rlenv_plugin_agent.tools.calling import observe
from rlenv_plugin_agent.tools.context import ToolContext
from rlenv_plugin_agent.tools.mcp.errors import ServerError
from rlenv_plugin_agent.tools.mcp.rpc import Rpc
from rlenv_plugin_agent.tools.mcp.server import McpServer
from rlenv_plugin_agent.tools.mcp.stdio import StdioLink
from rlenv_plugin_agent.tools.mcp.table import McpServers
from rlenv_plugin_agent.tools.tool import Tool, open_tools

SERVER = Path(__file__).parent / "servers" / "conforming.py"
Use = Callable[[Callable[..., Awaitable[str]]], Awaitable[Any]]


@pytest.fixture(scope="module", autouse=True)
def _nothing_stays() -> Any:
    yield
    close_all()


def server(how: str = "", **options: Any) -> McpServer:
    """Our server as a trusted program, which starts faster than one in the jail."""
    given = {
        "name": "c",
        "command": ["python", SERVER.name, how.strip("?")],
        "files": [str(SERVER)],
        "trust": True,
        "timeout": 10.0,
        "pin": pin() if how != "?" else "",
    }
    return McpServer(**{**given, **options})


@cache
def pin() -> str:
    """What the error of an unpinned server says to write."""
    with pytest.raises(ConfigError, match="not pinned") as error:
        opened("?")
    return str(error.value).split('"')[1]


def opened(
    how: str = "", use: Use | None = None, taken: tuple[str, ...] = (), **options: Any
) -> Any:
    """What ``use`` makes of the tools of one server."""

    tables = {"mcp": McpServers([server(how, **options)])}

    async def run() -> Any:
        async with AsyncExitStack() as stack:
            tools = await open_tools(tables, taken, stack)

            async def call(name: str, text: str = "") -> str:
                return await observe(tools, name, {"text": text}, ToolContext())

            return tools if use is None else await use(call)

    return asyncio.run(run())


def told(*calls: tuple[str, str], **options: Any) -> list[str]:
    """The observations of these calls, one after the other."""

    async def use(call: Callable[..., Awaitable[str]]) -> list[str]:
        return [await call(*each) for each in calls]

    found: list[str] = opened(use=use, **options)
    return found


def message(observation: str) -> str:
    return str(json.loads(observation)["error"]["message"])


def test_a_pinned_server_answers_in_the_jail_with_an_empty_environment(monkeypatch: Any) -> None:
    monkeypatch.setenv("API_KEY", "a secret")

    echo, failed, environ = told(
        ("echo", "hello"), ("fail", "x"), ("environ", ""), trust=False, env={"MODE": "fast"}
    )

    assert echo == "hello"
    assert "failed: x" in message(failed)
    assert "API_KEY" not in json.loads(environ)
    assert json.loads(environ)["MODE"] == "fast"


def test_a_trusted_server_has_the_environment_of_the_process(monkeypatch: Any) -> None:
    monkeypatch.setenv("API_KEY", "a key")

    assert json.loads(told(("environ", ""))[0])["API_KEY"] == "a key"


def test_a_server_without_a_pin_is_an_error_that_says_what_to_write() -> None:
    assert pin().startswith("sha256:")
    assert len(opened()) == 12  # three pages of its listing


def test_a_changed_listing_ends_the_episode() -> None:
    with pytest.raises(EpisodeError, match="other tools than were pinned"):
        opened("changed")


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("dead", "no license"),
        ("mute", "did not answer in time"),
        ("old", "1999-01-01"),
        ("endless", "100 pages"),
        ("strange", "not a list of tools"),
        ("large", "64,000 characters"),
    ],
)
def test_a_server_that_does_not_open_has_failed_by_itself(how: str, why: str) -> None:
    with pytest.raises(EpisodeError, match=why):
        opened(how, timeout=1.0 if how == "mute" else 10.0)


def test_a_command_that_is_not_there_is_named() -> None:
    with pytest.raises(EpisodeError, match="no-such-program"):
        opened(command=["no-such-program"])


def test_requests_of_the_server_are_refused_and_pings_are_answered() -> None:
    assert told(("ask", ""), ("echo", "still here")) == ["-32601 -32601 -32601 done", "still here"]


def test_garbage_and_answers_to_other_calls_are_dropped() -> None:
    assert told(("garbage", "mine"), ("echo", "next")) == ["mine", "next"]


def test_a_server_that_floods_is_given_up_and_the_episode_goes_on() -> None:
    flooded, after = told(("flood", ""), ("echo", "x"))

    assert "1,000 messages" in message(flooded)
    assert "1,000 messages" in message(after)


def test_a_server_that_hangs_is_given_up_after_three_calls() -> None:
    *_, third, fourth = told(("hang", ""), ("echo", "a"), ("echo", "b"), ("echo", "c"), timeout=0.3)

    assert "did not answer in time" in message(third)
    assert "3 calls in a row" in message(fourth)


def test_a_late_answer_is_not_taken_for_the_next_one() -> None:
    late, echo = told(("late", "x"), ("echo", "y"), timeout=1.0)

    assert "in time" in message(late)
    assert echo == "y"


def test_a_server_that_a_call_ends_is_an_observation_without_what_it_wrote_to_stderr() -> None:
    for options in ({}, {"trust": False}):
        died, after = told(("die", ""), ("echo", "x"), **options)

        assert "it has ended (exit" in message(died)
        assert "1234" not in died + after
        assert "it has ended" in message(after)


def test_a_sandboxed_server_that_ends_before_any_call_has_failed_by_itself() -> None:
    async def use(call: Callable[..., Awaitable[str]]) -> str:
        await asyncio.sleep(2.0)
        return await call("echo")

    with pytest.raises(EpisodeError, match="it has ended"):
        opened("leaves", use, trust=False)
    # A trusted one may have been ended by another tool of the policy.
    assert "it has ended" in opened("leaves", use)


def test_a_sandboxed_server_that_ends_after_a_call_may_have_ended_by_that_call() -> None:
    async def use(call: Callable[..., Awaitable[str]]) -> list[str]:
        first = await call("echo", "x")
        await asyncio.sleep(2.0)
        return [first, await call("echo", "y")]

    first, second = opened("once", use, trust=False)

    assert first == "x"
    assert "it has ended" in message(second)


class Silent:
    """A link of a server that answers some requests and not others, by a script."""

    sealed = True

    def __init__(self, *answers: bool) -> None:
        self.answers = [*answers]

    async def tell(self, _: bytes) -> None: ...

    async def ask(self, body: bytes) -> AsyncGenerator[bytes, None]:
        if not self.answers.pop(0):
            raise TimeoutError
        yield json.dumps({"id": json.loads(body)["id"], "result": {}}).encode()

    def set_version(self, _: str) -> None: ...

    async def close(self) -> None:
        self.answers.clear()


def test_only_calls_in_a_row_without_an_answer_lose_a_server() -> None:
    async def run(*answers: bool) -> list[str]:
        rpc = Rpc("c", cast("StdioLink", Silent(*answers)))
        told = []
        for _ in answers:
            try:
                await rpc.call("x", {})
                told.append("answered")
            except ServerError as error:
                told.append(str(error)[:20])
        return told

    late = "it did not answer in"
    answered = "answered"
    assert asyncio.run(run(False, False, True, False, False, True)) == [
        late,
        late,
        answered,
        late,
        late,
        answered,
    ]
    assert asyncio.run(run(False, False, False, True)) == [late, late, late, "it did not answer 3 "]


def test_cpu_that_a_policy_makes_a_server_burn_ends_the_server_and_not_the_episode() -> None:
    burned, after = told(("burn", ""), ("echo", "x"), cpu_s=0.5, trust=False, timeout=20.0)

    assert "did not answer" in message(burned) or "has ended" in message(burned)
    assert json.loads(after)["error"]


def test_results_are_text_of_bounded_length() -> None:
    image, long, longer, echo = told(
        ("image", "x"), ("long", "200000"), ("long", "3000000"), ("echo", "y")
    )

    assert image == "[image left out]\nx\n[None left out]"
    assert len(long.encode()) < 256_100
    assert "144,000 bytes left out" in long
    assert "too long" in message(longer)
    assert echo == "y"


def test_calls_of_one_message_take_turns() -> None:
    async def use(call: Callable[..., Awaitable[str]]) -> list[str]:
        return await asyncio.gather(*(call("echo", str(n)) for n in range(20)))

    assert opened(use=use) == [str(n) for n in range(20)]


def test_a_call_that_is_canceled_leaves_the_server_of_use() -> None:
    async def use(call: Callable[..., Awaitable[str]]) -> str:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(call("late", "x"), 0.2)
        return await call("echo", "y")

    assert opened(use=use) == "y"


def test_ten_megabytes_of_arguments_are_refused_and_one_arrives() -> None:
    refused, arrived = told(("echo", "x" * 10**7), ("echo", "y" * 10**6))

    assert json.loads(refused)["error"]["type"] in ("arguments", "error")
    assert arrived.startswith("yyy")


def test_a_pattern_of_a_server_is_not_run_on_what_a_policy_writes() -> None:
    assert told(("echo", "a" * 40 + "!")) == ["a" * 40 + "!"]  # it would take years


def test_no_tool_of_a_server_takes_the_name_of_ours() -> None:
    with pytest.raises(ConfigError, match="echo"):
        opened(taken=("echo",))
    assert "c_echo" in opened(taken=("echo",), prefix="c_")


def test_an_operator_chooses_among_the_tools() -> None:
    assert set(opened(tools=["echo", "fail"])) == {"echo", "fail"}
    with pytest.raises(ConfigError, match="no tool ehco"):
        opened(tools=["ehco"])


def test_what_a_server_says_of_a_tool_is_bounded_and_escaped() -> None:
    with pytest.raises(ConfigError) as error:
        opened("hostile", pin="")
    tools: Mapping[str, Tool] = opened("hostile", pin=str(error.value).split('"')[1])

    assert tools["a_b"].description.startswith("Add.\\u{1b}[2J \\u{202e}\\u{e0041}x")
    assert len(tools["a_b"].description) < 4_200
    assert tools["a_b"].problem({"text": "x"}) == ""  # no reference is followed


class Broken:
    """A session in a sandbox whose machine has no time for it, which none can be brought to."""

    isolation = "jail"

    def __init__(self, error: Exception, end: Exit | None = None) -> None:
        self.error = error
        self.end = end

    def clock(self) -> float:
        return 0.0

    async def start(self, *_: object) -> None: ...

    async def send(self, _: bytes) -> None: ...

    async def recv(self, *_: object) -> bytes:
        raise self.error

    async def finish(self, _: float) -> Exit:
        assert self.end is not None
        return self.end


@pytest.mark.parametrize(
    "session",
    [
        Broken(ChannelTimeout("no frame", starved=True)),
        Broken(ChannelEnded("lost"), Exit(None, "lost", fault=Fault("crash", "the sandbox broke"))),
    ],
)
def test_what_the_machine_or_the_sandbox_did_is_no_doing_of_the_policy(session: Any) -> None:
    async def run() -> None:
        link = StdioLink(session, 1.0, sealed=True)
        await link.start(["x"], {}, {})
        await Rpc("c", link).call("echo", {})

    with pytest.raises(VerifierFault):
        asyncio.run(run())


def test_episodes_wait_for_places_and_never_for_one_another() -> None:
    table = McpServers([server(prefix="a_"), server(name="d", prefix="b_")], places=2)

    async def run() -> list[int]:
        async def one() -> int:
            async with AsyncExitStack() as stack:
                tools = await open_tools({"mcp": table}, (), stack)
                await observe(tools, "b_echo", {"text": "x"}, ToolContext())
                return len(tools)

        return await asyncio.gather(*(one() for _ in range(3)))

    assert asyncio.run(run()) == [24, 24, 24]
