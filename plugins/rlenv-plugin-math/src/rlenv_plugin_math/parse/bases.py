"""Numerals whose base is written: ``101_2``, ``(2F)_{16}``, ``101 base 2``."""

from __future__ import annotations

import re
from fractions import Fraction

from rlenv_plugin_math.limits import DIGITS
from rlenv_plugin_math.tree import Based, Node

from .engine import Parser

WORD_BASES = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "sixteen": 16,
}  # fmt: skip
_NUMERAL = r"([0-9A-Za-z]+(?:\.[0-9A-Za-z]+)?)(\}?) ?_((?:[ {(]|\\text|\\mathrm)*)(\d{1,2}|[a-z]+)"
PREFIXED = {"x": 16, "X": 16, "b": 2, "B": 2, "o": 8}  # the letter after the 0 of 0x1F


def hexadecimal(p: Parser) -> Node | None:
    """``FF_{16}``, ``A5_{12}``: a numeral that begins with the letter just read."""
    at = p.pos - 1
    match = re.compile(_NUMERAL).match(p.source, p.ats[at])
    if match is None or len(match.group(1)) < 2:
        return None
    if match.group(4) != "16" and match.group(1).isalpha():
        return None
    return read_based(p, at)


def read_based(p: Parser, at: int) -> Node | None:
    """The numeral with its base in the text where the token at ``at`` begins, or None."""
    match = re.compile(_NUMERAL).match(p.source, p.ats[at])
    if match is None or (match.group(2) and not p.upright[at]):
        return None
    name = match.group(4)
    base = int(name) if name.isdigit() else WORD_BASES.get(name, 0)
    digits = match.group(1)
    if base != 16 and digits != digits.upper():
        return None
    node = based(digits, base)
    if node is not None:
        opened = match.group(3)
        end = _skip(p.source, match.end(), opened.count("{") + opened.count("("))
        while p.ats[p.pos] < end and p.kinds[p.pos] != "end":
            p.pos += 1
    return node


def _skip(source: str, at: int, brackets: int) -> int:
    """Behind so many closing brackets."""
    while brackets and source[at : at + 1] in ("}", ")", " "):
        brackets -= source[at] != " "
        at += 1
    return at


def based(digits: str, base: int) -> Based | None:
    """The numeral, or None when a digit does not fit the base."""
    if not 2 <= base <= 36 or len(digits) > DIGITS:
        return None
    before, _, after = digits.upper().partition(".")
    try:
        value = Fraction(int(before + after, base), base ** len(after))
    except ValueError:
        return None
    return Based(digits.upper(), base, value)
