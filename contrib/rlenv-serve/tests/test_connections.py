"""Clients that open connections and send nothing, too slowly or without end keep nobody else
out.
"""

from __future__ import annotations

import json
import logging
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from commands import COMMAND, everyday
from ors_wire import begun, echoes
from rlenv_serve import Keys, Server
from rlenv_serve.http.keys import add_key
from rlenv_serve.listening import Connections, FileLimit
from rlenv_serve.listening.connections import Patience, site_of
from serving import Client, episode, running, served, single, sums, until
from sockets import talking

HALF = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: "
UPGRADE = (
    b"GET /openenv/sums/ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection:"
    b" Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
STEP = {"action": "submit", "answer": "6"}
SOON = Patience(head=0.3, body=0.3, rate=1.0, stalled=0.3)


@contextmanager
def sockets(port: int, count: int, sent: bytes) -> Iterator[list[socket.socket]]:
    """So many connections, each of which sends this and nothing more."""
    with ExitStack() as stack:
        made = list[socket.socket]()
        for _ in range(count):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
            one.sendall(sent)
            made.append(one)
        yield made


def rest(one: socket.socket) -> bytes:
    """All that comes until the other side closes."""
    parts = list[bytes]()
    try:
        while part := one.recv(65536):
            parts.append(part)
    except ConnectionError:
        pass
    return b"".join(parts)


def send_until_closed(one: socket.socket, part: bytes, pause: float = 0.0) -> None:
    """Send the same again and again; returns when the other side has closed the connection."""

    def is_closed() -> bool:
        try:
            one.sendall(part)
        except OSError:
            return True
        time.sleep(pause)
        return False

    until(is_closed)


# -- how many --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"G",
        HALF,
        b"\r\n",
        b"POST /episodes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n",
    ],
)
def test_half_open_connections_keep_no_other_client_out(sent: bytes) -> None:
    limits = Connections(20)
    with running(Server(served(sums())), limits) as ask, sockets(ask.port, 100, sent):
        id_ = episode(ask)
        assert ask("POST", f"/episodes/{id_}/steps", STEP).body["reward"] == 1.0
        with talking(ask) as talk:
            assert talk("reset")["type"] == "observation"
        assert limits.open <= 20


def test_connections_whose_requests_run_are_not_closed_for_others(tmp_path: Path) -> None:
    gate = tmp_path / "open"
    with running(Server(served(echoes())), limits := Connections(4, of_peer=4)) as ask:
        playing = begun(ask)
        with talking(ask, "echoes") as talk, sockets(ask.port, 30, HALF):
            talk("reset", task_id="t0")
            talk.socket.send(
                json.dumps(
                    {
                        "type": "step",
                        "data": {"tool_name": "gate", "arguments": {"path": str(gate)}},
                    }
                )
            )
            assert ask("GET", "/healthz").status == 200
            assert limits.open <= 4
            gate.touch()
            assert (
                json.loads(talk.socket.recv(timeout=60))["data"]["observation"]["result"] == "open"
            )
        assert "x" in str(playing.call("echo", text="x"))


def test_where_every_connection_is_used_another_is_503_and_told_why() -> None:
    with running(Server(served(sums())), Connections(2, of_peer=2)) as ask, ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(talking(ask))
        with socket.create_connection(("127.0.0.1", ask.port), timeout=60) as late:
            head, _, body = rest(late).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    assert b"application/problem+json" in head
    assert json.loads(body)["code"] == "too_many_connections"


def test_the_address_with_most_connections_gives_way_and_no_other() -> None:
    closed = list[str]()
    limits = Connections(6, of_peer=4)
    for name, address in enumerate(["a", "b", "b", "b", "b"]):
        assert limits.add(f"{address}{name}", address, lambda: closed.append(address))  # noqa: B023 - as it is now
    assert limits.add("b5", "b", lambda: None)  # it has four: its own oldest gives way
    assert closed == ["b"]
    assert limits.open == 5
    for n in range(6, 20):
        assert limits.add(n, "c", lambda: closed.append("c"))
    assert "a" not in closed
    assert limits.open <= 6
    limits.works("a0")
    for each in [*range(6, 20), *(f"b{n}" for n in range(1, 6)), "a0"]:
        limits.remove(each)
        limits.remove(each)
    assert (limits.open, limits._peers) == (0, {})


def test_a_full_server_says_so_in_its_log_once_a_while(caplog: pytest.LogCaptureFixture) -> None:
    limits = Connections(2)
    with caplog.at_level(logging.WARNING, "rlenv_serve"):
        for n in range(100):
            limits.add(n, "10.0.0.1", lambda: None)

    (said,) = [each.getMessage() for each in caplog.records]
    assert "10.0.0.1" in said
    assert "ulimit -n" in said


def test_addresses_of_one_site_count_together() -> None:
    assert site_of("2001:db8::1") == site_of("2001:db8::ffff:1%eth0") != site_of("2001:db8:0:1::1")
    assert site_of("::ffff:10.0.0.1") == site_of("10.0.0.1") != site_of("10.0.0.2")
    assert site_of("testclient") == "testclient"


# -- how long --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (b"", b""),
        (b"\r\n", b""),
        (HALF, b"HTTP/1.1 408 "),
        (
            b"POST /episodes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{",
            b"HTTP/1.1 408 ",
        ),
        (
            (
                b"POST /episodes HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding:"
                b" chunked\r\n\r\n1\r\n"
            ),
            b"HTTP/1.1 408 ",
        ),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" + HALF, b"HTTP/1.1 200 "),
        (
            (
                b"GET /openenv/sums/ws HTTP/1.1\r\nHost: localhost\r\nUpgrade:"
                b" websocket\r\nConnection: upgrade\r\n"
            ),
            b"HTTP/1.1 408 ",
        ),
    ],
)
def test_a_request_that_does_not_come_ends_its_connection(sent: bytes, answer: bytes) -> None:
    limits = Connections(100, patience=SOON)
    with (
        running(Server(served(sums())), limits) as ask,
        sockets(ask.port, 1, sent) as (one,),
    ):
        got = rest(one)
        assert got.startswith(answer)
        assert bool(got) == bool(answer)
        assert got.count(b"HTTP/1.1 408") <= 1
        until(lambda: limits.open == 0)


def test_empty_lines_behind_an_answer_hold_no_connection() -> None:
    limits = Connections(9, patience=SOON)
    sent = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with running(Server(served(sums())), limits) as ask, sockets(ask.port, 1, sent) as (one,):
        assert one.recv(65536).startswith(b"HTTP/1.1 200 ")
        one.sendall(b"\r\n")
        assert b"HTTP" not in rest(one)
        until(lambda: limits.open == 0)


def test_a_body_behind_a_refusal_holds_no_connection(tmp_path: Path) -> None:
    add_key(tmp_path / "keys.toml", "alice", answers=False, operator=False)
    keys = Keys.from_file(tmp_path / "keys.toml")
    limits = Connections(9, patience=SOON)
    sent = b"POST /episodes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999\r\n\r\n"
    with (
        running(Server(served(sums()), keys=keys), limits) as ask,
        sockets(ask.port, 1, sent) as (one,),
    ):
        assert one.recv(65536).startswith(b"HTTP/1.1 401 ")
        send_until_closed(one, b"x", pause=0.02)
        until(lambda: limits.open == 0)
        assert ask("GET", "/healthz").status == 200


def test_a_head_without_end_is_refused() -> None:
    with running(Server(served(sums()))) as ask, sockets(ask.port, 1, HALF) as (one,):
        send_until_closed(one, b"x" * 65536)
        assert ask("GET", "/healthz").status == 200


def test_slow_clients_that_go_on_are_served() -> None:
    body = json.dumps({"task_id": "t3", "agent_id": "x" * 100}).encode()
    limits = Connections(9, patience=SOON)
    head = b"POST /episodes HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body)
    with running(Server(served(sums())), limits) as ask, sockets(ask.port, 1, head) as (one,):
        one.sendall(body[:60])
        time.sleep(0.1)
        one.sendall(body[60:90])  # 30 bytes: half a minute more
        time.sleep(1.0)
        one.sendall(body[90:])
        assert one.recv(65536).startswith(b"HTTP/1.1 201 ")


def test_answers_that_take_long_and_connections_that_wait_for_the_client_stay(
    tmp_path: Path,
) -> None:
    limits = Connections(9, patience=SOON)
    late = 1.0
    items = [{"task": "t3", "response": "6"}] * 2
    with running(Server(served(echoes(), single())), limits) as ask:
        id_ = ask("POST", "/episodes", {"task_id": "t0", "environment": "echoes"}).body[
            "episode_id"
        ]
        step = ask("POST", f"/episodes/{id_}/steps", {"action": "sleep", "seconds": late})
        assert step.body["text"] == "awake"
        assert "awake" in str(begun(ask).call("sleep", seconds=late))
        with talking(ask, "echoes") as talk:
            talk("reset", task_id="t0")
            time.sleep(late)
            got = talk("step", tool_name="sleep", arguments={"seconds": late})
            assert got["data"]["observation"]["result"] == "awake"
        link = socket.create_connection(("127.0.0.1", ask.port), timeout=60)
        with link:
            link.sendall(b"GET /trajectories/watch HTTP/1.1\r\nHost: localhost\r\n\r\n")
            time.sleep(late)
            ask("GET", f"/episodes/{id_}/reward")
            seen = b""
            while b"event: trajectory" not in seen:
                seen += link.recv(65536)
        lines = ask(
            "POST",
            "/v1/verify",
            {"environment": "single", "items": items},
            Accept="application/x-ndjson",
        )
        assert lines.body.count(b'"reward":1.0') == 2


def test_a_client_that_does_not_read_is_let_go(capfd: pytest.CaptureFixture[str]) -> None:
    limits = Connections(9, patience=SOON)
    request = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with running(Server(served(sums())), limits) as slow:
        one = socket.socket()
        with one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.connect(("127.0.0.1", slow.port))
            one.sendall(request * 200)
            until(lambda: limits.open == 1)
            until(lambda: limits.open == 0)
        assert slow("GET", "/healthz").status == 200
    assert "Traceback" not in capfd.readouterr().err


# -- the limit of files ----------------------------------------------------------------------------


@pytest.mark.parametrize("files", [64, 256, 1024, 4096, 20_000, 1 << 20])
def test_connections_leave_files_for_all_else(files: int) -> None:
    limit = FileLimit(files)

    assert 0 < limit.connections < files
    assert limit.backlog > 0
    if files >= 1024:
        assert limit.connections + limit.backlog + 100 <= files
        assert limit.connections >= files // 2


def test_a_server_is_not_ended_by_more_connections_than_files(tmp_path: Path) -> None:
    """The whole command, whose hard limit of files is 1,024: the soft one of many systems."""
    env = everyday(tmp_path, {"id": "a", "prompt": "1 + 1?", "answer": "2"})
    command = [*COMMAND, "serve", str(env), "--port", "0"]
    program = (
        "import os, resource; resource.setrlimit(resource.RLIMIT_NOFILE, (256, 1024));"
        f" os.execv({sys.executable!r}, {command!r})"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        ask = Client(int(process.stderr.readline().rpartition(":")[2]))
        until(lambda: ask("GET", "/readyz").status == 200)
        assert resource.prlimit(process.pid, resource.RLIMIT_NOFILE) == (1024, 1024)
        with sockets(ask.port, 1100, HALF):
            for _ in range(5):
                assert ask("GET", "/healthz").status == 200
                assert ask("POST", "/episodes", {"task_id": "a"}).status == 201
        process.terminate()
        said = process.communicate(timeout=60)[1]
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 0, said
    assert "from 127.0.0.1" in said
    assert "Traceback" not in said


# -- what one connection may leave in memory -------------------------------------------------------


def takes_without_end(one: socket.socket, part: bytes) -> bool:
    """Whether the server still has not closed a connection that has sent 100 MB, and read
    nothing.
    """
    one.settimeout(20)
    try:
        for _ in range(100_000_000 // len(part)):
            one.sendall(part)
    except ConnectionError:
        return False
    return True


def test_a_client_that_sends_more_requests_than_it_waits_for_is_let_go() -> None:
    sent = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1000
    with running(Server(served(sums()))) as ask, sockets(ask.port, 1, b"") as (one,):
        assert not takes_without_end(one, sent)
        assert ask("GET", "/healthz").status == 200


def test_pipelined_requests_are_answered_in_order() -> None:
    paths = [b"/healthz", b"/nothing", b"/readyz"] * 20
    sent = b"".join(b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\n\r\n" for path in paths)
    last = b"GET /version HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with running(Server(served(sums()))) as ask, sockets(ask.port, 1, sent + last) as (one,):
        statuses = [part[:3] for part in rest(one).split(b"HTTP/1.1 ")[1:]]
        assert statuses == [b"200", b"404", b"200"] * 20 + [b"200"]


def test_pings_whose_answers_nobody_reads_do_not_pile_up() -> None:
    ping = b"\x89\xfd" + bytes(4) + b"x" * 125
    limits = Connections(10, patience=Patience(stalled=1.0))
    with running(Server(served(sums())), limits) as ask, sockets(ask.port, 1, UPGRADE) as (one,):
        assert b"101 Switching Protocols" in one.recv(4096)
        assert not takes_without_end(one, ping * 2000)
        assert ask("GET", "/healthz").status == 200
