"""Databases of episodes: shared until they are written, and no more than the role allows."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from typing import Any

import pytest
from attrs import evolve
from rlenv import ConfigError
from rlenv_plugin_agent.errors import ToolError
from rlenv_plugin_agent.state import database as module
from rlenv_plugin_agent.state.access import Access, tables_of
from rlenv_plugin_agent.state.database import Database
from rlenv_plugin_agent.state.final import changes

SHOP = """
CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INTEGER, note TEXT, state TEXT DEFAULT 'open');
CREATE TABLE secrets(word);
CREATE TABLE audit(note);
CREATE TRIGGER noted AFTER UPDATE ON orders BEGIN
    INSERT INTO audit SELECT NEW.note || count(*) FROM secrets;
END;
CREATE TABLE desk(id INTEGER PRIMARY KEY, note);
CREATE TRIGGER told AFTER INSERT ON desk BEGIN
    INSERT INTO audit SELECT NEW.note || count(*) FROM secrets;
END;
INSERT INTO orders VALUES
    (1, 7, 'mine', 'open'), (2, 8, '{not json', 'open'), (3, 7, 'late', 'paid');
INSERT INTO secrets VALUES ('xyzzy');
"""
SUPPORT = Access(
    ["orders", "desk"], {"orders": "customer = :customer AND state <> ':done'"}, ["desk"]
)


def database_of(
    schema: str = SHOP, access: Mapping[str, Access] | None = None, **values: object
) -> Database:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        made.executescript(schema)
        return Database(made.serialize(), tables_of(made), access, values)


def shop() -> Database:
    return database_of(access={"support": SUPPORT}, customer=7)


def rows(database: Database, sql: str, role: str | None = None) -> list[tuple[object, ...]]:
    return list(database.query(sql, role=role).rows)


def test_databases_share_their_content_until_one_writes() -> None:
    one = database_of()
    other = Database(one.start, one.tables)
    rows(one, "SELECT * FROM orders")
    assert one.content is other.content is one.start

    one.query("DELETE FROM orders WHERE id = 1")

    assert other.content is one.start
    assert rows(one, "SELECT count(*) FROM orders") == [(2,)]
    assert rows(other, "SELECT count(*) FROM orders") == [(3,)]


def test_a_role_sees_its_rows() -> None:
    database = shop()

    assert rows(database, "SELECT id FROM orders", "support") == [(1,), (3,)]
    assert rows(database, "SELECT count(*) FROM orders", "support") == [(2,)]
    assert rows(
        database, "WITH mine AS (SELECT * FROM orders) SELECT max(id) FROM mine", "support"
    ) == [(3,)]
    assert rows(database, "SELECT orders.id, value FROM orders, JSON_EACH('[5]')", "support") == [
        (1, 5),
        (3, 5),
    ]
    assert rows(database, "SELECT sum(atom) FROM json_tree('{\"a\": [1, 2]}')", "support") == [(3,)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM main.orders",
        "SELECT count(*) FROM main.orders",
        "SELECT * FROM secrets",
        "SELECT count(*) FROM secrets",
        "SELECT * FROM audit",
        "SELECT (SELECT word FROM secrets)",
        "SELECT id FROM orders WHERE id IN (SELECT id FROM main.orders)",
        "WITH rlenv_rows_orders AS (SELECT * FROM main.orders) SELECT * FROM rlenv_rows_orders",
        'WITH "RLENV_rows_orders" AS (SELECT * FROM main.orders) SELECT * FROM rlenv_rows_orders',
        "WITH told AS (SELECT * FROM secrets) SELECT * FROM told",
        "INSERT INTO desk(note) WITH TOLD AS (SELECT * FROM secrets) SELECT word FROM told",
        "INSERT INTO desk(note) SELECT note FROM main.orders",
        "SELECT * FROM rlenv_rows_orders",
        "INSERT INTO desk(note) SELECT word FROM secrets",
        "UPDATE orders SET note = (SELECT word FROM secrets)",
        "UPDATE main.orders SET note = 'x'",
        "INSERT INTO audit VALUES ('x')",
        "DELETE FROM secrets",
        "SELECT * FROM sqlite_master",
        "SELECT * FROM temp.sqlite_master",
        "SELECT * FROM pragma_table_info('orders')",
        "SELECT rlenv_value('customer')",
        "SELECT load_extension('x')",
        "SELECT random()",
        "SELECT json_patch('{}', '{}')",
        "INSERT INTO orders(customer) VALUES (8)",
        "UPDATE orders SET customer = 8",
        "UPDATE orders SET id = 2 WHERE id = 1",
    ],
)
def test_a_role_gets_no_more_than_it_may(sql: str) -> None:
    database = shop()

    with pytest.raises(ToolError):
        database.query(sql, role="support")

    assert changes(database) == {}


@pytest.mark.parametrize(
    "sql",
    [
        "ATTACH '/etc/passwd' AS x",
        "PRAGMA writable_schema = 1",
        "/* */ PRAGMA journal_mode = OFF",
        "-- x\nDETACH main",
        "; VACUUM INTO '/tmp/x'",
        "BEGIN",
        "SAVEPOINT x",
        "DROP TRIGGER noted",
        "CREATE TRIGGER x AFTER DELETE ON orders BEGIN SELECT 1; END",
        "CREATE TABLE x(a)",
        "ALTER TABLE orders ADD b",
        "REINDEX",
        "ANALYZE",
        "EXPLAIN SELECT 1",
        "SELECT 1; DELETE FROM orders",
        "UPDATE sqlite_master SET sql = ''",
        "",
        "SELECT '\0'",
        "SELECT '\ud800'",
        "SELECT ?",
    ],
)
@pytest.mark.parametrize("role", ["policy", None])
def test_no_role_may_do_more_than_use_tables(sql: str, role: str | None) -> None:
    database = database_of()

    with pytest.raises(ToolError):
        database.query(sql, role=role)

    assert changes(database) == {}


def test_a_role_that_is_not_named_may_do_nothing() -> None:
    with pytest.raises(ToolError, match="prohibited"):
        shop().query("SELECT * FROM orders", role="manager")


def test_conditions_of_a_query_are_not_tried_on_hidden_rows() -> None:
    tells = "SELECT id FROM orders WHERE CASE WHEN note LIKE '{%' THEN json(note) ELSE 1 END"

    assert rows(shop(), tells, "support") == [(1,), (3,)]  # row 2 would raise: malformed JSON


def test_triggers_may_do_more_than_the_role() -> None:
    database = shop()
    assert database.query("INSERT INTO desk(note) VALUES ('new')", role="support").changed == 1

    assert rows(database, "SELECT * FROM audit") == [("new1",)]
    assert database.written == {"desk", "audit"}


def test_rights_that_contradict_are_rejected() -> None:
    with pytest.raises(ConfigError, match="not in tables"):
        Access(["orders"], write=["desk"])
    with pytest.raises(ConfigError, match="role=None"):
        Access(["orders"], {"orders": "1"}, ["orders"])


def test_a_statement_that_fails_changes_nothing() -> None:
    database = database_of()
    with pytest.raises(ToolError, match="UNIQUE"):
        database.query("UPDATE orders SET id = 9")
    with pytest.raises(ToolError, match="more than"):
        database.query("UPDATE orders SET note = zeroblob(500000) RETURNING note")

    assert changes(database) == {}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT zeroblob(1000000000)",
        "SELECT group_concat(zeroblob(900000)) FROM orders, orders",
        "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT n FROM t",
        (
            "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT"
            " hex(zeroblob(400000)) FROM t"
        ),
    ],
)
def test_a_result_is_bounded(sql: str) -> None:
    with pytest.raises(ToolError):
        database_of().query(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t",
        (
            "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) DELETE FROM orders"
            " WHERE id = (SELECT max(n) FROM t)"
        ),
    ],
)
def test_a_statement_that_would_run_for_ever_is_ended(
    sql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SECONDS", 0.05)
    database = database_of()

    with pytest.raises(ToolError, match="CPU time"):
        database.query(sql)

    assert changes(database) == {}
    assert rows(database, "SELECT count(*) FROM orders") == [(3,)]


LONG = (
    "SELECT replace(hex(zeroblob(450000)), '0', 'a') AS a, substr(replace(hex(zeroblob(39999)),"
    " '0', 'b'), 2) AS b"
)


@pytest.mark.parametrize(
    "value",
    [
        "trim(a, b || 'a')",
        "ltrim(a, b || 'a')",
        "rtrim(a, b || 'a')",
        "instr(a, substr(a, 1, 400000) || 'b')",
        "replace(a, substr(a, 1, 400000) || 'b', 'c')",
        "a LIKE '%' || substr(a, 1, 990) || 'b'",
        "a GLOB '*' || substr(a, 1, 990) || 'b'",
    ],
)
def test_a_function_that_would_run_for_minutes_is_not_begun(value: str) -> None:
    with pytest.raises(ToolError, match="CPU time"):
        database_of().query(f"SELECT length({value}) FROM ({LONG})")


def test_functions_that_are_bounded_do_what_sqlite_s_do() -> None:
    schema = """CREATE TABLE users(
        name TEXT CHECK (name LIKE '%@%'), short AS (replace(name, '@', ' at '))
    );
    CREATE INDEX first ON users(instr(name, '@'));"""
    database = database_of(schema)
    with pytest.raises(ToolError, match="CHECK"):
        database.query("INSERT INTO users VALUES ('ann')")
    database.query("INSERT INTO users VALUES ('Ann@x'), (NULL)")

    assert rows(
        database,
        "SELECT short, trim(name, 'xA'), name LIKE 'ann%', name GLOB 'ann*', name LIKE 'a!_' ESCAPE"
        " '!', instr(name, '@') FROM users",
    ) == [("Ann at x", "nn@", 1, 0, 0, 4), (None,) * 6]
    assert rows(database, "SELECT trim('  a ') || instr(x'0102', x'02')") == [("a2",)]


def test_a_statement_that_fills_memory_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GROWTH", 32 << 20)
    fills = (
        "WITH RECURSIVE t(n, b) AS (SELECT 1, zeroblob(900000) UNION SELECT n + 1, zeroblob(900000)"
        " FROM t) SELECT max(n) FROM t"
    )

    with pytest.raises(ToolError, match="memory"):
        database_of().query(fills)


def test_a_database_grows_to_its_room() -> None:
    fill = (
        "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t LIMIT 4) INSERT INTO"
        " secrets SELECT zeroblob(900000) FROM t"
    )
    with pytest.raises(ToolError, match=r"1 MiB.*written_mb"):
        evolve(database_of(), written_mb=1).query(fill)


def test_the_statements_of_an_episode_share_its_room() -> None:
    database = evolve(database_of(), written_mb=2)
    database.query("INSERT INTO secrets SELECT zeroblob(900000)")
    database.query("INSERT INTO secrets SELECT zeroblob(900000)")

    with pytest.raises(ToolError, match=r"2 MiB.*written_mb"):
        database.query("INSERT INTO secrets SELECT zeroblob(900000)")
    assert database.query("DELETE FROM secrets").changed >= 2


def test_many_threads_use_one_database() -> None:
    database = database_of()

    def work() -> None:
        for _ in range(50):
            database.query("INSERT INTO audit VALUES ('x')")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert rows(database, "SELECT count(*) FROM audit") == [(200,)]


def test_databases_hold_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[sqlite3.Connection] = []
    closed: list[sqlite3.Connection] = []

    class Watched(sqlite3.Connection):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            opened.append(self)

        def close(self) -> None:
            super().close()
            closed.append(self)

    databases = [database_of() for _ in range(20)]
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Watched))
    for turn in range(2):
        for database in databases:
            database.query("INSERT INTO audit VALUES ('x')")
            assert rows(database, "SELECT count(*) FROM audit") == [(turn + 1,)]

    assert len(opened) >= 40  # one for each write at least
    assert set(map(id, closed)) == set(map(id, opened))


def test_virtual_tables_are_not_for_use() -> None:
    database = database_of("CREATE VIRTUAL TABLE words USING fts5(body)")

    for sql in (
        "INSERT INTO words VALUES ('a')",
        "SELECT * FROM words",
        "SELECT * FROM words_data",
    ):
        with pytest.raises(ToolError):
            database.query(sql)
