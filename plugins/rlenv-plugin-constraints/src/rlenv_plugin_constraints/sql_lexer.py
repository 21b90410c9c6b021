"""SQL cut into words, names, strings, numbers and signs, as each dialect reads it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache

from attrs import frozen

from .sql_words import class_of
from .words import spans_of

__all__ = ["DIALECTS", "Dialect", "Lexed", "Unreadable", "lexed"]


@frozen(eq=False)
class Lexed:
    """The tokens of a statement, comments left out.

    Args:
        texts: of each token; of words and names in upper case, of names without their quotes.
        line: the class of each, one letter as ``class_of`` says.
        start: gives where a token stands, in characters.
    """

    texts: Sequence[str]
    line: str
    start: Callable[[int], int]

    def until(self, size: int) -> Lexed:
        """The first ``size`` tokens."""
        if size == len(self.texts):
            return self
        return Lexed(self.texts[:size], self.line[:size], self.start)

    def bare(self) -> list[str]:
        """The words and signs; "" for the rest."""
        found = zip(self.line, self.texts, strict=True)
        return ["" if kind in "nsd" else text for kind, text in found]


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
def _pattern(dialect: Dialect, *, named: bool) -> re.Pattern[str]:
    """With a name for each kind of token, or all of them as the one group."""
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
    if not named:
        # what is bad takes the rest along, so that nothing behind it is looked through again and
        # again
        one = "|".join(rf"(?:{part}).*+" if name == "bad" else part for name, part in parts)
        return re.compile(rf"\s*+({one})", re.DOTALL)
    body = "|".join(f"(?P<{name}>{part})" for name, part in parts)
    return re.compile(rf"\s*+(?:{body})", re.DOTALL)


_BLOCK_EDGE = re.compile(r"/\*|\*/")
# Where only words, numbers, plain strings and single signs stand, spaces around the signs cut it.
_SIGNS = "',;()=*+%<>/?.-"
_SIMPLE = bytes(set(range(128)) - set(b'\0!"#$&:@[\\]^`{|}~'))
_OPERATORS = str.maketrans("<>-", "===")
_STRING = re.compile(r"('(?:[^']|'')*+')")
_IN_NUMBERS = (".", "e+", "e-", "E+", "E-")
_LONG_NUMBER = re.compile(r"[0-9.](?:(?<=\.)[0-9]|(?<=[0-9])(?<!\w.)\w*+(?:\.|(?<=[eE])[+-][0-9]))")


_PREFIXES = frozenset("eEnNxXbBuU")
_PREFIXED = re.compile(r"[eEnNxXbBuU](?<![\w$].)&?['\"]")  # a letter that is no word before a quote


def lexed(text: str, dialect: Dialect) -> Lexed:
    """The tokens of a text.  Linear.

    Raises:
        Unreadable: for a string, name or comment that is never closed, a NUL, and comments that
            MySQL runs.
    """
    every = _cut(text) or _pattern(dialect, named=False).findall(text)
    known = {t: (_known if len(t) < 50 else _told)(t, dialect) for t in set(every)}
    kinds = {token: found for token, found in known.items() if found is not None}
    if len(kinds) < len(known) or (_PREFIXES & known.keys() and _PREFIXED.search(text)):
        return _stepwise(text, dialect)
    letters = {token: kind for token, (kind, _) in kinds.items()}
    said = {token: text for token, (_, text) in kinds.items()}
    at: Sequence[int] = range(len(every))
    kept: list[str] = every
    if "" in letters.values():
        at = [place for place, token in enumerate(every) if letters[token]]
        kept = [every[place] for place in at]
    texts = list(map(said.__getitem__, kept))
    line = "".join(map(letters.__getitem__, kept))
    return Lexed(texts, line, lambda place: spans_of(text, every, [at[place]])[0][0])


def _cut(text: str) -> list[str]:
    """The tokens of a text that every dialect reads in the same, simplest way.

    None where it is not so.
    """
    if (
        not text.isascii()
        or text.encode().translate(None, _SIMPLE)
        or "/*" in text
        or "==" in text.translate(_OPERATORS)
    ):
        return []
    strings: list[str] = []
    if "'" in text:
        pieces = _STRING.split(text)
        plain = pieces[::2]
        strings = pieces[1::2]
        if any("'" in piece for piece in plain) or any(
            p[-1:] in "eEnNxXbB" for p in plain[:-1] if p
        ):
            return []
        text = "'".join(plain)
    if any(sign in text for sign in _IN_NUMBERS) and _LONG_NUMBER.search(text):
        return []
    for sign in _SIGNS:
        text = text.replace(sign, f" {sign} ")
    if not strings:
        return text.split()
    following = iter(strings)
    return [next(following) if piece == "'" else piece for piece in text.split()]


@lru_cache(maxsize=8192)
def _known(token: str, dialect: Dialect) -> tuple[str, str] | None:
    return _told(token, dialect)


def _told(token: str, dialect: Dialect) -> tuple[str, str] | None:
    """The class and the text of a token, empty where it says nothing.

    None where it does not stand alone.
    """
    hit = _pattern(dialect, named=True).match(token)
    kind = "bad" if hit is None or hit.end() < len(token) else str(hit.lastgroup).rstrip("_")
    if kind in ("bad", "block", "dollar"):
        return None
    return ("", "") if kind in ("space", "comment") else _token(kind, token)


def _stepwise(text: str, dialect: Dialect) -> Lexed:
    """The same, token by token, for what needs it: comments within comments, strings between
    dollars, errors.
    """
    finditer = _pattern(dialect, named=True).finditer
    found: list[tuple[str, str, int]] = []
    place = 0
    while place < len(text):
        for hit in finditer(text, place):
            kind = str(hit.lastgroup).rstrip("_")
            group = hit.lastindex or 0
            start, place = hit.span(group)
            if kind == "bad":
                raise Unreadable("a quotation mark that is never closed, or a NUL", start)
            if kind == "block":
                place = _after_comment(text, start, nested=dialect.nested)
                break
            if kind == "dollar":
                close = text.find(hit[group], place)
                if close < 0:
                    raise Unreadable("a dollar string that is never closed", start)
                place = close + len(hit[group])
                found.append(("s", "", start))
                break
            if kind not in ("space", "comment"):
                found.append((*_token(kind, hit[group]), start))
        else:
            break
    starts = [start for *_, start in found]
    return Lexed(
        [text for _, text, _ in found], "".join([kind for kind, *_ in found]), starts.__getitem__
    )


def _token(kind: str, text: str) -> tuple[str, str]:
    if kind == "name":
        return "n", text.split('"', 1)[-1].strip('"`[]').upper()
    if kind == "word":
        text = text.upper()
    return class_of("string" if kind.endswith("string") else kind, text), text


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
