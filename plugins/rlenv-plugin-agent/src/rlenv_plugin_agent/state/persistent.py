"""Worlds that outlive an episode: a file with what the last one left, and a log of who changed
what.

One transaction of SQLite holds the file from the beginning of an episode to its end.  So episodes
of all processes take turns, each begins with what the last one left, and one that does not end has
changed nothing.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Mapping
from contextlib import closing
from contextvars import ContextVar
from hashlib import sha256
from typing import TypeAlias, TypeVar

from attrs import asdict, evolve, frozen
from rlenv import ConfigError

from .final import FinalState
from .sqlite_file import BROKEN, opened_file
from .world import World

logger = logging.getLogger("rlenv_plugin_agent")
W = TypeVar("W", bound=World)
# The world that an episode holds, while its task's gold calls are played in forks of it.
PRESENT: ContextVar[World | None] = ContextVar("present", default=None)
Table: TypeAlias = Mapping[str, object]
SCHEMA = (
    "CREATE TABLE world(tables TEXT NOT NULL)",
    "CREATE TABLE log(number INTEGER PRIMARY KEY, entry TEXT NOT NULL, hash TEXT NOT NULL)",
    "CREATE TABLE state(number INTEGER PRIMARY KEY, key TEXT, named TEXT, content BLOB)",
)
State: TypeAlias = tuple[str, str, bytes]  # its key, the values as JSON, and the tables
ENTRIES = "SELECT number, entry, hash FROM log ORDER BY number DESC"
STATES = "SELECT key, named, content FROM state ORDER BY number DESC"
MOST = 64 << 20  # bytes more than in a new world; an episode that leaves more leaves nothing
KEPT = 1 << 30  # bytes of the states that are kept
TURN = 0.01  # seconds between two tries to get the file
COMMIT = 60_000  # milliseconds that an episode waits at its end for those who read the file


@frozen
class WorldFile:
    """The file in which a world is kept.

    Args:
        path: of the file; it is made with the first episode.
        tables: a digest of the schema that the environment declares.
        wait: seconds that one episode may hold it.
        keep: how many states are kept, for replay.
    """

    path: str
    tables: str
    wait: float
    keep: int

    async def begin(self, first: World, given: Table, about: Table) -> World:
        """Return what the last episode left; the file is this episode's alone until it ends.

        Args:
            first: what a new world begins with.
            given: values that hold whatever the last episode left.
            about: the episode, for the log.

        Raises:
            ConfigError: the file is something else, was edited, or has a world of another schema.
        """
        link = await asyncio.to_thread(open_world, self.path, writes=True)
        try:
            await self._turn(link)
            state = await asyncio.to_thread(self._last, link, first)
        except BaseException:
            link.close()
            raise
        world = _make_world(PersistentWorld, state, first, given)
        world.about = about
        world.keep = self.keep
        world.most = MOST + len(first.database.content)
        world.hold(link, self.wait)
        return world

    async def at(self, key: str, first: World, given: Table) -> World:
        """Return the world as it was, for an episode that leaves nothing in it.

        Args:
            key: of that state.
            first: as for ``begin``.
            given: as for ``begin``.

        Raises:
            ConfigError: it does not keep that state any more.
        """
        with closing(await asyncio.to_thread(open_world, self.path)) as link:
            state = next((state for state in link.execute(STATES) if state[0] == key), None)
        if state is None:
            raise ConfigError(
                f"world: {self.path} keeps the last {self.keep} states, and {key:.16} is not among"
                " them"
            )
        return _make_world(World, state, first, given)

    async def _turn(self, link: sqlite3.Connection) -> None:
        """Wait for a transaction that no other has; it ends with the connection.

        The wait has no limit: that others hold the world is no fault of this episode, and each of
            them gives it back
        after ``wait`` seconds.

        Raises:
            ConfigError: the file cannot be written.
        """
        link.isolation_level = None
        link.execute("PRAGMA busy_timeout = 0")
        tell = time.monotonic() + self.wait
        while not link.in_transaction:
            try:
                link.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF not in (
                    sqlite3.SQLITE_BUSY,
                    sqlite3.SQLITE_LOCKED,
                ):
                    raise ConfigError(f"world: {self.path} cannot be used: {error}") from error
                if time.monotonic() > tell:
                    logger.warning(
                        "an episode still waits for the world %s: others have held it for %g s; let"
                        " fewer episodes run at once, and close those that have not ended",
                        self.path,
                        self.wait,
                    )
                    tell += self.wait
                await asyncio.sleep(TURN)
        link.execute(f"PRAGMA busy_timeout = {COMMIT}")

    def _last(self, link: sqlite3.Connection, first: World) -> State:
        """Return what the last episode left; in a new file, what the environment declares."""
        state: State | None = link.execute(STATES).fetchone()
        if state is None:
            state = with_key(first.values, first.database.content)
            link.execute("INSERT INTO world VALUES (?)", [self.tables])
            link.execute("INSERT INTO state VALUES (0, ?, ?, ?)", state)
        if link.execute("SELECT tables FROM world").fetchall() != [(self.tables,)]:
            raise ConfigError(
                f"world: {self.path} was begun with another schema; go back to that schema, or name"
                " another file"
            )
        if state != with_key(json.loads(state[1]), state[2]) or (
            (last := link.execute(ENTRIES).fetchone()) and _entry(last)["after"] != state[0]
        ):
            raise ConfigError(
                f"world: {self.path} is not what its log says; put back a copy, or name another"
                " file"
            )
        return state


class PersistentWorld(World):
    """The world as the episode has it that holds its file."""

    about: Table
    keep: int
    most: int

    def hold(self, link: sqlite3.Connection, seconds: float) -> None:
        """Hold the file until the episode ends, and at most so long.

        Args:
            link: with the transaction that keeps others out.
            seconds: after which the episode goes on without the file, and leaves nothing in it.
        """
        self._link: sqlite3.Connection | None = link
        self._lock = threading.Lock()
        self._timer = threading.Timer(seconds, self._give_back)
        self._timer.daemon = True
        self._timer.start()

    async def artifacts(self) -> tuple[object, ...]:
        """Return ``FinalState``; what the episode changed is in the file when this returns, and
        others have the file.
        """
        final = await self.end()
        if len(self.database.content) > self.most:  # no fault, which a policy could bring about
            final = evolve(final, overflow=f"the tables have more than {self.most:,} bytes")
        else:
            await asyncio.to_thread(self._commit, final)
        await self.close()  # the stages may take long
        return (final,)

    async def close(self) -> None:
        """Let others have the file."""
        self._give_back()

    def _give_back(self) -> None:
        self._timer.cancel()
        with self._lock:
            link = self._link
            self._link = None
            if link is not None:
                link.close()

    def _commit(self, final: FinalState) -> None:
        with self._lock:
            if self._link is not None:
                self._write(self._link, final)

    def _write(self, link: sqlite3.Connection, final: FinalState) -> None:
        state = with_key(final.values, self.database.content)
        if state[0] == self.start:
            return
        number, _, previous = link.execute(ENTRIES).fetchone() or (0, "", "")
        told = {
            **self.about,
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "values": {name: final.values.get(name) for name in final.changed},
            "tables": {name: asdict(change) for name, change in final.tables.items()},
            "overflow": final.overflow,
            "before": self.start,
            "after": state[0],
            "previous": previous,
        }
        entry = json.dumps({"number": number + 1, **told}, default=bytes.hex)
        link.execute("INSERT INTO log VALUES (?, ?, ?)", (number + 1, entry, _hash(entry)))
        link.execute("INSERT INTO state VALUES (?, ?, ?, ?)", (number + 1, *state))
        link.execute(
            "DELETE FROM state WHERE number <= ?",
            [number + 1 - min(self.keep, KEPT // len(state[2]) or 1)],
        )
        link.execute("COMMIT")


def read_log(path: str | os.PathLike[str]) -> list[Table]:
    """Return the entries of a world's log, one for each episode that changed something, in order.

    Args:
        path: of the world.

    Raises:
        ConfigError: there is no such world, or its log is not what was written.
    """
    with closing(open_world(os.fspath(path))) as link:
        rows = link.execute(ENTRIES).fetchall()[::-1]
    found = list[Table]()
    previous = ""
    for number, row in enumerate(rows, 1):
        found.append(entry := _entry(row))
        if (row[0], entry["previous"]) != (number, previous):
            raise ConfigError(f"world: {path}: entry {number} of its log was removed")
        previous = row[2]
    return found


def open_world(path: str, *, writes: bool = False) -> sqlite3.Connection:
    """Open a connection to the file of a world.

    Args:
        path: of the file.
        writes: the file is made where it is missing, and may be changed.

    Raises:
        ConfigError: it cannot be one.
    """
    writes = writes or os.access(path, os.W_OK)  # what a crash left is only rolled back by a writer
    try:
        return opened_file(os.path.abspath(path), SCHEMA, "world", writes=writes)
    except BROKEN as error:
        raise ConfigError(f"world: {path} cannot be used: {error}; name another file") from error


def with_key(values: Table, content: bytes) -> State:
    """Return a state with its key, which follows from values and tables alone.

    Args:
        values: named values of the world.
        content: the tables, as SQLite stores them.
    """
    named = json.dumps(values, sort_keys=True)
    return _hash(named + _hash(content)), named, content


def _hash(text: str | bytes) -> str:
    return sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def _make_world(kind: type[W], state: State, first: World, given: Table) -> W:
    """Make a world of this state; values that the task gives win."""
    key, named, content = state
    values = {**json.loads(named), **given}
    return kind(values, evolve(first.database, start=content, values=values), start=key)


def _entry(row: tuple[int, str, str]) -> Table:
    number, text, digest = row
    if _hash(text) != digest:
        raise ConfigError(f"world: entry {number} of its log was edited")
    found: Table = json.loads(text)
    return found
