"""The reasons why our client of MCP is hand-written: what a server can do through the official one.

Each test lets a server do to the client of the package `mcp` what it cannot do to ours, for which
`test_agent_mcp.py` and `test_agent_mcp_http.py` have the counterpart.  A test that fails here says
that the package has changed and that its reason is gone.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from importlib.metadata import version
from typing import Any

import pytest
from aiohttp import web

pytest.importorskip(
    "mcp", reason="the package mcp is not installed here: `make test-trainers` runs this"
)
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

IS_FIRST = version("mcp").startswith("1.")
LARGE = 64 << 20  # bytes; ours takes 4 MiB
SERVER: dict[str, object] = {"name": "c", "version": "1"}
GREETING: dict[str, object] = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "serverInfo": SERVER,
}
TOOL = {"name": "do", "inputSchema": {"type": "object"}}
Use = Callable[[ClientSession], Awaitable[Any]]


class Server:
    """A server with one tool, ``do``.

    Args:
        how: how a call of the tool goes; "" for a plain answer.
    """

    def __init__(self, how: str = "") -> None:
        self.how = how
        self.requests: list[str] = []
        self.messages: list[dict[str, Any]] = []
        self.has_many_requests = asyncio.Event()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(f"{request.method} {request.path}")
        if len(self.requests) > 50:
            self.has_many_requests.set()
        if request.method != "POST":
            return web.Response(text="retry: 0\nid: 1\n\n", content_type="text/event-stream")
        message = await request.json()
        self.messages.append(message)
        if "id" not in message:
            return web.Response(status=202)
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": self.result(message["method"])}
        return self.answered(request, json.dumps(answer), message["method"] == "tools/call")

    def answered(self, request: web.Request, answer: str, is_call: bool) -> web.Response:
        headers = {"Content-Type": "application/json", "Mcp-Session-Id": "s"}
        if is_call and self.how == "broken":
            assert request.transport is not None
            request.transport.abort()
        if is_call and self.how == "redirect" and request.path == "/mcp":
            raise web.HTTPTemporaryRedirect("/elsewhere")
        if is_call and self.how == "compressed":
            body = gzip.compress(answer.encode())
            return web.Response(body=body, headers={**headers, "Content-Encoding": "gzip"})
        return web.Response(body=answer.encode(), headers=headers)

    def result(self, method: str) -> dict[str, object]:
        if method == "initialize":
            return GREETING
        if method == "tools/list":
            return {"tools": [TOOL]}
        text = "x" * LARGE if self.how == "compressed" else "the text"
        content: list[object] = [{"type": "text", "text": text}]
        if self.how == "unknown":
            content.append({"type": "hologram", "data": "AAAA"})
        return {"content": content}


def using(server: Server, use: Use) -> Any:
    """What ``use`` makes of a session of the official client with the server."""

    async def run() -> Any:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", server.handle)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/mcp"
        try:
            async with (
                streamable_http_client(url) as streams,
                ClientSession(*streams[:2]) as session,
            ):
                await session.initialize()
                return await use(session)
        finally:
            await runner.cleanup()

    return asyncio.run(asyncio.wait_for(run(), 60))


async def call(session: ClientSession) -> str:
    """The text that a call of the tool returns."""
    result = await session.call_tool("do", {})
    return "".join(each.text for each in result.content if each.type == "text")


def test_a_redirect_within_the_origin_is_followed() -> None:
    server = Server("redirect")

    assert using(server, call) == "the text"
    assert "POST /elsewhere" in server.requests


def test_a_server_makes_the_client_send_requests_without_end_while_no_call_runs() -> None:
    using(server := Server(), lambda _: server.has_many_requests.wait())

    assert server.requests.count("POST /mcp") == 2


def test_an_answer_may_be_compressed_and_of_any_length() -> None:
    assert len(using(Server("compressed"), call)) == LARGE


def test_a_connection_that_breaks_in_one_call_ends_the_session_of_all() -> None:
    async def use(session: ClientSession) -> None:
        with suppress(Exception):
            await call(session)
        await session.list_tools()

    with pytest.raises(BaseExceptionGroup, match="unhandled errors in a TaskGroup"):
        using(server := Server("broken"), use)
    assert server.messages[-1]["method"] == "tools/call"  # the next request was never sent


def test_content_of_an_unknown_type_loses_the_text_beside_it() -> None:
    async def use(session: ClientSession) -> str:
        with pytest.raises(ValueError, match="validation error"):
            await call(session)
        return "lost"

    assert using(Server("unknown"), use) == "lost"


@pytest.mark.skipif(IS_FIRST, reason="version 1 sends no context of traces")
def test_the_server_is_told_the_baggage_of_the_operators_traces() -> None:
    from opentelemetry import baggage, context

    async def use(session: ClientSession) -> str:
        token = context.attach(baggage.set_baggage("user", "alice"))
        try:
            return await call(session)
        finally:
            context.detach(token)

    using(server := Server(), use)

    assert server.messages[-1]["params"]["_meta"]["baggage"] == "user=alice"


# The limit of a call is 1 second; the alarm ends the process where the loop is blocked for longer.
PATTERN = """
import asyncio, signal, sys
import anyio
from mcp import ClientSession
from mcp.shared.message import SessionMessage
from {module} import {parse}

RESULTS = {results!r}


async def answer(questions, answers):
    async for question in questions:
        asked = question.message.model_dump(mode="json", by_alias=True)
        if asked.get("id") is not None:
            made = {{"jsonrpc": "2.0", "id": asked["id"], "result": RESULTS[asked["method"]]}}
            await answers.send(SessionMessage({parse}.{validate}(made)))


async def main():
    ours, questions = anyio.create_memory_object_stream(9)
    answers, theirs = anyio.create_memory_object_stream(9)
    server = asyncio.create_task(answer(questions, answers))
    async with ClientSession(theirs, ours) as session:
        await session.initialize()
        await session.list_tools()
        await asyncio.wait_for(session.call_tool("do", {{}}), 1)
    server.cancel()


signal.alarm(15)
asyncio.run(main())
"""


@pytest.mark.parametrize("text", ["aaa", "a" * 50 + "!"])
def test_a_pattern_of_the_server_blocks_the_event_loop_beyond_the_limit_of_the_call(
    text: str,
) -> None:
    pattern = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    results = {
        "initialize": GREETING,
        "tools/list": {"tools": [{**TOOL, "outputSchema": pattern}]},
        "tools/call": {"content": [], "structuredContent": {"a": text}},
    }
    first = {"module": "mcp.types", "parse": "JSONRPCMessage", "validate": "model_validate"}
    second = {
        "module": "mcp_types",
        "parse": "jsonrpc_message_adapter",
        "validate": "validate_python",
    }
    program = PATTERN.format(results=results, **(first if IS_FIRST else second))

    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)

    assert ended.returncode == (0 if text == "aaa" else -signal.SIGALRM), ended.stderr
