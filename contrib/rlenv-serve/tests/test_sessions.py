"""``Sessions``: episodes in memory are never ahead of the journal, nor behind it when they
answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from attrs import evolve
from counting import COUNT, TASK, begin, code_of, count, counting, make, play, server, share
from rlenv import Environment
from rlenv_serve.http.keys import LOCAL
from rlenv_serve.sessions import Answer, Sessions
from rlenv_serve.sessions.actions import call, say
from rlenv_serve.sessions.lost import status_of
from rlenv_serve.state.memory import MemoryJournal


@pytest.fixture(scope="module")
def env() -> Iterator[Environment]:
    with counting() as made:
        yield made


# -- several servers ------------------------------------------------------------------------------


def test_requests_that_alternate_between_two_servers_see_one_episode(
    env: Environment, tmp_path: Path
) -> None:
    async def work() -> None:
        async with server(env, tmp_path) as here, server(env, tmp_path) as there:
            id_ = await begin(here)
            for number, (one, other) in enumerate([(here, there), (there, here)] * 8):
                answer = await one.step(LOCAL, id_, COUNT)
                assert (answer.number, answer.text) == (number + 1, str(number))
                messages = (
                    await other.get(LOCAL, id_)
                ).episode.view  # it has the episode of before
                assert messages[-1]["content"] == str(number)
                assert len(messages) == 1 + 2 * (number + 1)
            await here.step(LOCAL, id_, say("75"))
            for each in (here, there):
                assert (await each.verdict(LOCAL, id_))[1].value == 0.75
                assert await code_of(each.get(LOCAL, id_)) == (409, "episode_finished")
                assert not each._live

    play(work)


def test_steps_that_two_servers_take_at_once_are_taken_one_after_the_other(
    env: Environment, tmp_path: Path
) -> None:
    async def work() -> None:
        async with server(env, tmp_path) as here, server(env, tmp_path) as there:
            id_ = await begin(here)
            steps = [each.step(LOCAL, id_, COUNT) for _ in range(6) for each in (here, there)]
            answers = await asyncio.gather(*steps)
            assert sorted(each.number for each in answers) == list(range(1, 13))
            assert all(each.text == str(each.number - 1) for each in answers)
            kept = await here._journal.steps(id_)
            assert [Answer.from_json(each.answer).text for each in kept] == [*map(str, range(12))]

    play(work)


def test_two_servers_that_end_an_episode_write_one_reward(env: Environment, tmp_path: Path) -> None:
    async def work() -> None:
        async with server(env, tmp_path) as here, server(env, tmp_path) as there:
            for _ in range(5):
                id_ = await begin(here)
                await there.get(LOCAL, id_)  # both have it in memory
                ends = await asyncio.gather(
                    code_of(here.step(LOCAL, id_, say("25"))),
                    code_of(there.step(LOCAL, id_, say("75"))),
                    here.verdict(LOCAL, id_),
                    there.verdict(LOCAL, id_),
                )
                assert len({ends[2][1].value, ends[3][1].value}) == 1
                assert sum(each[0] == 200 for each in ends[:2]) <= 1
                assert (await there.entry(LOCAL, id_)).steps == 1

    play(work)


def test_a_key_is_answered_once_whichever_server_is_asked(env: Environment, tmp_path: Path) -> None:
    async def work() -> None:
        async with server(env, tmp_path) as here, server(env, tmp_path) as there:
            ids = await asyncio.gather(*(begin(each, "begin") for each in (here, there) * 5))
            assert len({*ids}) == 1
            steps = [each.step(LOCAL, ids[0], COUNT, key="k") for each in (here, there) * 5]
            assert len({each.to_json() for each in await asyncio.gather(*steps)}) == 1
            assert (await here.entry(LOCAL, ids[0])).steps == 1
            last = [await each.step(LOCAL, ids[0], say("10"), key="end") for each in (here, there)]
            assert last[0] == last[1]
            assert await code_of(there.step(LOCAL, ids[0], COUNT, key="end")) == (409, "key_reused")

    play(work)


def test_an_episode_begins_and_is_stepped_in_a_turn_of_its_tenant(env: Environment) -> None:
    async def work() -> None:
        found = make(env, MemoryJournal(), running=1, waiting=1)
        async with found.turns.of(LOCAL.name):
            begins = asyncio.create_task(begin(found))
            await asyncio.sleep(0)
            assert (found.turns.queue, found._live) == (1, {})
            assert await code_of(begin(found)) == (429, "too_many_requests")
        id_ = await begins
        async with found.turns.of(LOCAL.name):
            step = asyncio.create_task(found.step(LOCAL, id_, COUNT))
            await asyncio.sleep(0)
            assert found.turns.queue == 1
        assert (await step).number == 1
        assert (found.turns.running, found.turns.waiting) == ({}, {})

    play(work)


# -- replays --------------------------------------------------------------------------------------


@pytest.mark.parametrize("durable", [False, True])
def test_an_episode_that_nobody_used_is_replayed(
    env: Environment, tmp_path: Path, durable: bool
) -> None:
    async def work(found: Sessions) -> None:
        watch = asyncio.create_task(found.watch())
        id_ = await begin(found)
        for _ in range(3):
            await found.step(LOCAL, id_, COUNT)
        await found.step(LOCAL, id_, call("wrong", {}))  # its error has seconds, which differ
        await found.step(LOCAL, id_, call("nothing", {"a": [1]}))
        while found._live:
            await asyncio.sleep(0.02)
        assert (await found.step(LOCAL, id_, COUNT)).text == "5"
        watch.cancel()

    async def run() -> None:
        if durable:
            async with server(env, tmp_path, idle=0.1) as found:
                await work(found)
        else:
            await work(make(env, MemoryJournal(), idle=0.1))

    play(run)


def test_an_environment_that_draws_loses_its_episode_and_says_so(
    env: Environment, tmp_path: Path
) -> None:
    async def work() -> None:
        async with server(env, tmp_path) as found:
            id_ = await begin(found)
            await found.step(LOCAL, id_, call("draw", {}))
        async with server(env, tmp_path) as found:
            for asked in (
                found.step(LOCAL, id_, COUNT),
                found.get(LOCAL, id_),
                found.verdict(LOCAL, id_),
            ):
                assert await code_of(asked) == (410, "episode_lost")
            status = status_of(await found.entry(LOCAL, id_), found.admission)
            assert (status.name, status.steps) == ("lost", 1)
            assert "answers otherwise" in str(status.reason)
            assert [*await found.admission.journal.open_of("")] == []  # it counts no longer
            assert not found._live

    play(work)


@pytest.mark.parametrize(
    "changed",
    [
        lambda: counting(evolve(TASK, answer="2")),
        lambda: counting(evolve(TASK, info={"hint": 1})),
        lambda: counting(evolve(TASK, id="other")),
        lambda: counting(TASK, count),
        lambda: Environment("counting", [share], [TASK], pass_mark=0.5),
    ],
)
def test_another_fingerprint_or_task_loses_the_episode(
    env: Environment, tmp_path: Path, changed: Callable[[], Environment]
) -> None:
    async def work() -> None:
        async with server(env, tmp_path) as found:
            id_ = await begin(found)
        with changed() as other:
            async with server(other, tmp_path) as found:
                assert await code_of(found.step(LOCAL, id_, COUNT)) == (410, "episode_lost")
        async with server(env, tmp_path) as found:  # and it is there for who has the old one
            assert (await found.step(LOCAL, id_, COUNT)).number == 1

    play(work)
