"""Changes that an episode made: rows by content and type, values and files; as artifacts for
stages.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import TypeAlias

from attrs import field, frozen

from .access import Cell, Table
from .compare import TypedRow, differences
from .database import Database

Row: TypeAlias = tuple[str | int | float | bytes | None, ...]


@frozen
class TableChange:
    """The rows that changed in one table.

    Args:
        columns: of the rows below, generated ones included.
        key: the columns of the primary key.
        added: rows that were not there.
        removed: rows that are no longer there.
        before: rows that have changed, as they were; a row is the same as long as its primary key
            is.
        after: the same rows in the same order, as they are.
    """

    columns: tuple[str, ...]
    key: tuple[str, ...] = ()
    added: tuple[Row, ...] = ()
    removed: tuple[Row, ...] = ()
    before: tuple[Row, ...] = ()
    after: tuple[Row, ...] = ()


def changes(database: Database) -> dict[str, TableChange]:
    """Return what is different from the beginning, by table.

    Raises:
        TooManyChanges: more than is compared.
        VerifierFault: as of ``differences``.
    """
    if not database.written:
        return {}
    tables = [database.tables[name] for name in sorted(database.written)]
    found = differences(database.start, database.content, tables, database.now)
    made = {each.name: _change(each, *found[each.name]) for each in tables}
    return {name: t for name, t in made.items() if t.added or t.removed or t.before}


def _change(table: Table, added: Counter[TypedRow], removed: Counter[TypedRow]) -> TableChange:
    """Return the rows that came and went, and those with the same key as pairs."""
    places = [table.columns.index(column) for column in table.key]
    gone = {tuple(row[i] for i in places): row for row in removed} if places else {}
    pairs = []
    for row in [*added]:
        key = tuple(row[i] for i in places)
        if key in gone:
            pairs.append((gone.pop(key), row))
    removed.subtract(one for one, _ in pairs)
    added.subtract(other for _, other in pairs)
    pairs.sort(key=repr)
    return TableChange(
        columns=table.columns,
        key=table.key,
        added=_rows(sorted(added.elements(), key=repr)),
        removed=_rows(sorted(removed.elements(), key=repr)),
        before=_rows(one for one, _ in pairs),
        after=_rows(other for _, other in pairs),
    )


def _rows(rows: Iterable[TypedRow]) -> tuple[Row, ...]:
    """Return the rows without their types."""
    return tuple(tuple(_finite(cell) for _, cell in row) for row in rows)


def _finite(cell: Cell) -> Cell:
    """JSON has no infinity: the largest number of its sign, which no data has, stands for it."""
    return math.copysign(1.7976931348623157e308, cell) if cell in (math.inf, -math.inf) else cell


@frozen
class FinalState:
    """The state as an episode left it; made on the trusted side after the last call.

    Args:
        values: the named values, as JSON.
        changed: the names of those that are new, have changed or are gone.
        tables: what changed in each table; those without a change are left out.
        files: by path, the sha256 of the content of each file that is new or has changed, ``link to
            …`` for a link, ``folder`` for a new folder that is empty, and None for what is gone.
        modes: by path, whether a file may be executed, where that has changed; a new file could not
            be.
        hash: hex digest of the beginning and all changes: equal for equal ends of one task.
        start: hex digest of the beginning.
        overflow: why the changes are not listed here, where they are too many; else "".
    """

    values: Mapping[str, object] = field(factory=dict)
    changed: tuple[str, ...] = ()
    tables: Mapping[str, TableChange] = field(factory=dict)
    files: Mapping[str, str | None] = field(factory=dict)
    hash: str = ""
    overflow: str = ""
    start: str = ""
    modes: Mapping[str, bool] = field(factory=dict)


def state_hash(
    start: str,
    values: Mapping[str, object],
    tables: Mapping[str, TableChange],
    files: Mapping[str, str | None],
    modes: Mapping[str, bool],
) -> str:
    """Return the hex digest of a beginning, given as one, and of what changed since; the
    beginning's own where nothing did.

    Args:
        start: the digest of the beginning.
        values: named values that changed, by name.
        tables: changes, by table.
        files: texts of files that changed, by path; None for one that is gone.
        modes: whether a file may be executed, by path, where that changed.
    """
    if not (values or tables or files or modes):
        return start
    rows = {
        name: repr((t.columns, t.added, t.removed, t.before, t.after)) for name, t in tables.items()
    }
    whole = [start, values, rows, files, *([modes] if modes else [])]
    return sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()
