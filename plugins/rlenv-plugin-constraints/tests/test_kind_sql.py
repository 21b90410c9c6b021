"""SQL that only reads: what a lexer can be sure of, under every dialect, with SQLite beside it."""

from __future__ import annotations

import contextlib
import sqlite3

import pytest
from growth import assert_linear
from hypothesis import given
from hypothesis import strategies as st
from rlenv.model.errors import ConfigError
from rlenv_plugin_constraints.kinds.sql import SIZE, SqlReadOnly
from rlenv_plugin_constraints.text import Text

READS = [
    "SELECT 1",
    "select * from t;",
    "SELECT a, count(*) FROM t GROUP BY a ORDER BY 2 DESC LIMIT 5",
    "WITH a AS (SELECT 1 AS x) SELECT x FROM a",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n",
    "EXPLAIN QUERY PLAN SELECT 1",
    "SELECT replace(a, 'x', 'y') FROM t",
    "SELECT 'DROP TABLE t; -- ' AS s",
    "SELECT a -- the column\nFROM t /* all of it */ WHERE b = 'it''s'",
    "SELECT CASE WHEN u.a > 1 THEN 'x' ELSE 'y' END FROM t u JOIN t w ON u.a = w.a",
    (
        "SELECT sum(a) OVER (PARTITION BY a ORDER BY b ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT"
        " ROW) AS s FROM t"
    ),
    'SELECT a AS "update" FROM t',
    "SELECT 1e-5, .5, x'00'",
]
OTHER_READS = [
    "(SELECT 1) UNION ALL (SELECT 2)",
    "SELECT a::int FROM t",
    "EXPLAIN (ANALYZE, FORMAT JSON) SELECT 1",
    "```sql\nSELECT 1;\n```",
    "SELECT t.delete FROM t",
    "SELECT count(*) AS update FROM t",
]
WRITES = [
    "INSERT INTO t VALUES (1, 2)",
    "DELETE FROM t",
    "DROP TABLE t",
    "UPDATE t SET a = 1",
    "REPLACE INTO t VALUES (1, 2)",
    "CREATE TABLE x (y)",
    "PRAGMA user_version = 3",
    "ATTACH 'x.db' AS x",
    "VACUUM",
]
REFUSED = [
    "", ";", "SELECT", "VALUES (1)", "SELECT 1 FROM", "SELECT (1", "SELECT 1)", "SELECT 'x",
    "SELECT 1 /* x", "WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x",
    "WITH x AS (SELECT 1) DELETE FROM t", "SELECT * INTO t2 FROM t",
    "SELECT 1 INTO OUTFILE '/tmp/x'", "SELECT a INTO @x FROM t", "SELECT * FROM t FOR UPDATE",
    "SELECT * FROM t FOR NO KEY UPDATE", "SELECT * FROM t LOCK IN SHARE MODE",
    "EXPLAIN DELETE FROM t", "EXPLAIN ANALYZE WITH a AS (SELECT 1) DELETE FROM t",
    "SELECT pg_sleep(10)", 'SELECT "pg_sleep"(10)', "SELECT pg_catalog.set_config('a', 'b', false)",
    "SELECT nextval('s')", "SELECT load_extension('x')", "SELECT load_file('/etc/passwd')",
    "SELECT sleep (5)", "SELECT lo_export(1, '/x')", "SELECT dblink_exec('x')", "SELECT @a := 1",
    "SELECT query_to_xml('x', true, true, '')", "SELECT 'a\\'; DROP TABLE t; --'",
    "SELECT 1 /*! ; DROP TABLE t */", "SELECT $$a$$; DROP TABLE t; $$b$$",
    "SELECT E'\\'; DROP TABLE t; --'", "SELECT /* /* */ 1 */ ; DROP TABLE t",
    "SELECT 1 # ' \n; DROP TABLE t -- '", "SELECT 1 --1 ; '\n",
    "SELECT [a;] FROM t; DROP TABLE [x]", "SELECT \"a\\\"; DROP TABLE t; --\"", "SELECT 1\x00",
    "COPY t TO '/x'", "CALL p()", "DO $$ BEGIN END $$", "SET x = 1", "BEGIN",
    "Select the best option for you.", "Explain how SELECT works", "With great power comes SELECT",
    "Sure! SELECT 1", "```sql\nSELECT 1\n```\n```sql\nDROP TABLE t\n```",
    "```python\nSELECT 1\n```",
]  # fmt: skip


@pytest.mark.parametrize("statement", [*READS, *OTHER_READS])
def test_a_statement_that_reads(statement: str) -> None:
    assert SqlReadOnly().check(Text(statement)).satisfied


@pytest.mark.parametrize("statement", [*WRITES, *REFUSED])
def test_a_statement_that_does_anything_else(statement: str) -> None:
    assert not SqlReadOnly().check(Text(statement)).satisfied


def _database() -> sqlite3.Connection:
    base = sqlite3.connect(":memory:")
    base.executescript("CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2)")
    return base


@pytest.mark.parametrize("statement", READS)
def test_sqlite_runs_what_reads_on_a_base_that_nobody_may_write(statement: str) -> None:
    base = _database()
    base.execute("PRAGMA query_only = 1")
    base.execute(statement).fetchall()
    base.close()


JOINS = st.sampled_from([";", "; ", ";\n", " ;-- x\n", ";/* */", "\n", " "])


@given(st.sampled_from(READS), JOINS, st.sampled_from(WRITES), st.sampled_from(["", ";", " -- '"]))
def test_a_write_appended_to_a_read_is_refused(read: str, join: str, write: str, end: str) -> None:
    assert not SqlReadOnly().check(Text(f"{read}{join}{write}{end}")).satisfied
    assert not SqlReadOnly(dialect="sqlite").check(Text(f"{read}{join}{write}{end}")).satisfied


PIECES = st.sampled_from(
    [
        "SELECT 1",
        "'",
        '"',
        "`",
        "\\",
        "--",
        "\n",
        "/*",
        "*/",
        ";",
        "DROP TABLE t",
        "$$",
        "$a$",
        "#",
        "[",
        "]",
        " ",
        "''",
        "E'",
        "a",
    ]
)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_sqlite_never_writes_what_is_satisfied(tail: str) -> None:
    statement = f"SELECT 1 {tail}"
    if "```" in statement or not SqlReadOnly(dialect="sqlite").check(Text(statement)).satisfied:
        return
    base = _database()
    with contextlib.suppress(sqlite3.Error, ValueError):
        base.executescript(statement)
    assert base.execute("SELECT count(*) FROM sqlite_master").fetchone() == (1,)
    base.close()


def test_dialects_and_functions_by_name() -> None:
    backslash = "SELECT 'a\\', b FROM t"
    assert SqlReadOnly(dialect="sqlite").check(Text(backslash)).satisfied
    assert not SqlReadOnly().check(Text(backslash)).satisfied
    only = SqlReadOnly(functions=("count", "sum"))
    assert only.check(Text("SELECT count(*), sum(a) FROM t WHERE a IN (1, 2)")).satisfied
    assert not only.check(Text("SELECT my_delete(a) FROM t")).satisfied
    with pytest.raises(ConfigError, match='did you mean "sqlite"'):
        SqlReadOnly(dialect="sqlit")


@pytest.mark.parametrize("unit", ["SELECT (", "'", "/*", "$a$", "[", "SELECT 1,", "SELECT 1 "])
def test_work_grows_with_the_statement_and_no_faster(unit: str) -> None:
    rule = SqlReadOnly()
    assert rule.check(Text(unit * 500)).satisfied is (unit == "SELECT 1 ")
    assert not rule.check(Text(unit * SIZE)).satisfied
    assert_linear(lambda text: rule.check(Text(text)), unit)
