"""Numbers as other languages write them: ``3,5``, ``1.234,50``, ``12 000``, ``十五``."""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction

from rlenv_plugin_math.units import lookup

_GROUPED = re.compile(r"(?<![\d.,])(\d{1,3}(?:[. '’\u00a0\u202f]\d{3})+)(?:,(\d+))?(?![\d,]|\.\d)")
_DECIMAL = re.compile(r"(?<![\d.,])(\d+)(?:,|\{,\})(\d+)(?![\d,]|\.\d)")
_UNIT = re.compile(r"(?:[\s~]|\\[,; ])*(?:\\(?:text|mathrm|mbox)\{\s*)?\\?([a-zA-Z]+|[%€£°])")
_HAN = re.compile("[〇零一二两兩三四五六七八九十百千万萬]{1,16}")
_HANGUL = str.maketrans("백천만억两兩", "百千万億二二")
_BRACKETS = ("(", "[", "{", "\\{", "\\left", "<")


def spellings(answer: str, *, commas: bool) -> tuple[str, ...]:
    """What an answer may be in digits, where a comma may be a decimal sign, best first.

    ``commas`` says that it comes from a text in such a language.  In any other, only a decimal
    before a unit is one: ``3,5 kg``.  What is in brackets is a list everywhere.
    """
    if _HAN.fullmatch(answer):
        return (answer, in_digits(answer))
    in_any_language = (",000" in answer and "." not in answer) if commas else "," not in answer
    if in_any_language or answer.lstrip(" $").startswith(_BRACKETS):
        return (answer,)
    if not commas:
        return tuple(dict.fromkeys((answer, _DECIMAL.sub(_before_unit, answer))))
    grouped = _GROUPED.sub(lambda m: re.sub(r"[^\d,]", "", m[0]), answer)
    read = _DECIMAL.sub(r"\1.\2", grouped)
    return (read,) if ".000" in answer else tuple(dict.fromkeys((answer, read)))


def _before_unit(match: re.Match[str]) -> str:
    unit = _UNIT.match(match.string, match.end())
    is_unit = unit is not None and (not unit[1].isalpha() or (unit[1] != "in" and lookup(unit[1])))
    thousands = len(match[2]) == 3 and match[1] != "0"
    return f"{match[1]}.{match[2]}" if is_unit and not thousands else match[0]


def in_digits(numerals: str) -> str:
    """``三百二十`` as 320, ``二〇二四`` as 2024, ``2万5千`` as 25000, ``12,34,567`` as 1234567."""
    total = part = digit = Fraction(0)
    for piece in re.findall(r"\d+(?:\.\d+)?|\S", numerals.replace(",", "").translate(_HANGUL)):
        value = Fraction(piece) if piece[0].isdecimal() else int(unicodedata.numeric(piece))
        if piece[0].isdecimal() or value < 10:
            digit = 10 * digit + value
        elif value < 10_000:
            part = part + (digit or 1) * value
            digit = Fraction(0)
        else:
            total = total + (part + digit) * value
            part = Fraction(0)
            digit = Fraction(0)
    return str(total + part + digit)
