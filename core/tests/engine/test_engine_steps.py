"""Steps run to the same end with and without an event loop, and decide what errors mean."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from rlenv.steps import Steps, await_steps, run_steps, wait

Run = Callable[[Steps[object]], object]


def run_blocking(steps: Steps[object]) -> object:
    return run_steps(steps, asyncio.run)  # type: ignore[arg-type]


def run_on_loop(steps: Steps[object]) -> object:
    return asyncio.run(await_steps(steps))


BOTH = pytest.mark.parametrize("run", [run_blocking, run_on_loop])


async def later(value: object) -> object:
    await asyncio.sleep(0)
    if isinstance(value, BaseException):
        raise value
    return value


def added(numbers: list[Awaitable[int]]) -> Steps[object]:
    total = 0
    for number in numbers:
        total += yield from wait(number)
    return total


@BOTH
def test_steps_are_sent_what_they_wait_for(run: Run) -> None:
    assert run(added([later(1), later(2)])) == 3  # type: ignore[list-item]


@BOTH
def test_steps_that_wait_for_nothing_return(run: Run) -> None:
    assert run(added([])) == 0


@BOTH
def test_an_error_is_raised_where_it_is_waited_for(run: Run) -> None:
    def careful() -> Steps[object]:
        try:
            yield later(KeyError("a"))
        except KeyError as error:
            found: object = error.args[0]
        return [found, (yield later("b"))]

    assert run(careful()) == ["a", "b"]


@BOTH
def test_an_error_that_no_step_handles_ends_them(run: Run) -> None:
    ended = []

    def careless() -> Steps[None]:
        try:
            yield later(KeyError("a"))
        finally:
            ended.append(True)

    with pytest.raises(KeyError):
        run(careless())
    assert ended == [True]


def test_futures_of_threads_are_waited_for_both_ways() -> None:
    def two(first: Future[int], second: Future[int]) -> Steps[list[object]]:
        return [(yield first), (yield second)]

    with ThreadPoolExecutor() as pool:
        assert run_steps(two(pool.submit(int, "1"), pool.submit(int, "2"))) == [1, 2]
        steps = two(pool.submit(int, "3"), pool.submit(int, "4"))
        assert asyncio.run(await_steps(steps)) == [3, 4]


def test_steps_that_are_cancelled_clean_up() -> None:
    ended = []

    def endless() -> Steps[None]:
        try:
            yield asyncio.sleep(3600)
        finally:
            ended.append(True)

    async def body() -> None:
        task = asyncio.create_task(await_steps(endless()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(body())
    assert ended == [True]
