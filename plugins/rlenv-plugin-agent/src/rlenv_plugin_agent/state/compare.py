"""Differences of two databases, which SQLite finds within a limit, for large ones in a worker.

A policy writes one of the two, so neither is read into Python: SQLite counts how often each row is
there, and only rows whose numbers differ come back, at most MOST_ROWS of them.
"""

from __future__ import annotations

import math
import sqlite3
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from typing import TypeAlias, cast

from rlenv import WorkExceeded
from rlenv.workers import call

from .access import Cell, Table, quote
from .clock import NOW, pin

# Of all changes of an episode; with more it is not judged row by row.
MOST_ROWS = 5_000
MOST_BYTES = 2_000_000
INLINE = 256 << 10  # bytes of both databases that are compared in this process: some 10 ms
# of CPU time, and a second more for so many bytes
SECONDS = 5.0
RATE = 4 << 20
MEMORY = 512  # MiB of the worker, or the next power of two that holds both databases three times
TYPES = 64  # columns whose types are one term, because SQLite limits the number of terms
TYPED = "typeof({column})"
TARGET = f"{__name__}:differences_as_json"
# Of SQLite, what a row brings about whose generated columns cannot be computed, or are too long.
OF_ROWS = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_TOOBIG)

TypedRow: TypeAlias = tuple[tuple[type, Cell], ...]
Differences: TypeAlias = dict[
    str, tuple[Counter[TypedRow], Counter[TypedRow]]
]  # rows that came, and that went
JsonRow: TypeAlias = list[object]


class TooManyChanges(Exception):
    """The episode changed more than is compared; the text says what, for the policy too."""


def differences(
    start: bytes, content: bytes, tables: Sequence[Table], now: str = NOW
) -> Differences:
    """Return the rows that only one of two databases has, by table: those that came, and those that
    went.

    Args:
        start: a database as SQLite serializes it.
        content: another one with the same tables.
        tables: those that are compared.
        now: the time that generated columns take for the present, as in the episode.

    Raises:
        TooManyChanges: more rows or bytes than are compared, or the comparison outran its limits.
        VerifierFault: the worker could not be run.
    """
    size = len(start) + len(content)
    named = [(each.name, [*each.columns]) for each in tables]
    seconds = SECONDS + size / RATE
    if size <= INLINE:
        rows: object = differences_as_json(start, content, named, seconds, now)
    else:
        try:
            given = [start, content, named, seconds, now]
            rows = call(TARGET, *given, seconds=seconds, memory_mb=_memory(size))
        except WorkExceeded as error:
            raise TooManyChanges(
                f"what the episode changed could not be compared: {error}"
            ) from error
    if isinstance(rows, str):
        raise TooManyChanges(rows)
    return {name: _sides(found) for name, found in cast("dict[str, list[JsonRow]]", rows).items()}


def _memory(size: int) -> int:
    """Return the MiB for the worker: a power of two, since each number has workers of its own."""
    return max(MEMORY, 1 << (3 * size >> 20).bit_length())


def differences_as_json(
    start: bytes,
    content: bytes,
    tables: Sequence[tuple[str, Sequence[str]]],
    seconds: float,
    now: str = NOW,
) -> dict[str, list[JsonRow]] | str:
    """Find the differences in values of JSON: by table a number and the cells of each row; or why
    there are too many.

    Args:
        start: as of ``differences``.
        content: as of ``differences``.
        tables: the name and the columns of each.
        seconds: of CPU time of this thread.
        now: as of ``differences``.
    """
    found: dict[str, list[JsonRow]] = {}
    until = time.thread_time() + seconds
    rows = 0
    size = 0
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as link:
        link.text_factory = lambda text: text.decode(
            "utf-8", "surrogateescape"
        )  # a policy may write any bytes
        link.deserialize(content)
        link.execute("ATTACH ':memory:' AS start")
        link.deserialize(start, name="start")
        link.execute(
            "PRAGMA temp_store = FILE"
        )  # what does not fit into the cache is sorted on disk
        pin(link, now, 0, b"")  # else SQLite's own functions reject what those of the episode took
        link.set_progress_handler(lambda: time.thread_time() > until, 10_000)
        for name, columns in tables:
            found[name] = []
            try:
                for count, *row in link.execute(_statement(name, columns)):
                    rows += abs(count)
                    size += abs(count) * sum(map(_bytes, row))
                    if rows > MOST_ROWS or size > MOST_BYTES:
                        return (
                            f"too many rows have changed: more than {MOST_ROWS:,}, or"
                            f" {MOST_BYTES:,} bytes"
                        )
                    found[name].append([count, *map(_to_json, row)])
            except sqlite3.Error as error:
                if str(error) == "interrupted":
                    return (
                        f"what the episode changed could not be compared in {seconds:.3g} s of CPU"
                        " time"
                    )
                if not _is_of_episode(link, error, name, columns):
                    raise
                return f"what the episode wrote to {name} cannot be read: {error}"
    return found


def _is_of_episode(
    link: sqlite3.Connection, error: sqlite3.Error, name: str, columns: Sequence[str]
) -> bool:
    """Return whether rows of the episode cannot be read: an error that those of the beginning do
    not bring about.

    Args:
        link: with the beginning as ``start``.
        error: of the comparison.
        name: of the table.
        columns: of the table.
    """
    if error.sqlite_errorcode & 0xFF not in OF_ROWS:
        return False
    cells = ", ".join(map(quote, columns))
    try:
        for _ in link.execute(f"SELECT {cells} FROM start.{quote(name)}"):  # noqa: S608 - names are quoted
            pass
    except sqlite3.Error:
        return False
    return True


def _statement(name: str, columns: Sequence[str]) -> str:
    """Return the SQL for each row whose numbers differ, with how many more there are now.

    Rows are equal by bytes and types: neither a collation of a column nor 1 = 1.0 makes two rows
    one.
    """
    cells = ", ".join(map(quote, columns))
    exact = [f"{quote(each)} COLLATE BINARY" for each in columns]
    typed = [TYPED.format(column=quote(each)) for each in columns]
    kinds = [" || ',' || ".join(typed[i : i + TYPES]) for i in range(0, len(typed), TYPES)]
    sides = " UNION ALL ".join(
        f"SELECT {count} AS rlenv_count, {cells} FROM {side}.{quote(name)}"  # noqa: S608 - names are quoted
        for side, count in (("main", 1), ("start", -1))
    )
    return (
        f"SELECT sum(rlenv_count), {cells} FROM ({sides})"  # noqa: S608 - as above
        f" GROUP BY {', '.join([*exact, *kinds])}"
        f" HAVING sum(rlenv_count) <> 0 LIMIT {MOST_ROWS + 1}"
    )


def _bytes(cell: Cell) -> int:
    return len(cell) if isinstance(cell, (str, bytes)) else 8


def _to_json(cell: Cell) -> object:
    """JSON has neither bytes nor infinities."""
    if isinstance(cell, bytes):
        return {"hex": cell.hex()}
    if isinstance(cell, float) and math.isinf(cell):
        return {"inf": math.copysign(1.0, cell)}
    return cell


def _from_json(value: object) -> Cell:
    if not isinstance(value, dict):
        return cast("Cell", value)
    return bytes.fromhex(value["hex"]) if "hex" in value else value["inf"] * math.inf


def _sides(rows: Sequence[JsonRow]) -> tuple[Counter[TypedRow], Counter[TypedRow]]:
    """Return the rows with their types, since 1 and 1.0 are equal keys of a dict."""
    came = Counter[TypedRow]()
    went = Counter[TypedRow]()
    for count, *values in rows:
        number = cast("int", count)
        cells = map(_from_json, values)
        (came if number > 0 else went)[tuple((type(cell), cell) for cell in cells)] = abs(number)
    return came, went
