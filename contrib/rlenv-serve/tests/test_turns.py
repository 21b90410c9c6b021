"""Turns of tenants: so many run at the same time, and one that asks for much does not hold up
another.
"""

from __future__ import annotations

import asyncio

import pytest
from rlenv_serve import Limits
from rlenv_serve.http.problems import Problem
from rlenv_serve.http.turns import Turns


def test_tenants_take_turns_whatever_one_of_them_asks_for() -> None:
    async def play() -> list[str]:
        turns = Turns(Limits(at_once=1, running=1))
        order = list[str]()

        async def run(tenant: str) -> None:
            async with turns.of(tenant):
                order.append(tenant)
                await asyncio.sleep(0)

        await asyncio.gather(*(run(each) for each in "aaaaabb"))
        assert (turns.running, turns.waiting) == ({}, {})
        return order

    assert asyncio.run(play()) == list("aababaa")


def test_too_many_that_wait_are_429() -> None:
    async def play() -> None:
        turns = Turns(Limits(at_once=1, running=1, waiting=1))
        async with turns.of("a"):
            waits = asyncio.create_task(turns.take("a"))
            await asyncio.sleep(0)
            with pytest.raises(Problem) as raised:
                async with turns.of("a"):
                    raise AssertionError
            assert raised.value.status == 429
        await waits
        turns.give("a")
        assert turns.running == {}

    asyncio.run(play())


def test_one_that_is_cancelled_gives_its_place_back() -> None:
    async def play() -> None:
        turns = Turns(Limits(at_once=1, running=1))
        async with turns.of("a"):
            waits = [asyncio.create_task(turns.take("b")) for _ in range(2)]
            await asyncio.sleep(0)
            waits[0].cancel()
            await asyncio.sleep(0)
        await waits[1]
        waits[1] = asyncio.create_task(turns.take("c"))
        await asyncio.sleep(0)
        turns.give("b")  # c has the place now, and is cancelled before it runs
        waits[1].cancel()
        await asyncio.gather(*waits, return_exceptions=True)
        assert (turns.running, turns.waiting) == ({}, {})

    asyncio.run(play())


def test_a_request_that_ends_with_all_its_responses_leaves_no_place_taken() -> None:
    async def play() -> None:
        turns = Turns(Limits(running=2))

        async def run() -> None:
            async with turns.of("a"):
                await asyncio.sleep(60)

        others = [asyncio.create_task(run()) for _ in range(2)]
        ended = [asyncio.create_task(run()) for _ in range(6)]
        await asyncio.sleep(0)
        others.pop(0).cancel()  # while what waits behind it is cancelled too
        for each in ended:
            each.cancel()
        found = await asyncio.gather(*ended, return_exceptions=True)
        assert {type(each) for each in found} == {asyncio.CancelledError}
        assert (turns.running["a"].count, turns.waiting) == (1, {})
        for each in others:
            each.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        assert (turns.running, turns.waiting) == ({}, {})

    asyncio.run(play())


def test_one_that_waits_goes_on_although_those_before_it_were_cancelled() -> None:
    async def play() -> None:
        turns = Turns(Limits(running=1))
        await turns.take("a")
        waits = [asyncio.create_task(turns.take("a")) for _ in range(5)]
        await asyncio.sleep(0)
        for each in waits[:-1]:
            each.cancel()
        turns.give("a")  # before those that are cancelled know of it
        await asyncio.wait_for(waits[-1], 30)
        assert (turns.running["a"].count, turns.waiting) == (1, {})

    asyncio.run(play())


def test_beside_another_a_tenant_leaves_a_worker_free() -> None:
    async def play() -> None:
        turns = Turns(Limits())
        turns._cores = 4
        async with turns.of("b"):
            pass
        slow = [asyncio.create_task(turns.take("a", 0.005)) for _ in range(9)]
        await asyncio.sleep(0)
        assert turns.running["a"].count == 3
        quick = [asyncio.create_task(turns.take("c", 0.0001)) for _ in range(30)]
        await asyncio.sleep(0)
        assert turns.running["c"].count == 30
        for each in (*slow, *quick):
            each.cancel()
        await asyncio.gather(*slow, *quick, return_exceptions=True)

    asyncio.run(play())
