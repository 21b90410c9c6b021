"""SQL that only reads: one SELECT, under every dialect that it may be read as.

An own lexer, and no parser: a grammar for all dialects is a dependency of megabytes, and what
decides here
(where a string or a comment ends, which words are outside them) differs by dialect in a few rules.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from attrs import field, frozen
from rlenv import ConfigError
from rlenv.authoring import Safe, suggest

from rlenv_plugin_constraints.blocks import only_block
from rlenv_plugin_constraints.constraint import Finding
from rlenv_plugin_constraints.sql_lexer import DIALECTS, Lexed, Unreadable, lexed
from rlenv_plugin_constraints.sql_words import ALSO_FUNCTIONS, KEYWORDS
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.unmet import unmet

__all__ = ["SqlReadOnly"]

SIZE = 100_000  # characters
_DIFFERS = ("\\", "#", "$", "[", '"', "--", "/*", "e'", "E'")  # what dialects read differently
LABELS = ("sql", "sqlite", "sqlite3", "postgres", "postgresql", "psql", "mysql", "tsql", "plsql")
_WRITERS = re.compile(r"[():w]")
_CALLED = re.compile(r"[bkwn](?=\()")
_STRANGE = re.compile(r"[bw]{3}|x")  # what only prose has
_SIDE_EFFECTS = re.compile(
    r"(?:PG_(?:SLEEP\w*|TERMINATE_BACKEND|CANCEL_BACKEND|READ_\w*FILE|FILE_\w+|LS_\w+|STAT_FILE|RELOAD_CONF|ROTATE_LOGFILE|"
    r"(?:TRY_)?ADVISORY_\w+|NOTIFY|PROMOTE|SWITCH_WAL|SWITCH_XLOG|CREATE_\w+|DROP_\w+|LOGICAL_\w+|REPLICATION_\w+|BACKUP_\w+|START_BACKUP|STOP_BACKUP|"
    r"WAL_REPLAY_\w+|STAT_RESET\w*|EXPORT_SNAPSHOT|LOG_BACKEND\w*|IMPORT_\w+)|LO_\w+|LOREAD|LOWRITE|DBLINK\w*|NEXTVAL|SETVAL|SET_CONFIG|TXID_CURRENT|"
    r"QUERY_TO_XML\w*|CURSOR_TO_XML\w*|TABLE_TO_XML\w*|SCHEMA_TO_XML\w*|DATABASE_TO_XML\w*|TS_STAT|CROSSTAB\w*|"
    r"LOAD_FILE|SLEEP|BENCHMARK|GET_LOCK|RELEASE_(?:ALL_)?LOCKS?|SYS_(?:EXEC|EVAL|SET)|MASTER_POS_WAIT|SOURCE_POS_WAIT|"
    r"LAST_INSERT_ID|LOAD_EXTENSION|WRITEFILE|READFILE|EDIT|EVAL|FTS3_TOKENIZER|OPENROWSET|OPENQUERY|OPENDATASOURCE|"
    r"XP_\w+|SP_\w+|UTL_\w+|DBMS_\w+)\Z"
)


def _known(_: Any, __: Any, value: str) -> None:
    if value != "any" and value not in DIALECTS:
        hint = suggest(value, [*DIALECTS, "any"], what="the dialects are")
        raise ConfigError(f"there is no dialect {value!r}; {hint}")


@frozen
class SqlReadOnly:
    """One statement that reads and does nothing else: SELECT, WITH … SELECT, or EXPLAIN of one.

    What a database's own functions do is not seen; name those that may be called in ``functions``
    where that matters.

    Args:
        dialect: "sqlite", "postgres", "mysql", "tsql"; "any" refuses what writes under one of them.
        functions: the only functions that may be called; () allows all but those known to have
            effects.
        prose: whether text may be around the fenced block.
    """

    kind: ClassVar[str] = "sql_read_only"
    is_answer: ClassVar[bool] = True
    dialect: Safe[str] = field(default="any", validator=_known)
    functions: Safe[tuple[str, ...]] = ()
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
                found = lexed(block.text, DIALECTS[name])
            except Unreadable as err:
                wrong: tuple[str, int] | None = (str(err), err.place)
            else:
                first = first or (found.texts[0] if found.texts else "")
                wrong = self._wrong(found)
            if wrong is not None:
                at = block.start + wrong[1]
                note = wrong[0] if self.dialect != "any" else f"{wrong[0]} (as {name} reads it)"
                return unmet(first[:20] or None, wanted, [(at, min(at + 1, len(text.raw)))], note)
        return Finding(bool(first), first, wanted, [(block.start, block.end)])

    def _dialects(self, text: str) -> Sequence[str]:
        if self.dialect != "any":
            return (self.dialect,)
        return tuple(DIALECTS) if any(sign in text for sign in _DIFFERS) else ("sqlite",)

    def _wrong(self, found: Lexed) -> tuple[str, int] | None:
        """What is wrong, and where."""
        size = len(found.texts)
        while size and found.texts[size - 1] == ";":
            size -= 1
        if not size:
            return "there is no statement", 0
        found = found.until(size)
        if ";" in found.line:
            return "more than one statement", found.start(found.line.index(";"))
        functions = {name.upper() for name in self.functions}
        wrong = _begins_wrong(found) or _writes(found) or _calls(found, functions) or _no_sql(found)
        return None if wrong is None else (wrong[0], found.start(wrong[1]))


def _begins_wrong(found: Lexed) -> tuple[str, int] | None:
    """What is wrong with the beginning, and at which token."""
    beginning = found.until(len(found.line) - len(found.line.lstrip("(")) + 1).bare()
    words = found.bare() if {"EXPLAIN", "WITH"} & set(beginning) else beginning
    place = 0
    if words[0] == "EXPLAIN":
        place = next((i for i, w in enumerate(words) if w in ("SELECT", "WITH") and i), len(words))
        between = words[1:place]
        allowed = {
            "QUERY",
            "PLAN",
            "ANALYZE",
            "VERBOSE",
            "EXTENDED",
            "FORMAT",
            "(",
            ")",
            ",",
            "=",
            "JSON",
            "TRADITIONAL",
            "TREE",
            "BUFFERS",
            "COSTS",
            "TIMING",
            "SUMMARY",
            "TEXT",
            "XML",
            "YAML",
            "TRUE",
            "FALSE",
            "ON",
            "OFF",
        }
        odd = next((i for i, w in enumerate(between, 1) if w not in allowed), None)
        if odd is not None or place == len(words):
            return "EXPLAIN of something else than SELECT", odd or 0
    while words[place] == "(" and place + 1 < len(words):
        place += 1
    if words[place] not in ("SELECT", "WITH"):
        return "it begins with something else than SELECT, WITH or EXPLAIN", place
    if words[place] == "WITH" and ("SELECT" not in words or not _with_parts(words)):
        return "WITH without a SELECT", place
    if place + 1 >= len(found.texts):
        return f"{words[place]} alone", place
    return None


def _with_parts(words: list[str]) -> bool:
    return any(
        word == "AS"
        and (words[at + 1 : at + 2] == ["("] or "MATERIALIZED" in words[at + 1 : at + 3])
        for at, word in enumerate(words)
    )


def _writes(found: Lexed) -> tuple[str, int] | None:
    depth = 0
    texts = found.texts
    for match in _WRITERS.finditer(found.line):
        at = match.start()
        mark = match[0]
        if mark == ":":
            return ":= sets a variable", at
        if mark != "w":
            depth += 1 if mark == "(" else -1
            if depth < 0:
                break
            continue
        before = texts[at - 1] if at else ""
        after = texts[at + 1] if at + 1 < len(texts) else ""
        if texts[at] == "FOR":
            if after in ("UPDATE", "SHARE", "NO", "KEY"):
                return f"FOR {after} locks rows", at
        elif before not in (".", "AS") and not (texts[at] in ALSO_FUNCTIONS and after == "("):
            return f"{texts[at]} writes", at
    return ("parentheses that do not match", len(texts) - 1) if depth else None


def _calls(found: Lexed, allowed: set[str]) -> tuple[str, int] | None:
    for match in _CALLED.finditer(found.line):
        at = match.start()
        name = found.texts[match.start()]
        if _SIDE_EFFECTS.match(name):
            return f"{name.lower()}() has effects", at
        if allowed and name not in allowed and name not in KEYWORDS:
            return f"{name.lower()[:40]}() is not among the functions", at
    return None


def _no_sql(found: Lexed) -> tuple[str, int] | None:
    """What only prose has: three bare words in a row, or an end on a sign or in the middle of a
    clause.
    """
    strange = _STRANGE.search(found.line)
    if strange is not None:
        at = strange.end() - 1
        if strange[0] == "x":
            return f"{found.texts[at]} is no SQL", at
        return "three names in a row are no SQL", at
    last = found.texts[-1]
    at = len(found.texts) - 1
    if found.line[-1] in "();:xp" and last not in (")", "*", "]", "?"):
        return "the statement breaks off", at
    unfinished = (
        "FROM", "WHERE", "BY", "AND", "OR", "NOT", "SELECT", "JOIN", "ON", "IN", "AS", "UNION",
    )  # fmt: skip
    if found.line[-1] in "bkw" and last in unfinished:
        return "the statement breaks off", at
    return None
