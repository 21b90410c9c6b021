"""The text of one answer to a tree: ``parse``."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from .lexer import Tokens, lex
from .limits import DIGITS, HEIGHT, Unparsed
from .normalize import normalize, plain
from .parse import atoms, brackets, commands, numerals, operators, relations
from .parse.engine import Parser, Prose
from .parse.sentences import date, sentence
from .parse.vectors import gathered
from .phrases import phrase
from .tree import Node, Num, Text, height

__all__ = ["Unparsed", "parse", "parse_cached"]
_ENVIRONMENT = frozenset(("begin", "end"))  # whose braces hold a name and no word
_MANY = 60  # tokens; fewer cannot make a tree of the forbidden height
_WORDY = frozenset(("word", "+", "-", "*", "implies", "setop"))
_TABLES = (
    atoms,
    brackets,
    commands,
    numerals,
    operators,
    relations,
)  # importing them fills the tables of the engine


def parse(text: str) -> Node:
    """The tree of one answer as it stands: LaTeX, plain text, Unicode or simple ASCII mathematics.

    Words that are no mathematics become ``Text``.  Raises ``Unparsed`` when the text is empty,
    beyond the limits of ``limits``, or looks like mathematics and is broken.  Linear in the text.
    """
    text = normalize(text)
    if text.isdigit() and len(text) <= DIGITS:
        return Num(Fraction(int(text)))
    if not text:
        raise Unparsed("empty")
    try:
        return _parsed(text)
    except RecursionError:
        raise Unparsed("nested too deep") from None


parse_cached = lru_cache(4096)(parse)


def _parsed(text: str) -> Node:
    tokens = lex(text)
    kinds = tokens.kinds
    if "word" in kinds or (kinds[0] == "num" and kinds[1] == "-"):
        known = _known(text, tokens)
        if known is not None:
            return known
    parser = Parser(tokens)
    try:
        node = sentence(parser)
    except Prose:
        return Text(plain(text))
    except Unparsed:
        if _has_words(tokens):
            return Text(plain(text))
        raise
    if "basis" in kinds:
        node = gathered(node)
    if len(kinds) > _MANY and height(node) > HEIGHT:  # a/b/c…, x!!!…: deep without brackets
        raise Unparsed("nested too deep")
    return node


def _known(text: str, tokens: Tokens) -> Node | None:
    """A phrase that has a meaning as a whole, or a date."""
    known = phrase(plain(text)) if tokens.kinds[0] in ("word", "letter", "num") else None
    return date(plain(text)) if known is None else known


def _has_words(tokens: Tokens) -> bool:
    kinds = tokens.kinds
    texts = tokens.texts
    return any(
        len(text) > 2 and text.isalpha() and kind in _WORDY and texts[at - 2] not in _ENVIRONMENT
        for at, (kind, text) in enumerate(zip(kinds, texts, strict=True))
    )
