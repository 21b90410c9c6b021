"""The official client ``ors-sdk``, unchanged, with our server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cutting import cutting
from ors_wire import echoes, slow_environment, talk
from rlenv_serve import Keys, Server
from rlenv_serve.http.keys import add_key
from rlenv_serve.ors import sessions as ors_sessions
from serving import SECRET, Client, broken, catalog_of, running, served, sums

pytest.importorskip("ors", reason="ors-sdk is not installed here: `make test-trainers` runs this")

from aiohttp import ClientResponseError
from ors.client import ORS
from ors.client._types import AuthenticationError, ToolCallError


@pytest.fixture(scope="module")
def server() -> Iterator[Client]:
    with catalog_of(sums(), talk(), echoes(), broken()) as catalog, running(Server(catalog)) as ask:
        yield ask


@pytest.fixture(scope="module")
def client(server: Client) -> Iterator[Any]:
    with ORS(server.url) as made:
        yield made


def text_of(output: Any) -> str:
    return "".join(each.text for each in output.blocks)


@pytest.mark.parametrize("name", ["sums", "SUMS"])
def test_splits_tasks_and_ranges(client: Any, name: str) -> None:
    env = client.environment(name)
    specs = [each.task_spec for each in env.list_tasks("train")]

    assert env.list_splits() == ["train", "test"]
    assert env.num_tasks("train") == 8
    assert [each["task_id"] for each in specs] == [f"t{n}" for n in range(8)]
    assert env.get_task("train", 3).task_spec == specs[3]
    for start, stop in ((None, None), (2, 4), (-2, None)):
        assert [each.task_spec for each in env.get_task_range("train", start, stop)] == specs[
            start:stop
        ]


def test_a_session_by_task(client: Any) -> None:
    env = client.environment("talk")
    with env.session(task=env.get_task("dev", 1), secrets={"key": "secret"}) as session:
        assert [each.text for each in session.get_prompt()] == ["Be brief.", "What is 4 + 4?"]
        output = session.call_tool("submit", {"answer": "8"})
        assert (output.reward, output.finished) == (1.0, True)


def test_a_session_by_index_is_of_the_first_environment_and_others_say_so(client: Any) -> None:
    with client.environment("sums").session(split="train", index=3) as session:
        assert [each.text for each in session.get_prompt()] == ["What is 3 + 3?"]
        assert session.call_tool("submit", {"answer": "6"}).reward == 1.0
    with (
        client.environment("echoes").session(split="train", index=3) as session,
        pytest.raises(Exception, match="env_name"),
    ):
        session.get_prompt()


@pytest.mark.parametrize("format_", [None, "openai", "openrouter", "anthropic", "google"])
def test_tools_in_the_formats_of_providers(client: Any, format_: str | None) -> None:
    env = client.environment("sums")
    with env.session(split="train", index=0) as session:
        found = session.list_tools(format_)
        assert found == env.list_tools(format_)
    assert "Add two numbers." in str(found[0])


def test_a_call_and_its_refusals(client: Any) -> None:
    with client.environment("sums").session(split="train", index=3) as session:
        assert text_of(session.call_tool("add", {"a": 3, "b": 3})) == "6"
        for name, given in (("subtract", {}), ("add", {"a": "x", "b": 1}), ("submit", {})):
            with pytest.raises(ToolCallError):
                session.call_tool(name, given)
        assert session.call_tool("submit", {"answer": "6"}).reward == 1.0
        with pytest.raises(ToolCallError):
            session.call_tool("add", {"a": 1, "b": 1})


def test_an_unscored_end_is_an_error_and_no_reward(client: Any) -> None:
    env = client.environment("broken")
    with env.session(task=env.get_task("train", 0)) as session:
        with pytest.raises(RuntimeError, match="not worth 0") as raised:
            session.call_tool("submit", {"answer": "0"})
        assert SECRET not in str(raised.value)


@pytest.mark.parametrize("offset", [0, 1, 2, 4000])
def test_white_space_arrives(client: Any, offset: int) -> None:
    env = client.environment("echoes")
    with env.session(task=env.get_task("train", 0)) as session:
        assert (
            text_of(session.call_tool("spaces", {"count": 18_000, "offset": offset}))
            == "x" * offset + " " * 18_000
        )
        assert (
            text_of(session.call_tool("echo", {"text": "\u2028 \ud800 \t\n\u3000"}))
            == "\u2028 \ufffd \t\n\u3000"
        )


def test_a_call_is_made_once_although_its_stream_breaks(server: Client) -> None:
    with cutting(server.port) as proxy, ORS(proxy.url) as client:
        env = client.environment("echoes")
        with env.session(task=env.get_task("train", 0)) as session:
            assert text_of(session.call_tool("sleep", {"seconds": 0.3})) == "awake"
            assert proxy.cuts == 1
            assert server("GET", f"/episodes/{session.sid[:32]}").body["steps"] == 1


def test_an_episode_that_begins_slowly_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ors_sessions, "SETUP", 0.5)
    threading.Timer(1.2, (begins := threading.Event()).set).start()
    with (
        slow_environment(begins) as env,
        running(Server(served(env))) as ask,
        ORS(ask.url) as client,
        client.environment("slow").session(split="train", index=3) as session,
    ):
        assert [each.text for each in session.get_prompt()] == ["What is 3 + 3?", "Go on."]


def test_keys(tmp_path: Path) -> None:
    key = add_key(tmp_path / "keys.toml", "alice", answers=False, operator=False)
    with (
        sums() as env,
        running(Server(served(env), keys=Keys.from_file(tmp_path / "keys.toml"))) as ask,
    ):
        with (
            ORS(ask.url, key) as client,
            client.environment("sums").session(split="train", index=0) as session,
        ):
            assert session.call_tool("submit", {"answer": "0"}).reward == 1.0
        with ORS(ask.url, key + "x") as client, pytest.raises(AuthenticationError):
            client.environment("sums").list_splits()


def test_what_there_is_not_says_so(client: Any) -> None:
    with pytest.raises(ClientResponseError, match="Invalid split"):
        client.environment("sums").list_tasks("validation")
