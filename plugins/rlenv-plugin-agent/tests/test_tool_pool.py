"""A tool that hangs, blocks or ignores its end costs its own call, and nothing else."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections.abc import Callable, Coroutine, Hashable, Iterator

import pytest
from rlenv_plugin_agent.tools import calling, pool
from rlenv_plugin_agent.tools.calling import observe
from rlenv_plugin_agent.tools.context import ToolContext
from rlenv_plugin_agent.tools.tool import Tool, Where, tool

Observe = Callable[..., Coroutine[None, None, str]]


OTHERS = set[Hashable]()  # calls that other tests have left behind


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Tools wait for it; it opens when the test is over, so that no thread of the test is left."""
    OTHERS.update(pool.left_running)
    made = threading.Event()
    yield made
    made.set()
    deadline = time.monotonic() + 60
    while left() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not left()


def left() -> int:
    """Calls of this test that run on."""
    return sum(count for key, count in [*pool.left_running.items()] if key not in OTHERS)


def observing(made: Tool, context: ToolContext | None = None) -> Observe:
    held = ToolContext() if context is None else context
    return lambda **given: observe({made.name: made}, made.name, given, held)


def kind(observation: str) -> str:
    found = json.loads(observation)
    return str(found["error"]["type"]) if isinstance(found, dict) else "answer"


def waits(gate: threading.Event, timeout: float = 2.0) -> Tool:
    @tool(timeout=timeout)
    def wait(hang: bool) -> int:
        if hang:
            gate.wait(120)
        return 1

    return wait


def test_a_tool_that_hangs_still_answers_other_calls(gate: threading.Event) -> None:
    async def play() -> list[str]:
        calls = observing(waits(gate))
        return [await calls(hang=True), await calls(hang=False), await calls(hang=True)]

    assert list(map(kind, asyncio.run(play()))) == ["timeout", "answer", "timeout"]
    assert left() == 2


def test_an_episode_leaves_a_bounded_number_of_calls_behind(gate: threading.Event) -> None:
    async def play() -> tuple[str, str]:
        made = waits(gate)
        context = ToolContext()
        calls = observing(made, context)
        await asyncio.gather(*(calls(hang=True) for _ in range(calling.STUCK)))
        return await calls(hang=False), await observing(made)(hang=False)

    refused, other_episode = asyncio.run(play())
    assert "earlier calls of this tool have not ended" in refused
    assert other_episode == "1"


def test_threads_are_bounded_and_further_calls_wait(
    gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "MOST", pool._pool.threads - len(pool._pool.idle) + 4)
    for _ in range(len(pool._pool.idle)):
        pool._pool.idle.pop()

    async def play() -> list[str]:
        monkeypatch.setattr(pool, "MOST", pool._pool.threads + 4)
        made = waits(gate, 0.3)
        hung = [asyncio.create_task(observing(made)(hang=True)) for _ in range(4)]
        await asyncio.sleep(0.05)
        late = await observing(made)(hang=False)  # it gets no thread in time
        assert not pool._pool.waiting
        gate.set()
        again = await observing(waits(gate, 60.0))(hang=False)
        return [late, again, *await asyncio.gather(*hung)]

    assert list(map(kind, asyncio.run(play()))) == ["timeout", "answer", *["timeout"] * 4]


HUNDREDS = pytest.param(500, marks=pytest.mark.slow)  # 5,000 calls


@pytest.mark.parametrize("many", [50, HUNDREDS])
def test_hundreds_of_episodes_go_on_beside_calls_that_hang(
    gate: threading.Event, many: int
) -> None:
    """As many threads hang as episodes do, and every other call is answered meanwhile."""

    async def episode(number: int) -> list[str]:
        hangs = observing(waits(gate, 1.0))
        answers = observing(waits(gate, 120.0))
        turns = [turn == number % 10 for turn in range(10)]
        return [kind(await (hangs if hang else answers)(hang=hang)) for hang in turns]

    async def play() -> list[list[str]]:
        return await asyncio.gather(*(episode(each) for each in range(many)))

    found = asyncio.run(play())
    assert [each.count("timeout") for each in found] == [1] * many
    assert [each.count("answer") for each in found] == [9] * many


def test_threads_are_used_again() -> None:
    names = set[int]()

    @tool
    def who() -> int:
        names.add(threading.get_ident())
        return 1

    async def play() -> None:
        calls = observing(who)
        for _ in range(50):
            await calls()

    asyncio.run(play())
    assert len(names) <= 3


def test_a_thread_without_calls_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "IDLE", 0.05)
    monkeypatch.setattr(pool, "_pool", made := pool._Pool())

    @tool
    def one() -> int:
        return 1

    assert asyncio.run(observing(one)()) == "1"
    assert made.threads == 1
    deadline = time.monotonic() + 60
    while made.threads and time.monotonic() < deadline:
        time.sleep(0.02)
    assert (made.threads, made.idle) == (0, [])


def test_a_cancelled_episode_does_not_wait_for_its_call(gate: threading.Event) -> None:
    async def play() -> None:
        task = asyncio.create_task(observing(waits(gate, 30.0))(hang=True))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(play())
    assert left() == 1


def test_an_async_tool_that_blocks_its_loop_costs_its_own_calls(gate: threading.Event) -> None:
    @tool(timeout=2.0)
    async def block(hang: bool) -> int:
        if hang:
            gate.wait(120)
        return 1

    async def play() -> list[str]:
        calls = observing(block)
        first = [await calls(hang=True), await calls(hang=False)]
        mixed = await asyncio.gather(calls(hang=True), calls(hang=False))
        return [*first, *mixed]

    assert list(map(kind, asyncio.run(play()))) == ["timeout", "answer", "timeout", "answer"]


def test_an_async_tool_beside_one_that_blocks_goes_on(gate: threading.Event) -> None:
    @tool(timeout=0.1)
    async def block() -> int:
        gate.wait(30)
        return 1

    @tool
    async def quick() -> int:
        await asyncio.sleep(0)
        return 1

    async def play() -> list[str]:
        return [await observing(block)(), await observing(quick)(), await observing(block)()]

    assert list(map(kind, asyncio.run(play()))) == ["timeout", "answer", "timeout"]


@pytest.mark.parametrize("where", ["thread", "caller"])
def test_an_async_tool_that_ignores_its_cancellation_holds_nothing_up(
    where: Where, gate: threading.Event
) -> None:
    @tool(timeout=0.1, where=where)
    async def stubborn() -> int:
        while not gate.is_set():
            try:
                await asyncio.sleep(0.02)
            except asyncio.CancelledError:
                continue
        return 1

    async def play() -> str:
        return await observing(stubborn)()

    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(asyncio.run(play())), daemon=True)
    thread.start()
    thread.join(60)
    assert [kind(each) for each in found] == ["timeout"]
    if where == "caller":  # its loop is closed, so it never ends
        OTHERS.update(pool.left_running)


def test_an_async_tool_is_cancelled_after_its_time() -> None:
    ended = threading.Event()

    @tool(timeout=0.1)
    async def slow() -> int:
        try:
            await asyncio.sleep(300)
        finally:
            ended.set()
        return 1

    assert kind(asyncio.run(observing(slow)())) == "timeout"
    assert ended.wait(60)


@pytest.mark.parametrize("where", ["thread", "caller"])
def test_an_async_tool_that_cancels_itself_is_answered(where: Where) -> None:
    @tool(where=where)
    async def gone() -> int:
        raise asyncio.CancelledError

    assert "cancel" in asyncio.run(observing(gone)())


def test_tools_run_on_in_a_forked_child() -> None:
    @tool
    def one() -> int:
        return 1

    assert asyncio.run(observing(one)()) == "1"
    child = os.fork()
    if child == 0:
        os._exit(0 if asyncio.run(observing(one)()) == "1" else 1)
    assert os.waitpid(child, 0)[1] == 0
