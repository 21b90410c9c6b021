"""``Database``: the tables of one episode, as bytes that it shares with others until it writes."""

from __future__ import annotations

import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from typing import TypeAlias, cast

from attrs import Factory, define, field, frozen

from rlenv_plugin_agent.errors import ToolError

from .access import OWN, Access, Cell, Guard, Table, bare, scope_views
from .clock import NOW, pin

# of one result
MOST_ROWS = 10_000
MOST_BYTES = 1_000_000
# of the thread's CPU, and bytes of this process, for a statement
SECONDS = 2.0
GROWTH = 512 << 20
ROOM = 64 << 20  # bytes by which SQL of the environment may let a database grow
# what the statements of an episode may write, by default
WRITTEN_ROWS = 100_000
WRITTEN_MB = 16
LIMITS = {
    "LENGTH": 1_000_000,
    "SQL_LENGTH": 100_000,
    "COMPOUND_SELECT": 50,
    "EXPR_DEPTH": 100,
    "LIKE_PATTERN_LENGTH": 1_000,
    "TRIGGER_DEPTH": 20,
    "ATTACHED": 0,
}
# Defaults and triggers are of whoever wrote the schema, so they may call what `pin` puts in the
# place of the clock.
SETUP = "PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = OFF; PRAGMA trusted_schema = ON"
# Functions whose cost is the product of two lengths, by how many arguments they take; and the most
# that it may be.
PRODUCTS = (
    ("trim", 2),
    ("ltrim", 2),
    ("rtrim", 2),
    ("instr", 2),
    ("replace", 3),
    ("like", 2),
    ("like", 3),
    ("glob", 2),
    ("unhex", 2),
)
MOST_COST = 500_000_000
STATEMENT = re.compile(r"(?:\s|;|--[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/|$))*+([A-Za-z]*)")
ALLOWED = ("SELECT", "VALUES", "WITH", "INSERT", "REPLACE", "UPDATE", "DELETE")
FULL = "database or disk is full"  # SQLite's words where `max_page_count` is reached
Parameters: TypeAlias = Sequence[Cell] | Mapping[str, Cell]


@frozen
class Rows:
    """Rows that a statement gives.

    Args:
        columns: their names.
        rows: in order.
        changed: how many rows were inserted, updated or deleted, without those of triggers.
    """

    columns: tuple[str, ...]
    rows: list[tuple[Cell, ...]]
    changed: int = 0

    def records(self) -> list[dict[str, object]]:
        """Return the rows as JSON objects; a blob as ``{"hex": ...}``."""
        return [
            {
                name: {"hex": cell.hex()} if isinstance(cell, bytes) else cell
                for name, cell in zip(self.columns, row, strict=True)
            }
            for row in self.rows
        ]


@define(eq=False)
class Database:
    """Holds the tables of one episode.

    Args:
        start: what the episode begins with, as SQLite serializes it; shared with other episodes.
        tables: that it has, by name.
        access: by role, what it may do; None: all roles may use all tables.
        values: what ``:name`` in conditions of rows stands for.
        now: what the clock says to SQL.
        seed: what is random in SQL follows from it, and from the content.
        written_rows: rows that the statements of the episode may insert, update and delete
            together, with those of triggers.
        written_mb: MiB by which they may let the tables grow.
        rows: that they have written.
        content: what it is now.
        written: the tables that were written since the episode began.
    """

    start: bytes
    tables: Mapping[str, Table]
    access: Mapping[str, Access] | None = None
    values: Mapping[str, object] = field(factory=dict)
    now: str = NOW
    seed: int = 0
    written_rows: int = WRITTEN_ROWS
    written_mb: int = WRITTEN_MB
    rows: int = field(default=0, init=False)
    content: bytes = field(init=False, default=Factory(lambda self: self.start, takes_self=True))
    written: frozenset[str] = field(default=frozenset(), init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)
    _is_over: bool = field(default=False, init=False)

    def query(self, sql: str, parameters: Parameters = (), *, role: str | None = "policy") -> Rows:
        """Execute one statement: SELECT, VALUES, WITH, INSERT, REPLACE, UPDATE or DELETE.

        Args:
            sql: of whoever has the role; it is not trusted, unless that is None.
            parameters: for ``?`` or ``:name`` in the statement.
            role: whose rights hold; None for a tool of the environment, which may use every table.

        Raises:
            ToolError: SQLite or the rights reject it, it costs too much, returns too much, or
                writes more than the episode may; nothing has changed then.
        """
        found = STATEMENT.match(sql)
        if (word := (found[1] if found else "").upper()) not in ALLOWED:
            raise ToolError(
                f"a statement begins with {', '.join(ALLOWED)}, not {word or 'nothing'!r:.40}"
            )
        access = None if role is None or self.access is None else self.access.get(role, Access())
        try:
            with self._lock, closing(self._opened()) as link:
                if self._is_over:
                    raise ToolError("the episode has ended")
                guard = self._guard(link, access, sql)
                done = _run(link, sql, parameters)
                if guard.written:
                    link.set_authorizer(None)
                    self._take(link, guard.written)
                return done
        except sqlite3.OperationalError as error:
            if str(error) != FULL:
                raise ToolError(_error_message(error)) from None
            raise ToolError(
                f"an episode may let the tables grow by {self.written_mb:,} MiB, and this statement"
                " needs more ([state] written_mb)"
            ) from None
        except (
            sqlite3.Error,
            ValueError,
            TypeError,
            OverflowError,
        ) as error:  # also NUL, or 65 bits
            raise ToolError(_error_message(error)) from None

    def end(self) -> None:
        """Wait for the statement that runs, and reject all others: calls may run on after their
        time.
        """
        self._is_over = True
        with self._lock:
            pass

    def _opened(self) -> sqlite3.Connection:
        """Open a connection to the present content, with room for what the episode may write."""
        room = len(self.start) + (self.written_mb << 20)
        return open_database(self.content, self.now, self.seed, room)

    def _take(self, link: sqlite3.Connection, written: Collection[str]) -> None:
        """Keep what a statement has written, if the episode may write so much.

        Raises:
            ToolError: it may not.
        """
        rows = self.rows + link.total_changes
        if rows > self.written_rows:
            raise ToolError(
                f"an episode may write {self.written_rows:,} rows, and with this statement it would"
                f" have written {rows:,} ([state] written_rows)"
            )
        self.content = link.serialize()
        self.written = self.written | {*written}
        self.rows = rows

    def _guard(self, link: sqlite3.Connection, access: Access | None, sql: str) -> Guard:
        """Hold the connection to the rights of a role."""
        link.create_function(f"{OWN}value", 1, cast("Mapping[str, Cell]", self.values).get)
        # SQLite makes these two when they are first used, by what looks like an UPDATE of its own
        # tables.
        link.execute(
            "SELECT 1 FROM json_each('[]'), json_tree('[]')"
            if b"json_" in bare(sql)
            else "SELECT 1"
        )
        written = bare(sql)
        rows = {} if access is None else access.rows
        named = [name for name in rows if bare(name) in written]
        made = [view for name in named for view in scope_views(rows[name], self.tables[name])]
        for _, view in made:
            link.execute(view)
        names = [*made, *link.execute("SELECT name, 0 FROM sqlite_master WHERE type = 'trigger'")]
        for limit, most in LIMITS.items():
            link.setlimit(getattr(sqlite3, f"SQLITE_LIMIT_{limit}"), most)
        unnamed = [name for name, _ in names if name and bare(name) not in written]
        trusted = frozenset(name.encode().lower() for name in unnamed)
        guard = Guard(access, frozenset(self.tables), trusted)
        link.set_authorizer(guard)
        return guard


def _error_message(error: Exception) -> str:
    """Return the message of an error; SQLite may put any bytes of a statement into it."""
    return f"{error}".encode("utf-8", "backslashreplace").decode()[:500]


def open_database(
    content: bytes, now: str = NOW, seed: int = 0, room: int = 0
) -> sqlite3.Connection:
    """Open a connection to a database in memory with this content.

    Args:
        content: as SQLite serializes it; empty for a new one.
        now: as of ``Database``.
        seed: as of ``Database``.
        room: bytes that it may have at most; 0 for what the content has and ROOM.
    """
    link = sqlite3.connect(":memory:", isolation_level=None)
    if content:
        link.deserialize(content)
    link.executescript(f"{SETUP}; PRAGMA temp_store = MEMORY")
    pin(link, now, seed, content)
    link.execute(f"PRAGMA max_page_count = {(room or len(content) + ROOM) // 4096}")
    return link


def _run(link: sqlite3.Connection, sql: str, parameters: Parameters) -> Rows:
    until = time.thread_time() + SECONDS
    most = resident() + GROWTH

    def spent() -> bool:
        return time.thread_time() > until or resident() > most

    link.set_progress_handler(spent, 1_000)
    try:
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as plain:
            for name, count in PRODUCTS:
                link.create_function(
                    name, count, _limit_function(plain, name, spent), deterministic=True
                )
            cursor = link.execute(sql, parameters)
            names = tuple(each[0] for each in cursor.description or ())
            rows = list(_limit_rows(cursor))
            # `rowcount` of Python knows none for statements that begin with WITH.
            changed = link.execute("SELECT changes()").fetchone()[0] if link.total_changes else 0
            return Rows(names, rows, changed)
    except sqlite3.OperationalError as error:
        if str(error) not in ("interrupted", "user-defined function raised exception"):
            raise
        raise ToolError(
            f"the statement was ended after {SECONDS:g} s of CPU time, or for its memory"
        ) from None


def _limit_function(
    plain: sqlite3.Connection, name: str, spent: Callable[[], bool]
) -> Callable[..., Cell]:
    """Return SQLite's own function, where it ends in time: SQLite does not look at the time within
    one.
    """

    def call(*given: Cell) -> Cell:
        one, two = (len(c) if isinstance(c, (str, bytes)) else 1 for c in given[:2])
        if one * two > MOST_COST or spent():
            raise ValueError
        return cast(
            "Cell",
            plain.execute(f"SELECT {name}({','.join('?' * len(given))})", given).fetchone()[0],
        )

    return call


def _limit_rows(cursor: sqlite3.Cursor) -> Iterator[tuple[Cell, ...]]:
    """Yield the rows, as long as they are not too many or too large."""
    size = 0
    for count, row in enumerate(cursor):
        size += sum(len(cell) if isinstance(cell, (str, bytes)) else 8 for cell in row)
        if count >= MOST_ROWS or size > MOST_BYTES:
            raise ToolError(
                f"the result has more than {MOST_ROWS:,} rows or {MOST_BYTES:,} bytes; add LIMIT or"
                " select less"
            )
        yield row


def resident() -> int:
    """Return the bytes of this process in memory; 0 where the system does not tell."""
    return int(os.pread(_STATM, 64, 0).split()[1]) * 4096 if _STATM >= 0 else 0


_STATM = (
    os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
    if os.path.exists("/proc/self/statm")
    else -1
)
