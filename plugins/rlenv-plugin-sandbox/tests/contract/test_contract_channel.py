"""The channel: frames in both directions, and what happens when one side stops."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from rlenv.sandbox import ChannelEnded, ChannelError, ChannelTimeout, FrameTooLong, Session

ECHO = """
while True:
    try:
        send(receive())
    except EOFError:
        break
"""


async def send_often(session: Session, times: int, size: int) -> None:
    for _ in range(times):
        await session.send(b"x" * size)
        await asyncio.sleep(0.01)


def test_frames_come_back_in_order_whatever_their_size(box: Any, frames: str) -> None:
    sent = [b"", b"x", b"\0" * 65536, bytes(range(256)) * 4096, b"last"]

    async def talk(session: Session) -> list[bytes]:
        await session.start(frames + ECHO, {})
        answers = []
        for frame in sent:
            await session.send(frame)
            answers.append(await session.recv(1 << 21, 20))
        return answers

    assert box.drive(talk) == sent


def test_frames_may_be_sent_ahead(box: Any, frames: str) -> None:
    async def talk(session: Session) -> list[bytes]:
        await session.start(frames + ECHO, {})
        for n in range(50):
            await session.send(b"%d" % n)
        return [await session.recv(100, 20) for _ in range(50)]

    assert box.drive(talk) == [b"%d" % n for n in range(50)]


def test_a_frame_that_was_sent_before_the_end_is_still_there(box: Any, frames: str) -> None:
    async def talk(session: Session) -> bytes:
        await session.start(frames + "send(b'first'); send(b'second')", {})
        first = await session.recv(100, 20)
        assert first == b"first"
        second = await session.recv(100, 20)
        with pytest.raises(ChannelEnded):
            await session.recv(100, 20)
        return second

    assert box.drive(talk) == b"second"


def test_no_frame_in_time_is_a_timeout_and_the_frame_may_come_later(box: Any, frames: str) -> None:
    async def talk(session: Session) -> bytes:
        await session.start(frames + "receive(); send(b'late')", {})
        with pytest.raises(ChannelTimeout) as caught:
            await session.recv(100, 0.2)
        # It waits for us, so nobody kept it from the processor.
        assert caught.value.starved is False
        await session.send(b"go")
        return await session.recv(100, 20)

    assert box.drive(talk) == b"late"


def test_half_a_frame_is_a_timeout_and_then_an_end(box: Any, frames: str) -> None:
    program = frames + "os.write(3, b'\\x05\\0\\0\\0ab'); receive()"

    async def talk(session: Session) -> None:
        await session.start(program, {})
        with pytest.raises(ChannelTimeout):
            await session.recv(100, 0.3)
        await session.send(b"go")
        with pytest.raises(ChannelEnded):
            await session.recv(100, 20)

    box.drive(talk)


def test_a_frame_longer_than_asked_for_is_refused_by_its_header(box: Any, frames: str) -> None:
    async def talk(session: Session) -> None:
        await session.start(frames + "os.write(3, b'\\xff\\xff\\xff\\xff'); receive()", {})
        with pytest.raises(FrameTooLong):
            await session.recv(1 << 20, 20)

    box.drive(talk)


def test_a_closed_channel_ends_the_talk_but_not_the_program(box: Any, frames: str) -> None:
    async def talk(session: Session) -> Any:
        await session.start(frames + "os.close(3); print('still here')", {})
        with pytest.raises(ChannelEnded):
            await session.recv(100, 20)
        return await session.finish()

    assert box.drive(talk).stdout == b"still here\n"


def test_sending_to_a_program_that_has_ended_is_told(box: Any, frames: str) -> None:
    async def talk(session: Session) -> None:
        await session.start("pass", {})
        with pytest.raises(ChannelEnded):
            await session.recv(100, 20)
        with pytest.raises(ChannelEnded):
            await send_often(session, 100, 65536)

    box.drive(talk)


def test_a_program_that_never_reads_ends_the_sender_at_its_wall_limit(
    box: Any, frames: str
) -> None:
    async def talk(session: Session) -> Any:
        await session.start("import time\nwhile True: time.sleep(0.01)", {}, wall_s=0.4)
        with pytest.raises(ChannelError):
            await send_often(session, 64, 1 << 20)
        return await session.finish()

    assert box.drive(talk).reason == "wall"


def test_a_flood_on_the_channel_is_stopped_by_the_wall_limit(box: Any, frames: str) -> None:
    box.needs("kill")
    flood = frames + "while True: os.write(3, b'\\1\\0\\0\\0x' * 100000)"

    async def talk(session: Session) -> Any:
        await session.start(flood, {}, wall_s=0.4)
        assert await session.recv(100, 20) == b"x"
        return await session.finish()

    assert box.drive(talk).reason in ("wall", "cpu")


def test_a_canceled_wait_leaves_the_place_usable(box: Any, frames: str) -> None:
    async def whole() -> bytes:
        async with box.session() as session:
            await session.start(frames + "receive()", {})
            waiting = asyncio.create_task(session.recv(100, 20))
            await asyncio.sleep(0.1)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        async with box.session() as session:
            await session.start(frames + ECHO, {})
            await session.send(b"next")
            answer: bytes = await session.recv(100, 20)
            return answer

    assert asyncio.run(whole()) == b"next"
