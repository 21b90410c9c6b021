"""What an episode changed, found by content: however it was done, and with its types."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv_plugin_agent.errors import ToolError
from rlenv_plugin_agent.state.access import quote, tables_of
from rlenv_plugin_agent.state.compare import TooManyChanges
from rlenv_plugin_agent.state.database import Database
from rlenv_plugin_agent.state.final import changes

SCHEMA = '''
CREATE TABLE plain(a, b TEXT COLLATE NOCASE);
CREATE TABLE keyed(id INTEGER PRIMARY KEY, n, twice AS (n * 2), stored TEXT AS (n || '!') STORED);
CREATE TABLE "Straße ""x""" (a TEXT, b, PRIMARY KEY (a, b)) WITHOUT ROWID;
CREATE TABLE rowid(rowid TEXT, _rowid_ TEXT);
CREATE TABLE child(
    id INTEGER PRIMARY KEY, up REFERENCES keyed(id) ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE TRIGGER copies AFTER INSERT ON plain BEGIN INSERT INTO rowid VALUES (NEW.a, NEW.b); END;
INSERT INTO plain VALUES (1, 'x'), (1, 'x'), ('1', 'y'), (NULL, NULL), (x'00', 'z');
INSERT INTO keyed(id, n) VALUES (1, 10), (2, 20), (3, 1.5);
INSERT INTO "Straße ""x""" VALUES ('a', 1), ('b', 2);
INSERT INTO rowid VALUES ('r', 's');
INSERT INTO child VALUES (1, 1), (2, 1), (3, 2);
'''


def made() -> Database:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as link:
        link.executescript(SCHEMA)
        return Database(link.serialize(), tables_of(link))


START = made()


@pytest.fixture
def database() -> Database:
    return Database(START.start, START.tables)


def all_rows(database: Database) -> dict[str, Counter[tuple[tuple[type, object], ...]]]:
    with closing(sqlite3.connect(":memory:")) as link:
        link.deserialize(database.content)
        found = {name: link.execute(f"SELECT * FROM {quote(name)}") for name in database.tables}
        return {
            name: Counter(tuple((type(c), c) for c in row) for row in rows)
            for name, rows in found.items()
        }


def test_nothing_is_read_where_nothing_was_written(database: Database) -> None:
    database.query("SELECT * FROM plain")

    assert changes(database) == {}


def test_a_change_that_is_undone_is_none(database: Database) -> None:
    database.query("UPDATE keyed SET n = n + 1")
    database.query("UPDATE keyed SET n = n - 1")
    database.query("DELETE FROM plain WHERE b = 'z'")
    database.query("INSERT INTO plain VALUES (x'00', 'z')")
    database.query("DELETE FROM rowid WHERE oid = (SELECT max(oid) FROM rowid)")

    assert changes(database) == {}


@pytest.mark.parametrize(
    ("sql", "added"),
    [
        ("UPDATE plain SET a = 1 WHERE a = '1'", (1, "y")),
        ("UPDATE plain SET a = 1.0 WHERE b = 'y'", (1.0, "y")),
        ("UPDATE plain SET b = 'Y' WHERE b = 'y'", ("1", "Y")),
        ("UPDATE plain SET a = CAST(a AS BLOB) WHERE b = 'y'", (b"1", "y")),
    ],
)
def test_types_and_cases_count(database: Database, sql: str, added: object) -> None:
    database.query(sql)

    [change] = [repr(c.added) for c in changes(database).values()]
    assert change == repr((added,))


def test_a_row_is_the_same_as_long_as_its_key_is(database: Database) -> None:
    database.query("DELETE FROM keyed WHERE id = 2")
    database.query("INSERT INTO keyed(id, n) VALUES (2, 21)")

    change = changes(database)["keyed"]
    assert (change.before, change.after) == (((2, 20, 40, "20!"),), ((2, 21, 42, "21!"),))
    assert not change.added
    assert not change.removed


def test_the_number_of_equal_rows_counts(database: Database) -> None:
    database.query("DELETE FROM plain WHERE rowid = 1")

    assert changes(database)["plain"].removed == ((1, "x"),)


def test_rows_that_other_rows_take_along_are_seen(database: Database) -> None:
    database.query("DELETE FROM keyed WHERE id = 1")
    database.query("INSERT INTO plain VALUES (5, 'five')")

    found = changes(database)
    assert found["child"].removed == ((1, 1), (2, 1))
    assert found["rowid"].added == (("5", "five"),)


def test_no_number_is_without_json(database: Database) -> None:
    database.query("INSERT INTO plain VALUES (9e999, 'inf'), (0.0 * 9e999, 'nan')")

    assert {*changes(database)["plain"].added} == {(1.7976931348623157e308, "inf"), (None, "nan")}


def test_a_flood_of_changes_is_not_compared(database: Database) -> None:
    database.query(
        "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t LIMIT 6000) INSERT INTO"
        " keyed(id, n) SELECT n + 10, n FROM t"
    )

    with pytest.raises(TooManyChanges, match="too many rows"):
        changes(database)


CELLS = st.sampled_from(["NULL", "0", "1", "1.0", "'1'", "'a'", "'A'", "x'31'", "9e999", "'é'"])
STATEMENTS = st.one_of(
    st.builds("INSERT INTO plain VALUES ({}, {})".format, CELLS, CELLS),
    st.builds("UPDATE plain SET a = {} WHERE b IS {}".format, CELLS, CELLS),
    st.builds("DELETE FROM plain WHERE a IS {}".format, CELLS),
    st.builds("REPLACE INTO keyed(id, n) VALUES ({}, {})".format, st.integers(1, 4), CELLS),
    st.builds(
        "UPDATE OR REPLACE keyed SET id = {} WHERE id = {}".format,
        st.integers(1, 5),
        st.integers(1, 4),
    ),
    st.builds("DELETE FROM keyed WHERE id > {}".format, st.integers(0, 4)),
    st.builds('REPLACE INTO "Straße ""x""" VALUES ({}, {})'.format, CELLS, CELLS),
    st.builds('DELETE FROM "Straße ""x""" WHERE b IS {}'.format, CELLS),
    st.builds(
        "INSERT INTO child VALUES ({0}, {1}) ON CONFLICT(id) DO UPDATE SET up = {1}".format,
        st.integers(1, 4),
        st.integers(1, 4),
    ),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(STATEMENTS, max_size=8))
def test_changes_lead_from_the_beginning_to_the_end(statements: list[str]) -> None:
    """Also that no table is written that the authorizer was not asked about: all are compared
    here.
    """
    database = Database(START.start, START.tables)
    for sql in statements:
        try:
            database.query(sql)
        except ToolError as error:
            assert "FOREIGN KEY" in str(error) or "UNIQUE" in str(error) or "NOT NULL" in str(error)  # noqa: PT017 - others raise
    found = changes(database)
    old = all_rows(START)
    new = all_rows(database)

    for name in START.tables:
        assert (name in found) == (old[name] != new[name])
        if name in found:
            change = found[name]
            infinite = repr(new[name] - old[name]).count("inf")
            assert len(change.added) + len(change.after) == (new[name] - old[name]).total()
            assert len(change.removed) + len(change.before) == (old[name] - new[name]).total()
            plus = Counter(repr(r) for r in (*change.added, *change.after))
            assert infinite or plus == Counter(
                repr(tuple(c for _, c in r)) for r in (new[name] - old[name]).elements()
            )
