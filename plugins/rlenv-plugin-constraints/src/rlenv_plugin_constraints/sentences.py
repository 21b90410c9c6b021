"""Where sentences end: by punctuation and what is around it, with nothing to download."""

from __future__ import annotations

import re
from functools import lru_cache

from .lists import words

__all__ = ["sentences"]

# Full stops that end no sentence, without their last dot, caseless.
_ABBREVIATIONS = words("abbreviations")
_SELDOM_FINAL = words("seldom_final")
_BEFORE_NUMBERS = words("before_numbers")
# Of one kind of marks, a space behind those of the west; a class comes first, which is searched for
# fastest.
_CLOSERS = r"[\"'”’»)\]*_`]*+"
_END = re.compile(
    rf"([.!?…。！？｡۔।॥؟](?:(?<=[.!?…])(?<![.!?…].)[.!?…]*+(?={_CLOSERS}(?:[\s\u3040-\u9fff]|\Z))"
    rf"|(?<=[。！？｡۔।॥؟])[。！？｡۔।॥؟]*+))({_CLOSERS})"
)
_STRUCTURE = re.compile(r"\n\s*\n|\n(?=[^\S\n]*(?:[-*+•]|\d+[.)]|#{1,6})\s)")
_TAIL = re.compile(r"[\w.]*")
_LAST = re.compile(r"[^\w.]([^\W_]+)\Z")
_SHORT = 7  # characters before a full stop, which contain most final words
_LIST_NUMBER = re.compile(r"[-*+•#> \t\n]*\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]+)")


def sentences(text: str) -> list[tuple[int, int]]:
    """(start, end) of every sentence with a word in it; list items and paragraphs end one too.

    A mark ends a sentence where a space or the end follows.  It does not after an abbreviation, an
    initial or the number of a list item, nor where a small letter follows an ellipsis or a
    quotation ("Why?" he asked).
    """
    found: list[tuple[int, int]] = []
    cuts = iter([*(match.start() for match in _STRUCTURE.finditer(text)), len(text)])
    start = 0
    end = next(cuts)
    for match in _END.finditer(text):
        while end <= match.start():
            found += _trimmed(text, start, end)
            start = end
            end = next(cuts)
        if _ends(text, match, start, end):
            found += _trimmed(text, start, match.end())
            start = match.end()
    for cut in (end, *cuts):
        found += _trimmed(text, start, cut)
        start = cut
    return found


def _ends(text: str, match: re.Match[str], start: int, end: int) -> bool:
    mark = match.group(1)
    after = match.end()
    if mark[0] in "。！？｡۔।॥؟":
        return True
    if mark == ".":
        dot = match.start()
        sure = dot - start > _SHORT and _surely_whole(text[dot - _SHORT : dot])
        return sure or not _abbreviates(text, dot, after, start, end)
    bare = mark[0] in "!?" and not match.group(2)
    return bare or not _goes_on(text, after, end)


@lru_cache(maxsize=8192)
def _surely_whole(tail: str) -> bool:
    """Whether a word is here, whole, that is no abbreviation, initial or number of a list item."""
    found = _LAST.search(tail)
    if found is None:
        return False
    word = found.group(1).casefold()
    known = word in _ABBREVIATIONS or word in _SELDOM_FINAL or word in _BEFORE_NUMBERS
    return len(word) > 1 and word.isalpha() and not known and word.strip("ivx") != ""


def _goes_on(text: str, after: int, end: int) -> bool:
    """Whether what follows begins with a small letter."""
    rest = text[after : min(end, after + 40)].lstrip(" \t\n\"'“‘«([*_")
    return rest[:1].islower()


def _abbreviates(text: str, dot: int, after: int, start: int, end: int) -> bool:
    if after == end:
        return False
    least = max(start, dot - 24)
    line = text.rfind("\n", least, dot) + 1 or least
    at_line_start = line > least or least == start
    if at_line_start and _LIST_NUMBER.fullmatch(text, line, dot):
        return True
    word = _last_word(text, dot, least)
    if word in _SELDOM_FINAL:
        return True
    if word in _BEFORE_NUMBERS and text[after : after + 3].strip()[:1].isdigit():
        return True
    if len(word) == 1 and word.isalpha() and text[dot - 1].isupper() and word != "i":
        return True
    return word in _ABBREVIATIONS and _goes_on(text, after, end)


def _last_word(text: str, dot: int, least: int) -> str:
    """The letters, digits and inner full stops before ``dot``, caseless."""
    backward = _TAIL.match(text[least:dot][::-1])
    return backward.group()[::-1].casefold().strip(".") if backward else ""


def _trimmed(text: str, start: int, end: int) -> list[tuple[int, int]]:
    part = text[start:end].rstrip()
    bare = part.lstrip()
    if bare[:1].isalnum() or any(map(str.isalnum, bare)):
        return [(start + len(part) - len(bare), start + len(part))]
    return []
