"""What somebody else's page, tenant or flood may not do over WebSockets and MCP."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rlenv_serve import Keys, Limits, Server
from rlenv_serve.http.keys import add_key
from serving import Client, running, served, single, sums
from sockets import Talk, talking
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
FRAMES = st.one_of(
    st.binary(max_size=64),
    st.text(max_size=64),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["reset", "step", "state", "mcp", "harness", ""])},
        optional={
            "data": st.recursive(
                st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
                lambda inner: (
                    st.lists(inner)
                    | st.dictionaries(
                        st.sampled_from(
                            [
                                "task_id",
                                "seed",
                                "type",
                                "tool_name",
                                "arguments",
                                "answer",
                                "value",
                                "jsonrpc",
                                "method",
                                "id",
                            ]
                        )
                        | st.text(),
                        inner,
                    )
                ),
                max_leaves=12,
            )
        },
    ).map(json.dumps),
)


@pytest.fixture(scope="module")
def server() -> Iterator[Client]:
    with sums() as env, single() as other, running(Server(served(env, other))) as ask:
        yield ask


def refused(ask: Client, **headers: str) -> int:
    with pytest.raises(InvalidStatus) as raised, talking(ask, **headers):
        pass
    return int(raised.value.response.status_code)


def test_pages_of_others_and_names_that_were_pointed_here_are_rejected(server: Client) -> None:
    home = f"http://127.0.0.1:{server.port}"
    for origin in (
        "http://evil.example",
        "null",
        "http://127.0.0.1:1",
        f"{home}.evil.example",
        f"http://evil-{home[7:]}",
    ):
        assert refused(server, Origin=origin) == 403
        assert server("POST", "/mcp/sums", HELLO, Origin=origin).status == 403
        assert server("DELETE", "/mcp/sums", Origin=origin).status == 403
        assert server("POST", "/episodes", {"task_id": "t3"}, Origin=origin).status == 403
    for host in (
        "evil.example",
        f"evil.example:{server.port}",
        "",
        "127.0.0.1.evil.example",
        "[::ffff",
    ):
        assert server("POST", "/mcp/sums", HELLO, Host=host).status in (400, 421)
    assert (
        server("POST", "/mcp/sums", HELLO, Host="evil.example", Origin="http://evil.example").status
        == 421
    )
    with talking(server, Origin=home) as talk:
        assert talk("state")["type"] == "state"
    for host in ("localhost:1", "127.0.0.1", "[::1]:8000"):
        assert server("POST", "/mcp/sums", HELLO, Host=host).status == 200


def test_sessions_and_episodes_of_another_tenant_are_not_there(tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    alice, bob = (add_key(file, name, answers=False, operator=False) for name in ("alice", "bob"))
    with sums() as env, running(Server(served(env), keys=Keys.from_file(file))) as ask:
        first = Client(ask.port, {"X-API-Key": alice})
        second = Client(ask.port, {"Authorization": f"Bearer {bob}"})
        assert refused(ask) == 401
        assert ask("POST", "/mcp/sums", HELLO).status == 401
        assert ask("POST", "/openenv/sums/mcp", {}).status == 401
        assert first("POST", "/mcp/sums", HELLO, Host="env.example").status == 200
        create = {"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create"}
        session = first("POST", "/openenv/sums/mcp", create).body["result"]["session_id"]
        with talking(first, session=session) as talk:
            episode = talk("reset", task_id="t3")["data"]["observation"]["episode_id"]
            for id_ in (session, episode):
                with talking(second, session=id_) as other:
                    assert "SESSION_ERROR" in str(other.socket.recv(timeout=60))
                asked = {**create, "method": "tools/list", "params": {"session_id": id_}}
                assert (
                    second("POST", "/openenv/sums/mcp", asked).body["error"]["data"]["status"]
                    == 404
                )
                closing = {**asked, "method": "openenv/session/close"}
                assert (
                    second("POST", "/openenv/sums/mcp", closing).body["error"]["data"]["status"]
                    == 404
                )
            listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            assert second("POST", "/mcp/sums", listing, Mcp_Session_Id=episode).status == 404
            assert second("DELETE", "/mcp/sums", Mcp_Session_Id=episode).status == 404
            assert talk("step", answer="6")["data"]["reward"] == 1.0


def test_a_key_in_a_url_is_enough(tmp_path: Path) -> None:
    key = add_key(tmp_path / "keys.toml", "alice", answers=False, operator=False)
    keys = Keys.from_file(tmp_path / "keys.toml")
    with (
        sums() as env,
        running(Server(served(env), keys=keys)) as ask,
        connect(f"ws://user:{key}@127.0.0.1:{ask.port}/openenv/sums/ws", proxy=None) as opened,
    ):
        assert Talk(opened)("reset")["type"] == "observation"


def test_frames_that_are_too_long_end_their_own_connection_alone(server: Client) -> None:
    with talking(server) as other:
        other("reset", task_id="t3")
        with talking(server) as talk:
            talk.socket.send('{"type": "step", "data": {"answer": "' + "x" * (1 << 20) + '"}}')
            with pytest.raises(ConnectionClosed) as raised:
                talk.socket.recv(timeout=60)
            assert raised.value.rcvd is not None
            assert raised.value.rcvd.code == 1009
        assert other("step", answer="6")["data"]["reward"] == 1.0


@settings(
    max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(st.lists(FRAMES, min_size=1, max_size=5))
def test_no_frame_closes_a_connection_or_fails(server: Client, frames: list[str | bytes]) -> None:
    with talking(server) as talk:
        for frame in frames:
            found = talk.raw(frame)
            assert found["type"] in ("observation", "state", "mcp", "error"), found
            assert "its log says why" not in str(found), found
        assert talk("state")["type"] == "state"


def test_a_flood_of_frames_is_answered_in_order_and_holds_nobody_else(server: Client) -> None:
    with talking(server) as flood, talking(server) as other:
        for n in range(2000):
            flood.socket.send(
                json.dumps(
                    {"type": "mcp", "data": {"jsonrpc": "2.0", "id": n, "method": "tools/list"}}
                )
            )
        other("reset", task_id="t3")  # the answers to the flood are more than are read ahead
        assert other("step", answer="6")["data"]["reward"] == 1.0
        assert [json.loads(flood.socket.recv(timeout=60))["data"]["id"] for n in range(2000)] == [
            *range(2000)
        ]


def test_half_a_frame_and_a_silent_client_hold_nobody_else() -> None:
    with (
        sums() as env,
        running(Server(served(env), limits=Limits(idle=4.0))) as ask,
        ExitStack() as stack,
    ):
        for _ in range(20):
            raw = stack.enter_context(socket.create_connection(("127.0.0.1", ask.port)))
            lines = [
                "GET /openenv/sums/ws HTTP/1.1",
                f"Host: 127.0.0.1:{ask.port}",
                "Upgrade: websocket",
                "Connection: Upgrade",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                "Sec-WebSocket-Version: 13",
                "",
                "",
            ]
            raw.sendall("\r\n".join(lines).encode())
            assert b"101" in raw.recv(1000)
            raw.sendall(b"\x81\xfe\x10\x00")  # the head of a frame whose body never comes
        with talking(ask) as talk:
            talk("reset", task_id="t3")
            assert talk("step", answer="6")["data"]["reward"] == 1.0
            with pytest.raises(ConnectionClosed) as raised:
                talk.socket.recv(timeout=60)
            assert raised.value.rcvd is not None
            assert raised.value.rcvd.code == 1001
        raw.settimeout(60)
        assert raw.recv(1000)[:1] == b"\x88"  # closed
