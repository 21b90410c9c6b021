"""What the state of an episode costs: statements, snapshots and comparisons of small and large
tables, idle episodes.

Costs are CPU time. A snapshot is held against `shutil.copyfile` of the same bytes in the same run.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])  # so that `benchmarks` is a package

import argparse
import asyncio
import shutil
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial

from rlenv import Task
from rlenv.authoring import File
from rlenv_plugin_agent import Database, World
from rlenv_plugin_agent.state.final import changes
from rlenv_plugin_agent.state.open_state import OpenState
from rlenv_plugin_agent.state.table import State

from benchmarks.core import Row, per_item, table

SCHEMA = """CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INTEGER, note TEXT);
WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t LIMIT {})
INSERT INTO orders SELECT n, n % 9, printf('%180d', n) FROM t;"""
READ = "SELECT * FROM orders WHERE id = 7"
WRITE = "UPDATE orders SET customer = customer + 1 WHERE id = 7"
MANY = 1_000


def begun(folder: Path, rows: int) -> State:
    schema = folder / f"{rows}.sql"
    schema.write_text(SCHEMA.format(rows))
    return State(schema=File(str(schema)))


def cost_of(work: Callable[[], object], n: int, repeats: int) -> float:
    """CPU microseconds of one call."""

    def times(count: int) -> None:
        for _ in range(count):
            work()

    return per_item(times, n, repeats) * 1e6


async def world(state: State) -> World:
    found = (await state.begin(Task("p"), 0)).parts[World]
    assert isinstance(found, World)
    return found


def statement_rows(made: World, size: str, repeats: int) -> Iterator[Row]:
    database = made.database
    for what, sql in (("reads a row", READ), ("changes a row", WRITE)):
        cost = cost_of(partial(database.query, sql), 10, repeats)
        yield Row(f"a statement that {what}, {size}", cost)
    yield Row(f"what has changed, {size}", cost_of(partial(changes, database), 2, repeats))


def snapshot_row(made: World, folder: Path, repeats: int) -> Row:
    """A snapshot, a statement that writes and so makes new bytes, and the way back."""
    file = folder / "world"
    file.write_bytes(made.database.start)
    copy = cost_of(partial(shutil.copyfile, file, folder / "copy"), 5, repeats)

    async def there_and_back() -> None:
        moment = await made.snapshot()
        made.database.query(WRITE)
        await made.restore(moment)

    cost = cost_of(lambda: asyncio.run(there_and_back()), 5, repeats)
    ratio = cost / copy
    size = len(made.database.start) / 1e6
    return Row(
        f"snapshot, write, restore, {size:.0f} MB",
        cost,
        f"copyfile, {copy:,.0f} µs",
        ratio,
        "≤ 1.5×",
        ratio <= 1.5,
    )


def idle_row(state: State) -> Row:
    async def held() -> list[OpenState]:
        return [await state.begin(Task("p"), seed) for seed in range(MANY)]

    tracemalloc.start()
    found = asyncio.run(held())
    for each in found:
        database = each.parts[Database]
        assert isinstance(database, Database)
        database.query(READ)
    size = tracemalloc.get_traced_memory()[0] / MANY / 1000
    tracemalloc.stop()
    return Row(
        "the state of an idle episode, 10 MB of tables",
        size,
        goal="≤ 100 kB",
        met=size <= 100,
        unit="kB",
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few samples: shows that it runs")
    repeats = 3 if parser.parse_args().quick else 9
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for size, count in (("20 kB", 100), ("10 MB", 50_000)):
            state = begun(folder, count)
            made = asyncio.run(world(state))
            rows += statement_rows(made, size, repeats)
        rows += [snapshot_row(made, folder, repeats), idle_row(state)]
    print(table(rows))
    return int(any(row.met is False for row in rows))


if __name__ == "__main__":
    sys.exit(main())
