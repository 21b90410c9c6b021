"""Official clients of OpenEnv, unchanged, with our server: ``openenv`` 0.10 and ``openenv-core``
0.3.
"""

from __future__ import annotations

import asyncio
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from rlenv_serve import Keys, Server
from rlenv_serve.http.keys import add_key
from serving import Client, broken, running, served, single, sums

pytest.importorskip(
    "openenv.core", reason="OpenEnv is not installed here: `make test-trainers` runs this"
)

from openenv.core.env_server.mcp_types import CallToolAction, ListToolsAction
from openenv.core.generic_client import GenericEnvClient
from openenv.core.mcp_client import MCPToolClient


def is_first() -> bool:
    """Whether this is ``openenv-core`` 0.3, whose clients have no headers."""
    try:
        return version("openenv-core").startswith("0.3")
    except PackageNotFoundError:
        return False


def url(ask: Client, env: str = "sums", user: str = "") -> str:
    return f"http://{user}127.0.0.1:{ask.port}/openenv/{env}"


def test_the_generic_client_plays_an_episode(ask: Client) -> None:
    async def play() -> None:
        async with GenericEnvClient(base_url=url(ask)) as env:
            first = await env.reset(task_id="t3", episode_id="mine")
            assert (first.observation["text"], first.reward, first.done) == (
                "What is 3 + 3?",
                None,
                False,
            )
            step = await env.step(
                {"type": "call_tool", "tool_name": "add", "arguments": {"a": 3, "b": 3}}
            )
            assert (step.observation["result"], step.done) == ("6", False)
            assert await env.state() == {
                "episode_id": "mine",
                "step_count": 1,
                "task_id": "t3",
                "done": False,
            } | {"session_id": (await env.state())["session_id"]}
            last = await env.step({"answer": "6"})
            assert (last.reward, last.done) == (1.0, True)

    asyncio.run(play())


def test_the_client_without_a_loop_plays_an_episode(ask: Client) -> None:
    with GenericEnvClient(base_url=url(ask, "single")).sync() as env:
        for seed, answer, reward in ((3, "6", 1.0), (4, "6", 0.0)):
            env.reset(seed=seed)
            assert env.step({"answer": answer}).reward == reward


def test_the_client_of_tools_lists_and_calls_them(ask: Client) -> None:
    async def play() -> None:
        async with MCPToolClient(base_url=url(ask)) as env:
            await env.reset(task_id="t3")
            tools = await env.list_tools()
            assert [each.name for each in tools] == ["add", "submit"]
            assert tools[0].input_schema["required"] == ["a", "b"]
            assert await env.call_tool("add", a=3, b=3) == "6"
            assert (await env.state()).step_count == 1
            stepped = await env.step(CallToolAction(tool_name="add", arguments={"a": "x"}))
            assert stepped.observation.error.error_type.value == "invalid_args"
            listed = await env.step(ListToolsAction())
            assert [each.name for each in listed.observation.tools] == ["add", "submit"]
            last = await env.step(CallToolAction(tool_name="submit", arguments={"answer": "6"}))
            assert (last.reward, last.done) == (1.0, True)

    asyncio.run(play())


def test_a_tool_that_there_is_not_raises_as_with_an_official_server(ask: Client) -> None:
    async def play() -> None:
        async with MCPToolClient(base_url=url(ask)) as env:
            await env.reset(task_id="t3")
            with pytest.raises(RuntimeError, match="no_such_tool"):
                await env.call_tool("no_such_tool")
            stepped = await env.step(CallToolAction(tool_name="no_such_tool", arguments={}))
            assert stepped.observation.error.error_type.value == "tool_not_found"
            assert await env.call_tool("add", a=3, b=3) == "6"

    asyncio.run(play())


def test_a_field_that_there_is_not_raises_as_with_an_official_server(ask: Client) -> None:
    async def play() -> None:
        async with GenericEnvClient(base_url=url(ask, "single")) as env:
            with pytest.raises(RuntimeError, match="VALIDATION_ERROR"):
                await env.reset(taskid="t3")
            await env.reset(task_id="t3", any_action=False)
            with pytest.raises(RuntimeError, match="VALIDATION_ERROR"):
                await env.step({"text": "6"})
            assert (await env.step({"answer": "6"})).reward == 1.0

    asyncio.run(play())


@pytest.mark.parametrize(("action", "reward"), [({"text": "6"}, 1.0), ({"a": 1}, 0.0), ({}, 0.0)])
def test_no_object_of_a_policy_raises(
    ask: Client, action: dict[str, object], reward: float
) -> None:
    async def play() -> None:
        async with GenericEnvClient(base_url=url(ask, "single")) as env:
            await env.reset(task_id="t3")
            got = await env.step(action)
            assert (got.reward, got.done) == (reward, True)
            assert "error_type" in got.observation["error"]

    asyncio.run(play())


def test_an_agent_that_submits_is_told_no_reward(ask: Client) -> None:
    async def play() -> object:
        async with MCPToolClient(base_url=url(ask)) as env:
            await env.reset(task_id="t3")
            return await env.call_tool("submit", answer="7")

    assert asyncio.run(play()) == "The episode has ended."


def test_an_unscored_episode_raises(ask: Client) -> None:
    async def play() -> None:
        async with GenericEnvClient(base_url=url(ask, "broken")) as env:
            await env.reset(task_id="t0")
            with pytest.raises(RuntimeError, match="EXECUTION_ERROR"):
                await env.step({"answer": "0"})
            assert (await env.reset(task_id="t0")).done is False

    asyncio.run(play())


def test_errors_have_the_codes_that_clients_know(ask: Client) -> None:
    async def play() -> None:
        async with GenericEnvClient(base_url=url(ask)) as env:
            with pytest.raises(RuntimeError, match="VALIDATION_ERROR"):
                await env.reset(task_id="t99")
            with pytest.raises(RuntimeError, match="reset first"):
                await env.step({"answer": "6"})

    asyncio.run(play())


def test_a_key_is_sent_as_a_header_or_in_the_url(tmp_path: Path) -> None:
    key = add_key(tmp_path / "keys.toml", "alice", answers=False, operator=False)

    async def play(ask: Client) -> None:
        headers = {"Authorization": f"Bearer {key}"}
        ways: list[dict[str, object]] = [{"base_url": url(ask, user=f"user:{key}@")}]
        ways += [] if is_first() else [{"base_url": url(ask), "headers": headers}]
        for way in ways:
            for kind in (GenericEnvClient, MCPToolClient):
                async with kind(**way) as env:
                    await env.reset(task_id="t3")
                    assert (
                        await env.step(
                            CallToolAction(tool_name="submit", arguments={"answer": "6"})
                        )
                    ).reward == 1.0
        with pytest.raises(ConnectionError):
            async with GenericEnvClient(base_url=url(ask)):
                pass

    catalog = served(sums(), single(), broken())
    with running(Server(catalog, keys=Keys.from_file(tmp_path / "keys.toml"))) as ask:
        asyncio.run(play(ask))
