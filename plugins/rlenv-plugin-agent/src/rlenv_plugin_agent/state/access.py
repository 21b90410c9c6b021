"""Rights that a role has to read and write: ``[state.access.ROLE]``, as SQLite enforces it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeAlias

from attrs import define, field, frozen
from rlenv import ConfigError
from rlenv.authoring import Safe

Cell: TypeAlias = str | int | float | bytes | None
# Functions that reach files, are random, or run for minutes; those of `rlenv_` are for what is made
# below.
FORBIDDEN = frozenset(
    [
        "load_extension",
        "readfile",
        "writefile",
        "edit",
        "json_patch",
        "fts3_tokenizer",
        "sqlite_log",
        "random",
        "randomblob",
        "rlenv_value",
    ]
)
WRITES = {sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE}
PARAMETER = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|:([A-Za-z_]\w*)")
OWN = "rlenv_"  # begins the names of what is made below


QUOTES = b"\"'`"  # SQLite takes a doubled one within a name for one of it


def bare(text: str) -> bytes:
    """Return a name or a statement in lower case and without quotes, so that each way to write a
    name is found in it.

    Args:
        text: of SQL.
    """
    return text.encode().lower().translate(None, QUOTES)


def quote(name: str) -> str:
    """Return a name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


@frozen
class Table:
    """One table that a role may use.

    Args:
        name: as declared.
        columns: in order, generated ones included.
        key: the columns of its primary key, empty where it declares no key.
    """

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]


def tables_of(link: sqlite3.Connection) -> dict[str, Table]:
    """Return the tables of a database by name, without virtual ones and those of SQLite itself: no
    role may use these.
    """
    found: dict[str, Table] = {}
    for name, kind in link.execute(
        "SELECT name, type FROM pragma_table_list WHERE schema = 'main'"
    ):
        if kind == "table" and not name.startswith("sqlite_"):
            rows = link.execute("SELECT name, pk FROM pragma_table_xinfo(?)", [name]).fetchall()
            key = sorted((place, column) for column, place in rows if place)
            found[name] = Table(name, tuple(c for c, _ in rows), tuple(c for _, c in key))
    return found


@frozen
class Access:
    """``[state.access.ROLE]``: a role that is named in no table of ``access`` may not use the
    database.

    Args:
        tables: those that the role may read.
        rows: by table, an SQL condition on the rows that it sees; ``:name`` is a value that the
            episode began with.
        write: those of ``tables`` that it may change; none with a condition in ``rows``.
    """

    tables: Safe[Sequence[str]] = ()
    rows: Safe[Mapping[str, str]] = field(factory=dict)
    write: Safe[Sequence[str]] = ()

    def __attrs_post_init__(self) -> None:
        for name in [each for each in (*self.rows, *self.write) if each not in self.tables]:
            raise ConfigError(f'rows or write names "{name}", which is not in tables; add it there')
        for name in [each for each in self.write if each in self.rows]:
            raise ConfigError(
                f'"{name}" is in rows and in write: let a tool write it, with query(..., role=None)'
            )


@define(eq=False)
class Guard:
    """Decides what a statement may do, while SQLite compiles it: an authorizer.

    Args:
        access: of the role; None for tools of the environment, which may use every table.
        tables: of the database.
        trusted: names of triggers and views, in lower case: what runs inside one of them may do
            more.  A common table expression may have such a name too, so no name is here that the
            statement contains.
        written: the tables that the statement writes, those of triggers included.
    """

    access: Access | None
    tables: Collection[str]
    trusted: frozenset[bytes] = frozenset()
    written: set[str] = field(factory=set)

    def __call__(
        self, action: int, one: str | None, two: str | None, schema: str | None, source: str | None
    ) -> int:
        inside = (source or "").encode().lower() in self.trusted
        name = one or ""
        if action in WRITES:
            named = inside or self.access is None or name in self.access.write
            allowed = named and name in self.tables and schema == "main"
            self.written |= {name} if allowed else set()
        elif action == sqlite3.SQLITE_READ:
            unread = (
                not two
                and name not in self.tables
                and not name.startswith(("sqlite_", "pragma_", "dbstat", "bytecode"))
            )
            allowed = inside or unread or self._may_read(name, schema)
        elif action == sqlite3.SQLITE_FUNCTION:
            allowed = inside or (two or "").lower() not in FORBIDDEN
        else:
            allowed = action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE)
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY

    def _may_read(self, table: str, schema: str | None) -> bool:
        if table not in self.tables:  # functions that are read as tables, and our views
            return (
                table in ("json_each", "json_tree")
                or table.startswith(f"{OWN}rows_")
                or (self.access is None and table == "sqlite_master")
            )
        # SQLite tells no schema where only rows are counted: the name is then that of our view, if
        # there is one.
        return self.access is None or (
            table in self.access.tables
            and schema in (None, "temp" if table in self.access.rows else "main")
        )


def scope_views(condition: str, table: Table) -> Iterator[tuple[str, str]]:
    """Yield the views of a connection whose role sees some rows of a table: (name, SQL) pairs.

    A view of the table's name hides it.  Its LIMIT keeps SQLite from trying a query's own
    conditions, whose errors would tell something, on rows that the role may not see.

    Args:
        condition: SQL over the columns of the table, of the operator.
        table: whose rows are hidden.
    """
    bound = PARAMETER.sub(lambda m: f"{OWN}value('{m[1]}')" if m[1] else m[0], condition)
    rows = f"{OWN}rows_{table.name}"
    columns = ", ".join(map(quote, table.columns))
    seen = (
        f"CREATE TEMP VIEW {quote(rows)}"  # noqa: S608 - of the environment
        f" AS SELECT {columns} FROM main.{quote(table.name)} WHERE ({bound}) LIMIT -1"
    )
    hiding = (
        f"CREATE TEMP VIEW {quote(table.name)}"  # noqa: S608 - as above
        f" AS SELECT * FROM temp.{quote(rows)}"
    )
    yield rows, seen
    yield "", hiding
