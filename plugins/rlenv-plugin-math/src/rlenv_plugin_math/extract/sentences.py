"""Where a sentence ends in text full of formulas, decimals and abbreviations."""

from __future__ import annotations

import re

from rlenv_plugin_math.limits import words_of

from .patterns import pattern

REACH = 2_000  # characters that one final statement may span

_OPEN = ("\\(", "\\[", "\\begin")
_CLOSE = ("\\)", "\\]", "\\end")
_ABBREVIATIONS = words_of("e.g i.e approx vs no st dr mr mrs ms cf resp a.m p.m u.s fig eq")

_special = pattern(r"\\[()\[\]]|\\(?:begin|end)(?![a-zA-Z])|\\.|\$\$?|[\n.!?。！？]", re.DOTALL)


def sentence_end(text: str, start: int, end: int, *, lines: bool = True) -> int:
    """Index just behind the sentence that begins at ``start`` (its full stop left out).

    A full stop inside a formula or a decimal ends nothing.  With ``lines`` a line break ends the
    sentence too.
    """
    end = min(end, start + REACH)
    stop = _scan(text, start, end, math=True, lines=lines)
    if stop is None:  # a "$" that never closes is a currency sign
        stop = _scan(text, start, end, math=False, lines=lines)
    return end if stop is None else stop


def sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """(start, end) of every sentence that is not blank."""
    spans = []
    while start < end:
        stop = sentence_end(text, start, end)
        if text[start:stop].strip() and not text.startswith("```", start):
            spans.append((start, stop))
        start = max(stop, start) + 1
    return spans


def _scan(text: str, start: int, end: int, *, math: bool, lines: bool) -> int | None:
    """Index of the sentence's end, None when it ends inside an open formula."""
    inside = 0
    dollars = ""
    for mark in _special().finditer(text, start, end):
        symbol = mark[0]
        if symbol[0] == "$":
            if math:
                closes = dollars == symbol
                dollars = "" if closes else (dollars or symbol)
                if closes and _ended_inside(text, mark, end):
                    return mark.end()
        elif symbol in _OPEN:
            inside += 1
        elif symbol in _CLOSE:
            inside = max(0, inside - 1)
            if not inside and not dollars and _ended_inside(text, mark, end):
                return mark.end()
        elif symbol == "\n":
            if lines and not inside and not (dollars and _closes(text, mark.end(), end, dollars)):
                return mark.start()
        elif (
            symbol[0] != "\\"
            and not inside
            and not dollars
            and _stops(text, start, mark.start(), end)
        ):
            return mark.start()
    return None if dollars else end


def _ended_inside(text: str, closer: re.Match[str], end: int) -> bool:
    """Whether a formula that closes here holds the full stop of its sentence: "$$x = 5.$$ Then
    …".
    """
    at = closer.end()
    if (
        at + 1 >= end
        or not text[at].isspace()
        or not text.endswith((".$", ".$$", ".\\]", ".\\)"), 0, at)
    ):
        return False
    return text[at + 1].isupper()


def _closes(text: str, at: int, end: int, dollars: str) -> bool:
    """Whether a formula that began before a line break goes on behind it."""
    if dollars == "$$":
        return text.find("$$", at, end) >= 0
    line = text.find("\n", at, end)
    return "$" in text[at : line if line >= 0 else end]


def _stops(text: str, start: int, at: int, end: int) -> bool:
    """Whether the ``.``, ``!`` or ``?`` at ``at`` ends a sentence."""
    mark = text[at]
    if mark in "。！？":
        return True
    after = at + 1
    while after < end and text[after] in "*_\"'”’)]`":
        after += 1
    if after < end and not text[after].isspace():
        return False
    if mark == "!":  # 5! and n! are factorials
        return text[max(0, at - 2) : at].isalpha() and at > 1
    if mark == "?":
        return True
    while after < end and text[after] in " \t":
        after += 1
    if (
        at - start <= 4
        and len(name := text[start:at].strip(" *(")) <= 2
        and name.isalpha()
        and after < end
    ):
        while after < end and text[after] == " ":
            after += 1
        head = text[after : after + 4]
        return not (
            head[0] in "$\\-(" or head[0].isdigit() or re.match(r"[^\W\d_]\s*=", head)
        )  # else an option: "B. 5"
    word = text[max(0, at - 8) : at].split()
    if word and word[-1].lower().lstrip("(") in _ABBREVIATIONS:
        return after >= end or text[after] == "\n"
    return after >= end or not text[after].islower()
