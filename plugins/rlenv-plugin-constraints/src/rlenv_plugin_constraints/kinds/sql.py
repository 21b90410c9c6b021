"""SQL that only reads: one SELECT, under every dialect that it may be read as.

An own lexer, and no parser: a grammar for all dialects is a dependency of megabytes, and what decides here
(where a string or a comment ends, which words stand outside them) differs by dialect in a few rules.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any, ClassVar

from attrs import field, frozen
from rlenv.errors import ConfigError
from rlenv.near import suggest

from rlenv_plugin_constraints.blocks import only_block
from rlenv_plugin_constraints.constraint import Finding
from rlenv_plugin_constraints.sql_lexer import DIALECTS, Token, Unreadable, tokens
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.unmet import unmet

__all__ = ["SqlReadOnly"]

SIZE = 100_000  # characters
_DIFFERS = re.compile(r"[\\#$\[\"]|--|/\*|[eE]'")  # what dialects read differently
LABELS = ("sql", "sqlite", "sqlite3", "postgres", "postgresql", "psql", "mysql", "tsql", "plsql")
_WRITES = frozenset(
    [
        "INSERT",
        "UPDATE",
        "DELETE",
        "MERGE",
        "REPLACE",
        "UPSERT",
        "CREATE",
        "DROP",
        "ALTER",
        "TRUNCATE",
        "INTO",
        "GRANT",
        "REVOKE",
        "ATTACH",
        "DETACH",
        "PRAGMA",
        "VACUUM",
        "REINDEX",
        "COPY",
        "CALL",
        "EXEC",
        "EXECUTE",
        "OUTFILE",
        "DUMPFILE",
        "LOCK",
        "HANDLER",
    ]
)
_WRITES_OR_FOR = _WRITES | {"FOR"}
_SIGNS = ("(", ")", ":=")
_ALSO_FUNCTIONS = frozenset(("REPLACE", "INSERT", "TRUNCATE"))  # of strings and numbers
_SIDE_EFFECTS = re.compile(
    r"(?:PG_(?:SLEEP\w*|TERMINATE_BACKEND|CANCEL_BACKEND|READ_\w*FILE|FILE_\w+|LS_\w+|STAT_FILE|RELOAD_CONF|ROTATE_LOGFILE|"
    r"(?:TRY_)?ADVISORY_\w+|NOTIFY|PROMOTE|SWITCH_WAL|SWITCH_XLOG|CREATE_\w+|DROP_\w+|LOGICAL_\w+|REPLICATION_\w+|BACKUP_\w+|START_BACKUP|STOP_BACKUP|"
    r"WAL_REPLAY_\w+|STAT_RESET\w*|EXPORT_SNAPSHOT|LOG_BACKEND\w*|IMPORT_\w+)|LO_\w+|LOREAD|LOWRITE|DBLINK\w*|NEXTVAL|SETVAL|SET_CONFIG|TXID_CURRENT|"
    r"QUERY_TO_XML\w*|CURSOR_TO_XML\w*|TABLE_TO_XML\w*|SCHEMA_TO_XML\w*|DATABASE_TO_XML\w*|TS_STAT|CROSSTAB\w*|"
    r"LOAD_FILE|SLEEP|BENCHMARK|GET_LOCK|RELEASE_(?:ALL_)?LOCKS?|SYS_(?:EXEC|EVAL|SET)|MASTER_POS_WAIT|SOURCE_POS_WAIT|"
    r"LAST_INSERT_ID|LOAD_EXTENSION|WRITEFILE|READFILE|EDIT|EVAL|FTS3_TOKENIZER|OPENROWSET|OPENQUERY|OPENDATASOURCE|"
    r"XP_\w+|SP_\w+|UTL_\w+|DBMS_\w+)\Z"
)
_KEYWORDS = frozenset(
    [
        "SELECT",
        "FROM",
        "WHERE",
        "AND",
        "OR",
        "NOT",
        "IN",
        "IS",
        "NULL",
        "AS",
        "ON",
        "USING",
        "JOIN",
        "LEFT",
        "RIGHT",
        "FULL",
        "INNER",
        "OUTER",
        "CROSS",
        "NATURAL",
        "LATERAL",
        "GROUP",
        "BY",
        "ORDER",
        "HAVING",
        "LIMIT",
        "OFFSET",
        "FETCH",
        "FIRST",
        "NEXT",
        "ROWS",
        "ROW",
        "ONLY",
        "UNION",
        "ALL",
        "INTERSECT",
        "EXCEPT",
        "MINUS",
        "DISTINCT",
        "CASE",
        "WHEN",
        "THEN",
        "ELSE",
        "END",
        "LIKE",
        "ILIKE",
        "GLOB",
        "REGEXP",
        "RLIKE",
        "SIMILAR",
        "TO",
        "BETWEEN",
        "EXISTS",
        "ANY",
        "SOME",
        "ASC",
        "DESC",
        "NULLS",
        "LAST",
        "OVER",
        "PARTITION",
        "WINDOW",
        "RANGE",
        "GROUPS",
        "UNBOUNDED",
        "PRECEDING",
        "FOLLOWING",
        "CURRENT",
        "WITH",
        "RECURSIVE",
        "MATERIALIZED",
        "VALUES",
        "CAST",
        "COLLATE",
        "ESCAPE",
        "INTERVAL",
        "FILTER",
        "WITHIN",
        "TABLESAMPLE",
        "TRUE",
        "FALSE",
        "EXPLAIN",
        "ANALYZE",
        "QUERY",
        "PLAN",
        "VERBOSE",
        "STRAIGHT_JOIN",
        "QUALIFY",
        "TOP",
        "PERCENT",
        "TIES",
        "ISNULL",
        "NOTNULL",
        "EXTRACT",
        "YEAR",
        "MONTH",
        "DAY",
        "HOUR",
        "MINUTE",
        "SECOND",
        "AT",
        "TIME",
        "ZONE",
        "WITHOUT",
        "DOUBLE",
        "PRECISION",
        "VARYING",
        "UNKNOWN",
        "DIV",
        "MOD",
        "XOR",
        "SEPARATOR",
        "ROLLUP",
        "CUBE",
        "GROUPING",
        "SETS",
        "PIVOT",
        "UNPIVOT",
        "EXCLUDE",
        "INDEXED",
        "INDEX",
        "USE",
        "FORCE",
        "IGNORE",
        "TIMESTAMP",
        "DATE",
        "BINARY",
        "CHARACTER",
        "SET",
        "SYSTEM",
        "BERNOULLI",
        "REPEATABLE",
        "ORDINALITY",
        "ASYMMETRIC",
        "SYMMETRIC",
        "UNIQUE",
        "MATCH",
        "AGAINST",
        "APPLY",
    ]
)


def _known(_: Any, __: Any, value: str) -> None:
    if value != "any" and value not in DIALECTS:
        hint = suggest(value, [*DIALECTS, "any"], what="the dialects are")
        raise ConfigError(f"there is no dialect {value!r}; {hint}")


@frozen
class SqlReadOnly:
    """One statement that reads and does nothing else: SELECT, WITH … SELECT, or EXPLAIN of one.

    What a database's own functions do is not seen; name those that may be called in ``functions`` where
    that matters.

    Args:
        dialect: "sqlite", "postgres", "mysql", "tsql"; "any" refuses what writes under one of them.
        functions: the only functions that may be called; () allows all but those known to have effects.
        prose: whether text may stand around the fenced block.
    """

    kind: ClassVar[str] = "sql_read_only"
    is_answer: ClassVar[bool] = True
    dialect: str = field(default="any", validator=_known)
    functions: tuple[str, ...] = ()
    prose: bool = False

    def check(self, text: Text) -> Finding:
        block = only_block(text.raw, LABELS, prose=self.prose)
        wanted = "one SELECT"
        if isinstance(block, str):
            return unmet(None, wanted, note=block)
        first = ""
        if len(block.text) > SIZE:
            note = f"undecided: longer than {SIZE:,} characters"
            return unmet(None, wanted, note=note)
        for name in self._dialects(block.text):
            try:
                found = tokens(block.text, DIALECTS[name])
            except Unreadable as err:
                wrong: tuple[str, int] | None = (str(err), err.place)
            else:
                first = first or (found[0].text if found else "")
                wrong = self._wrong(found)
            if wrong is not None:
                at = block.start + wrong[1]
                note = wrong[0] if self.dialect != "any" else f"{wrong[0]} (as {name} reads it)"
                return unmet(first[:20] or None, wanted, [(at, min(at + 1, len(text.raw)))], note)
        return Finding(bool(first), first, wanted, [(block.start, block.end)])

    def _dialects(self, text: str) -> Sequence[str]:
        if self.dialect != "any":
            return (self.dialect,)
        return tuple(DIALECTS) if _DIFFERS.search(text) else ("sqlite",)

    def _wrong(self, found: list[Token]) -> tuple[str, int] | None:
        while found and found[-1].text == ";":
            found.pop()
        if not found:
            return "there is no statement", 0
        semicolon = next((t for t in found if t.text == ";" and t.kind == "sign"), None)
        if semicolon is not None:
            return "more than one statement", semicolon.start
        return (
            _begins_wrong(found)
            or _writes(found)
            or _calls(found, {name.upper() for name in self.functions})
            or _no_sql(found)
        )


def _begins_wrong(found: list[Token]) -> tuple[str, int] | None:
    place = 0
    words = [t.text if t.kind in ("word", "sign") else "" for t in found]
    if words[0] == "EXPLAIN":
        place = next((i for i, w in enumerate(words) if w in ("SELECT", "WITH") and i), len(words))
        between = words[1:place]
        allowed = {"QUERY", "PLAN", "ANALYZE", "VERBOSE", "EXTENDED", "FORMAT", "(", ")", ",", "=", "JSON", "TRADITIONAL", "TREE", "BUFFERS", "COSTS", "TIMING", "SUMMARY", "TEXT", "XML", "YAML", "TRUE", "FALSE", "ON", "OFF"}  # fmt: skip
        odd = next((i for i, w in enumerate(between, 1) if w not in allowed), None)
        if odd is not None or place == len(words):
            return "EXPLAIN of something else than SELECT", found[odd or 0].start
    while words[place] == "(" and place + 1 < len(words):
        place += 1
    if words[place] not in ("SELECT", "WITH"):
        return "it begins with something else than SELECT, WITH or EXPLAIN", found[place].start
    if words[place] == "WITH" and ("SELECT" not in words or not _with_parts(words)):
        return "WITH without a SELECT", found[place].start
    if place + 1 >= len(words):
        return f"{words[place]} alone", found[place].start
    return None


def _with_parts(words: list[str]) -> bool:
    return any(
        word == "AS"
        and (words[at + 1 : at + 2] == ["("] or "MATERIALIZED" in words[at + 1 : at + 3])
        for at, word in enumerate(words)
    )


def _writes(found: list[Token]) -> tuple[str, int] | None:
    depth = 0
    for at, token in enumerate(found):
        if token.kind == "sign" and token.text in _SIGNS:
            if token.text == ":=":
                return ":= sets a variable", token.start
            depth += 1 if token.text == "(" else -1
            if depth < 0:
                break
        elif token.kind == "word" and token.text in _WRITES_OR_FOR:
            before = found[at - 1].text if at else ""
            after = found[at + 1].text if at + 1 < len(found) else ""
            if token.text == "FOR":
                if after in ("UPDATE", "SHARE", "NO", "KEY"):
                    return f"FOR {after} locks rows", token.start
            elif before not in (".", "AS") and not (token.text in _ALSO_FUNCTIONS and after == "("):
                return f"{token.text} writes", token.start
    return ("parentheses that do not match", found[-1].start) if depth else None


def _calls(found: list[Token], allowed: set[str]) -> tuple[str, int] | None:
    for token, after in itertools.pairwise(found):
        if after.kind != "sign" or after.text != "(" or token.kind not in ("word", "name"):
            continue
        if _SIDE_EFFECTS.match(token.text):
            return f"{token.text.lower()}() has effects", token.start
        if allowed and token.text not in allowed and token.text not in _KEYWORDS:
            return f"{token.text.lower()[:40]}() is not among the functions", token.start
    return None


def _no_sql(found: list[Token]) -> tuple[str, int] | None:
    """What only prose has: three bare words in a row, or an end on a sign or in the middle of a clause."""
    run = 0
    for token in found:
        bare = token.kind == "word" and token.text not in _KEYWORDS
        run = run + 1 if bare else 0
        if run == 3:
            return "three names in a row are no SQL", token.start
        if token.kind == "sign" and token.text in ("\\", "{", "}", "…", "“", "”", "’"):
            return f"{token.text} is no SQL", token.start
    last = found[-1]
    if last.kind == "sign" and last.text not in (")", "*", "]", "?"):
        return "the statement breaks off", last.start
    unfinished = (
        "FROM",
        "WHERE",
        "BY",
        "AND",
        "OR",
        "NOT",
        "SELECT",
        "JOIN",
        "ON",
        "IN",
        "AS",
        "UNION",
    )
    if last.kind == "word" and last.text in unfinished:
        return "the statement breaks off", last.start
    return None
