"""The whole text: lists with "and" and "or", choices, dates, conclusions, units shared by a list."""

from __future__ import annotations

import re
from fractions import Fraction

from rlenv_plugin_math.tree import (
    Add,
    Choice,
    Date,
    Items,
    Logic,
    Mod,
    Node,
    Num,
    Quantity,
    Rel,
    Sym,
    Text,
)
from rlenv_plugin_math.units import convert
from rlenv_plugin_math.words import MONTHS

from .brackets import items
from .engine import Parser

_LETTERS = "ABCDEFGHIJ"
_AFTER_CHOICE = frozenset(("end", ",", "and", "or", ";"))
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)").fullmatch
_MONTH_DAY = re.compile(r"([A-Za-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?").fullmatch
_DAY_MONTH = re.compile(
    r"(\d{1,2})(?:st|nd|rd|th)?(?: of)? ([A-Za-z]{3,9})\.?(?:,? (\d{4}))?"
).fullmatch
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_INEQUALITIES = frozenset(("<", ">", "<=", ">=", "!="))


def sentence(p: Parser) -> Node:
    """The node of the whole text; of a chain of conclusions the last part."""
    node = _choice(p) or _listing(p)
    while p.take("implies"):
        if p.kinds[p.pos] == "end":
            break
        node = _listing(p)
    if p.kinds[p.pos] in ("r.", "."):
        p.pos += 1
    if p.kinds[p.pos] != "end":
        raise p.broken()
    return node


def _choice(p: Parser) -> Node | None:
    """``(C)``, ``(C) 17``, ``C. 17``, ``C) 17``, ``C: 17``."""
    kinds, texts = p.kinds, p.texts
    bracketed = kinds[0] == "("
    at = int(bracketed)
    letter = texts[at]
    if kinds[at] != "letter" or len(letter) != 1 or letter not in _LETTERS:
        return None
    sign = kinds[at + 1]
    if bracketed:
        if sign != ")":
            return None
    elif sign not in (".", ")", ":") or not p.gaps[at + 2] or kinds[at + 2] == "end":
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
    return Choice(letter, _listing(p))


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


def _listing(p: Parser) -> Node:
    """Items between commas, "and" and "or"."""
    nodes, between = items(p)
    if len(nodes) == 1:
        return nodes[0]
    if "|" in between:
        return _alternatives(nodes, between)
    return _together(nodes, between)


def _alternatives(nodes: list[Node], between: str) -> Node:
    """With an "or": flat when all are of one kind, else grouped by it."""
    nodes = _spread(nodes)
    flat = set(between) == {"|"} or (
        between.count("|") == 1 and between[-1] == "|" and _alike(nodes)
    )
    if flat:
        return Logic("or", tuple(nodes))
    groups: list[list[Node]] = [[nodes[0]]]
    signs: list[str] = [""]
    for sign, node in zip(between, nodes[1:], strict=True):
        if sign == "|":
            groups.append([])
            signs.append("")
        else:
            signs[-1] += sign
        groups[-1].append(node)
    parts = [g[0] if len(g) == 1 else _together(g, s) for g, s in zip(groups, signs, strict=True)]
    return Logic("or", tuple(parts))


def _alike(nodes: list[Node]) -> bool:
    """Values, or relations of one and the same left side."""
    lefts = {node.args[0] if type(node) is Rel else None for node in nodes}
    return len(lefts) == 1


def _together(nodes: list[Node], between: str) -> Node:
    nodes = _spread(nodes)
    if _adds(nodes):
        return Add(tuple(nodes))
    if set(between) == {"&"} and any(
        type(n) is Rel and _INEQUALITIES.intersection(n.ops) for n in nodes
    ):
        return Logic("and", tuple(nodes))
    return Items(tuple(nodes))


def _adds(nodes: list[Node]) -> bool:
    """``5 dollars and 30 cents``, ``1 hour, 30 minutes``: ever smaller units of one dimension."""
    if not all(type(n) is Quantity and type(n.value) is Num for n in nodes):
        return False
    limit: tuple[Fraction, object] | None = None
    for n in nodes:
        assert isinstance(n, Quantity)
        assert isinstance(n.value, Num)
        factor, dimension = convert(n.unit)
        if limit is not None and (limit[1] != dimension or n.value.value * factor >= limit[0]):
            return False
        limit = factor, dimension
    return bool(limit and limit[1])


def _spread(nodes: list[Node]) -> list[Node]:
    """What was said once for all: ``x = 1, 2``, ``x ≡ 1, 2 (mod 7)``."""
    last = nodes[-1]
    if type(last) is Mod and not any(type(n) is Mod for n in nodes[:-1]):
        nodes = [_with_modulus(n, last.modulus) for n in nodes]
    first = nodes[0]
    if type(first) is not Rel or first.ops != ("=",) or type(first.args[0]) is not Sym:
        return nodes
    if any(type(n) in (Rel, Text) for n in nodes[1:]):
        return nodes
    return [first, *(Rel((first.args[0], n), ("=",)) for n in nodes[1:])]


def _with_modulus(node: Node, modulus: Node) -> Node:
    if type(node) is Mod:
        return node
    if type(node) is Rel and node.ops[-1] == "=":
        return Rel((*node.args[:-1], Mod(node.args[-1], modulus)), node.ops)
    return Mod(node, modulus)


def date(text: str) -> Date | None:
    """``March 5, 2021``, ``5 March 2021``, ``2021-03-05``, or None."""
    if match := _ISO(text):
        year, month, day = map(int, match.groups())
        return _date(year, month, day)
    if match := _MONTH_DAY(text):
        name, number, year_text = match.groups()
    elif match := _DAY_MONTH(text):
        number, name, year_text = match.groups()
    else:
        return None
    return _date(int(year_text) if year_text else None, MONTHS.get(name.lower(), 0), int(number))


def _date(year: int | None, month: int, day: int) -> Date | None:
    if 1 <= month <= 12 and 1 <= day <= _DAYS[month - 1]:
        return Date(year, month, day)
    return None
