"""Decimals: cut off, repeating, with their digits counted."""

from __future__ import annotations

from fractions import Fraction

from rlenv_plugin_math.limits import DIGITS, Unparsed
from rlenv_plugin_math.tree import Num

from .engine import Parser


def whole(text: str, at: int = 0) -> int:
    """``int(text)``, refused beyond the limit of digits."""
    if len(text) > DIGITS:
        raise Unparsed("too many digits", at)
    return int(text)


def decimal(text: str, at: int = 0) -> Num:
    """``12.50`` with its two decimals; ``5.`` is the integer."""
    before, _, after = text.partition(".")
    places = len(after)
    if not places:
        return Num(Fraction(whole(before, at)))
    return Num(Fraction(whole(before + after, at), 10**places), places)


def repeating(p: Parser, text: str) -> Num | None:
    r"""``0.1\overline{6}``, ``0.\dot{3}``, ``0.1(6)``, ``0.333...``."""
    pos = p.pos
    kinds = p.kinds
    texts = p.texts
    kind = kinds[pos]
    if kind == "...":
        p.pos += 1
        return _ellipsis(text, p.ats[pos])
    if p.gaps[pos] and kind != "cmd":
        return None
    if (
        kind == "("
        and kinds[pos + 1] == "num"
        and kinds[pos + 2] == ")"
        and texts[pos + 1].isdigit()
    ):
        p.pos = pos + 3
        return repeat(text, texts[pos + 1], p.ats[pos])
    if kind == "cmd" and texts[pos] in ("overline", "bar", "dot", "overarc", "widehat"):
        return _dotted(p, text)
    return None


def _dotted(p: Parser, text: str) -> Num | None:
    pos = p.pos
    kinds = p.kinds
    texts = p.texts
    dots = texts[pos] == "dot"
    digits = ""
    last = pos
    while kinds[pos] == "cmd" and texts[pos] in ("overline", "bar", "dot"):
        braced = kinds[pos + 1] == "{"
        at = pos + 1 + braced
        if kinds[at] != "num" or not texts[at].isdigit() or (braced and kinds[at + 1] != "}"):
            return None
        if not braced and len(texts[at]) > 1:
            return None
        digits += texts[at]
        pos = last = at + 1 + braced
        if not dots:
            break
        if (
            kinds[pos] == "num"
            and texts[pos].isdigit()
            and kinds[pos + 1] == "cmd"
            and texts[pos + 1] == "dot"
        ):
            digits += texts[pos]
            pos += 1
    p.pos = last
    return repeat(text, digits, p.ats[last])


def repeat(text: str, period: str, at: int = 0) -> Num:
    """``text`` (``0.1``) with ``period`` behind it for ever."""
    before, _, after = text.partition(".")
    nines = 10 ** len(period) - 1
    scale = 10 ** len(after)
    value = whole((before or "0") + after, at) * nines + whole(period, at)
    return Num(Fraction(value, nines * scale), None, repeating=True)


def _ellipsis(text: str, at: int) -> Num:
    """A decimal that goes on: repeating when its end repeats visibly, else cut off."""
    before, _, after = text.partition(".")
    for width in range(1, min(len(after) // 2, 12) + 1):
        period = after[-width:]
        start = len(after)
        while start >= width and after[start - width : start] == period:
            start -= width
        times = (len(after) - start) // width
        if times >= 3 or (times == 2 and (width > 1 or start == 0)):
            return repeat(f"{before}.{after[:start]}", period, at)
    return decimal(text, at)
