"""What a request waits for ends with its client, and at its deadline, whatever others wait for at
the same time.
"""

from __future__ import annotations

import asyncio
import math
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from rlenv_serve.http.watch import Watch, _alarm
from starlette.requests import ClientDisconnect
from starlette.types import Message

LONG = 60.0  # seconds


async def late(seconds: float, ended: list[float]) -> None:
    """Wait until a deadline."""
    try:
        with Watch(None, seconds):
            await asyncio.sleep(LONG)
    except TimeoutError:
        ended.append(seconds)


@pytest.mark.parametrize("seconds", [[0.09, 0.03, 0.06], [0.03, 0.06, 0.09], [0.06, 0.09, 0.03]])
def test_each_deadline_comes_whichever_began_first(seconds: list[float]) -> None:
    async def work() -> None:
        ended = list[float]()
        async with asyncio.TaskGroup() as group:
            for each in seconds:
                group.create_task(late(each, ended))
        assert sorted(ended) == sorted(seconds)
        assert not _alarm().calls

    for _ in range(2):  # an event loop after another, in one thread
        asyncio.run(work())


def test_each_thread_has_deadlines_of_its_own() -> None:
    def run(seconds: float) -> list[float]:
        ended = list[float]()
        asyncio.run(late(seconds, ended))
        return ended

    with ThreadPoolExecutor(4) as threads:
        assert [*threads.map(run, (0.02, 0.04, 0.01, 0.03))] == [[0.02], [0.04], [0.01], [0.03]]


def test_a_deadline_that_is_taken_back_holds_up_no_other() -> None:
    async def work() -> None:
        ended = list[float]()
        waits = asyncio.create_task(late(0.05, ended))
        await asyncio.sleep(0)
        for _ in range(1_000):
            with Watch(None, 0.01):
                pass
        with Watch(None, math.inf):
            await waits
        assert ended == [0.05]

    asyncio.run(work())


def test_only_the_block_whose_deadline_came_ends() -> None:
    async def work() -> list[str]:
        told = list[str]()
        with Watch(None, LONG):
            try:
                with Watch(None, 0.01):
                    await asyncio.sleep(LONG)
            except TimeoutError:
                told.append("inner")
            await asyncio.sleep(0)
            told.append("outer goes on")
        task = asyncio.current_task()
        assert task is not None
        assert not task.cancelling()
        return told

    assert asyncio.run(work()) == ["inner", "outer goes on"]


def test_who_cancels_a_block_from_outside_is_not_told_of_a_deadline() -> None:
    async def both() -> None:
        async def block() -> None:
            with Watch(None, 0.0):
                await asyncio.sleep(LONG)

        waits = asyncio.create_task(block())
        await asyncio.sleep(0)
        next(call for _, call in _alarm().calls.values())()  # its deadline
        waits.cancel()
        await asyncio.wait([waits])
        assert waits.cancelled()

    asyncio.run(both())


def test_a_block_that_drops_the_cancellation_leaves_none_behind() -> None:
    async def work() -> int:
        with Watch(None, 0.01), suppress(asyncio.CancelledError):
            await asyncio.sleep(LONG)
        task = asyncio.current_task()
        assert task is not None
        return task.cancelling()

    assert asyncio.run(work()) == 0


def test_a_client_that_goes_away_ends_what_is_done_for_it() -> None:
    messages: list[Message] = [{"type": "http.request"}, {"type": "http.disconnect"}]

    async def receive() -> Message:
        return messages.pop(0)

    async def work() -> None:
        with Watch(receive, LONG):
            await asyncio.sleep(LONG)

    with pytest.raises(ClientDisconnect):
        asyncio.run(work())
