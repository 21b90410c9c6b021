"""The way of trajectories from the outbox of a journal into their store: what cannot be read, and
what is large.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path

import pytest
from attrs import evolve
from journals import begun, opened, row, taken
from rlenv_serve import Server
from rlenv_serve.state import open_journal
from rlenv_serve.state.journal import EpisodeEnd, Journal
from rlenv_serve.state.memory import MemoryJournal
from rlenv_serve.trajectories import archive
from rlenv_serve.trajectories.archive import Archive
from rlenv_serve.trajectories.episode import FinishedEpisode
from rlenv_serve.trajectories.store import TrajectoryStore
from serving import Client, episode, running, served, sums, until
from stores import state_of

UNREAD = [
    b"\xff",
    b"{",
    b'{"id": "e1"}',
    b"[1]",
    b"[" * 100_000,
    row(7).to_json()[:-9],
    row(8).to_json().replace(b"done", b"do\xffe"),
]


async def leave(journal: Journal, number: int, held: bytes) -> None:
    """Leave a trajectory in the outbox."""
    each = begun(number)
    await journal.begin(each, 9_999)
    await journal.commit(each.id, taken(1), EpisodeEnd("done", b"{}", held))


async def outbox(journal: Journal) -> list[bytes]:
    return [held for _, held in await journal.outbox(9_999)]


async def ids(store: TrajectoryStore) -> list[str]:
    return [each.id for each in await store.after(0, None)]


@pytest.mark.parametrize("kind", ["sqlite", "redis"])
def test_what_cannot_be_read_stays_in_the_outbox_and_all_others_pass(
    kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    unread = UNREAD * 6  # more than come at once
    rows = [
        *unread,
        row(1).to_json(),
        unread[0],
        *(row(n).to_json() for n in range(2, 60)),
        unread[1],
    ]

    async def use(state: str) -> None:
        store = TrajectoryStore(f"sqlite:{tmp_path}/t.db")
        async with opened(lambda: open_journal(state)) as journal:
            for number, held in enumerate(rows):
                await leave(journal, number, held)
            here = Archive(journal, store)
            await here.bring()
            assert await ids(store) == [f"e{n}" for n in range(1, 60)]
            assert await outbox(journal) == [*unread, *unread[:2]]
            names = [name for name, _ in await journal.outbox(9_999)]
            told = [each.getMessage() for each in caplog.records]
            assert [each.split()[1] for each in told] == names
            assert all("stays there" in each and "docs/how-to/serve.md" in each for each in told)

            await leave(journal, 1_000, row(60).to_json())
            await here.bring()
            assert (await ids(store))[-1] == "e60"
            assert len(caplog.records) == len(names) == len(here.aside)

            await journal.forget_archived(
                names[:-1]
            )  # as an operator throws away what nobody reads
            monkeypatch.setattr(
                FinishedEpisode, "from_json", lambda _: row(61)
            )  # the rlenv that wrote it
            await Archive(journal, store).bring()
            assert (await ids(store))[-1] == "e61"
            assert await outbox(journal) == []
            await leave(journal, 1_001, b"{")
            monkeypatch.undo()
            await here.bring()
            assert await outbox(journal) == [b"{"]
        await store.close()

    with caplog.at_level(logging.WARNING, "rlenv_serve"), state_of(kind, tmp_path) as (state, _):
        asyncio.run(asyncio.wait_for(use(state), 60))


def test_what_cannot_be_read_is_read_once_and_not_with_each_that_comes_after_it() -> None:
    read = list[str]()

    class Counting(MemoryJournal):
        async def outbox(self, limit: int, after: str = "") -> Sequence[tuple[str, bytes]]:
            found = await super().outbox(limit, after)
            read.extend(name for name, _ in found)
            return found

    async def use() -> None:
        journal = Counting()
        store = TrajectoryStore("memory:")
        for number in range(100):
            await leave(journal, number, b"{" if number % 2 else row(number).to_json())
        here = Archive(journal, store)
        await here.bring()
        assert (len(here.aside), len(await ids(store))) == (50, 50)
        assert len(read) <= 300
        read.clear()
        await here.bring()
        assert read == []
        await store.close()

    asyncio.run(use())


def test_a_server_counts_what_cannot_be_read() -> None:
    journal = MemoryJournal()
    asyncio.run(leave(journal, 0, b"{"))
    with running(Server(served(sums()), journal=journal)) as ask:
        until(lambda: b"rlenv_trajectories_unread 1.0" in ask("GET", "/metrics").body)
        until(lambda: played(ask) in str(ask("GET", "/trajectories").body))


def played(ask: Client) -> str:
    id_ = episode(ask)
    ask("POST", f"/episodes/{id_}/steps", {"action": "submit", "answer": "6"})
    return id_


def test_large_trajectories_come_alone_and_small_ones_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(archive, "BYTES", 20_000)
    read = list[int]()
    kept = list[int]()

    class Counting(MemoryJournal):
        async def outbox(self, limit: int, after: str = "") -> Sequence[tuple[str, bytes]]:
            found = await super().outbox(limit, after)
            read.append(sum(len(held) for _, held in found))
            return found

    async def use(sizes: Sequence[int]) -> None:
        journal = Counting()
        store = TrajectoryStore("memory:")
        for number, size in enumerate(sizes):
            await leave(journal, number, evolve(row(number), rollout="x" * size).to_json())
        append = store.append

        async def counted(rows: Sequence[FinishedEpisode]) -> None:
            kept.append(len(rows))
            await append(rows)

        monkeypatch.setattr(store, "append", counted)
        await Archive(journal, store).bring()
        assert await ids(store) == [f"e{number}" for number in range(len(sizes))]
        assert await outbox(journal) == []
        await store.close()

    asyncio.run(use([30_000] * 20))
    assert kept == [1] * 20
    assert max(read) < 31_000
    kept.clear()
    asyncio.run(use([10] * 100))
    assert max(kept) == archive.PAGE
    assert len(kept) < 12
