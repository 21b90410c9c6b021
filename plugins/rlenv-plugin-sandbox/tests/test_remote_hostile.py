"""The client against a server that means harm: always a fault that says so."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv.model.errors import ConfigError, RlenvError, VerifierFault
from rlenv.sandbox import ChannelEnded, Exit, Profile
from rlenv_plugin_sandbox.guest import wire
from rlenv_plugin_sandbox.remote import Remote, greeting, payload
from sandbox_hostile import END, TOKEN, answer, honest, hostile, instead, run, said


def test_the_harness_is_heard() -> None:
    with hostile(honest) as server:
        end = run(server.url)

    assert (end.status, end.stdout, end.stderr) == (0, b"out", b"err")


# -- the greeting
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hello", "welcome"),
    [
        ({"rlenv": 1}, {}),
        ({"rlenv": [1]}, {}),
        ({}, {"proof": "0" * 64}),
        ({}, {"proof": "é"}),
        ({}, {"proof": None}),
        ({"token": False}, {"proof": ""}),
        ({}, {"tier": "strong"}),
        ({}, {"tier": ["jail"]}),
        ({}, {"tier": None}),
        ({}, {"refused": {"a": 1}}),
        ({"nonce": {"a": [1]}}, {"proof": "0"}),
    ],
)
def test_a_greeting_that_is_none_is_a_configuration_error(
    hello: dict[str, Any], welcome: dict[str, Any]
) -> None:
    with hostile(honest, hello=hello, welcome=welcome) as server:
        with pytest.raises(ConfigError) as caught:
            run(server.url)
        assert server.heard == []  # it got no program
    assert TOKEN not in str(caught.value)


def test_a_server_that_names_no_sandbox_is_used_all_the_same() -> None:
    with hostile(honest, welcome={"sandbox": ["x" * 1000]}) as server:
        assert run(server.url).status == 0


@pytest.mark.parametrize(
    "noise",
    [
        b"HTTP/1.1 302 Found\r\nLocation: tcp://elsewhere:1\r\n\r\n",
        struct.pack("<BI", greeting.HELLO, 1 << 29),
        wire.frame(greeting.HELLO, b"\xff" * 8),
        wire.frame(greeting.HELLO, struct.pack("<I", 4000) + b"[" * 4000),
        wire.frame(greeting.WELCOME, said({"tier": "jail"})),
        b"",
    ],
)
def test_what_is_no_server_gets_no_program(noise: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        heard = bytearray()

        def serve() -> None:
            client = sock.accept()[0]
            with client:
                client.sendall(noise)
                client.shutdown(socket.SHUT_WR)
                while data := client.recv(1 << 16):
                    heard.extend(data)

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises((ConfigError, VerifierFault)):
            run(f"tcp://127.0.0.1:{sock.getsockname()[1]}")
        thread.join(30)
    assert heard == b""


@pytest.mark.parametrize(
    "url",
    [
        "tcp://localhost:99999",
        "tcp://localhost:x",
        "tcp://[::1:5",
        "tcp://:5",
        "udp://a:5",
        "tcp://a",
    ],
)
def test_an_address_that_is_none_is_a_configuration_error(url: str) -> None:
    with pytest.raises(ConfigError, match="tcp://host:port"):
        run(url)


def test_a_missing_file_of_certificates_is_a_configuration_error(tmp_path: Path) -> None:
    box = Remote("tls://127.0.0.1:1", TOKEN, ca=str(tmp_path / "none.pem"))
    with pytest.raises(ConfigError, match=r"none\.pem"):
        asyncio.run(box.open(Profile()))


# -- answers
# -----------------------------------------------------------------------------------------------


def framed(text: bytes) -> bytes:
    return wire.frame(greeting.ANSWER, struct.pack("<I", len(text)), text)


NONSENSE: list[Callable[[int], bytes]] = [
    lambda n: answer({"id": n}),
    lambda n: answer({"id": n, "isolation": None, "exit": None}),
    lambda n: answer({"id": n, "isolation": ["jail"], "exit": []}),
    lambda n: answer({"id": n, "isolation": "weak", "exit": "x"}, b"a", b"b"),
    lambda n: answer({"id": n, "is": "frame"}, *[b""] * 50),
    lambda n: answer({"id": n, "is": "frame"}, b"x" * 1000),
    lambda n: answer({"id": n, "error": "config", "problems": 5}),
    lambda n: answer({"id": n, "error": "config", "problems": ["p" * 10_000] * 50}),
    lambda n: answer(
        {"id": n, "error": "fault", "kind": ["x"], "message": {"a": 1}, "transient": "yes"}
    ),
    lambda n: answer({"id": n, "error": "timeout", "starved": 5}),
    lambda n: answer({"id": n, "error": ["long"]}),
    lambda n: answer({"id": n, "error": None}),
    lambda n: answer({"id": -1, "is": "frame"}, b"x") * 200,
    lambda n: framed(b'{"id":%d,"sizes":[]' % n),
    lambda n: framed(b'{"id":%d,"sizes":[1]}' % n),
    lambda n: framed(b'{"id":%d,"sizes":null}' % n),
    lambda n: framed(b'{"id":%d,"exit":' % n + b"[" * 100_000),
    lambda n: framed(b'{"id":' + b"9" * 10_000 + b',"sizes":[]}'),
    lambda n: framed(b'{"id":NaN,"sizes":[]}'),
    lambda n: framed(b"[]"),
    lambda n: wire.frame(greeting.ANSWER, b""),
    lambda n: struct.pack("<BI", greeting.ANSWER, 1 << 30),
    lambda n: wire.frame(greeting.ANSWER, b"\x80\x04\x95" + b"cos\nsystem\n(S'x'\ntR."),
]


@pytest.mark.parametrize("of", ["open", "start", "send", "recv", "finish", "close"])
def test_nonsense_is_a_fault_and_never_another_exception(of: str) -> None:
    for make in NONSENSE:
        with (
            hostile(instead(of, make)) as server,
            suppress(VerifierFault, ConfigError, ChannelEnded),
        ):
            end = run(server.url)
            assert end.fault is not None or end.status == 0


NAN = float("nan")
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
    def answers(number: int) -> bytes:
        return answer({"id": number, "exit": {**END, **bad}}, b"", b"")

    with hostile(instead("finish", answers)) as server:
        end = run(server.url)
    assert end.reason == "lost"
    assert end.fault is not None
    assert (end.fault.kind, end.fault.transient) == ("unavailable", True)


def test_no_number_of_an_end_is_infinite() -> None:
    for word in (b"NaN", b"Infinity", b"1e999"):
        text = json.dumps({"id": 0, "exit": {**END, "cpu": 7777}, "sizes": [0, 0]}).encode()

        def answers(number: int, text: bytes = text, word: bytes = word) -> bytes:
            return framed(text.replace(b'"id": 0', b'"id": %d' % number).replace(b"7777", word))

        with hostile(instead("finish", answers)) as server:
            assert run(server.url).reason == "lost"


def test_a_fault_of_an_end_is_plain() -> None:
    fault = {"kind": "__class__", "message": "m" * 100_000, "transient": 1, "more": 2}
    end = {**END, "reason": "lost", "status": None, "fault": fault}
    with hostile(instead("finish", lambda n: answer({"id": n, "exit": end}, b"", b""))) as server:
        found = run(server.url).fault

    assert found is not None
    assert (found.kind, found.transient, len(found.message)) == ("unavailable", False, 4096)


def test_more_output_than_was_asked_for_is_lost() -> None:
    def answers(number: int) -> bytes:
        return answer({"id": number, "exit": END}, b"x" * 101, b"")

    with hostile(instead("finish", answers)) as server:
        assert run(server.url).reason == "lost"


def test_a_weaker_place_than_was_demanded_is_a_fault() -> None:
    with (
        hostile(honest, welcome={"tier": "microvm"}) as server,
        pytest.raises(VerifierFault, match="gave isolation 'process'"),
    ):
        asyncio.run(Remote(server.url, TOKEN).open(Profile(min_isolation="jail")))


def test_a_server_that_says_nothing_more_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rlenv_plugin_sandbox.remote.client._SLACK_S", 0.1)
    for of in ("start", "finish"):
        with hostile(lambda q, p, of=of: None if q["do"] == of else honest(q, p)) as server:  # type: ignore[misc]

            async def whole(url: str = server.url) -> Exit:
                box = Remote(url, TOKEN)
                session = await box.open(Profile(min_isolation="process", wall_s=0.1))
                await session.start("pass")
                return await session.finish()

            with suppress(VerifierFault):
                assert asyncio.run(whole()).reason == "lost"


def test_a_server_whose_machine_is_gone_is_noticed() -> None:
    """It sends no end of the connection: only probes tell, and opening a session waits for no other
    clock.
    """
    with hostile(honest) as server, Remote(server.url, TOKEN)._connect() as sock:
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        if hasattr(socket, "TCP_KEEPIDLE"):
            assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) <= 60


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
