"""Short runs of one worker take turns; a long one holds nobody up."""

from __future__ import annotations

import asyncio

import pytest
from rlenv_plugin_code.drive.turns import in_turn


@pytest.fixture(autouse=True)
def no_places_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RLENV_SANDBOX_SLOTS", raising=False)


def most_at_once(runs: int) -> int:
    """How many of these were inside together, each for two turns of the loop."""
    inside = most = 0

    async def run() -> None:
        nonlocal inside, most
        async with in_turn():
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            inside -= 1

    async def all_of_them() -> None:
        await asyncio.gather(*[run() for _ in range(runs)])

    asyncio.run(all_of_them())
    return most


def test_short_runs_go_one_after_another() -> None:
    assert most_at_once(5) == 1


def test_who_says_how_many_places_there_are_gets_all_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RLENV_SANDBOX_SLOTS", "5")
    assert most_at_once(5) == 5


def test_nobody_waits_for_the_end_of_a_long_run() -> None:
    async def scene() -> list[str]:
        said: list[str] = []
        release = asyncio.Event()

        async def long() -> None:
            async with in_turn():
                await release.wait()
                said.append("long")

        async def short() -> None:
            async with in_turn():
                said.append("short")
            release.set()

        await asyncio.gather(long(), short())
        return said

    assert asyncio.run(scene()) == ["short", "long"]


def test_who_gives_up_waiting_blocks_nobody() -> None:
    async def scene() -> str:
        release = asyncio.Event()

        async def held() -> None:
            async with in_turn():
                await release.wait()

        async def next_one() -> str:
            async with in_turn():
                return "in"

        first = asyncio.create_task(held())
        await asyncio.sleep(0)
        second = asyncio.create_task(next_one())
        await asyncio.sleep(0)
        second.cancel()
        third = asyncio.create_task(next_one())
        release.set()
        await first
        return await third

    assert asyncio.run(scene()) == "in"
