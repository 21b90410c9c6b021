"""SQL cut into words, names, strings, numbers and signs, as each dialect reads it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from attrs import frozen

__all__ = ["DIALECTS", "Dialect", "Token", "Unreadable", "tokens"]


class Token(NamedTuple):
    """``kind`` is "word", "name" (in quotes), "string", "number" or "sign"; ``text`` of words is in upper case."""

    kind: str
    text: str
    start: int
    end: int


@frozen
class Dialect:
    """How a dialect writes strings, names and comments.

    Args:
        escapes: whether a backslash in a plain string takes the next sign with it.
        quote_strings: whether double quotes make a string rather than a name.
        hash_comments: whether ``#`` begins a comment, and ``--`` only before a space.
        dollars: whether ``$tag$ … $tag$`` is a string, and E'…' has escapes.
        nested: whether comments nest.
        brackets: whether [name] is a name.
    """

    escapes: bool = False
    quote_strings: bool = False
    hash_comments: bool = False
    dollars: bool = False
    nested: bool = False
    brackets: bool = False


DIALECTS = {
    "sqlite": Dialect(brackets=True),
    "postgres": Dialect(dollars=True, nested=True),
    "mysql": Dialect(escapes=True, quote_strings=True, hash_comments=True),
    "tsql": Dialect(brackets=True, nested=True),
}


class Unreadable(ValueError):
    """What no database would read; ``place`` is a character."""

    def __init__(self, reason: str, place: int) -> None:
        super().__init__(reason)
        self.place = place


@cache
def _pattern(dialect: Dialect) -> Callable[[str, int], Iterator[re.Match[str]]]:
    plain = r"'(?:[^']|'')*+'"
    escaped = r"'(?:[^'\\]|\\.|'')*+'"
    parts = [
        ("word", r"(?!(?:[eEnNxXbB]|[uU]&)['\"])[^\W\d][\w$]*"),
        ("sign", r"[,;()=*+%<](?![=>])"),
        ("comment", r"--(?=\s|\Z)[^\n]*" if dialect.hash_comments else r"--[^\n]*"),
        ("comment_", r"\#[^\n]*" if dialect.hash_comments else r"(?!)"),
        ("block", r"/\*"),
        ("estring", rf"[eE]{escaped}" if dialect.dollars else r"(?!)"),
        ("string", escaped if dialect.escapes else rf"(?:[nNxXbB]|[uU]&)?{plain}"),
        ("dollar", r"\$(?:[^\W\d]\w*)?\$" if dialect.dollars else r"(?!)"),
        ("dstring", r'"(?:[^"\\]|\\.|"")*+"' if dialect.quote_strings else r"(?!)"),
        ("name", r'(?:[uU]&)?"(?:[^"]|"")*+"' if not dialect.quote_strings else r"(?!)"),
        ("name_", r"`(?:[^`]|``)*+`"),
        ("name__", r"\[[^\]]*\]" if dialect.brackets else r"(?!)"),
        ("number", r"(?:\d[\w.]*|\.\d\w*)(?:(?<=[eE])[+-]\d+)?"),
        ("space", r"\Z"),
        ("bad", r"[\x00'\"`]|\[(?=[^\]]*\Z)" if dialect.brackets else r"[\x00'\"`]"),
        ("sign_", r"::|:=|<=|>=|<>|!=|\|\||->>?|."),
    ]
    body = "|".join(f"(?P<{name}>{part})" for name, part in parts)
    return re.compile(rf"\s*+(?:{body})", re.DOTALL).finditer


_BLOCK_EDGE = re.compile(r"/\*|\*/")


def tokens(text: str, dialect: Dialect) -> list[Token]:
    """The tokens of a text, comments left out.  Linear.

    Raises:
        Unreadable: for a string, name or comment that is never closed, a NUL, and comments that MySQL runs.
    """
    finditer, make = _pattern(dialect), Token._make
    found: list[Token] = []
    place = 0
    while place < len(text):
        for hit in finditer(text, place):
            kind, group = hit.lastgroup, hit.lastindex or 0
            start, place = hit.span(group)
            if kind == "word":
                found.append(make(("word", hit[group].upper(), start, place)))
            elif kind == "sign":
                found.append(make(("sign", hit[group], start, place)))
            elif kind == "bad":
                raise Unreadable("a quotation mark that is never closed, or a NUL", start)
            elif kind == "block":
                place = _after_comment(text, start, nested=dialect.nested)
                break
            elif kind == "dollar":
                close = text.find(hit[group], place)
                if close < 0:
                    raise Unreadable("a dollar string that is never closed", start)
                place = close + len(hit[group])
                found.append(Token("string", "", start, place))
                break
            elif kind not in ("space", "comment", "comment_"):
                found.append(_token(str(kind).rstrip("_"), hit[group], start, place))
        else:
            break
    return found


def _token(kind: str, text: str, start: int, end: int) -> Token:
    if kind == "name":
        return Token("name", text.split('"', 1)[-1].strip('"`[]').upper(), start, end)
    return Token("string" if kind.endswith("string") else kind, text, start, end)


def _after_comment(text: str, place: int, *, nested: bool) -> int:
    if text.startswith(("/*!", "/*+", "/*M!"), place):
        raise Unreadable("a comment that a database runs", place)
    depth = 0
    for edge in _BLOCK_EDGE.finditer(text, place):
        if edge[0] == "*/":
            depth -= 1
        elif nested or not depth:
            depth += 1
        if not depth:
            return edge.end()
    raise Unreadable("a comment that is never closed", place)
