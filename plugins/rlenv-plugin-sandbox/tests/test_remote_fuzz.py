"""Requests that nobody makes, by the thousand: each ends one session at most, never a server."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv_plugin_sandbox import trees
from rlenv_plugin_sandbox.remote import payload
from sandbox_server import OPENED, PATH, TOKEN, Server, profile

MANY = 10_000  # requests of the long run
_WHATS = ("open", "close", "start", "send", "recv", "finish", "run", "read")

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(1 << 70), 1 << 70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["nan", "../x", "/etc/passwd", "python", "native", "jail", "\0", "\ud800"])
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)
profiles = st.dictionaries(st.sampled_from([*profile(), "more"]), values, max_size=4).map(
    lambda changes: profile(wall_s=0.5, cpu_s=0.5, memory_mb=64, workspace_mb=1) | changes
)
pieces = st.lists(
    st.binary(max_size=40)
    | st.sampled_from([b"pass", b"print(1)", b"import time; time.sleep(9)", trees.END]),
    max_size=4,
)
headers = st.fixed_dictionaries(
    {"number": st.integers(0, 3) | values},
    optional={
        "profile": profiles | values,
        "words": st.none() | st.integers(-1, 3) | values,
        "files": st.lists(st.tuples(st.text(max_size=6), st.integers(0, 0o777)), max_size=3)
        | values,
        "cpu_s": st.none() | values,
        "wall_s": st.none() | values,
        "max_bytes": values,
        "timeout": st.floats(0, 0.01) | values,
        "wait": st.floats(0, 0.01) | values,
    },
)


def _cut(body: bytes, place: int, byte: int) -> bytes:
    """A body with another byte somewhere."""
    place %= len(body)
    return body[:place] + bytes([byte]) + body[place + 1 :]


def _text(value: object) -> bytes:
    text = json.dumps(value).encode()
    return struct.pack("<I", len(text)) + text


well_formed = st.builds(lambda header, parts: payload.wrap(header, *parts), headers, pieces)
bodies = (
    well_formed
    | well_formed
    | st.builds(_cut, well_formed, st.integers(0, 10_000), st.integers(0, 255))
    | st.binary(max_size=80)
    | st.builds(lambda text: struct.pack("<I", len(text)) + text, st.binary(max_size=80))
    | st.builds(_text, values)
)
requests = st.tuples(st.sampled_from(_WHATS), bodies)


@pytest.fixture(scope="module")
def fuzzed() -> Iterator[Server]:
    """A server that never logs a traceback, whatever it is sent."""
    made = Server("--sessions", "16", "--memory-mb", "512", "--wall-s", "20")
    yield made
    try:
        made.runs()
    finally:
        said = made.end()
    assert "Traceback" not in said, said[-3000:]
    assert TOKEN not in said


def send(server: Server, sent: list[tuple[str, bytes]]) -> int:
    """Send requests to a server, those of a session in one that is open, if any is."""
    friend = server.friend()
    friend.open(wall_s=0.5, cpu_s=0.5, memory_mb=64)
    count = 0
    for what, body in sent:
        method = "DELETE" if what == "close" else "POST"
        below = "" if what == "close" else f"/{what}"
        path = f"{PATH}/sessions/{friend.session or 'x'}{below}"
        if what == "open":
            path = f"{PATH}/sessions"
        connection = friend.connection()
        connection.request(method, path, body, friend.headers)
        response = connection.getresponse()
        assert response.status < 600
        if what == "open" and response.status == 200:
            assert response.readline().endswith(b"\n")
        else:
            response.read()
        response.close()
        connection.close()
        count += 1
        if response.status in (400, 410) or what == "close":
            friend.close()
            friend = server.friend()
            friend.open(wall_s=0.5, cpu_s=0.5, memory_mb=64)
    friend.close()
    OPENED.clear()
    return count


@given(st.lists(requests, min_size=1, max_size=6))
def test_no_request_harms_anybody_else(fuzzed: Server, sent: list[tuple[str, bytes]]) -> None:
    send(fuzzed, sent)


@pytest.mark.slow  # ten thousand requests take minutes
def test_ten_thousand_requests_harm_nobody(fuzzed: Server) -> None:
    count = 0

    @settings(max_examples=MANY // 8, deadline=None, database=None, derandomize=True)
    @given(st.lists(requests, min_size=10, max_size=20))
    def run(sent: list[tuple[str, bytes]]) -> None:
        nonlocal count
        count += send(fuzzed, sent)
        if count % 50 == 0:
            fuzzed.runs()

    run()
    assert count >= MANY
    fuzzed.runs()


HEAD = f"POST {PATH}/sessions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {TOKEN}\r\n".encode()


@given(st.binary(max_size=200), st.integers(0, len(HEAD)))
def test_no_bytes_of_a_stranger_harm_anybody_else(fuzzed: Server, data: bytes, cut: int) -> None:
    with fuzzed.raw() as sock:
        sock.sendall(HEAD[:cut] + data)
        sock.shutdown(socket.SHUT_WR)
    OPENED.clear()
