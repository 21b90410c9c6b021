"""Where sentences end: by punctuation and what stands around it, with nothing to download."""

from __future__ import annotations

import re

__all__ = ["sentences"]

# Full stops that end no sentence, without their last dot, caseless.
_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof rev gen sen rep gov capt col lt sgt st jr sr vs etc e.g i.e cf al fig figs no nos vol pp p ed eds "
    "approx est inc ltd co corp dept univ assn bros jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri "
    "sat sun a.m p.m u.s u.k u.n ph.d m.d b.a m.a b.sc m.sc d.c u.s.a ave blvd rd sq ft oz lb min sec hr".split()
)
_SELDOM_FINAL = frozenset(
    "mr mrs ms dr prof rev gen sen rep gov capt col lt sgt st vs e.g i.e cf fig figs approx".split()
)
_END = re.compile(r"([.!?…]+|[。！？｡]+)([\"'”’»)\]*_]*)(?=(\s|$)|[^\s])")
_TOKEN_BEFORE = re.compile(r"[\w.]*$")
_STRUCTURE = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+•]|\d+[.)]|#{1,6})\s)")


def sentences(text: str) -> list[tuple[int, int]]:
    """(start, end) of every sentence with a word in it; list items and paragraphs end one too."""
    found: list[tuple[int, int]] = []
    start = 0
    for cut in [*(match.start() for match in _STRUCTURE.finditer(text)), len(text)]:
        found += _within(text, start, cut)
        start = cut
    return found


def _within(text: str, start: int, end: int) -> list[tuple[int, int]]:
    found = []
    for match in _END.finditer(text, start, end):
        if match.start() >= start and _ends(text, match, end):
            found += _trimmed(text, start, match.end())
            start = match.end()
    return found + _trimmed(text, start, end)


def _ends(text: str, match: re.Match[str], end: int) -> bool:
    mark, after = match.group(1), match.end()
    if mark[0] in "。！？｡":
        return True
    if after < end and not text[after].isspace():
        return False
    if mark[0] in "!?":
        return not _goes_on(text, after, end)
    if mark == ".":
        return not _abbreviates(text, match.start(), after, end)
    return not _goes_on(text, after, end)  # an ellipsis


def _goes_on(text: str, after: int, end: int) -> bool:
    """Whether what follows begins with a small letter."""
    rest = text[after : min(end, after + 40)].lstrip(" \t\n\"'“‘«([*_")
    return rest[:1].islower()


def _abbreviates(text: str, dot: int, after: int, end: int) -> bool:
    before = _TOKEN_BEFORE.search(text[max(0, dot - 24) : dot])
    token = before.group().casefold().strip(".") if before is not None else ""
    if token in _SELDOM_FINAL:
        return after < end
    initial = len(token) == 1 and token.isalpha() and text[dot - 1].isupper() and token != "i"
    if token in _ABBREVIATIONS or initial:
        return after < end and (initial or _goes_on(text, after, end))
    at_line_start = not text[max(0, text.rfind("\n", 0, dot) + 1) : dot].strip().strip("0123456789")
    if token.isdigit() and at_line_start:  # "1. First" begins a list item
        return True
    return _goes_on(text, after, end)


def _trimmed(text: str, start: int, end: int) -> list[tuple[int, int]]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    piece = text[start:end]
    return [(start, end)] if any(c.isalnum() for c in piece) else []
