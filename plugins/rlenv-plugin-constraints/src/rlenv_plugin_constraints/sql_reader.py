"""SQL cut into tokens and parsed with sqlglot, in work that is linear in the size of the text.

sqlglot is imported with this module, which takes half a second, so a kind imports it when it needs
it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, ClassVar

from attrs import frozen
from rlenv import ConfigError
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, TokenError
from sqlglot.expressions import DDL, DML, Alter, Command, Drop, Into, Lock, Pragma, Query
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token, TokenType
from sqlglot.tokens import Tokenizer

__all__ = ["DEPTH", "Unreadable", "check_installed", "parse_query", "tokenize"]

DEPTH = 24  # of brackets and CASE; the parser has 25 frames for one, of Python's 1,000
_STEPS = 10  # of the parser for each token; statements of TPC-DS need 1.2
_FEW_STEPS = 200
_OPENING = frozenset((TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE))
_CLOSING = frozenset((TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END))
_CHANGING = (DML, DDL, Alter, Command, Drop, Into, Lock, Pragma)
_CARRIAGE = re.compile(r"\r(?!\n)")
_LINE_COMMENT = re.compile(r"--|#")
# MySQL executes comments that begin with /*! and MariaDB /*M!, hints are instructions, and sqlglot
# takes {# for a comment, which no database does.
# https://dev.mysql.com/doc/refman/8.4/en/comments.html
_EXECUTED = re.compile(r"/\*(?:M?!|\+)|\{#")


class Unreadable(ValueError):
    """A text that is not SQL, or takes too much work; ``place`` is a character's offset."""

    def __init__(self, reason: str, place: int) -> None:
        super().__init__(reason)
        self.place = place


class _TooMuchWork(Exception):
    """The parser goes over the same tokens again and again."""


@frozen
class _Tools:
    """The parts of sqlglot that read one dialect."""

    dialect: Dialect
    tokenizer: type[Tokenizer]
    parser: type[Parser]


@cache
def _tools(name: str) -> _Tools:
    dialect = Dialect.get_or_raise(name)
    # Where arrays begin at 1, sqlglot computes each index anew, which is quadratic in a[1][1][1].
    dialect.INDEX_OFFSET = 0
    dialect.to_json_path = lambda path: path  # type: ignore[method-assign]  # else it logs errors
    return _Tools(dialect, _plain(dialect.tokenizer_class), _bounded(dialect.parser_class))


def _plain(base: Any) -> type[Tokenizer]:
    """Return a tokenizer that reads the words after EXPLAIN or a command, and names in backticks.

    sqlglot makes one token of what follows a command.
    """

    class Plain(base):  # type: ignore[misc]
        KEYWORDS: ClassVar[dict[str, TokenType]] = {
            word: kind for word, kind in base.KEYWORDS.items() if word != "EXPLAIN"
        }
        COMMANDS: ClassVar[set[TokenType]] = set()
        IDENTIFIERS: ClassVar[list[Any]] = [*base.IDENTIFIERS, "`"]

    return Plain


def _bounded(base: Any) -> type[Parser]:
    """Return a parser that counts its steps.

    sqlglot tries several readings of a bracket, so that DATE(DATE(DATE(x))) takes twice the work
    for each level.
    """

    class Bounded(base):  # type: ignore[misc]
        steps = _FEW_STEPS

        def _advance(self, times: int = 1) -> None:
            self.steps -= 1
            if self.steps < 0:
                raise _TooMuchWork
            super()._advance(times)

        def _warn_unsupported(self) -> None:
            """Log nothing: a response is not an operator's concern."""

    return Bounded


def check_installed() -> None:
    """Check that sqlglot is the one in Python.

    Its extra ``c`` compiles the parser, whose steps cannot be counted from outside.

    Raises:
        ConfigError: if the compiled one is installed.
    """
    if not str(getattr(sys.modules[Parser.__module__], "__file__", "")).endswith(".py"):
        raise ConfigError(
            "sql_read_only limits the steps of sqlglot's parser, which the compiled one does not"
            " allow: uninstall sqlglotc"
        )


def tokenize(text: str, dialect: str) -> Sequence[Token]:
    """Return the tokens of a text; comments are left out.

    Args:
        text: the statement.
        dialect: "sqlite", "postgres", "mysql" or "tsql".

    Raises:
        Unreadable: for a string, name or comment that is never closed, a NUL, a comment that a
            database executes, and brackets that do not match or are nested deeper than ``DEPTH``.
    """
    tools = _tools(dialect)
    if "\x00" in text:
        raise Unreadable("a NUL", text.index("\x00"))
    try:
        tokens = tools.tokenizer(dialect=tools.dialect).tokenize(text)
    except TokenError as err:
        raise Unreadable(
            "a quotation mark or comment that is never closed", err.start or 0
        ) from err
    for start, end in _gaps(tokens, len(text)):
        executed = _EXECUTED.search(text, start, end)
        if executed is not None:
            raise Unreadable("a comment that a database runs", executed.start())
        carriage = _CARRIAGE.search(text, start, end)
        if carriage is not None and _LINE_COMMENT.search(text, start, end) is not None:
            raise Unreadable("a comment that only some databases end here", carriage.start())
    _check_hidden_comments(tokens, text, dialect)
    _check_brackets(tokens)
    return tokens


def _check_hidden_comments(tokens: Sequence[Token], text: str, dialect: str) -> None:
    """Reject operators that hide the beginning of a comment.

    sqlglot reads ``#--`` of PostgreSQL as ``#-`` and ``-``, and ``||/*`` as ``||/`` and ``*``. The
    database ends an operator before a comment.
    https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-OPERATORS
    """
    begins = ("/*",) if dialect == "mysql" else ("--", "/*")  # MySQL needs a space after --
    for before, after in pairwise(tokens):
        together = text[before.end : before.end + 2]
        if after.start == before.end + 1 and together in begins:
            raise Unreadable("an operator that hides a comment", before.end)


def _gaps(tokens: Sequence[Token], size: int) -> Iterator[tuple[int, int]]:
    """Yield the stretches between tokens: white space and comments."""
    edges = [0, *(edge for token in tokens for edge in (token.start, token.end + 1)), size]
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        if end - start > 2:
            yield start, end


def _check_brackets(tokens: Sequence[Token]) -> None:
    depth = 0
    for before, token in pairwise([Token.string(""), *tokens]):
        if before.token_type is TokenType.DOT:
            continue
        depth += (token.token_type in _OPENING) - (token.token_type in _CLOSING)
        if depth > DEPTH:
            raise Unreadable(f"nested deeper than {DEPTH} levels", token.start)
    opened = 0
    for token in tokens:
        opened += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if opened < 0:
            break
    if opened:
        raise Unreadable("parentheses that do not match", tokens[-1].start)


def parse_query(tokens: Sequence[Token], text: str, dialect: str) -> None:
    """Check that tokens are one query, in the grammar of a dialect.

    Args:
        tokens: those of the query, without EXPLAIN before it or semicolons after it.
        text: the statement that they are from.
        dialect: as for ``tokenize``.

    Raises:
        Unreadable: for what is no SELECT, changes something, or takes too much work.
    """
    tools = _tools(dialect)
    parser: Any = tools.parser(dialect=tools.dialect)
    parser.steps = _FEW_STEPS + _STEPS * len(tokens)
    start = tokens[0].start if tokens else 0
    try:
        trees = parser.parse(list(tokens), text)
    except (RecursionError, _TooMuchWork) as err:
        raise Unreadable("nested too deeply to be parsed", start) from err
    except ParseError as err:
        first = err.errors[0] if err.errors else {}
        place = _offset(text, first.get("line") or 1, first.get("col") or 1)
        raise Unreadable(
            f"no SQL: {first.get('description') or 'invalid syntax'}"[:100], place
        ) from err
    except Exception as err:  # sqlglot raises IndexError for VAR_MAP(x), ValueError and others
        raise Unreadable("no SQL: invalid arguments of a function", start) from err
    (tree,) = trees if len(trees) == 1 else (None,)
    if not isinstance(tree, Query) or tree.find(*_CHANGING) is not None:
        raise Unreadable("something else than one SELECT", start)


def _offset(text: str, line: int, column: int) -> int:
    """Return the offset of a place that is given from 1."""
    before = text.split("\n")[: line - 1]
    return min(sum(len(one) + 1 for one in before) + column - 1, len(text))
