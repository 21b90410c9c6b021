"""The words of a text, cut out of a copy of it that has a space wherever no word stands."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any

from .views import LATIN, western

__all__ = ["flattened", "pattern_of"]

_JOINS = r"'\u2019\u2018\-\u2010\u2011_&"
# Every byte that is a letter or digit of ASCII or part of a longer character as it is, a space for the rest.
_WORDLY = bytes(c if c > 127 or chr(c).isalnum() else 32 for c in range(256))


def _simple(letter: str, joins: str) -> re.Pattern[str]:
    """The first branch is all that most words need."""
    run = f"[{letter}]"
    return re.compile(
        rf"{run}++(?![{joins}.,:]{run})"
        r"|(?:[A-Za-z]\.){2,}"
        rf"|{run}++(?:[{joins}]{run}++|(?<=[0-9])[.,:][0-9]{run}*+){{0,4}}"
    )


def _joint(letter: str, joins: str) -> re.Pattern[str]:
    """A sign between two letters, of those that may make one word of them; it is what is looked for first."""
    return re.compile(rf"[{joins}.,:](?<=[{letter}].)(?=[{letter}])")


_ASCII_WORD = _simple("A-Za-z0-9", r"'\-_&")
_LATIN_WORD = _simple(LATIN, _JOINS)
_ASCII_JOINT = _joint("A-Za-z0-9", r"'\-_&")
_LATIN_JOINT = _joint(LATIN, _JOINS)
_SIGNS = 100  # each of which is sought in the whole text
_LETTER = re.compile(f"[{LATIN}]")


@lru_cache(maxsize=1)
def _any_word() -> Any:
    import regex  # type: ignore[import-untyped]

    unspaced = r"[\p{Han}\p{Hiragana}\p{Katakana}]"
    letter = rf"[\p{{L}}\p{{N}}--{unspaced}]"
    run = rf"{letter}[\p{{L}}\p{{M}}\p{{N}}\p{{Cf}}--{unspaced}]*+"
    return regex.compile(
        rf"(?:[A-Za-z]\.){{2,}}|{unspaced}[\p{{M}}\u30FC]*+"
        rf"|{run}(?:['’‘\-‐‑_&]{run}|(?<=\p{{N}})[.,:٫٬](?=\p{{N}}){run}){{0,4}}",
        regex.V1,
    )


def pattern_of(raw: str) -> Any:
    """What finds the words of this text one by one."""
    if raw.isascii():
        return _ASCII_WORD
    return _LATIN_WORD if western(raw) else _any_word()


def flattened(raw: str, odd: AbstractSet[str]) -> str | None:
    """The text with a space in place of whatever is in no word, so that ``split`` gives the words.

    Args:
        raw: the text.
        odd: its characters beyond ASCII.

    Returns:
        None where that cannot be: for scripts that take all of Unicode's table, and where two words touch.
    """
    if len(odd) > _SIGNS:
        return None
    kinds = {sign: _kind(sign) for sign in odd}
    if "other" in kinds.values() or _clings(raw, kinds):
        return None
    flat = raw.encode("utf-8", "surrogatepass").translate(_WORDLY).decode("utf-8", "surrogatepass")
    for sign, kind in kinds.items():
        if kind != "letter":
            flat = flat.replace(sign, " ")
    return _joined(raw, flat, _LATIN_JOINT if odd else _ASCII_JOINT)


def _joined(raw: str, flat: str, joint: re.Pattern[str]) -> str | None:
    """``flat`` with the words put back that have signs in them."""
    pieces: list[str] = []
    place = 0
    for found in joint.finditer(raw):
        at = found.start()
        start = max(place, flat.rfind(" ", place, at) + 1)
        if start >= at:
            continue
        word = _LATIN_WORD.match(raw, start)
        end = at if word is None else word.end()
        if end < len(raw) and flat[end] != " ":
            return None
        pieces += [flat[place:start], raw[start:end]]
        place = end
    return "".join([*pieces, flat[place:]]) if pieces else flat


@lru_cache(maxsize=4096)
def _kind(sign: str) -> str:
    """ "letter", "apart" for what is in no word, "mark" for what is only behind a letter, or "other"."""
    if _LETTER.match(sign):
        return "letter"
    if sign in "٫٬":
        return "other"
    category = unicodedata.category(sign)
    if category[0] == "M" or category == "Cf":
        return "mark"
    return "other" if category[0] in "LN" or category == "Cn" else "apart"


def _clings(raw: str, kinds: dict[str, str]) -> bool:
    """Whether a mark belongs to a letter before it."""
    marks = "".join(sign for sign, kind in kinds.items() if kind == "mark")
    return bool(marks) and _clinging(marks).search(raw) is not None


@lru_cache(maxsize=256)
def _clinging(marks: str) -> re.Pattern[str]:
    return re.compile(rf"[{re.escape(marks)}](?<=[{LATIN}].)", re.DOTALL)
