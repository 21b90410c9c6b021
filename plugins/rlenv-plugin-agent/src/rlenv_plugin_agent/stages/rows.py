"""Rows that changed are matched with the wanted ones: the largest matching, at a cost that is
linear in the rows.

A policy writes up to 5,000 rows, and a task may want hundreds, of which many may be alike.  So no
wanted row is compared with each row: rows are found by the cells that are wanted, and wanted rows
that are alike are matched together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from rlenv_plugin_agent.state.access import Cell
from rlenv_plugin_agent.state.final import Row

ANY = {"any": True}
Wanted: TypeAlias = Mapping[str, object]  # column → value, ANY or {"hex": "..."}
Pair: TypeAlias = tuple[Row, Row]  # a row as it was and as it is
Places: TypeAlias = tuple[int, ...]


class ChangedRows:
    """The rows of one table that were added, removed or changed.

    Args:
        pairs: each as it was and as it is; the same for one that was added or removed.
        columns: of the rows.
        needs: columns that a wanted row has to name.
        free: cells that a wanted row does not name may be anything; else they stay as they were.
    """

    def __init__(
        self, pairs: Sequence[Pair], columns: Sequence[str], needs: Sequence[str], *, free: bool
    ) -> None:
        self.pairs = pairs
        self.columns = columns
        self.needs = needs
        self.free = free
        self._by_cells: dict[Places, dict[object, list[int]]] = {}

    def match(self, wanted: Sequence[Wanted]) -> int:
        """Return how many of the wanted rows have one of these of their own.

        Args:
            wanted: of the task; 1 is not '1', and true is 1, as SQLite stores it.
        """
        alike: dict[str, list[Wanted]] = defaultdict(list)
        for row in wanted:
            alike[repr(sorted(row.items()))].append(row)
        counts = [len(rows) for rows in alike.values()]
        return largest_matching(counts, [self._rows_that_match(rows[0]) for rows in alike.values()])

    def _rows_that_match(self, wanted: Wanted) -> Sequence[int]:
        """Return the rows that are as wanted, by their places in ``pairs``."""
        if not {*self.needs} <= wanted.keys() <= {*self.columns}:
            return []
        named = [i for i, column in enumerate(self.columns) if column in wanted]
        exact = tuple(i for i in named if wanted[self.columns[i]] != ANY)
        if exact not in self._by_cells:
            self._by_cells[exact] = self._index(exact)
        cells = [_wanted_key(wanted[self.columns[i]]) for i in exact]
        found = [] if None in cells else self._by_cells[exact].get(tuple(cells), [])
        if self.free:
            return found
        others = [i for i in range(len(self.columns)) if i not in named]
        return [place for place in found if self._has_kept(place, others)]

    def _index(self, places: Places) -> dict[object, list[int]]:
        found: dict[object, list[int]] = defaultdict(list)
        for number, (_, row) in enumerate(self.pairs):
            found[tuple(_key(row[i]) for i in places)].append(number)
        return dict(found)

    def _has_kept(self, place: int, others: Sequence[int]) -> bool:
        before, after = self.pairs[place]
        return all(type(before[i]) is type(after[i]) and before[i] == after[i] for i in others)


def _key(cell: Cell) -> tuple[str, object]:
    """Return a cell, so that equal keys are equal cells: numbers are equal across their types, and
    nothing else is.
    """
    if isinstance(cell, bytes):
        return "hex", cell.hex()
    return ("number" if isinstance(cell, (int, float)) else type(cell).__name__), cell


def _wanted_key(wanted: object) -> tuple[str, object] | None:
    """Return the key of the cells that are as wanted; None where no cell matches."""
    if isinstance(wanted, Mapping):
        is_blob = wanted.keys() == {"hex"} and isinstance(wanted["hex"], str)
        return ("hex", wanted["hex"]) if is_blob else None
    if wanted is None or isinstance(wanted, (str, int, float)):
        return _key(wanted)
    return None


def largest_matching(counts: Sequence[int], fits: Sequence[Sequence[int]]) -> int:
    """Return how many wanted rows get a row of their own, at most.

    Args:
        counts: how many wanted rows each group of equal ones has.
        fits: for each group the rows that fit.
    """
    owner: dict[int, int] = {}  # of a row; once it has one, it always has one
    left = [iter(rows) for rows in fits]
    matched = 0
    for group, count in enumerate(counts):
        for _ in range(count):
            if not _is_placed(group, fits, left, owner):
                break  # nor would another one of the group be
            matched += 1
    return matched


def _is_placed(
    group: int, fits: Sequence[Sequence[int]], left: Sequence[Iterator[int]], owner: dict[int, int]
) -> bool:
    """Find a row for one more of a group, and move others to other rows where that needs it."""
    came: dict[int, tuple[int, int]] = {}  # to a group: from which, and by which row of the former
    queue = [group]
    for each in queue:
        free = next((row for row in left[each] if row not in owner), None)
        if free is not None:
            _move(group, each, free, came, owner)
            return True
        for row in fits[each]:
            other = owner[row]
            if other != group and other not in came:
                came[other] = each, row
                queue.append(other)
    return False


def _move(
    first: int, last: int, free: int, came: Mapping[int, tuple[int, int]], owner: dict[int, int]
) -> None:
    """Give the free row to the last group of a path, and to each group before it the row that the
    next one had.
    """
    while last != first:
        owner[free] = last
        last, free = came[last]
    owner[free] = first
