"""The official client of MCP, of both its major versions, unchanged, with our server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

import pytest
from serving import Client

pytest.importorskip(
    "mcp", reason="the package mcp is not installed here: `make test-trainers` runs this"
)
IS_FIRST = version("mcp").startswith("1.")
MODES = ["legacy"] if IS_FIRST else ["auto", "legacy"]


@asynccontextmanager
async def opened(url: str, mode: str) -> AsyncIterator[tuple[Any, Any]]:
    """A session of the official client, and what it was greeted with."""
    if IS_FIRST:
        from mcp import ClientSession
        from mcp.client.streamable_http import streamable_http_client

        async with (
            streamable_http_client(url) as (read, write, session_id),
            ClientSession(read, write) as session,
        ):
            greeting = await session.initialize()
            assert session_id() == greeting.meta["rlenv/episode_id"]
            yield session, greeting
    else:
        from mcp import Client as McpClient

        async with McpClient(url, mode=mode) as session:
            yield session, session.session.initialize_result


def text(result: Any) -> str:
    return str(result.content[0].text)


@pytest.mark.parametrize("mode", MODES)
def test_an_agent_lists_tools_calls_them_and_submits(ask: Client, mode: str) -> None:
    async def play() -> str:
        async with opened(f"{ask.url}/mcp/sums/t3", mode) as (session, greeting):
            assert greeting.instructions == "What is 3 + 3?"
            tools = (await session.list_tools()).tools
            assert [each.name for each in tools] == ["add", "submit"]
            got = await session.call_tool("add", {"a": 3, "b": 3})
            assert text(got) == "6"
            wrong = await session.call_tool("add", {"a": "x"})
            assert (wrong.isError if IS_FIRST else wrong.is_error) is True
            ended = await session.call_tool("submit", {"answer": "6"})
            assert text(ended) == "The episode has ended."
            assert "reward" not in str(ended)
            return str(greeting.meta["rlenv/episode_id"])

    id_ = asyncio.run(play())
    assert ask("GET", f"/episodes/{id_}/reward").body["reward"] == 1.0


@pytest.mark.parametrize("mode", MODES)
def test_an_agent_that_leaves_is_judged_as_it_is(ask: Client, mode: str) -> None:
    async def play() -> str:
        async with opened(f"{ask.url}/mcp/sums?seed=3", mode) as (session, greeting):
            await session.call_tool("add", {"a": 3, "b": 3})
            return str(greeting.meta["rlenv/episode_id"])

    id_ = asyncio.run(play())
    assert ask("GET", f"/episodes/{id_}").body["status"] == "done"
    assert ask("GET", f"/episodes/{id_}/reward").body["reward"] == 0.0
