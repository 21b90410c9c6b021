"""An async tool that blocks its event loop: its own call is late, and those beside it are not."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest
from rlenv import VerifierFault
from rlenv_plugin_agent.tools import pool
from rlenv_plugin_agent.tools.calling import observe
from rlenv_plugin_agent.tools.context import ToolContext
from rlenv_plugin_agent.tools.tool import Tool, tool

NEIGHBORS = 50
SHORT = 0.3  # seconds that a call may take


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """What blocks waits for it; it opens when the test is over.  The test has a loop of its own."""
    monkeypatch.setattr(pool._pool, "aside", None)
    monkeypatch.setattr(pool._pool, "blocking", set())
    made = threading.Event()
    yield made
    made.set()


async def asked(made: Tool, **given: object) -> str:
    """One call of an episode of its own."""
    return await observe({made.name: made}, made.name, given, ToolContext())


def kind(observation: str) -> str:
    found = json.loads(observation)
    return str(found["error"]["type"]) if isinstance(found, dict) else "answer"


def blocking(gate: threading.Event, *, nested: bool = False) -> Tool:
    """A tool of which one call blocks as soon as its neighbors have begun."""
    begun: list[int] = []

    async def block() -> None:
        gate.wait(120)

    @tool(timeout=SHORT)
    async def work(hang: bool) -> int:
        if not hang:
            begun.append(1)
            for _ in range(3):
                await asyncio.sleep(0.02)
            return 1
        while len(begun) < NEIGHBORS:
            await asyncio.sleep(0)
        if nested:
            await asyncio.gather(block(), asyncio.sleep(0))
        await block()
        return 1

    return work


@pytest.mark.parametrize("nested", [False, True])
def test_a_blocker_is_late_and_fifty_neighbors_are_not(gate: threading.Event, nested: bool) -> None:
    made = blocking(gate, nested=nested)

    async def play() -> tuple[str, list[str]]:
        neighbors = [asyncio.create_task(asked(made, hang=False)) for _ in range(NEIGHBORS)]
        blocker = await asked(made, hang=True)
        await asyncio.sleep(SHORT)  # every neighbor began before the blocker, so its time is over
        assert not any(each.done() for each in neighbors)
        gate.set()
        return kind(blocker), [*map(kind, await asyncio.gather(*neighbors))]

    assert asyncio.run(play()) == ("timeout", ["answer"] * NEIGHBORS)


def test_the_tool_that_blocks_is_moved_to_threads_and_not_its_neighbors(
    gate: threading.Event,
) -> None:
    made = blocking(gate)

    @tool(timeout=SHORT)
    async def other() -> int:
        await asyncio.sleep(0.02)
        return 1

    async def play() -> list[str]:
        neighbors = [asyncio.create_task(asked(made, hang=False)) for _ in range(NEIGHBORS)]
        blocker = asyncio.create_task(asked(made, hang=True))
        beside = asyncio.create_task(asked(other))
        found = [kind(await blocker), kind(await asked(other))]
        gate.set()
        await asyncio.gather(*neighbors, beside)
        return found

    assert asyncio.run(play()) == ["timeout", "answer"]
    assert pool._pool.blocking == {made.code}


def test_calls_on_the_loop_of_the_episode_are_not_late_for_a_blocker() -> None:
    @tool(timeout=SHORT)
    async def work(hang: bool, context: ToolContext) -> int:
        for _ in range(3):
            await asyncio.sleep(0.01)
            if hang:
                time.sleep(2 * SHORT)
        return 1

    async def play() -> list[str]:
        hangs = (each == 0 for each in range(NEIGHBORS))
        return await asyncio.gather(*(asked(work, hang=hang) for hang in hangs))

    blocker, *neighbors = map(kind, asyncio.run(play()))
    assert blocker == "timeout"
    assert neighbors == ["answer"] * (NEIGHBORS - 1)


def test_a_loop_that_is_blocked_without_end_is_no_answer_of_a_neighbor(
    gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a timeout, which would be paid, nor a wait without end."""
    monkeypatch.setattr(pool, "MOST_BLOCKED", 0.5)
    made = blocking(gate)

    async def play() -> list[object]:
        neighbors = [asyncio.create_task(asked(made, hang=False)) for _ in range(NEIGHBORS)]
        await asked(made, hang=True)
        return await asyncio.gather(*neighbors, return_exceptions=True)

    for error in asyncio.run(play()):
        assert isinstance(error, VerifierFault)
        assert (error.fault.kind, error.fault.transient) == ("unavailable", True)
        assert "blocks the event loop" in error.fault.message


def test_a_call_that_blocks_again_and_again_has_no_more_time_than_others() -> None:
    steps: list[int] = []

    @tool(timeout=SHORT)
    async def work() -> int:
        for _ in range(1_000):
            steps.append(1)
            time.sleep(0.1)
            await asyncio.sleep(0)
        return 1

    assert kind(asyncio.run(asked(work))) == "timeout"
    assert len(steps) < 100


def test_a_call_that_is_left_to_itself_is_not_reported_when_its_loop_is_closed() -> None:
    code = """
import asyncio, gc
from rlenv_plugin_agent.tools import pool
from rlenv_plugin_agent.tools.calling import observe
from rlenv_plugin_agent.tools.context import ToolContext
from rlenv_plugin_agent.tools.tool import tool

pool.PATIENCE = 0.01

@tool(timeout=0.01, where="caller")
async def stuck() -> int:
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            pass

print(asyncio.run(observe({"stuck": stuck}, "stuck", {}, ToolContext()))[:27])
del stuck
gc.collect()
"""
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=120
    )

    assert done.stdout == '{"error": {"type": "timeout\n'
    assert done.stderr == ""
