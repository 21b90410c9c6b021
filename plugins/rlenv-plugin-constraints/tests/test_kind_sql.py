"""SQL that only reads, under every dialect, with SQLite beside it."""

from __future__ import annotations

import contextlib
import sqlite3
import sys

import pytest
from growth import assert_linear
from hypothesis import given
from hypothesis import strategies as st
from rlenv.model.errors import ConfigError
from rlenv_plugin_constraints.kinds.sql import DIALECTS, SIZE, SqlReadOnly
from rlenv_plugin_constraints.sql_reader import DEPTH
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
    "Sure! SELECT 1", "SELECT 1 SELECT 1", "SELECT a,", "SELECT 1 FROM#", "SELECT f(1",
    "SELECT 1 \ufeff", "SELECT \u200bload_extension('x')", "SELECT 'AS' INTO t", "SELECT {# ; #} 1",
    "SELECT NEXT VALUE FOR s", "WITH a (SELECT 1) SELECT * FROM a", "SELECT a INTO@x FROM t",
    "SELECT VAR_MAP(x)", "SELECT a /*+ MERGE(t) */ FROM t", "-- x\rDROP TABLE t",
    "```sql\nSELECT 1\n```\n```sql\nDROP TABLE t\n```",
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


def _deny_writes(base: sqlite3.Connection) -> list[int]:
    """Return the list that will have what the connection was asked to do besides reading."""
    denied: list[int] = []
    reads = (
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_RECURSIVE,
    )

    def authorize(action: int, *_: object) -> int:
        if action in reads:
            return sqlite3.SQLITE_OK
        denied.append(action)
        return sqlite3.SQLITE_DENY

    base.set_authorizer(authorize)
    return denied


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
    denied = _deny_writes(base)
    with contextlib.suppress(sqlite3.Error, ValueError):
        base.executescript(statement)
    assert not denied
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


UNITS = ["SELECT (", "'", "/*", "$a$", "[", "SELECT 1,", "SELECT 1 UNION ALL ", "DATE(", "NOT "]


@pytest.mark.parametrize("unit", UNITS)
def test_work_grows_with_the_statement_and_no_faster(unit: str) -> None:
    rule = SqlReadOnly()
    assert_linear(lambda text: rule.check(Text(f"SELECT {text}")), unit, size=3_000)


def test_a_statement_longer_than_the_limit_is_undecided() -> None:
    found = SqlReadOnly().check(Text(f"SELECT '{'a' * SIZE}'"))
    assert not found.satisfied
    assert found.undecided
    assert "longer than 20,000 characters" in found.note


@pytest.mark.parametrize("inner", ["(", "f(", "CAST(", "(SELECT ", "CASE WHEN a THEN "])
def test_depth_is_limited(inner: str) -> None:
    end = {"CAST(": " AS INT)", "CASE WHEN a THEN ": " END"}.get(inner, ")")
    rule = SqlReadOnly()
    assert rule.check(Text(f"SELECT {inner * DEPTH}1{end * DEPTH}")).satisfied
    deeper = rule.check(Text(f"SELECT {inner * (DEPTH + 1)}1{end * (DEPTH + 1)}"))
    assert "nested deeper" in deeper.note


# sqlglot tries two or three readings of each bracket of these.
@pytest.mark.parametrize("name", ["DATE", "STRUCT", "CHAR", "TIMESTAMP"])
def test_what_takes_the_parser_exponential_work_is_given_up(name: str) -> None:
    rule = SqlReadOnly()
    assert rule.check(Text(f"SELECT {name}({name}(x))")).satisfied
    found = rule.check(Text(f"SELECT {f'{name}(' * DEPTH}x{')' * DEPTH}"))
    assert "nested too deeply" in found.note


@pytest.mark.parametrize("word", ["NOT ", "- ", "~ "])
def test_recursion_of_the_parser_is_no_exception(word: str) -> None:
    found = SqlReadOnly().check(Text(f"SELECT {word * 3000}1"))
    assert "nested too deeply" in found.note


HIDDEN = [
    "SELECT 1 #-- '\n2; DROP TABLE t -- '",
    "SELECT a ||/* ' */ 2; DROP TABLE t -- '",
    "SELECT 1 -- \r '\n; DROP TABLE t --'",
]


@pytest.mark.parametrize("statement", HIDDEN)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_comment_that_sqlglot_does_not_see_hides_nothing(statement: str, dialect: str) -> None:
    assert not SqlReadOnly(dialect=dialect).check(Text(statement)).satisfied


def test_nothing_is_logged_of_a_response(caplog: pytest.LogCaptureFixture) -> None:
    for statement in ("SELECT a -> '$.en-US' FROM t", "WITH x AS (COMMENT 1) SELECT 1"):
        SqlReadOnly(dialect="mysql").check(Text(statement))
    assert not caplog.records


def test_the_compiled_parser_is_rejected_at_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["sqlglot.parser"], "__file__", "parser.so")
    with pytest.raises(ConfigError, match="uninstall sqlglotc"):
        SqlReadOnly()
