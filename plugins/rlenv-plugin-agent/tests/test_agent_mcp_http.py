"""MCP servers over streamable HTTP: listed hosts alone, no redirects, bounded answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest
from aiohttp import web
from rlenv import ConfigError
from rlenv_plugin_agent.errors import EpisodeError
from rlenv_plugin_agent.tools.calling import observe
from rlenv_plugin_agent.tools.context import ToolContext
from rlenv_plugin_agent.tools.mcp.server import McpServer
from rlenv_plugin_agent.tools.mcp.table import McpServers
from rlenv_plugin_agent.tools.tool import open_tools

PIN = "sha256:" + "0" * 64
ECHO = {"name": "echo", "inputSchema": {"type": "object"}}


class Server:
    """A server with one tool, ``echo``, whose argument ``how`` says how the call goes."""

    def __init__(self, kind: str = "json") -> None:
        self.kind = kind
        self.heard: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.methods: list[str] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.methods.append(request.method)
        self.headers.append(dict(request.headers))
        if request.method == "DELETE":
            return web.Response()
        message = await request.json()
        self.heard.append(message)
        if "id" not in message or "method" not in message:
            return web.Response(status=202)
        arguments = message["params"].get("arguments", {})
        result = self.result(message["method"], arguments)
        answer = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result})
        return await self.answered(request, arguments.get("how", ""), answer)

    def result(self, method: str, arguments: dict[str, Any]) -> dict[str, object]:
        if method == "initialize":
            return {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {}}
        if method == "tools/list":
            return {"tools": [ECHO]}
        return {"content": [{"type": "text", "text": arguments.get("text", "")}]}

    async def answered(self, request: web.Request, how: str, answer: str) -> web.StreamResponse:
        session = {"Mcp-Session-Id": "s1"}
        if how == "redirect" or self.kind == "redirect":
            raise web.HTTPTemporaryRedirect("/elsewhere")
        if how == "gone":
            return web.Response(status=404)
        if how == "hang":
            await asyncio.sleep(60)
        if how == "compressed":
            return web.Response(body=b"x", headers={"Content-Encoding": "gzip", **session})
        if how == "large":
            return web.Response(body=b" " * (5 << 20), content_type="application/json")
        if how == "html":
            return web.Response(text="<html>", content_type="text/html")
        if self.kind == "json":
            return web.Response(text=answer, content_type="application/json", headers=session)
        return await self.streamed(request, how, answer, session)

    async def streamed(
        self, request: web.Request, how: str, answer: str, session: dict[str, str]
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", **session})
        await response.prepare(request)
        sampling = '{"jsonrpc": "2.0", "id": "q", "method": "sampling/createMessage", "params": {}}'
        for part in (": hello\r\n\r\n", "id: 1\ndata:\n\n", f"data: {sampling}\n\n"):
            await response.write(part.encode())
        if how == "flood":
            for _ in range(2_000):
                await response.write(b'data: {"method": "notifications/x"}\n\n')
        half = answer.index("{", 1)
        if how != "broken":
            event = f"event: message\ndata: {answer[:half]}\ndata: {answer[half:]}\n\n"
            await response.write(event[:20].encode())
            await response.write(event[20:].encode())
        return response


def using(
    server: Server, use: Callable[[Callable[..., Awaitable[str]]], Awaitable[Any]], **options: Any
) -> Any:
    """What ``use`` makes of the server's tool."""

    async def run() -> Any:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", server.handle)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host = f"127.0.0.1:{runner.addresses[0][1]}"
        try:
            pin = PIN if server.kind == "redirect" else await unpinned(host)
            return await opened(host, pin)
        finally:
            await runner.cleanup()

    async def unpinned(host: str) -> str:
        with pytest.raises(ConfigError) as error:
            await opened(host, "")
        return str(error.value).split('"')[1] if "not pinned" in str(error.value) else PIN

    async def opened(host: str, pin: str) -> Any:
        given = {"url": f"http://{host}/mcp", "timeout": 2.0, "pin": pin, **options}
        table = McpServers([McpServer("c", **given)], hosts=[host])
        async with AsyncExitStack() as stack:
            tools = await open_tools({"mcp": table}, (), stack)

            async def call(how: str = "", text: str = "") -> str:
                return await observe(tools, "echo", {"how": how, "text": text}, ToolContext())

            return await use(call)

    return asyncio.run(run())


@pytest.mark.parametrize("kind", ["json", "events"])
def test_a_server_answers_in_json_and_in_events(kind: str, monkeypatch: Any) -> None:
    monkeypatch.setenv("TOKEN_OF_C", "t0k")
    server = Server(kind)

    assert using(server, lambda call: call(text="hi"), token_env="TOKEN_OF_C") == "hi"
    last = server.headers[-2]
    assert last["Authorization"] == "Bearer t0k"
    assert (last["Mcp-Session-Id"], last["MCP-Protocol-Version"]) == ("s1", "2025-06-18")
    assert server.methods[-1] == "DELETE"
    refused = [each for each in server.heard if each.get("id") == "q"]
    assert all(each["error"]["code"] == -32601 for each in refused)
    assert bool(refused) == (kind == "events")


@pytest.mark.parametrize(
    ("kind", "how", "why"),
    [
        ("json", "redirect", "status 307"),
        ("json", "compressed", "compressed"),
        ("json", "large", "too long"),
        ("json", "html", "without an answer"),
        ("json", "hang", "in time"),
        ("events", "broken", "without an answer"),
    ],
)
def test_a_call_without_an_answer_is_an_observation_and_the_next_one_works(
    kind: str, how: str, why: str
) -> None:
    async def use(call: Callable[..., Awaitable[str]]) -> list[str]:
        return [await call(how), await call(text="next")]

    server = Server(kind)
    wrong, after = using(server, use, timeout=3.0 if how == "hang" else 10.0)

    assert why in json.loads(wrong)["error"]["message"]
    assert after == "next"
    assert "/elsewhere" not in str(server.headers)


def test_a_flood_or_an_ended_session_loses_the_server_and_not_the_episode() -> None:
    for kind, how in (("events", "flood"), ("json", "gone")):

        async def use(call: Callable[..., Awaitable[str]], how: str = how) -> list[str]:
            return [await call(how), await call(text="next")]

        assert all(json.loads(each)["error"] for each in using(Server(kind), use))


def test_a_server_that_is_down_or_redirects_does_not_open() -> None:
    async def use(call: Callable[..., Awaitable[str]]) -> str:
        return await call()

    with pytest.raises(EpisodeError, match="307"):
        using(Server("redirect"), use)


def test_a_host_that_is_not_listed_is_an_error() -> None:
    for url in ("http://example.org/", "http://a@good:1/", "ftp://good:1/", "http://good:1@bad/"):
        with pytest.raises(ConfigError, match="not in hosts"):
            McpServers([McpServer("c", url=url)], hosts=["good:1"])


def test_a_token_that_is_not_set_is_an_error_that_names_the_variable() -> None:
    with pytest.raises(ConfigError, match="NO_SUCH_TOKEN"):
        using(Server(), lambda call: call(), token_env="NO_SUCH_TOKEN")
