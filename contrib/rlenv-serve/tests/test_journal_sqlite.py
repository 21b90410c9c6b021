"""A journal in SQLite: its file, and what happens when the disk or another process does not let it
write.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sqlite3
import stat
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from journals import ENDED, add_episodes, begun, opened, sqlite, taken
from rlenv import ConfigError
from rlenv_serve.http.problems import Problem
from rlenv_serve.state import open_journal
from rlenv_serve.state.journal import Journal
from rlenv_serve.state.sqlite import CHECKPOINT, SqliteJournal
from rlenv_serve.state.sqlite_file import connect

FIRST = begun(1)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


def test_only_its_owner_can_read_what_it_writes(file: Path) -> None:
    async def work() -> None:
        async with opened(sqlite(file.parent)) as journal:
            await journal.begin(FIRST, 9)
            assert [
                oct(stat.S_IMODE(os.stat(each).st_mode)) for each in sorted(file.parent.iterdir())
            ] == ["0o600"] * 3

    asyncio.run(work())


def text(file: Path) -> None:
    file.write_text("not a database, and longer than a header of SQLite is: " + "x" * 200)


def database(file: Path) -> None:
    with closing(sqlite3.connect(file)) as link, link:
        link.execute("CREATE TABLE mine (x)")


def later(file: Path) -> None:
    open_journal(f"sqlite:{file}")
    with closing(sqlite3.connect(file)) as link, link:
        link.execute("PRAGMA user_version = 7")


def readable(file: Path) -> None:
    open_journal(f"sqlite:{file}")
    file.chmod(0o644)


def link(file: Path) -> None:
    open_journal(f"sqlite:{file}2")
    file.symlink_to(f"{file}2")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (text, "not a database of SQLite"),
        (Path.touch, "something else"),
        (database, "something else"),
        (later, "version 7"),
        (readable, "chmod 600"),
        (link, "not a regular file"),
        (Path.mkdir, "not a regular file"),
    ],
)
def test_a_file_that_is_no_journal_of_one_s_own_is_an_error(
    file: Path, make: Callable[[Path], None], says: str
) -> None:
    make(file)
    if file.is_file():
        mode = file.stat().st_mode
        file.chmod(mode if make is readable else 0o600)
    before = file.read_bytes() if file.is_file() else b""
    with pytest.raises(ConfigError, match=says) as raised:
        open_journal(f"sqlite:{file}")
    assert str(file) in str(raised.value)
    assert (file.read_bytes() if file.is_file() else b"") == before


@pytest.mark.parametrize(
    "url", ["sqlite:", "sqlite:/missing/journal.db", "postgres://x", "memory", "memory:x", ""]
)
def test_a_url_that_names_no_store_is_an_error(url: str) -> None:
    with pytest.raises(ConfigError, match="--state"):
        open_journal(url)


def test_a_password_in_a_url_is_not_repeated() -> None:
    with pytest.raises(ConfigError) as raised:
        open_journal("mysql://me:secret@host/1")
    assert "secret" not in str(raised.value)


def test_many_processes_may_make_one_file(file: Path) -> None:
    barrier = threading.Barrier(8)
    failed = list[BaseException]()

    def make() -> None:
        barrier.wait()
        try:
            open_journal(f"sqlite:{file}")
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=make) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not failed
    assert [each.name for each in file.parent.iterdir() if each.suffix == ".db"] == ["journal.db"]


def test_steps_that_wait_become_one_transaction(file: Path) -> None:
    async def work() -> None:
        async with opened(sqlite(file.parent)) as journal:
            await journal.begin(FIRST, 9)
            await asyncio.gather(
                *(journal.begin(begun(n, tenant=str(n)), 9) for n in range(2, 400))
            )
            version = await changes(file)
            await asyncio.gather(*(journal.commit(begun(n).id, taken(1)) for n in range(1, 400)))
            assert await changes(file) - version <= 20
            assert all([await journal.steps(begun(n).id) for n in range(1, 400)])

    asyncio.run(work())


def failing(
    made: Callable[[], sqlite3.Connection], pragma: str
) -> Callable[[], sqlite3.Connection]:
    """A connection of the writer on which SQLite itself says that it cannot write."""

    def connected() -> sqlite3.Connection:
        link = made()
        link.execute(pragma)
        return link

    return connected


@pytest.mark.parametrize("pragma", ["PRAGMA max_page_count = 1", "PRAGMA query_only = ON"])
def test_a_disk_that_is_full_or_read_only_is_503_and_nothing_is_lost(
    file: Path, pragma: str, caplog: pytest.LogCaptureFixture
) -> None:
    big = taken(2, answer=b"x" * 300_000)

    async def work() -> None:
        journal = SqliteJournal(str(file))
        open_journal(f"sqlite:{file}")
        await journal.open()
        try:
            await journal.begin(FIRST, 9)
            assert await journal.commit(FIRST.id, taken(1))
            made = journal._connect
            journal._connect = failing(made, pragma)  # type: ignore[method-assign] # in its place
            for _ in range(3):
                with pytest.raises(Problem) as raised:
                    await journal.commit(FIRST.id, big, ENDED)
                assert (raised.value.status, raised.value.code) == (503, "state_unavailable")
                assert str(file) not in raised.value.detail
            assert [*await journal.steps(FIRST.id)] == [taken(1)]
            journal._connect = made  # type: ignore[method-assign] # the disk is back
            assert await journal.commit(FIRST.id, big, ENDED)
            assert [*await journal.steps(FIRST.id)] == [taken(1), big]
        finally:
            await journal.close()

    asyncio.run(work())
    assert "full" in caplog.text or "readonly" in caplog.text


def test_what_cannot_be_kept_takes_nothing_else_with_it(file: Path) -> None:
    async def work() -> None:
        async with opened(sqlite(file.parent)) as journal:
            both = [begun(n) for n in range(8)]
            await asyncio.gather(*(journal.begin(each, 9) for each in both))
            bad = evolve(ENDED, stop="\ud800")
            made = await asyncio.gather(
                *(
                    journal.commit(each.id, taken(1), bad if each == both[3] else None)
                    for each in both
                ),
                return_exceptions=True,
            )
            assert isinstance(made.pop(3), UnicodeEncodeError)
            assert made == [True] * 7

    asyncio.run(work())


def test_a_lock_of_another_process_is_503_until_it_is_gone_and_readers_go_on(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        open_journal(f"sqlite:{file}")
        journal = SqliteJournal(str(file), wait=0.2)
        await journal.open()
        groups = groups_of(journal, monkeypatch)
        try:
            await journal.begin(FIRST, 9)
            with closing(sqlite3.connect(file, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                found = await asyncio.gather(
                    *(journal.commit(FIRST.id, taken(1)) for _ in range(50)),
                    journal.find(FIRST.id),
                    return_exceptions=True,
                )
                assert getattr(found.pop(), "steps", None) == 0
                assert len(groups) < 6  # so who waits does not wait for each of the others
                assert {getattr(each, "code", each) for each in found} == {"state_unavailable"}
                other.execute("ROLLBACK")
            assert await journal.commit(FIRST.id, taken(1))
        finally:
            await journal.close()

    asyncio.run(work())


def test_a_loop_is_not_held_up_by_a_store_that_waits(file: Path) -> None:
    async def work() -> None:
        open_journal(f"sqlite:{file}")
        journal = SqliteJournal(str(file), wait=30.0)
        await journal.open()
        try:
            with closing(sqlite3.connect(file, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                waits = asyncio.create_task(journal.begin(FIRST, 9))
                for _ in range(50):
                    await asyncio.sleep(0.005)
                assert not waits.done()
                other.execute("ROLLBACK")
            assert await waits == FIRST
        finally:
            await journal.close()

    asyncio.run(work())


def groups_of(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many writes the thread takes at once, from now on."""
    assert isinstance(journal, SqliteJournal)
    groups = list[int]()
    real = journal._commit_group

    def counted(group: Sequence[Any]) -> list[object]:
        groups.append(len(group))
        return real(group)

    monkeypatch.setattr(journal, "_commit_group", counted)
    return groups


def test_a_step_that_is_alone_is_written_at_once_and_the_log_does_not_grow(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        async with opened(sqlite(file.parent)) as journal:
            await journal.begin(FIRST, 9)
            monkeypatch.setattr("rlenv_serve.state.sqlite.SLOW", 1e9)  # whatever the disk does
            groups = groups_of(journal, monkeypatch)
            for number in range(1, 3_001):
                assert await journal.commit(FIRST.id, taken(number))
                await asyncio.sleep(0)
            assert 3_000 // CHECKPOINT <= len(groups) < 2 * 3_000 // CHECKPOINT
            assert Path(f"{file}-wal").stat().st_size < 32 << 20
        async with opened(sqlite(file.parent)) as again:
            assert len(await again.steps(FIRST.id)) == 3_000

    asyncio.run(work())


def test_after_a_step_that_took_long_the_thread_writes(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        async with opened(sqlite(file.parent)) as journal:
            await journal.begin(FIRST, 9)
            groups = groups_of(journal, monkeypatch)
            for number in range(1, 21):
                monkeypatch.setattr("rlenv_serve.state.sqlite.SLOW", -1.0 if number > 10 else 1e9)
                assert await journal.commit(FIRST.id, taken(number))
                await asyncio.sleep(0)
            assert len(groups) == 1 + 9  # the first, and all after the one that took long

    asyncio.run(work())


def test_steps_of_several_episodes_are_written_by_the_thread_together(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        async with opened(sqlite(file.parent)) as journal:
            for number in (1, 2):
                await journal.begin(begun(number), 9)
            groups = groups_of(journal, monkeypatch)
            for number in range(1, 11):
                for episode in (1, 2):
                    assert await journal.commit(begun(episode).id, taken(number))
            assert len(groups) == 20

    asyncio.run(work())


def test_a_step_that_cannot_be_written_at_once_is_503_and_the_next_is_taken(file: Path) -> None:
    async def work() -> None:
        async with opened(sqlite(file.parent)) as journal:
            assert isinstance(journal, SqliteJournal)
            await journal.begin(FIRST, 9)
            assert await journal.commit(FIRST.id, taken(1))
            assert journal._own is not None
            journal._own.execute("PRAGMA max_page_count = 1")
            with pytest.raises(Problem) as raised:
                await journal.commit(FIRST.id, taken(2, answer=b"x" * 300_000))
            assert raised.value.code == "state_unavailable"
            assert [*await journal.steps(FIRST.id)] == [taken(1)]
            journal._own.execute("PRAGMA query_only = ON")  # then the thread may write
            assert await journal.commit(FIRST.id, taken(2))
            assert [*await journal.steps(FIRST.id)] == [taken(1), taken(2)]

    asyncio.run(work())


def test_after_it_is_closed_a_journal_is_503(file: Path) -> None:
    async def work() -> None:
        async with opened(sqlite(file.parent)) as journal:
            pass
        with pytest.raises(Problem):
            await journal.find(FIRST.id)
        with pytest.raises(Problem):
            await journal.begin(FIRST, 9)
        await journal.close()

    asyncio.run(work())


def test_a_journal_of_100000_steps_is_opened_and_used_without_reading_it(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_episodes(file, 1000, 100)
    instructions = itertools.count()

    def counted(path: str, wait: float) -> sqlite3.Connection:
        link = connect(path, wait)
        link.set_progress_handler(lambda: next(instructions) < 0, 10)
        return link

    monkeypatch.setattr("rlenv_serve.state.sqlite.connect", counted)

    async def work() -> None:
        async with opened(sqlite(file.parent)) as journal:
            assert [*await journal.outbox(9)] == []
            assert len(await journal.steps(begun(700).id)) == 100
            assert await journal.commit(begun(700).id, taken(101), ENDED)
            assert await journal.expire(60) == 0

    asyncio.run(work())
    assert 10 < next(instructions) < 1_000


async def changes(file: Path) -> int:
    """How many transactions the log of the file has."""
    raw = Path(f"{file}-wal").read_bytes()
    size = int.from_bytes(raw[8:12], "big") + 24
    salt = raw[16:24]
    heads = (raw[at : at + 24] for at in range(32, len(raw) - 23, size))
    return sum(head[8:16] == salt and head[4:8] != bytes(4) for head in heads)
