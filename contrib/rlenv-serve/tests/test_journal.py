"""What every journal of episodes must do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from unittest import mock

import pytest
from attrs import evolve
from journals import ENDED, Opener, begun, opened, taken, trajectories
from rlenv_serve.state import open_journal
from rlenv_serve.state.journal import Entry, Journal
from rlenv_serve.state.memory import MemoryJournal
from serving import Clock
from stores import state_of

FIRST = begun(1)
SECOND = begun(2)
OTHER = begun(99, tenant="bob")
Play = Callable[[Callable[[Journal], Awaitable[None]]], None]


@pytest.fixture(params=["memory", "sqlite", "redis"])
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    if request.param == "memory":
        yield MemoryJournal
    else:
        with state_of(request.param, tmp_path) as (state, _):
            yield lambda: open_journal(state)


@pytest.fixture
def play(opener: Opener) -> Play:
    def run(work: Callable[[Journal], Awaitable[None]]) -> None:
        async def with_journal() -> None:
            async with opened(opener) as journal:
                await work(journal)

        asyncio.run(with_journal())

    return run


in_memory = pytest.mark.parametrize("opener", ["memory"], indirect=True)


def test_an_episode_is_found_with_its_steps_and_its_end(play: Play) -> None:
    async def work(journal: Journal) -> None:
        assert await journal.begin(FIRST, 9) == FIRST
        assert await journal.find(FIRST.id) == Entry(FIRST, 0)
        assert await journal.commit(FIRST.id, taken(1, key="k"))
        assert await journal.commit(FIRST.id, taken(2), ENDED)
        assert await journal.find(FIRST.id) == Entry(FIRST, 2, evolve(ENDED, trajectory=b""))
        assert [*await journal.steps(FIRST.id)] == [taken(1, key="k"), taken(2)]
        assert await trajectories(journal) == [ENDED.trajectory]

    play(work)


def test_a_sibling_has_entries_of_its_own_which_last_as_long(opener: Opener, play: Play) -> None:
    async def work(journal: Journal) -> None:
        async with opened(lambda: journal.sibling("others")) as sibling:
            await sibling.begin(evolve(FIRST, key="k"), 1)
            assert await journal.find(FIRST.id) is None
            assert [*await journal.recent(None, 9)] == []
            assert await journal.begin(evolve(SECOND, key="k"), 1) == evolve(SECOND, key="k")
            assert await sibling.commit(FIRST.id, taken(1), ENDED)
            assert [*await sibling.recent("alice", 9)] == [
                Entry(evolve(FIRST, key="k"), 1, evolve(ENDED, trajectory=b""))
            ]
            assert len([*await sibling.outbox(9)]) == 1
            assert [*await journal.outbox(9)] == []
            assert await journal.expire(-1.0) == 1
        if journal.shared:
            async with opened(lambda: opener().sibling("others")) as again:
                assert [*await again.steps(FIRST.id)] == [taken(1)]

    play(work)


def test_an_end_without_a_trajectory_leaves_nothing_in_the_outbox(play: Play) -> None:
    async def work(journal: Journal) -> None:
        await journal.begin(FIRST, 9)
        assert await journal.commit(FIRST.id, taken(1), evolve(ENDED, trajectory=b""))
        assert [*await journal.outbox(9)] == []

    play(work)


def test_what_is_not_there_is_none_and_empty(play: Play) -> None:
    async def work(journal: Journal) -> None:
        assert await journal.find("nothing") is None
        assert [*await journal.steps("nothing")] == []
        assert [*await journal.outbox(9)] == []
        assert not await journal.commit("nothing", taken(1))
        await journal.remove("nothing")
        assert [*await journal.recent(None, 9)] == []
        assert await journal.expire(0.0) == 0

    play(work)


def test_a_step_that_is_not_the_next_is_not_kept(play: Play) -> None:
    async def work(journal: Journal) -> None:
        await journal.begin(FIRST, 9)
        assert await journal.commit(FIRST.id, taken(1, answer=b"first"))
        assert not await journal.commit(FIRST.id, taken(1, answer=b"second"), ENDED)
        assert not await journal.commit(FIRST.id, taken(3))
        assert await journal.find(FIRST.id) == Entry(FIRST, 1)
        assert [each.answer for each in await journal.steps(FIRST.id)] == [b"first"]

    play(work)


def test_an_end_is_written_once(play: Play) -> None:
    async def work(journal: Journal) -> None:
        await journal.begin(FIRST, 9)
        ends = [evolve(ENDED, verdict=str(n).encode()) for n in range(20)]
        made = await asyncio.gather(*(journal.commit(FIRST.id, taken(1), end) for end in ends))
        assert sum(made) == 1
        entry = await journal.find(FIRST.id)
        assert entry is not None
        assert entry.ended == evolve(ends[made.index(True)], trajectory=b"")
        assert not await journal.commit(FIRST.id, taken(2))

    play(work)


def test_a_trajectory_waits_until_a_store_has_it_also_when_its_episode_is_removed(
    play: Play,
) -> None:
    async def work(journal: Journal) -> None:
        for n in range(12):
            await journal.begin(begun(n), 99)
            await journal.commit(
                begun(n).id, taken(1), evolve(ENDED, trajectory=b"%d" % n) if n < 10 else None
            )
        await journal.remove(begun(0).id)
        await asyncio.sleep(0.05)
        assert await journal.expire(0.01) == 11
        assert [held for _, held in await journal.outbox(4)] == [b"0", b"1", b"2", b"3"]
        rows = await journal.outbox(99)
        assert [held for _, held in rows] == [b"%d" % n for n in range(10)]
        assert [*await journal.outbox(2, rows[3][0])] == [*rows[4:6]]
        assert [*await journal.outbox(9, rows[9][0])] == []
        for _ in range(2):
            await journal.forget_archived([name for name, _ in rows if name != rows[7][0]])
            assert await journal.outbox(99) == [rows[7]]

    play(work)


def test_a_key_begins_one_episode_of_a_tenant(play: Play) -> None:
    async def work(journal: Journal) -> None:
        asked = [begun(n, key="k") for n in range(20)]
        found = await asyncio.gather(*(journal.begin(each, 1) for each in asked))
        assert len({each.id for each in found if each}) == 1
        assert len([*await journal.recent(None, 99)]) == 1
        other = begun(30, tenant="bob", key="k")
        assert await journal.begin(other, 1) == other

    play(work)


def test_a_key_is_free_again_when_its_episode_is_removed_and_not_when_it_has_ended(
    play: Play,
) -> None:
    async def work(journal: Journal) -> None:
        first = begun(1, key="k")
        second = begun(2, key="k")
        await journal.begin(first, 9)
        await journal.commit(first.id, taken(1), ENDED)
        assert await journal.begin(second, 9) == first
        await journal.remove(first.id)
        assert await journal.find(first.id) is None
        assert [*await journal.steps(first.id)] == []
        assert await journal.begin(second, 9) == second

    play(work)


def test_a_tenant_has_at_most_so_many_open_episodes_however_many_begin_at_once(play: Play) -> None:
    async def work(journal: Journal) -> None:
        found = await asyncio.gather(*(journal.begin(begun(n), 5) for n in range(20)))
        kept = [each for each in found if each]
        assert len(kept) == 5
        assert await journal.begin(OTHER, 5) == OTHER
        await journal.commit(kept[0].id, taken(1), ENDED)
        await journal.remove(kept[0].id)  # it counted no longer
        assert await journal.begin(begun(50), 5)
        await journal.remove(kept[1].id)
        assert await journal.begin(begun(51), 5)
        assert await journal.begin(begun(52), 5) is None

    play(work)


def test_the_open_episodes_of_a_tenant_are_listed_the_oldest_first(play: Play) -> None:
    async def work(journal: Journal) -> None:
        for each in (begun(7), OTHER, FIRST, SECOND):
            await journal.begin(each, 9)
        await journal.commit(FIRST.id, taken(1), ENDED)
        await journal.commit(SECOND.id, taken(1))
        assert [*await journal.open_of("alice")] == [Entry(begun(7), 0), Entry(SECOND, 1)]
        await journal.remove(begun(7).id)
        assert [each.begun for each in await journal.open_of("alice")] == [SECOND]
        assert [*await journal.open_of("nobody")] == []

    play(work)


def test_a_probe_changes_nothing(play: Play) -> None:
    async def work(journal: Journal) -> None:
        await journal.begin(FIRST, 9)
        await journal.probe()
        assert [*await journal.recent(None, 9)] == [Entry(FIRST, 0)]
        assert [*await journal.outbox(9)] == []

    play(work)


def test_the_newest_episodes_come_first_and_each_tenant_sees_its_own(play: Play) -> None:
    async def work(journal: Journal) -> None:
        for each in (SECOND, OTHER, FIRST):
            await journal.begin(each, 9)
        await journal.commit(SECOND.id, taken(1), ENDED)
        assert [each.begun for each in await journal.recent(None, 2)] == [FIRST, OTHER]
        assert [each.begun for each in await journal.recent("alice", 9)] == [FIRST, SECOND]
        assert (await journal.recent("alice", 9))[1].ended == evolve(ENDED, trajectory=b"")
        assert [*await journal.recent("nobody", 9)] == []

    play(work)


def test_an_episode_expires_when_nothing_was_written_to_it(play: Play, clock: Clock) -> None:
    async def work(journal: Journal) -> None:
        await journal.begin(FIRST, 9)
        await journal.begin(begun(2, key="k"), 9)
        clock.moved += 2000
        await journal.commit(FIRST.id, taken(1))
        assert await journal.expire(1000) == 1
        assert await journal.find(SECOND.id) is None
        assert await journal.find(FIRST.id) == Entry(FIRST, 1)
        assert await journal.begin(begun(4, key="k"), 2)
        assert await journal.expire(1000) == 0

    play(work)


def test_many_episodes_expire_at_once(play: Play) -> None:
    async def work(journal: Journal) -> None:
        for first in range(0, 500, 20):  # all at once wait for a connection longer than they may
            some = range(first, first + 20)
            await asyncio.gather(*(journal.begin(begun(n), 9999) for n in some))
            await asyncio.gather(*(journal.commit(begun(n).id, taken(1)) for n in some))
        await asyncio.sleep(0.05)
        assert await journal.expire(0.01) == 500
        assert [*await journal.recent(None, 9)] == []
        assert [*await journal.steps(begun(3).id)] == []

    play(work)


@pytest.mark.parametrize("jump", [-1e9, 1e9])
def test_a_jump_of_the_clock_makes_no_episode_old(play: Play, jump: float) -> None:
    async def work(journal: Journal) -> None:
        await journal.begin(FIRST, 9)
        with mock.patch("time.time", return_value=time.time() + jump):
            assert await journal.expire(1000) == 0
            await journal.begin(SECOND, 9)
            assert await journal.expire(1000) == 0
        assert await journal.expire(1000) == 0
        await asyncio.sleep(0.1)
        assert await journal.expire(0.05) == 2

    play(work)


def test_every_text_and_all_bytes_come_back_as_they_were(play: Play) -> None:
    async def work(journal: Journal) -> None:
        odd = begun(1, agent="\0 ' \" é \U0001f600", key="ÿ \u2028 k")
        step = taken(1, key="ÿ", answer=bytes(range(256)) + b"\r\n")
        await journal.begin(odd, 9)
        await journal.commit(odd.id, step, evolve(ENDED, stop="done", trajectory=bytes(range(256))))
        entry = await journal.find(odd.id)
        assert entry is not None
        assert entry.begun == odd
        assert [*await journal.steps(odd.id)] == [step]
        assert await trajectories(journal) == [bytes(range(256))]

    play(work)


def test_a_caller_that_goes_away_disturbs_nobody(play: Play) -> None:
    async def work(journal: Journal) -> None:
        for each in (FIRST, SECOND):
            await journal.begin(each, 9)
        gone = asyncio.create_task(journal.commit(FIRST.id, taken(1)))
        stays = asyncio.create_task(journal.commit(SECOND.id, taken(1)))
        await asyncio.sleep(0)
        gone.cancel()
        assert await stays
        assert await journal.commit(SECOND.id, taken(2))
        entry = await journal.find(FIRST.id)
        assert entry is not None
        assert entry.steps == len(await journal.steps(FIRST.id))

    play(work)


@in_memory
def test_in_memory_episodes_that_ended_longest_ago_make_room(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rlenv_serve.state.memory.HELD", 100_000)

    async def work(journal: Journal) -> None:
        async def ended(n: int, answer: bytes) -> None:
            await journal.begin(begun(n, key=str(n)), 9)
            await journal.commit(begun(n, key=str(n)).id, taken(1, answer=answer), ENDED)

        await journal.begin(OTHER, 9)
        for n in range(30):
            await ended(n, b"x" * 9_000)
        stayed = [n for n in range(30) if await journal.find(begun(n).id)]
        assert stayed == [*range(21, 30)]
        assert await journal.find(OTHER.id)  # it is open
        assert len(await trajectories(journal)) == 30  # no store has them
        assert await journal.begin(begun(50, key="3"), 9) == begun(50, key="3")
        await ended(60, b"x" * 200_000)
        assert [each.begun.id for each in await journal.recent(None, 99) if each.ended] == [
            begun(60).id
        ]
        assert await journal.expire(-1.0) == 3
        await ended(61, b"")
        assert await journal.find(begun(61).id)

    play(work)
