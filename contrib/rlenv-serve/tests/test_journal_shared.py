"""What a journal of episodes that is shared or durable must do besides."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from journals import ENDED, Opener, begun, opened, taken, trajectories
from rlenv_serve.state import open_journal
from rlenv_serve.state.journal import Entry
from serving import Clock
from stores import state_of

FIRST = begun(1)
SECOND = begun(2)


@pytest.fixture(params=["sqlite", "redis"])
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    with state_of(request.param, tmp_path) as (state, _):
        yield lambda: open_journal(state)


def test_all_is_there_when_the_journal_is_opened_again(opener: Opener) -> None:
    async def work() -> None:
        async with opened(opener) as journal:
            assert journal.shared
            await journal.begin(begun(1, key="k"), 9)
            await journal.commit(FIRST.id, taken(1))
            await journal.begin(SECOND, 9)
            await journal.commit(SECOND.id, taken(1), ENDED)
        async with opened(opener) as journal:
            assert await journal.begin(begun(9, key="k"), 9) == begun(1, key="k")
            assert [*await journal.steps(FIRST.id)] == [taken(1)]
            assert await trajectories(journal) == [ENDED.trajectory]
            assert [each.begun.id for each in await journal.recent(None, 9)] == [
                SECOND.id,
                FIRST.id,
            ]

    asyncio.run(work())


def test_two_servers_see_the_same_and_only_one_of_them_takes_a_step(opener: Opener) -> None:
    async def work() -> None:
        async with opened(opener) as here, opened(opener) as there:
            await here.begin(FIRST, 1)
            assert await there.find(FIRST.id) == Entry(FIRST, 0)
            assert await there.begin(SECOND, 1) is None
            for number in range(1, 30):
                answers = [b"here", b"there"]
                both = await asyncio.gather(
                    *(
                        each.commit(FIRST.id, taken(number, answer=answer))
                        for each, answer in zip((here, there), answers, strict=True)
                    )
                )
                assert sum(both) == 1
                assert (await here.steps(FIRST.id))[-1].answer == answers[both.index(True)]
            await here.commit(FIRST.id, taken(30), ENDED)
            ((name, held),) = await there.outbox(9)
            assert held == ENDED.trajectory
            await there.forget_archived([name])
            assert [*await here.outbox(9)] == []
            await there.remove(FIRST.id)
            assert not await here.commit(FIRST.id, taken(31))

    asyncio.run(work())


def test_time_without_a_server_makes_no_episode_old_and_time_with_one_does(
    opener: Opener, clock: Clock
) -> None:
    async def work() -> None:
        async with opened(opener) as journal:
            await journal.begin(FIRST, 9)
        clock.moved += 5000
        async with opened(opener) as journal:
            assert await journal.expire(4000) == 0
            clock.moved += 2500
            assert await journal.expire(4000) == 0
        async with opened(opener) as journal:
            clock.moved += 2500
            assert await journal.expire(4000) == 1

    asyncio.run(work())
