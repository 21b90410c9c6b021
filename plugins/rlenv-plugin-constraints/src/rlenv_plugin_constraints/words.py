"""The words of a text, cut out of a copy of it that has a space wherever no word stands."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any

from attrs import frozen

from .views import LATIN, Span, western

__all__ = ["LETTERS", "PARTS", "WORDS", "Cut", "pattern_of", "spans_of"]

_SIGNS = 100  # different ones that are sought one after another, each in the whole text
_LETTERS = LATIN.replace("0-9", "")
_JOINS = r"'\u2019\u2018\-\u2010\u2011_&"


@frozen(eq=False)
class Cut:
    """A way to cut words out of a text of Latin letters.

    Args:
        word: finds a whole word from its first letter on.
        joint: finds a sign between two letters, of those that may make one word of them.
        wordly: every byte that is a letter or part of a longer character as it is, a space for the
            rest.
    """

    word: re.Pattern[str]
    joint: re.Pattern[str]
    wordly: bytes

    def flat(self, raw: str, odd: AbstractSet[str]) -> str | None:
        """The text with a space in place of whatever is in no word, so that ``split`` gives the
        words.

        Args:
            raw: the text.
            odd: its characters beyond ASCII.

        Returns:
            None where that cannot be: for scripts that take all of Unicode's table, and where two
                words touch.
        """
        if len(odd) > _SIGNS:
            return None
        kinds = {sign: _kind(sign) for sign in odd}
        if "other" in kinds.values() or _clings(raw, kinds):
            return None
        utf8 = raw.encode("utf-8", "surrogatepass").translate(self.wordly)
        flat = utf8.decode("utf-8", "surrogatepass")
        for sign, kind in kinds.items():
            if kind != "letter":
                flat = flat.replace(sign, " ")
        return self._joined(raw, flat)

    def _joined(self, raw: str, flat: str) -> str | None:
        """``flat`` with the words put back that have signs in them."""
        pieces: list[str] = []
        place = 0
        for found in self.joint.finditer(raw):
            at = found.start()
            start = max(place, flat.rfind(" ", place, at) + 1)
            if start >= at:
                continue
            word = self.word.match(raw, start)
            end = at if word is None else word.end()
            if end < len(raw) and flat[end] != " ":
                return None
            pieces += [flat[place:start], raw[start:end]]
            place = end
        return "".join([*pieces, flat[place:]]) if pieces else flat


def _cut(letter: str, joins: str, word: str) -> Cut:
    """A class of signs is first in what finds joints: it is what is searched for fastest."""
    joint = rf"[{joins}](?<=[{letter}].)(?=[{letter}])"
    wordly = bytes(c if c > 127 or re.match(f"[{letter}]", chr(c)) else 32 for c in range(256))
    return Cut(re.compile(word), re.compile(joint), wordly)


def _simple(letter: str, joins: str) -> str:
    """The first branch is all that most words need."""
    run = f"[{letter}]"
    return (
        rf"{run}++(?![{joins}.,:]{run})"
        r"|(?:[A-Za-z]\.){2,}"
        rf"|{run}++(?:[{joins}]{run}++|(?<=[0-9])[.,:][0-9]{run}*+){{0,4}}"
    )


WORDS = _cut(LATIN, f"{_JOINS}.,:", _simple(LATIN, _JOINS))
# Without hyphens; and without digits, underscores and hyphens.
PARTS = _cut(LATIN, "'’", f"[{LATIN}]++(?:['’][{LATIN}]++)*+")
LETTERS = _cut(_LETTERS, "'’", f"[{_LETTERS}]++(?:['’][{_LETTERS}]++)*+")
_ASCII_WORD = re.compile(_simple("A-Za-z0-9", r"'\-_&"))
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
    return WORDS.word if western(raw) else _any_word()


def spans_of(raw: str, words: Sequence[str], places: Sequence[int]) -> list[Span]:
    """Where the words with these numbers, from 0, stand: each is the next of its kind behind the
    one before.
    """
    find = raw.find
    end = 0
    spans = []
    for word in words[: max(places, default=-1) + 1]:
        start = find(word, end)
        end = start + len(word)
        spans.append((start, end))
    return [spans[place] for place in places]


@lru_cache(maxsize=4096)
def _kind(sign: str) -> str:
    """ "letter", "apart" for what is in no word, "mark" for what is only behind a letter, or
    "other".
    """
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
