"""What every store of tickets must do, and what their judge does over each: the journals of a
server, and the file of a training run.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest
from journals import opened
from rlenv_cli.tickets import (
    TicketJudge,
    TicketRecord,
    TicketState,
    TicketStore,
    end_ticket,
    judging,
)
from rlenv_serve.state import open_journal
from rlenv_serve.state.journal import EpisodeEnd, EpisodeStart, Journal, JournaledStep
from rlenv_serve.state.memory import MemoryJournal
from rlenv_serve.verify.ticket_store import JournalTickets, TicketRequest
from rlenv_train.tickets import SqliteStore
from stores import state_of

ASKED = '{"response": "é \\ud800"}'.encode()
RESULT = b'{"value": 1.0}'
FIRST = TicketRecord("1" * 32, "f" * 16)
OUTSIDE = TicketRecord("2" * 32, "f" * 16, "outside")
LATE = 60.0  # seconds in which whatever is waited for has happened

Play = Callable[[Callable[[TicketStore, TicketStore], Awaitable[None]]], None]


@asynccontextmanager
async def of_journal(journal: Callable[[], Journal]) -> AsyncIterator[TicketStore]:
    async with opened(lambda: journal().sibling("tickets")) as made:
        yield JournalTickets(made)


@asynccontextmanager
async def of_memory(journal: MemoryJournal) -> AsyncIterator[TicketStore]:
    yield JournalTickets(journal)


@asynccontextmanager
async def of_file(path: Path) -> AsyncIterator[TicketStore]:
    store = SqliteStore(path)
    try:
        yield store
    finally:
        store.close()


Opener = Callable[[], AbstractAsyncContextManager[TicketStore]]


@pytest.fixture(params=["memory", "file", "sqlite", "redis"])
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    """Opens the store as another process would; memory has one process alone."""
    if request.param == "memory":
        yield partial(of_memory, MemoryJournal())
    elif request.param == "file":
        yield partial(of_file, tmp_path / "tickets.sqlite")
    else:
        with state_of(request.param, tmp_path) as (state, _):
            yield partial(of_journal, partial(open_journal, state))


@pytest.fixture
def play(opener: Opener) -> Play:
    """Runs a test with two processes' views of the store."""

    def run(work: Callable[[TicketStore, TicketStore], Awaitable[None]]) -> None:
        async def with_stores() -> None:
            async with opener() as one, opener() as two:
                await work(one, two)

        asyncio.run(with_stores())

    return run


async def found(store: TicketStore, record: TicketRecord = FIRST) -> TicketRecord:
    kept = await store.find(record.id)
    assert kept is not None
    return kept


async def taken(store: TicketStore) -> TicketRecord:
    """The first ticket, which waits, taken."""
    made = await store.take(await found(store), 0)
    assert made is not None
    return made


def test_a_new_ticket_waits_and_has_what_is_asked(play: Play) -> None:
    async def work(one: TicketStore, two: TicketStore) -> None:
        await one.put(FIRST, ASKED)
        await one.put(OUTSIDE, ASKED)
        for store in (one, two):
            assert (await found(store)).state == "waiting"
            assert (await found(store)).fingerprint == FIRST.fingerprint
            assert (await found(store, OUTSIDE)).state == "outside"
            assert await store.read_request(FIRST.id) == ASKED
            assert await store.result(FIRST.id) == b""

    play(work)


def test_a_ticket_that_is_not_there_is_nothing(play: Play) -> None:
    async def work(one: TicketStore, _: TicketStore) -> None:
        assert await one.find(FIRST.id) is None
        assert await one.read_request(FIRST.id) == b""
        assert await one.result(FIRST.id) == b""
        assert await one.take(FIRST, 0) is None
        assert not await one.end(FIRST, "done", RESULT)
        assert not await end_ticket(one, FIRST.id, "cancelled")

    play(work)


@pytest.mark.parametrize("state", ["done", "cancelled"])
def test_a_ticket_ends_once_and_stays_as_it_ended(play: Play, state: TicketState) -> None:
    async def work(one: TicketStore, two: TicketStore) -> None:
        await one.put(FIRST, ASKED)
        mine = await taken(one)
        assert await one.end(mine, state, RESULT if state == "done" else b"")
        for store in (one, two):
            ended = await found(store)
            assert (ended.state, ended.has_ended, ended.is_open) == (state, True, False)
            assert not await store.end(mine, "done", b"another")
            assert not await store.end(ended, "cancelled")
            assert not await end_ticket(store, FIRST.id, "cancelled")
            assert await store.take(ended, 1) is None
            assert await store.result(FIRST.id) == (RESULT if state == "done" else b"")

    play(work)


def test_one_of_those_that_end_a_ticket_at_once_ends_it(play: Play) -> None:
    async def work(one: TicketStore, two: TicketStore) -> None:
        await one.put(OUTSIDE, ASKED)
        results = [b'"%d"' % n for n in range(8)]
        ends = [
            end_ticket(store, OUTSIDE.id, "done", result)
            for store, result in zip((one, two) * 4, results, strict=True)
        ]
        is_first = await asyncio.gather(*ends)
        assert sum(is_first) == 1
        assert await two.result(OUTSIDE.id) == results[is_first.index(True)]

    play(work)


def test_a_ticket_for_an_outcome_from_outside_is_taken_by_no_judge(play: Play) -> None:
    async def work(one: TicketStore, two: TicketStore) -> None:
        await one.put(OUTSIDE, ASKED)
        assert await one.take(await found(one, OUTSIDE), 0) is None
        assert await end_ticket(two, OUTSIDE.id, "done", RESULT)
        assert await one.result(OUTSIDE.id) == RESULT

    play(work)


def test_a_ticket_that_one_process_took_is_not_taken_by_another(play: Play) -> None:
    async def work(one: TicketStore, two: TicketStore) -> None:
        await one.put(FIRST, ASKED)
        as_found = await found(two)
        mine = await taken(one)
        assert await two.take(as_found, 0) is None
        again = await one.take(mine, 1)  # a sign of life
        assert again is not None
        assert await one.end(again, "done", RESULT)

    play(work)


def test_what_is_kept_survives_the_process_and_another_takes_it(
    opener: Opener,
) -> None:
    async def work() -> None:
        async with opener() as first:
            await first.put(FIRST, ASKED)
            await taken(first)
        async with opener() as second:
            assert await second.read_request(FIRST.id) == ASKED
            assert await second.end(await taken(second), "done", RESULT)
        async with opener() as third:
            assert await third.result(FIRST.id) == RESULT

    asyncio.run(work())


def test_the_entries_of_an_earlier_release_are_read() -> None:
    async def work() -> None:
        journal = MemoryJournal()
        for number in (1, 2):
            begun = EpisodeStart(
                f"{number:032x}", "alice:00", "sums", "f", "2", "d", 7, "", 12.5, ""
            )
            await journal.begin(begun, 9)
            await journal.commit(begun.id, JournaledStep(1, ASKED, b"0"))
        await journal.commit(f"{2:032x}", JournaledStep(2, b"", RESULT), EpisodeEnd("done", b"14"))
        waiting, done = [await JournalTickets(journal).find_stored(f"{n:032x}") for n in (1, 2)]
        assert waiting is not None
        assert waiting.request == TicketRequest("alice:00", "sums", 2, "d", 7)
        assert waiting.record.state == "waiting"
        assert done is not None
        assert (done.record.state, done.result_size) == ("done", 14)
        assert await JournalTickets(journal).result(done.record.id) == RESULT

    asyncio.run(work())


# -- the judge ------------------------------------------------------------------------------------


async def result_of(store: TicketStore) -> bytes:
    """The result of the first ticket, when it is done."""

    async def when_done() -> None:
        while not (await found(store)).has_ended:
            await asyncio.sleep(0.01)

    await asyncio.wait_for(when_done(), LATE)
    return await store.result(FIRST.id)


@pytest.fixture(autouse=True)
def quick_signs_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "BEAT", 0.02)


def test_a_judge_keeps_the_result_and_gives_signs_of_life_until_then(play: Play) -> None:
    async def work(one: TicketStore, two: TicketStore) -> None:
        gate = asyncio.Event()
        calls = 0

        async def judged() -> bytes:
            await gate.wait()
            return RESULT

        def done() -> int:
            nonlocal calls
            calls += 1
            if calls == 3:
                gate.set()
            return calls

        judge = TicketJudge(one)
        await one.put(FIRST, ASKED)
        task = judge.start(await taken(one), judged(), done)
        assert [*judge.live] == [FIRST.id]
        assert await result_of(two) == RESULT
        await asyncio.wait([task])
        assert judge.live == {}
        assert calls >= 3

    play(work)


def test_a_judge_ends_its_work_when_the_ticket_is_cancelled(play: Play) -> None:
    async def work(one: TicketStore, two: TicketStore) -> None:
        judge = TicketJudge(one)
        await one.put(FIRST, ASKED)
        working: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        task = judge.start(await taken(one), working)
        assert await end_ticket(two, FIRST.id, "cancelled")
        await asyncio.wait_for(task, LATE)
        await asyncio.wait([working])
        assert working.cancelled()
        assert judge.live == {}
        assert (await found(one)).state == "cancelled"

    play(work)


T = TypeVar("T")


class Away:
    """A store that cannot be reached for some writes, of which every second one is kept."""

    def __init__(self, store: TicketStore, writes: int) -> None:
        self._store = store
        self._writes = writes
        self.errors = store.errors
        self.put = store.put
        self.find = store.find
        self.read_request = store.read_request
        self.result = store.result

    async def take(self, record: TicketRecord, done: int) -> TicketRecord | None:
        return await self._written(self._store.take(record, done))

    async def end(self, record: TicketRecord, state: TicketState, result: bytes = b"") -> bool:
        return await self._written(self._store.end(record, state, result))

    async def _written(self, write: Awaitable[T]) -> T:
        self._writes -= 1
        if self._writes % 2 or self._writes < 0:
            found = await write
            if self._writes < 0:
                return found
        else:
            asyncio.ensure_future(write).cancel()
        raise self._error()

    def _error(self) -> Exception:
        error = self.errors[0]
        return error(503, "away", "it is away") if error.__name__ == "Problem" else error("away")


@pytest.mark.parametrize("writes", [3, 4])
def test_a_result_is_kept_once_when_the_store_is_back(play: Play, writes: int) -> None:
    async def work(one: TicketStore, two: TicketStore) -> None:
        await one.put(FIRST, ASKED)
        errors = list[Exception]()
        judge = TicketJudge(Away(one, writes), errors.append)
        count = 0

        async def judged() -> bytes:
            nonlocal count
            count += 1
            return b"%d results" % count

        await asyncio.wait_for(judge.start(await taken(one), judged()), LATE)
        assert await result_of(two) == b"1 results"
        assert 1 <= len(errors) <= writes
        assert judge.live == {}

    play(work)


def test_a_judge_that_is_cancelled_at_once_judges_nothing(play: Play) -> None:
    async def work(one: TicketStore, _: TicketStore) -> None:
        judge = TicketJudge(one)
        await one.put(FIRST, ASKED)
        task = judge.start(await taken(one), result_of(one))
        task.cancel()
        await asyncio.wait([task])
        assert judge.live == {}
        assert (await found(one)).state == "waiting"

    play(work)


def test_a_ticket_without_signs_of_life_counts_as_abandoned_and_only_while_it_waits(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(one: TicketStore, two: TicketStore) -> None:
        await one.put(FIRST, ASKED)
        await one.put(OUTSIDE, ASKED)
        mine = await taken(one)
        judge = TicketJudge(one)
        other = TicketJudge(two)
        assert not other.is_abandoned(await found(two))
        monkeypatch.setattr(judging, "LEFT", -1.0)
        assert other.is_abandoned(await found(two))
        assert not other.is_abandoned(await found(two, OUTSIDE))
        task = judge.start(mine, asyncio.get_running_loop().create_future())  # it never ends
        assert not judge.is_abandoned(await found(one))
        task.cancel()
        await asyncio.wait([task])
        assert await end_ticket(two, FIRST.id, "done", RESULT)
        assert not other.is_abandoned(await found(two))

    play(work)
