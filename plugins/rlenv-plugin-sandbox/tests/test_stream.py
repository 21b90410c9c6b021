"""Frames over a byte stream: whole or not at all, whatever arrives, and cleared places to put
files.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv_plugin_sandbox.guest import leftovers, wire
from rlenv_plugin_sandbox.stream import Link, LinkLost, Unwrapped

frames = st.lists(st.tuples(st.integers(0, 255), st.binary(max_size=50)), max_size=6)
cuts = st.lists(st.integers(1, 40), min_size=1, max_size=30)


def pieces(data: bytes, sizes: list[int]) -> list[bytes]:
    found: list[bytes] = []
    place = 0
    while place < len(data):
        size = sizes[len(found) % len(sizes)]
        found.append(data[place : place + size])
        place += size
    return found


@given(frames, cuts)
def test_frames_come_out_as_they_went_in_however_they_are_cut(
    sent: list[tuple[int, bytes]], sizes: list[int]
) -> None:
    buffer = bytearray()
    found = []
    for piece in pieces(b"".join(wire.frame(kind, body) for kind, body in sent), sizes):
        buffer += piece
        while (frame := wire.first(buffer, 1000)) is not None:
            found.append(frame)

    assert found == sent
    assert not buffer


@given(st.binary(max_size=100))
def test_no_bytes_are_more_than_a_frame_or_a_refusal(data: bytes) -> None:
    buffer = bytearray(data)
    try:
        while wire.first(buffer, 64) is not None:
            continue
    except ValueError:
        assert len(buffer) >= wire.HEAD.size


@given(st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=60)), max_size=6), cuts)
def test_an_attached_stream_is_taken_apart_however_it_is_cut(
    sent: list[tuple[int, bytes]], sizes: list[int]
) -> None:
    unwrap = Unwrapped()
    raw = b"".join(struct.pack(">B3xI", kind, len(body)) + body for kind, body in sent)
    out = b"".join(unwrap(piece) for piece in pieces(raw, sizes))

    assert out == b"".join(body for kind, body in sent if kind == 1)
    assert unwrap.errors == b"".join(body for kind, body in sent if kind == 2)


def talk(what: Callable[[Link, socket.socket], Awaitable[Any]], **options: Any) -> Any:
    """What comes of a talk over a link whose other end is a plain socket."""
    ours, theirs = socket.socketpair()
    link = Link(ours, **options)
    try:
        return asyncio.run(asyncio.wait_for(what(link, theirs), 20))
    finally:
        link.close()
        theirs.close()


def test_a_canceled_wait_loses_nothing() -> None:
    async def what(link: Link, far: socket.socket) -> Any:
        data = wire.frame(7, b"whole")
        far.sendall(data[:6])
        waiting = asyncio.create_task(link.receive())
        await asyncio.sleep(0.05)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        far.sendall(data[6:])
        return await link.receive(monotonic() + 10)

    assert talk(what) == (7, b"whole")


def test_nothing_in_time_is_none() -> None:
    async def what(link: Link, far: socket.socket) -> Any:
        return await link.receive(monotonic() + 0.05)

    assert talk(what) is None


def test_a_frame_beyond_the_limit_ends_the_link() -> None:
    async def what(link: Link, far: socket.socket) -> None:
        far.sendall(wire.HEAD.pack(1, 101))
        with pytest.raises(LinkLost):
            await link.receive()
        with pytest.raises(LinkLost):
            await link.send(1)
        assert link.lost

    talk(what, most=100)


def test_the_end_of_the_other_side_is_told_after_its_last_frame() -> None:
    async def what(link: Link, far: socket.socket) -> Any:
        far.sendall(wire.frame(3, b"last") + b"\1\2")
        far.close()
        last = await link.receive()
        with pytest.raises(LinkLost):
            await link.receive()
        assert not link.alive()
        return last

    assert talk(what) == (3, b"last")


def test_a_send_that_is_canceled_in_the_middle_ends_the_link() -> None:
    async def what(link: Link, far: socket.socket) -> None:
        sending = asyncio.create_task(link.send(1, bytes(1 << 24)))
        await asyncio.sleep(0.1)
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        assert link.lost

    talk(what)


# -- places that are used again
# --------------------------------------------------------------------------


def test_any_tree_is_removed_and_nothing_that_it_points_to(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    place = tmp_path / "place"
    outside.mkdir()
    (outside / "kept").write_text("x")
    place.mkdir()
    (place / "link").symlink_to(outside)
    (place / "loop").symlink_to("loop")
    (place / "dir" / "link").mkdir(parents=True)
    (place / "dir" / "up").symlink_to(outside, target_is_directory=True)
    (place / ".0").mkdir()
    (place / ".1").write_text("")
    os.mkfifo(place / "pipe")
    (place / "dir").chmod(0)

    assert leftovers.remove([str(place)], 10)
    assert list(place.iterdir()) == []
    assert (outside / "kept").read_text() == "x"


def test_depth_beyond_any_path_is_removed(tmp_path: Path) -> None:
    before = os.getcwd()
    try:
        os.chdir(tmp_path)
        for _ in range(2000):
            os.mkdir("deep")
            os.chdir("deep")
        Path("file").touch()
    finally:
        os.chdir(before)

    assert leftovers.remove([str(tmp_path)], 30)
    assert list(tmp_path.iterdir()) == []


def test_what_takes_too_long_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert not leftovers.remove([str(tmp_path)], 0)
