"""The client against a server that means harm: always a fault that says so."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv.model.errors import ConfigError, RlenvError, VerifierFault
from rlenv.sandbox import ChannelEnded, Exit, Profile
from rlenv_plugin_sandbox.remote import Remote, payload
from sandbox_hostile import (
    END,
    TOKEN,
    answer,
    chunked,
    failed,
    honest,
    hostile,
    instead,
    opened,
    response,
    run,
)

WHATS = ["sessions", "start", "send", "recv", "finish", "close"]


def test_the_harness_is_heard() -> None:
    with hostile(honest) as server:
        end = run(server.url)

    assert (end.status, end.stdout, end.stderr) == (0, b"out", b"err")
    assert server.heard == WHATS


# -- what is no server
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "made",
    [
        response(b"", 302, Location="http://elsewhere.example:1"),
        response(b"<html>", 401),
        response(b"", 403),
        response(b"not found", 404),
        failed({"error": "config", "problems": ["no"]}, 401),
    ],
)
def test_what_is_no_server_of_sandboxes_is_a_configuration_error(made: bytes) -> None:
    with hostile(lambda _: made) as server:
        with pytest.raises(ConfigError, match="cannot be used") as caught:
            run(server.url)
        assert server.heard == ["sessions"]
        assert [each.ok for each in Remote(server.url, TOKEN).diagnose()] == [False]
    assert TOKEN not in str(caught.value)


@pytest.mark.parametrize(
    "noise",
    [
        b"",
        b"\r\n\r\n",
        b"\xff" * 100,
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 200 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nA: " + b"b" * 100_000 + b"\r\n\r\n",
        response(b"", 500),
        response(b"[]"),
        response(b"{}"),
        opened(session="../../other"),
        opened(session="n HTTP/1.1\r\nX-Evil: 1\r\n\r\n"),
        opened(session=None),
        opened(isolation="strong"),
        opened(isolation=["jail"]),
        chunked(b"{" + b" " * (1 << 17)),
        chunked(b'{"session":' + b"[" * 50_000 + b"\n"),
    ],
)
def test_an_answer_that_is_none_gets_no_program(noise: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        heard = bytearray()

        def serve() -> None:
            client = sock.accept()[0]
            with client, suppress(OSError):
                client.recv(1 << 16)
                client.sendall(noise)
                client.shutdown(socket.SHUT_WR)
                while data := client.recv(1 << 16):
                    heard.extend(data)

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(VerifierFault):
            run(f"http://127.0.0.1:{sock.getsockname()[1]}")
        thread.join(30)
    assert b"pass" not in heard


class Endless:
    """A server that sends without end, and counts what was taken."""

    def __init__(self, first: bytes, more: bytes) -> None:
        self.sock = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.sock.getsockname()[1]}"
        self.sent = 0
        self.thread = threading.Thread(target=self._serve, args=(first, more))
        self.thread.start()

    def _serve(self, first: bytes, more: bytes) -> None:
        client = self.sock.accept()[0]
        with client, suppress(OSError):
            client.recv(1 << 16)
            client.sendall(first)
            while self.sent < 1 << 28:
                client.sendall(more)
                self.sent += len(more)

    def end(self) -> None:
        self.thread.join(60)
        self.sock.close()


OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("first", "more"),
    [
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (OK, b"A" * 1000),
        (OK + b"Content-Length: 1000000000000\r\n\r\n", bytes(1000)),
        (OK + b"\r\n", bytes(1000)),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n", bytes(1000)),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n", b"0" * 1000),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\nfffffffff\r\n", bytes(1000)),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"A: b\r\n"),
    ],
)
def test_a_server_that_sends_without_end_is_a_fault(first: bytes, more: bytes) -> None:
    """Python's client reads a chunk of length -1 until the end of the connection."""
    server = Endless(first, more * 100)
    with pytest.raises(VerifierFault):
        run(server.url)
    server.end()
    assert server.sent < 1 << 26  # what the buffers of sockets hold


# -- answers
# -----------------------------------------------------------------------------------------------

NONSENSE: list[bytes] = [
    answer({}),
    answer({"isolation": None, "exit": None}),
    answer({"isolation": ["jail"], "exit": []}),
    answer({"isolation": "weak", "exit": "x"}, b"a", b"b"),
    answer({}, *[b""] * 50),
    answer({}, b"x" * 1000),
    answer({"clock": "x"}, b"x"),
    answer({"clock": 1e308}, b"x"),
    failed({"error": "config", "problems": 5}, 422),
    failed({"error": "config", "problems": ["p" * 10_000] * 5}, 422),
    failed({"error": "fault", "kind": ["x"], "message": {"a": 1}, "transient": "yes"}),
    failed({"error": "timeout", "starved": 5}, 504),
    failed({"error": ["long"]}, 502),
    failed({"error": None}),
    failed([]),
    failed("x", 200),
    response(b"\x01"),
    response(b"\xff\xff\xff\x7f"),
    response(b"\4\0\0\0null"),
    response((500).to_bytes(4, "little") + b"[" * 500),
    response(b"\x80\x04\x95" + b"cos\nsystem\n(S'x'\ntR."),
    response(b"", 204),
    response(b"x" * 100, Connection="close"),
    response(b"x", 302, Location="http://elsewhere.example"),
    b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\ncut off",
    b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
    b"HTTP/1.1 999 No\r\nContent-Length: 0\r\n\r\n" * 20,
    b"no HTTP at all\r\n\r\n",
]


@pytest.mark.parametrize("of", WHATS)
def test_nonsense_is_a_fault_and_never_another_exception(
    of: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rlenv_plugin_sandbox.remote.client._SLACK_S", 0.2)
    monkeypatch.setattr("rlenv_plugin_sandbox.remote.connection._LINE_S", 0.2)
    for made in NONSENSE:
        with (
            hostile(instead(of, made)) as server,
            suppress(VerifierFault, ConfigError, ChannelEnded),
        ):
            end = run(server.url, wall_s=0.1)
            assert end.fault is not None or end.status == 0


BAD_ENDS: list[dict[str, Any]] = [
    {"status": "0"},
    {"status": True},
    {"status": 1e300},
    {"status": 1 << 80},
    {"reason": "won"},
    {"reason": ["exit"]},
    {"cpu": -1.0},
    {"cpu": "1"},
    {"cpu": None},
    {"cpu": 1e300},
    {"wall": -0.5},
    {"wall": [1]},
    {"peak_memory": -1},
    {"peak_memory": 1.5},
    {"truncated": 1},
    {"started": "yes"},
    {"isolation": "heaven"},
    {"fault": 5},
    {"fault": []},
    {"stdout": "x", "more": 1},
    {"stdin": ""},
]


@pytest.mark.parametrize("bad", BAD_ENDS)
def test_an_end_that_is_none_is_lost(bad: dict[str, Any]) -> None:
    with hostile(instead("finish", answer({"exit": {**END, **bad}}, b"", b""))) as server:
        end = run(server.url)
    assert end.reason == "lost"
    assert end.fault is not None
    assert (end.fault.kind, end.fault.transient) == ("unavailable", True)


def test_no_number_of_an_end_is_infinite() -> None:
    for word in (b"NaN", b"Infinity", b"1e999"):
        text = json.dumps({"exit": {**END, "cpu": 7777}, "sizes": [0, 0]}).encode()
        text = text.replace(b"7777", word)
        with hostile(instead("finish", response(len(text).to_bytes(4, "little") + text))) as server:
            assert run(server.url).reason == "lost"


def test_a_fault_of_an_end_is_plain() -> None:
    fault = {"kind": "__class__", "message": "m" * 100_000, "transient": 1, "more": 2}
    end = {**END, "reason": "lost", "status": None, "fault": fault}
    with hostile(instead("finish", answer({"exit": end}, b"", b""))) as server:
        found = run(server.url).fault

    assert found is not None
    assert (found.kind, found.transient, len(found.message)) == ("unavailable", False, 4096)


def test_more_output_than_was_asked_for_is_lost() -> None:
    with hostile(instead("finish", answer({"exit": END}, b"x" * 101, b""))) as server:
        assert run(server.url).reason == "lost"


def test_a_weaker_place_than_was_demanded_is_a_fault() -> None:
    with (
        hostile(honest) as server,
        pytest.raises(VerifierFault, match="gave isolation 'process'"),
    ):
        asyncio.run(Remote(server.url, TOKEN).open(Profile(min_isolation="jail")))


@pytest.mark.parametrize("of", ["start", "finish", "close"])
def test_a_server_that_says_nothing_more_is_a_fault(
    of: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rlenv_plugin_sandbox.remote.client._SLACK_S", 0.1)
    with hostile(instead(of, None)) as server:
        found = None
        with suppress(VerifierFault):
            found = run(server.url, wall_s=0.1)
    assert found is None or found.reason == ("exit" if of == "close" else "lost")


def test_drops_of_an_answer_are_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each comes in time, all of them do not: a deadline is one of the whole request."""
    ended = threading.Event()

    def drip(what: str) -> bytes | None:
        if what != "start":
            return honest(what)
        client = server.clients[-1]
        with suppress(OSError):
            for drop in OK:
                client.sendall(bytes([drop]))
                if ended.wait(0.1):
                    break
        return None

    with hostile(drip) as server:

        async def whole() -> None:
            box = Remote(server.url, TOKEN)
            session = await box.open(Profile(min_isolation="process"))
            monkeypatch.setattr("rlenv_plugin_sandbox.remote.client._SLACK_S", 0.1)
            with pytest.raises(VerifierFault, match="does not answer"):
                await session.start("pass")
            ended.set()
            await session.close()
            await box.aclose()

        asyncio.run(whole())


def test_a_server_whose_machine_is_gone_is_noticed() -> None:
    """It sends no end of the connection: only probes tell, and opening a session waits for no other
    clock.
    """

    async def whole(url: str) -> None:
        box = Remote(url, TOKEN)
        session: Any = await box.open(Profile(min_isolation="process"))
        sock = session._stream._sock
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        if hasattr(socket, "TCP_KEEPIDLE"):
            assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) <= 60
        session._stream.close()
        await box.aclose()

    with hostile(honest) as server:
        asyncio.run(whole(server.url))


def test_a_canceled_wait_leaves_no_thread_and_no_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def whole(url: str) -> None:
        box = Remote(url, TOKEN)
        session = await box.open(Profile(min_isolation="process"))
        await session.start("pass")
        for _ in range(20):
            waiting = asyncio.create_task(session.recv(10, 60))
            await asyncio.sleep(0.01)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
        await session.close()
        await box.aclose()

    before = threading.active_count()
    monkeypatch.setattr("rlenv_plugin_sandbox.remote.client._SLACK_S", 0.1)
    with hostile(instead("recv", None)) as server:
        asyncio.run(whole(server.url))
    until = time.monotonic() + 60
    while threading.active_count() > before:
        assert time.monotonic() < until
        time.sleep(0.01)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*END, "x"]), values))
def test_no_values_make_an_end_but_right_ones(changes: dict[str, Any]) -> None:
    try:
        end = payload.end_of({**END, **changes}, b"", b"")
    except payload.BadPayload:
        return
    assert end.status is None or type(end.status) is int
    assert end.cpu >= 0
    assert end.wall >= 0
    assert end.peak_memory >= 0


@given(
    st.dictionaries(
        st.sampled_from(["error", "message", "problems", "kind", "transient", "starved"]), values
    )
)
def test_every_error_that_is_told_is_one_of_rlenv(told: dict[str, Any]) -> None:
    assert isinstance(payload.error_of(told), RlenvError)


def test_an_honest_exit_has_the_type_of_the_port() -> None:
    assert isinstance(payload.end_of(END, b"", b""), Exit)
