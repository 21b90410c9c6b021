"""The whole text: lists with "and" and "or", choices, dates, conclusions, units shared by a
list.
"""

from __future__ import annotations

import re

from rlenv_plugin_math.tree import (
    Choice,
    Date,
    Items,
    Logic,
    NamedSet,
    Node,
    Rel,
    SetOf,
    SetOp,
)
from rlenv_plugin_math.words import MONTHS

from .engine import Parser
from .lists import listing

_LETTERS = "ABCDEFGHIJ"
_VALUES = frozenset(("num", "cmd", "cur"))  # after a letter in lower case that names a choice
_AFTER_CHOICE = frozenset(("end", ",", "and", "or", ";"))
_ISO = r"(\d{4})-(\d\d)-(\d\d)"
_MONTH_DAY = r"([A-Za-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?"
_DAY_MONTH = r"(?:the )?(\d{1,2})(?: ?(?:st|nd|rd|th))?(?: of)? ([A-Za-z]{3,9})\.?(?:,? (\d{4}))?"
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def sentence(p: Parser) -> Node:
    """The node of the whole text; of a chain of conclusions the last part."""
    if p.kinds[0] == "rel" and p.texts[0] in ("=", "~"):
        p.pos = 1
    node = _choice(p) or listing(p)
    while p.take("implies"):
        if p.kinds[p.pos] == "end":
            break
        node = listing(p)
    if type(node) is NamedSet and p.take("except"):
        without = listing(p)
        removed = (
            without.args if isinstance(without, Logic) else getattr(without, "items", (without,))
        )
        members = tuple(n.args[1] if type(n) is Rel and len(n.args) == 2 else n for n in removed)
        node = SetOp("difference", (node, SetOf(members)))
    if p.kinds[p.pos] in ("r.", "."):
        p.pos += 1
    if p.kinds[p.pos] != "end":
        raise p.broken()
    return node


def _choice(p: Parser) -> Node | None:
    """``(C)``, ``(C) 17``, ``C. 17``, ``C) 17``, ``C: 17``."""
    kinds = p.kinds
    texts = p.texts
    bracketed = kinds[0] == "("
    at = int(bracketed)
    letter = texts[at]
    if kinds[at] != "letter" or len(letter) != 1 or letter.upper() not in _LETTERS:
        return None
    if letter.islower() and (kinds[at + 1] not in ")." or kinds[at + 2] not in _VALUES):
        return None  # a variable
    sign = kinds[at + 1]
    if bracketed:
        if sign != ")":
            return None
    elif kinds[1:3] != [")", "end"] and (
        kinds[2] == "end" or sign not in (".", ")", ":") or not p.gaps[2]
    ):
        return None
    after = at + 2
    if kinds[after] == "end":
        p.pos = after
        return Choice(letter)
    if (
        not p.gaps[after]
        or kinds[after] in ("+", "*", "/", "^", "rel", "setop", "!", "implies", ":")
        or (kinds[after] == "-" and p.gaps[after + 1])
    ):
        return _choices(p) if kinds[after] in _AFTER_CHOICE else None
    p.pos = after
    if kinds[after] in _AFTER_CHOICE:
        p.pos = 0
        return _choices(p)
    return Choice(letter, listing(p))


def _choices(p: Parser) -> Node | None:
    """``(A), (C)``: several letters."""
    pos = 0
    found: list[Node] = []
    while p.kinds[pos : pos + 1] == ["("] and p.kinds[pos + 1 : pos + 3] == ["letter", ")"]:
        if p.texts[pos + 1] not in _LETTERS:
            return None
        found.append(Choice(p.texts[pos + 1]))
        pos += 3
        if p.kinds[pos] == "end":
            p.pos = pos
            return Items(tuple(found))
        while p.kinds[pos] in (",", "and", ";"):
            pos += 1
    return None


def date(text: str) -> Date | None:
    """``March 5, 2021``, ``5 March 2021``, ``2021-03-05``, or None."""
    if match := re.fullmatch(_ISO, text):
        year, month, day = map(int, match.groups())
        return _date(year, month, day)
    if match := re.fullmatch(_MONTH_DAY, text):
        name, number, year_text = match.groups()
    elif match := re.fullmatch(_DAY_MONTH, text):
        number, name, year_text = match.groups()
    else:
        return None
    return _date(int(year_text) if year_text else None, MONTHS.get(name.lower(), 0), int(number))


def _date(year: int | None, month: int, day: int) -> Date | None:
    if 1 <= month <= 12 and 1 <= day <= _DAYS[month - 1]:
        return Date(year, month, day)
    return None
