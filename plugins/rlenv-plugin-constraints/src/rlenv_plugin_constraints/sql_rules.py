"""Rules for the tokens of a query that only reads; each raises ``Unreadable`` at its token."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise

from sqlglot.tokenizer_core import Token, TokenType

from .lists import words
from .sql_reader import Unreadable, parse_query, tokenize

__all__ = ["check_query"]

_WRITES = words("sql_writes")
_ALSO_FUNCTIONS = frozenset(("REPLACE", "INSERT", "TRUNCATE"))  # of strings and numbers
_NO_FUNCTIONS = words("sql_keywords")  # these may be before a bracket
_EXPLAIN_OPTIONS = words("sql_explain_options")
_LOCKS = frozenset(("UPDATE", "SHARE", "NO", "KEY"))
_UNFINISHED = words("sql_unfinished")
_NO_SQL = re.compile(r"[\\{}…“”’'\"`]")
_NO_WORD = re.compile(r"[^\w$@#]")
_WORDS = re.compile(r"[^\W\d][\w$]*")
_CLOSES = (")", "*", "]", "?")
_STRINGS = frozenset(
    (
        TokenType.STRING,
        TokenType.BIT_STRING,
        TokenType.HEX_STRING,
        TokenType.BYTE_STRING,
        TokenType.NATIONAL_STRING,
        TokenType.RAW_STRING,
        TokenType.HEREDOC_STRING,
        TokenType.UNICODE_STRING,
    )
)
_LITERALS = _STRINGS | {TokenType.NUMBER, TokenType.IDENTIFIER}
_SIDE_EFFECTS = re.compile(
    r"(?:PG_(?:SLEEP\w*|TERMINATE_BACKEND|CANCEL_BACKEND|READ_\w*FILE|FILE_\w+|LS_\w+|STAT_FILE|RELOAD_CONF|ROTATE_LOGFILE|"
    r"(?:TRY_)?ADVISORY_\w+|NOTIFY|PROMOTE|SWITCH_WAL|SWITCH_XLOG|CREATE_\w+|DROP_\w+|LOGICAL_\w+|REPLICATION_\w+|BACKUP_\w+|START_BACKUP|STOP_BACKUP|"
    r"WAL_REPLAY_\w+|STAT_RESET\w*|EXPORT_SNAPSHOT|LOG_BACKEND\w*|IMPORT_\w+)|LO_\w+|LOREAD|LOWRITE|DBLINK\w*|NEXTVAL|SETVAL|SET_CONFIG|TXID_CURRENT|"
    r"QUERY_TO_XML\w*|CURSOR_TO_XML\w*|TABLE_TO_XML\w*|SCHEMA_TO_XML\w*|DATABASE_TO_XML\w*|TS_STAT|CROSSTAB\w*|"
    r"LOAD_FILE|SLEEP|BENCHMARK|GET_LOCK|RELEASE_(?:ALL_)?LOCKS?|SYS_(?:EXEC|EVAL|SET)|MASTER_POS_WAIT|SOURCE_POS_WAIT|"
    r"LAST_INSERT_ID|LOAD_EXTENSION|WRITEFILE|READFILE|EDIT|EVAL|FTS3_TOKENIZER|OPENROWSET|OPENQUERY|OPENDATASOURCE|"
    r"XP_\w+|SP_\w+|UTL_\w+|DBMS_\w+)\Z"
)


def check_query(text: str, dialects: Sequence[str], functions: Collection[str]) -> None:
    """Check that a text is one query that only reads.

    Args:
        text: the statement.
        dialects: their names. The tokens must be allowed in each of them. The grammar of one must
            have the statement: sqlglot parses no dialect to the last clause.
        functions: the only ones that may be called, in upper case; empty for all without effects.

    Raises:
        Unreadable: with the reason and its place in ``text``.
    """
    queries = {name: _check_tokens(text, name, functions) for name in dialects}
    errors: list[Unreadable] = []
    for name, tokens in queries.items():
        try:
            parse_query(tokens, text, name)
        except Unreadable as err:
            errors.append(err)
        else:
            return
    raise errors[0]


def _check_tokens(text: str, dialect: str, functions: Collection[str]) -> Sequence[Token]:
    """Return the tokens of the query, without EXPLAIN and the semicolons at the end."""
    try:
        tokens = tokenize(text, dialect)
        while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
            tokens = tokens[:-1]
        if not tokens:
            raise Unreadable("there is no statement", 0)
        for token in tokens:
            _check_sign(token)
        _check_words(tokens)
        _check_calls(tokens, functions)
        _check_end(tokens[-1])
        return _after_explain(tokens)
    except Unreadable as err:
        raise Unreadable(f"{err} (as {dialect} reads it)", err.place) from err


def _check_sign(token: Token) -> None:
    kind = token.token_type
    if kind is TokenType.SEMICOLON:
        raise Unreadable("more than one statement", token.start)
    if kind is TokenType.COLON_EQ:
        raise Unreadable(":= sets a variable", token.start)
    if kind is TokenType.HINT:
        raise Unreadable("a comment that a database runs", token.start)
    if kind in _LITERALS:
        return
    odd = (_NO_WORD if kind is TokenType.VAR else _NO_SQL).search(token.text)
    if odd is not None:
        raise Unreadable(f"{token.text[:20]} is no SQL", token.start)


def _check_words(tokens: Sequence[Token]) -> None:
    """Reject words that write, and three names in a row, which only prose has.

    A column's name after a point or AS may be any word.
    """
    names_in_row = 0
    for before, token, after in zip(
        [None, *tokens], tokens, [*tokens[1:], Token.string("")], strict=False
    ):
        found = [] if token.token_type in _LITERALS else _WORDS.findall(token.text.upper())
        is_name = bool(found) and _NO_FUNCTIONS.isdisjoint(found)
        names_in_row = names_in_row + 1 if is_name else 0
        if names_in_row == 3:
            raise Unreadable("three names in a row are no SQL", token.start)
        following = (*found[1:], after.text.upper())[0]  # sqlglot has LOCK TABLES as one token
        if found[:1] == ["FOR"] and following in _LOCKS:
            raise Unreadable(f"FOR {following} locks rows", token.start)
        if before is not None and before.token_type in (TokenType.DOT, TokenType.ALIAS):
            continue
        for word in found:
            if word in _WRITES and not (word in _ALSO_FUNCTIONS and following == "("):
                raise Unreadable(f"{word} writes", token.start)


def _check_calls(tokens: Sequence[Token], functions: Collection[str]) -> None:
    for name, bracket in pairwise(tokens):
        if bracket.token_type is not TokenType.L_PAREN or name.token_type in _STRINGS:
            continue
        word = _WORDS.findall(name.text.upper())[-1:]
        if not word:
            continue
        if _SIDE_EFFECTS.match(word[0]):
            raise Unreadable(f"{word[0].lower()}() has effects", name.start)
        if functions and word[0] not in functions and word[0] not in _NO_FUNCTIONS:
            raise Unreadable(f"{word[0].lower()[:40]}() is not among the functions", name.start)


def _check_end(last: Token) -> None:
    """Reject a statement that ends in the middle of a clause, which sqlglot accepts in places."""
    if last.token_type in _LITERALS or last.text in _CLOSES:
        return
    found = _WORDS.findall(last.text.upper())
    if not found or found[-1] in _UNFINISHED:
        raise Unreadable("the statement breaks off", last.start)


def _after_explain(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return the tokens from SELECT or WITH on, or the bracket before it."""
    begin = 0
    if tokens[0].text.upper() == "EXPLAIN":
        begin = next((at for at, token in enumerate(tokens) if _begins_query(token)), len(tokens))
        options = [token.text.upper() for token in tokens[1:begin]]
        if begin == len(tokens) or not _EXPLAIN_OPTIONS.issuperset(options):
            raise Unreadable("EXPLAIN of something else than SELECT", tokens[0].start)
    query = tokens[begin:]
    first = next((token for token in query if token.token_type is not TokenType.L_PAREN), query[-1])
    if not _begins_query(first):
        raise Unreadable("it begins with something else than SELECT, WITH or EXPLAIN", first.start)
    if len(query) == 1:
        raise Unreadable(f"{first.text.upper()} alone", first.start)
    if first.token_type is TokenType.WITH and not any(map(_begins_part, query, query[1:])):
        raise Unreadable("WITH without a query AS (...)", first.start)
    return query


def _begins_part(word: Token, after: Token) -> bool:
    return word.text.upper() in ("AS", "MATERIALIZED") and after.token_type is TokenType.L_PAREN


def _begins_query(token: Token) -> bool:
    return token.token_type in (TokenType.SELECT, TokenType.WITH)
