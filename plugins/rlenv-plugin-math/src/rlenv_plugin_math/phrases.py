"""Whole phrases that mean something: no solution, all real numbers, noon."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from .tree import Clock, Const, Div, NamedSet, Node, Num, SetOf, Text
from .words import number

_NODES: dict[str, Node] = {
    **{name: NamedSet(name) for name in ("R", "Z", "N", "Z+", "R+", "Q", "C")},
    "empty set": SetOf(()),
    "infinity": Const("inf"),
    "noon": Clock(43200, ""),
    "midnight": Clock(0, ""),
}


def _meanings() -> Iterator[tuple[str, Node]]:
    """Each phrase in lower case with single spaces, and its node: a text unless named above."""
    for line in Path(__file__).with_name("phrases.tsv").read_text("utf-8").splitlines()[1:]:
        meaning, phrases = line.split("\t")
        yield from ((phrase, _NODES.get(meaning, Text(meaning))) for phrase in phrases.split(" | "))


_PHRASES = dict(_meanings())


def phrase(text: str) -> Node | None:
    """The meaning of a whole phrase in lower case with single spaces, or None."""
    known = _PHRASES.get(text)
    if known is not None or " out of " not in text:
        return known
    top, _, bottom = text.partition(" out of ")
    part = _count(top)
    whole = _count(bottom)
    if part is None or whole is None or whole == Num(Fraction(0)):
        return None
    return Div(part, whole)


def _count(text: str) -> Node | None:
    """Read an integer in digits or in words."""
    if re.fullmatch(r"\d{1,20}", text):
        return Num(Fraction(int(text)))
    words = re.split(r"[\s-]+", text)
    found = number(words) if len(text) < 80 else None
    return found[0] if found and found[1] == len(words) else None
