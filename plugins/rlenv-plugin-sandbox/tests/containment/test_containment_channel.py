"""The channel of a program that does with it what it should not."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import attrs
import pytest
from rlenv.sandbox import ChannelError, Exit, Profile


@attrs.frozen
class Talk:
    frames: list[bytes]
    error: str
    end: Exit


def converse(place: Any, program: str, *, asks: int = 3, seconds: float = 20.0) -> Talk:
    """What a judge gets that asks for a few frames, and how it ended."""

    async def talk() -> Talk:
        session = await place.jail.open(Profile(wall_s=30.0, cpu_s=3.0))
        frames = []
        error = ""
        try:
            await session.start(place.tools + program)
            try:
                for _ in range(asks):
                    frames.append(await session.recv(100, seconds))
            except ChannelError as problem:
                error = type(problem).__name__
            return Talk(frames, error, await session.finish(1.0))
        finally:
            await session.close()

    return asyncio.run(talk())


@pytest.mark.parametrize(
    ("program", "error"),
    [
        ("os.close(3)", "ChannelEnded"),
        ("pass", "ChannelEnded"),
        ("os.write(3, b'\\xff\\xff\\xff\\xff')", "FrameTooLong"),
        ("os.write(3, b'\\5\\0\\0\\0abc'); os.close(3); time.sleep(0.1)", "ChannelEnded"),
        ("socket.socket(fileno=os.dup(3)).shutdown(2)", "ChannelEnded"),
        ("os.dup2(0, 3)", "ChannelEnded"),
        ("os.write(3, b'\\5\\0'); time.sleep(100)", "ChannelTimeout"),
        ("time.sleep(100)", "ChannelTimeout"),
    ],
)
def test_a_channel_that_is_misused_is_an_error_of_its_own(
    place: Any, program: str, error: str
) -> None:
    talk = converse(place, program, seconds=0.5 if error == "ChannelTimeout" else 20.0)
    assert (talk.frames, talk.error) == ([], error)
    assert talk.end.fault is None


def test_descriptors_that_are_sent_do_not_arrive(place: Any) -> None:
    before = len(os.listdir("/proc/self/fd"))
    talk = converse(
        place,
        """
import array
channel = socket.socket(fileno=3)
for n in range(50):
    rights = array.array("i", [0, 1, 2] * 20)
    channel.sendmsg([b"\\1\\0\\0\\0x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
""",
    )
    assert talk.frames == [b"x"] * 3
    assert len(os.listdir("/proc/self/fd")) <= before + 8  # the place itself may be new


def test_a_flood_of_frames_is_not_kept(place: Any) -> None:
    talk = converse(place, "while True: os.write(3, b'\\1\\0\\0\\0x' * 13107)", asks=2000)
    assert talk.frames == [b"x"] * 2000
    assert talk.end.reason == "killed" or talk.end.reason == "cpu"
