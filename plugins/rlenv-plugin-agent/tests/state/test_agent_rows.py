"""The rows that changed against those that a task wants: each wanted one has a row of its own, at a
linear cost.
"""

from __future__ import annotations

from functools import partial
from itertools import permutations
from random import Random

import pytest
from growth import assert_growth
from rlenv_plugin_agent.stages.expectations import ExpectedState, Rows, compare
from rlenv_plugin_agent.stages.rows import ANY, ChangedRows, largest_matching
from rlenv_plugin_agent.state.final import FinalState, TableChange

COLUMNS = ("n", "what")


def share(wanted: list[dict[str, object]], rows: list[tuple[object, ...]]) -> float:
    """What of the wanted rows was added, where further rows are allowed."""
    change = TableChange(COLUMNS, (), added=tuple(rows))  # type: ignore[arg-type]
    expected = ExpectedState(tables={"log": Rows(added=wanted)}, allow=["tables.log"])
    return compare(FinalState(tables={"log": change}), expected)[0]


def test_many_rows_for_many_wanted_ones_cost_linear_time() -> None:
    def alike(size: int) -> float:
        return share([{"n": 1, "what": ANY}] * (size // 10), [(1, "x")] * size)

    def different(size: int) -> float:
        return share([{"n": n, "what": "x"} for n in range(size)], [(n, "x") for n in range(size)])

    for work in (alike, different):
        assert work(2_000) == 1.0
        assert_growth(partial(work, 2_000), partial(work, 4_000))


def test_thousands_of_equal_rows_need_no_recursion() -> None:
    assert share([{"n": 1, "what": ANY}] * 3_000, [(1, "x")] * 3_000) == 1.0
    assert share([{"n": 1, "what": ANY}] * 3_000, [(1, "x")] * 1_500) == 0.5


@pytest.mark.parametrize("seed", range(50))
def test_the_matching_is_the_largest(seed: int) -> None:
    chance = Random(seed)
    counts = [chance.randint(1, 2) for _ in range(2)]
    fits = [[row for row in range(4) if chance.random() < 0.4] for _ in counts]
    wanted = [group for group, count in enumerate(counts) for _ in range(count)]
    orders = permutations([*range(4), *[-1] * len(wanted)], len(wanted))
    pairs = ([*zip(wanted, order, strict=True)] for order in orders)

    best = max(sum(row in fits[group] for group, row in each) for each in pairs)
    assert largest_matching(counts, fits) == best


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [
        (1, [1, 1.0]),
        (True, [1, 1.0]),
        ("1", ["1"]),
        (None, [None]),
        ({"hex": "31"}, [b"1"]),
        ({"hex": "3A"}, []),  # hex digits are lower case
        ({"hex": "31", "any": True}, []),
        ({"other": 1}, []),
        ([1], []),
        (ANY, [1, 1.0, "1", None, b"1", "", 0]),
    ],
)
def test_a_cell_is_what_is_written(wanted: object, fits: list[object]) -> None:
    for cell in (1, 1.0, "1", None, b"1", "", 0, b":"):
        expected = cell in fits and any(type(cell) is type(each) for each in fits)
        row = (cell, "x")
        found = ChangedRows([(row, row)], COLUMNS, COLUMNS, free=True)
        is_any = wanted == ANY
        assert found.match([{"n": wanted, "what": "x"}]) == int(is_any or expected)


def test_a_changed_row_keeps_the_cells_that_are_not_named() -> None:
    pairs = [((1, "a"), (1, "b")), ((2, 1), (2, 1.0))]
    found = ChangedRows(pairs, COLUMNS, ("n",), free=False)  # type: ignore[arg-type]

    assert found.match([{"n": 1, "what": "b"}]) == 1
    assert found.match([{"n": 1}]) == 0
    assert found.match([{"n": 2}]) == 0  # 1 became 1.0
    assert found.match([{"what": "b"}]) == 0  # the key is not named
    assert found.match([{"n": 1, "what": "b", "more": 1}]) == 0
    assert found.match([{"n": ANY, "what": ANY}, {"n": 2, "what": ANY}]) == 2
