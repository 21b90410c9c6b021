"""A journal in a file of SQLite, for the servers of one machine.

One thread writes: whatever waits when it is free becomes one transaction, and is acknowledged when
that is committed.  So
many episodes cost one commit.  A commit with the end of an episode is synced to the disk; that of
steps alone survives the end of the process and of all others, but the last moments may be lost with
the machine's power.

A step is written on the event loop where the one before was of the same episode, as of a server
with one client: that takes less time than handing it over.  It goes to the system's cache, and the
thread moves what is there into the file (the checkpoint).  The thread takes over where another
process writes, and where a step took long, as on a disk that cannot keep up.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TypeAlias, TypeVar

import msgspec
from attrs import frozen
from rlenv import ConfigError

from .age import Age
from .journal import Entry, EpisodeEnd, EpisodeStart, JournaledStep, unavailable
from .sqlite_file import connect

T = TypeVar("T")
Work: TypeAlias = Callable[[sqlite3.Connection], T]
WAIT = 5.0  # seconds for a lock of another process; then 503
# seconds: once a step here took longer, the thread takes all for so long
SLOW = 0.02
REST = 10.0
CHECKPOINT = 200  # steps on the loop, after which the thread may have to make room in the log
GROUP = 512  # writes in one transaction
EXPIRED = 200  # episodes that one write removes
BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
# seconds by which an episode may look older than it is, so that most steps do not change its row
GRAIN = 1.0
ENTRY = (
    "SELECT begun, (SELECT ifnull(max(number), 0) FROM step WHERE episode = episode.number), stop,"
    " verdict FROM episode"
)
TAKE = (
    "INSERT INTO step SELECT number, :number, :action, :answer, :key FROM episode WHERE id = :id"
    " AND stop IS NULL AND :number = 1 + (SELECT ifnull(max(number), 0) FROM step WHERE episode ="
    " episode.number)"
)
OF_ID = "SELECT number FROM episode WHERE id = ?"
OLD = "SELECT number FROM episode WHERE written < ? LIMIT ?"
_encode = msgspec.json.Encoder().encode
_begun = msgspec.json.Decoder(EpisodeStart).decode


@frozen(eq=False)
class _Write:
    work: Work[object]
    done: asyncio.Future[object]
    is_end: bool = False


class SqliteJournal:
    """As of ``Journal``; for the processes of one machine.

    Args:
        path: of the file, which ``sqlite_file.prepare`` has made.
        wait: seconds for a lock of another process.
    """

    shared = True

    def __init__(self, path: str, *, wait: float = WAIT) -> None:
        self._path = path
        self._wait = wait
        self._age = Age()
        self._queue: SimpleQueue[_Write | None] = SimpleQueue()
        self._link: sqlite3.Connection | None = None  # of the writer
        self._own: sqlite3.Connection | None = None  # of the loop
        self._waiting = 0
        self._steps = 0
        self._rests = 0.0
        self._last = ""
        self._writer: threading.Thread | None = None
        self._reader: sqlite3.Connection | None = None

    def sibling(self, name: str) -> SqliteJournal:
        """As of ``Journal``: a file beside this one."""
        return SqliteJournal(f"{self._path}-{name}", wait=self._wait)

    async def open(self) -> None:
        """As of ``Journal``."""
        self._loop = asyncio.get_running_loop()
        self._readers = ThreadPoolExecutor(1, "rlenv-journal-reader")
        self._writer = threading.Thread(target=self._serve, name="rlenv-journal", daemon=True)
        self._writer.start()
        await self._written(lambda _: None)

    async def begin(self, begun: EpisodeStart, limit: int) -> EpisodeStart | None:
        """As of ``Journal``."""
        return await self._written(lambda link: _begin(link, begun, limit, self._age.now()))

    async def find(self, id: str) -> Entry | None:  # noqa: A002 - the field's name
        """As of ``Journal``."""
        return next(map(_entry, await self._read(f"{ENTRY} WHERE id = ?", id)), None)

    async def steps(self, id: str) -> Sequence[JournaledStep]:  # noqa: A002 - as above
        """As of ``Journal``."""
        rows = await self._read(
            "SELECT step.number, action, answer, step.key FROM step JOIN episode ON step.episode ="
            " episode.number WHERE id = ? ORDER BY step.number",
            id,
        )
        return [JournaledStep(*row) for row in rows]

    async def commit(self, id: str, taken: JournaledStep, ended: EpisodeEnd | None = None) -> bool:  # noqa: A002 - as above
        """As of ``Journal``."""
        work = lambda link: _commit(link, id, taken, ended, self._age.now())  # noqa: E731 - one line
        return await self._written(work, step_of="" if ended else id, is_end=ended is not None)

    async def outbox(self, limit: int, after: str = "") -> Sequence[tuple[str, bytes]]:
        """As of ``Journal``."""
        rows = await self._read(
            "SELECT number, trajectory FROM outbox WHERE number > ? ORDER BY number LIMIT ?",
            int(after or 0),
            limit,
        )
        return [(str(number), held) for number, held in rows]

    async def forget_archived(self, names: Sequence[str]) -> None:
        """As of ``Journal``."""
        await self._written(
            lambda link: link.executemany(
                "DELETE FROM outbox WHERE number = ?", [(int(each),) for each in names]
            )
        )

    async def remove(self, id: str) -> None:  # noqa: A002 - as above
        """As of ``Journal``."""
        await self._written(lambda link: _remove(link, OF_ID, id))

    async def open_of(self, tenant: str) -> Sequence[Entry]:
        """As of ``Journal``."""
        query = f"{ENTRY} WHERE tenant = ? AND stop IS NULL ORDER BY number"
        return [_entry(row) for row in await self._read(query, tenant)]

    async def probe(self) -> None:
        """As of ``Journal``."""
        await self._written(lambda link: _tell_clock(link, self._age))

    async def recent(self, tenant: str | None, limit: int) -> Sequence[Entry]:
        """As of ``Journal``."""
        where, given = ("", ()) if tenant is None else ("WHERE tenant = ?", (tenant,))
        rows = await self._read(f"{ENTRY} {where} ORDER BY number DESC LIMIT ?", *given, limit)
        return [_entry(row) for row in rows]

    async def expire(self, keep: float) -> int:
        """As of ``Journal``."""
        count = 0
        while True:
            found = await self._written(lambda link: _expire(link, self._age, keep))
            count += found
            if found < EXPIRED:
                return count

    async def close(self) -> None:
        """As of ``Journal``."""
        if self._writer is None:
            return
        writer = self._writer
        self._writer = None
        self._queue.put(None)
        await asyncio.to_thread(writer.join)
        await asyncio.to_thread(self._readers.shutdown)
        if self._reader is not None:
            self._reader.close()

    # -- reading ----------------------------------------------------------------------------------

    async def _read(self, query: str, *given: object) -> list[tuple]:  # type: ignore[type-arg] # columns of any type
        if self._writer is None:
            raise unavailable("it is closed")
        try:
            return await self._loop.run_in_executor(self._readers, self._rows, query, given)
        except (sqlite3.Error, OSError, ConfigError) as error:
            raise unavailable(error) from None

    def _rows(self, query: str, given: tuple[object, ...]) -> list[tuple]:  # type: ignore[type-arg] # as above
        self._reader = self._reader or connect(self._path, self._wait)
        return self._reader.execute(query, given).fetchall()

    # -- writing ----------------------------------------------------------------------------------

    async def _written(self, work: Work[T], *, step_of: str = "", is_end: bool = False) -> T:
        if self._writer is None:
            raise unavailable("it is closed")
        is_alone = step_of == self._last != "" and not self._waiting
        self._waiting = self._waiting + 1
        self._last = step_of or self._last
        try:
            if is_alone and (found := self._written_here(work)) is not None:
                await asyncio.sleep(0)  # what comes until then shares a transaction
                return found
            done: asyncio.Future[object] = self._loop.create_future()
            self._queue.put(_Write(work, done, is_end))
            return await done  # type: ignore[return-value] # what `work` gave
        except (sqlite3.Error, OSError, ConfigError) as error:
            raise unavailable(error) from None
        finally:
            self._waiting -= 1

    def _written_here(self, work: Work[T]) -> T | None:
        """Return what the work gave; None where nothing was done, and it is for the thread."""
        started = time.monotonic()
        self._steps = self._steps + 1
        own = self._own if self._steps % CHECKPOINT and started > self._rests else None
        if own is None:
            return None
        try:
            own.execute("BEGIN IMMEDIATE")
        except sqlite3.Error:  # as where another process writes
            return None
        found = _finish(own, [work])[0]
        if time.monotonic() - started > SLOW:
            self._rests = started + REST
        return found

    def _serve(self) -> None:
        """The thread that writes."""
        while (first := self._queue.get()) is not None:
            group = [first]
            with suppress(Empty):
                while len(group) < GROUP and (more := self._queue.get_nowait()):
                    group.append(more)
                if len(group) < GROUP:  # None: the journal is being closed
                    self._queue.put(None)
            found = self._outcomes(group)
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(_settle, group, found)
        self._drop()

    def _outcomes(self, group: Sequence[_Write]) -> list[object]:
        """Return what each write gave, or the exception that it raised."""
        try:
            return self._commit_group(group)
        except Exception as error:  # noqa: BLE001 - it goes to who waits
            is_busy = getattr(error, "sqlite_errorcode", 0) & 0xFF in BUSY
            if not is_busy:
                self._drop()
            if is_busy or len(group) == 1:
                return [error] * len(group)
        # One that cannot be kept must not take the others with it.
        return [found for each in group for found in self._outcomes([each])]

    def _commit_group(self, group: Sequence[_Write]) -> list[object]:
        link = self._connect()
        level = "FULL" if any(each.is_end for each in group) else "NORMAL"
        link.execute(f"PRAGMA synchronous = {level}")
        link.execute("BEGIN IMMEDIATE")
        return _finish(link, [each.work for each in group])

    def _connect(self) -> sqlite3.Connection:
        if self._link is None:
            self._link = link = connect(self._path, self._wait)
            (seconds,) = link.execute(
                "SELECT max(seconds, ifnull((SELECT max(written) FROM episode), 0)) FROM clock"
            ).fetchone()
            self._age.at_least(seconds)
            self._own = connect(self._path, 0.0)
            self._own.executescript("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0")
        return self._link

    def _drop(self) -> None:
        """Connect anew for the next write: the disk may have been replaced."""
        links = (self._link, self._own)
        self._link = None
        self._own = None
        for each in filter(None, links):
            with suppress(sqlite3.Error):
                each.close()


def _settle(group: Sequence[_Write], found: Sequence[object]) -> None:
    for each, result in zip(group, found, strict=True):
        if each.done.done():  # who waited is gone
            continue
        if isinstance(result, Exception):
            each.done.set_exception(result)
        else:
            each.done.set_result(result)


def _finish(link: sqlite3.Connection, works: Sequence[Work[T]]) -> list[T]:
    """Run all work in the transaction that was begun, and return what each gave."""
    try:
        found = [each(link) for each in works]
        link.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            link.rollback()
        raise
    return found


def _entry(row: tuple[bytes, int, str | None, bytes | None]) -> Entry:
    begun, steps, stop, verdict = row
    return Entry(_begun(begun), steps, None if stop is None else EpisodeEnd(stop, verdict or b""))


def _begin(
    link: sqlite3.Connection, begun: EpisodeStart, limit: int, now: float
) -> EpisodeStart | None:
    if begun.key:
        old = link.execute(
            "SELECT begun FROM episode WHERE tenant = ? AND key = ?", (begun.tenant, begun.key)
        ).fetchone()
        if old:
            return _begun(old[0])
    (count,) = link.execute(
        "SELECT count(*) FROM episode WHERE tenant = ? AND stop IS NULL", (begun.tenant,)
    ).fetchone()
    if count >= limit:
        return None
    link.execute(
        "INSERT INTO episode (id, begun, tenant, key, written) VALUES (?, ?, ?, ?, ?)",
        (begun.id, _encode(begun), begun.tenant, begun.key, now),
    )
    return begun


def _commit(
    link: sqlite3.Connection, id_: str, taken: JournaledStep, ended: EpisodeEnd | None, now: float
) -> bool:
    # by name, since Python 3.14 accepts no sequence for parameters that have numbers
    step = {
        "number": taken.number,
        "action": taken.action,
        "answer": taken.answer,
        "key": taken.key,
        "id": id_,
    }
    if not link.execute(TAKE, step).rowcount:
        return False
    if ended is None:
        link.execute(
            "UPDATE episode SET written = :now WHERE id = :id AND written < :now - :grain",
            {"now": now, "id": id_, "grain": GRAIN},
        )
    else:
        link.execute(
            "UPDATE episode SET written = ?, stop = ?, verdict = ? WHERE id = ?",
            (now, ended.stop, ended.verdict, id_),
        )
        if ended.trajectory:
            link.execute("INSERT INTO outbox (trajectory) VALUES (?)", (ended.trajectory,))
    return True


def _remove(link: sqlite3.Connection, which: str, *given: object) -> int:
    rows = link.execute(which, given).fetchall()
    link.executemany("DELETE FROM step WHERE episode = ?", rows)
    link.executemany("DELETE FROM episode WHERE number = ?", rows)
    return len(rows)


def _tell_clock(link: sqlite3.Connection, age: Age) -> float:
    """Write how long servers have run.  SQLite leaves a row with the same values unwritten; this
    one is always another.
    """
    query = "UPDATE clock SET seconds = max(seconds, ?) RETURNING seconds"
    (now,) = link.execute(query, (age.now(),)).fetchone()
    age.at_least(now)
    return float(now)


def _expire(link: sqlite3.Connection, age: Age, keep: float) -> int:
    now = _tell_clock(link, age)
    return _remove(link, OLD, now - keep, EXPIRED)
