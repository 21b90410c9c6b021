"""The clock and the chance of SQL in databases of episodes."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from rlenv_plugin_agent.state.access import tables_of
from rlenv_plugin_agent.state.database import Database


def database_of(schema: str) -> Database:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        made.executescript(schema)
        return Database(made.serialize(), tables_of(made))


def rows(database: Database, sql: str, role: str | None = None) -> list[tuple[object, ...]]:
    return list(database.query(sql, role=role).rows)


CLOCK = """
CREATE TABLE log(
    id INTEGER PRIMARY KEY, at DEFAULT CURRENT_TIMESTAMP, day DEFAULT (date('now')), chance
);
CREATE TRIGGER drawn AFTER INSERT ON log WHEN NEW.chance IS NULL BEGIN
    UPDATE log SET chance = random() || hex(randomblob(4)) WHERE id = NEW.id;
END;
"""


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        (
            "SELECT date('now'), datetime('NOW', '+1 day'), strftime('%H', 'now')",
            ("2024-02-29", "2024-03-01 12:30:00", "12"),
        ),
        (
            "SELECT date(), strftime('%Y'), time('now', 'localtime')",
            ("2024-02-29", "2024", "12:30:00"),
        ),
        (
            "SELECT CURRENT_DATE, CURRENT_TIME, current_timestamp",
            ("2024-02-29", "12:30:00", "2024-02-29 12:30:00"),
        ),
        ("SELECT julianday('now') - julianday('2024-02-28 12:30:00')", (1.0,)),
        ("SELECT unixepoch('now') - unixepoch('2024-02-29'), date('nonsense')", (45_000, None)),
        (
            "SELECT date('2020-01-01', '+1 day'), datetime(0, 'unixepoch', 'utc')",
            ("2020-01-02", "1970-01-01 00:00:00"),
        ),
    ],
)
@pytest.mark.parametrize("role", [None, "policy"])
def test_the_clock_of_sql_stands_still(sql: str, shown: tuple[object, ...], role: str) -> None:
    database = database_of(CLOCK)
    database.now = "2024-02-29 12:30:00"

    assert rows(database, sql, role) == [shown]


def test_what_is_random_or_of_the_clock_follows_from_the_seed_and_the_tables() -> None:
    def left(seed: int, now: str = "2024-02-29 12:30:00") -> list[tuple[object, ...]]:
        database = database_of(CLOCK)
        database.now = now
        database.seed = seed
        for _ in range(2):
            database.query("INSERT INTO log(id) VALUES (NULL)")
        return rows(database, "SELECT * FROM log")

    first = left(1)
    assert {row[1:3] for row in first} == {("2024-02-29 12:30:00", "2024-02-29")}
    assert first == left(1)
    assert first[0][3] != first[1][3]
    assert first != left(2)
    assert first != left(1, "2024-03-01 12:30:00")
