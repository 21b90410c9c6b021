"""Bytes that nobody says, by the thousand: each ends one connection at most, and never a server."""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv_plugin_sandbox import trees
from rlenv_plugin_sandbox.guest import wire
from rlenv_plugin_sandbox.remote import greeting, payload
from sandbox_server import OPENED, TOKEN, Friend, Server, profile

MANY = 10_000  # frames of the long run
_HEADS = ("open", "close", "start", "send", "recv", "finish", "run", "read")

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
    {"do": st.sampled_from(_HEADS) | values, "id": st.integers(0, 99) | values},
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


def _asked(header: dict[str, Any], parts: list[bytes]) -> bytes:
    return wire.frame(greeting.ASK, payload.wrap(header, *parts))


def _cut(frame: bytes, place: int, byte: int) -> bytes:
    """A frame with another byte somewhere."""
    place %= len(frame)
    return frame[:place] + bytes([byte]) + frame[place + 1 :]


well_formed = st.builds(_asked, headers, pieces)
frames = (
    well_formed
    | well_formed
    | st.builds(_cut, well_formed, st.integers(0, 10_000), st.integers(0, 255))
    | st.binary(max_size=80)
    | st.builds(
        lambda text: wire.frame(greeting.ASK, struct.pack("<I", len(text)), text),
        st.binary(max_size=80),
    )
    | st.builds(lambda value: _asked_text(json.dumps(value).encode()), values)
)


def _asked_text(text: bytes) -> bytes:
    return wire.frame(greeting.ASK, struct.pack("<I", len(text)), text)


@pytest.fixture(scope="module")
def fuzzed() -> Iterator[Server]:
    """A server that never logs a traceback, whatever it is sent."""
    made = Server("--connections", "16", "--memory-mb", "512", "--wall-s", "20")
    yield made
    try:
        made.runs()
    finally:
        said = made.end()
    assert "Traceback" not in said, said[-3000:]
    assert TOKEN not in said


def send(server: Server, sent: list[bytes]) -> int:
    """Send frames to a server, each connection until it is hung up on; how many went out."""
    friend = _friend(server)
    count = 0
    for frame in sent:
        try:
            friend.sock.sendall(frame)
            count += 1
        except OSError:
            friend.sock.close()
            friend = _friend(server)
    friend.sock.close()
    OPENED.clear()
    return count


def _friend(server: Server) -> Friend:
    """A client that is let in; until places are free that others have just left."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return server.friend()
        except (EOFError, OSError, KeyError):
            assert time.monotonic() < deadline
            time.sleep(0.01)


@given(st.lists(frames, min_size=1, max_size=6))
def test_no_frame_harms_anybody_else(fuzzed: Server, sent: list[bytes]) -> None:
    send(fuzzed, sent)


@pytest.mark.slow  # ten thousand frames take a minute
def test_ten_thousand_frames_harm_nobody(fuzzed: Server) -> None:
    count = 0

    @settings(max_examples=MANY // 8, deadline=None, database=None, derandomize=True)
    @given(st.lists(frames, min_size=10, max_size=20))
    def run(sent: list[bytes]) -> None:
        nonlocal count
        count += send(fuzzed, sent)
        if count % 50 == 0:
            fuzzed.runs()

    run()
    assert count >= MANY
    fuzzed.runs()


@given(st.binary(max_size=200))
def test_no_greeting_of_a_stranger_harms_anybody_else(fuzzed: Server, data: bytes) -> None:
    with fuzzed.raw() as sock:
        sock.sendall(data)
        sock.shutdown(socket.SHUT_WR)
    OPENED.clear()
