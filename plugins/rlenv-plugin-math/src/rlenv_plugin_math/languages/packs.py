"""A language pack: the wording of one language by what it means in English, read from its file and
compiled once.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from rlenv_plugin_math.held import frozen
from rlenv_plugin_math.limits import words_of

DATA = Path(__file__).parent
_END = r"[\dA-Za-z})\]$%°*]"  # a value ends with it
_START = r"(?:[\d$\\(−-]|[a-z]\s?=)"  # a value begins with it
# `re` takes vowel signs of Hindi, Tamil and others for no letters
_LETTER = r"[\w\u0900-\u0963\u0966-\u0dff]"
_WRAPPED = r"\\(?:text|mathrm|mbox|textrm)\{\s*<each>\s*\}"
# a place in a text: the pattern around a phrase there, and the sections of a pack for it
_PLACES = {
    "anywhere": (
        "<each>",
        words_of("announcement negation alternative hedge bound retraction correction conclusion")
        | {"values", "punctuation"},
    ),
    "behind": (
        rf"(?<={_END})(?:(?:[ \t~]|\\[,; ])*(?:{_WRAPPED}|<each>))+",
        words_of("behind_value units"),
    ),
    "between": (rf"(?<=[\d}})\]$%°*])\s+<each>(?=\s+{_START})", words_of("between_values")),
    "beside": (rf"(?<!\\)(?<!{_LETTER})<each>(?=\s*{_START})", words_of("before_value")),
    "numbers": (rf"(?<![\\'’])(?<!{_LETTER})(?:<each>)+(?!{_LETTER})", words_of("numbers")),
}
_NOUNS = words_of("answer answer_is result result_is solution option option_is")
_COUNTED = "(?<![第〇一二三四五六七八九十百千万億亿가-힣])<each>(?=<counters>)"


@frozen
class Wording:
    """Phrases of one language: where they are, which they are, and what each is in English."""

    found: re.Pattern[str]
    each: re.Pattern[str]
    meanings: dict[str, str]

    def edits(self, text: str, start: int) -> Iterator[tuple[int, int, str]]:
        """Start, end and English of the phrases in a text."""
        for mark in self.found.finditer(text, start):
            yield mark.start(), mark.end(), self.english(mark[0]) or " "

    def english(self, text: str) -> str:
        """What the phrases of a match mean; their case and accents may differ."""
        return " ".join(
            filter(None, (self._meaning(m[0].lower()) for m in self.each.finditer(text)))
        )

    def _meaning(self, phrase: str) -> str:
        known = self.meanings.get(phrase, self.meanings.get(_bare(phrase)))
        gapped = (m for p, m in self.meanings.items() if "…" in p and _gap(p).fullmatch(phrase))
        return next(gapped, "") if known is None else known


@frozen
class Pack:
    """One language: its wording by the place in a text, and its numerals.

    What ``numerals`` finds is written in digits; ``numbers`` are number words, where words are not
    spaced before one of the counters.
    """

    name: str
    decimal_comma: bool
    spaced: bool
    numerals: re.Pattern[str] | None
    places: dict[str, Wording]


def _table(name: str) -> dict[str, Any]:
    import tomllib

    return tomllib.loads((DATA / f"{name}.toml").read_text("utf-8"))


@cache
def pack(name: str) -> Pack:
    """The pack of a language.

    Raises:
        ValueError: the file of the pack is not as documented; says where.
    """
    table = _table(name)
    spaced = bool(table.pop("spaced", True))
    comma = bool(table.pop("decimal_comma", False))
    counters = table.pop("counters", "")
    numerals = table.pop("numerals", "")
    adjectives = table.pop("adjective", {}).get("wrong", [])
    known = [section for _, sections in _PLACES.values() for section in sections]
    if unknown := sorted(table.keys() - set(known)):
        raise ValueError(f"{name}.toml: sections {unknown}: expected some of {known}")
    wrong = _wrong_answers(table.get("announcement", {}), adjectives, spaced=spaced)
    wordings = {
        place: _wording(
            _meanings(name, [row for row in table.items() if row[0] in sections])
            | (wrong if place == "anywhere" else {}),
            _COUNTED.replace("<counters>", counters) if place == "numbers" and counters else around,
            spaced=spaced and place not in ("numbers", "beside"),
        )
        for place, (around, sections) in _PLACES.items()
    }
    return Pack(name, comma, spaced, re.compile(numerals) if numerals else None, wordings)


def _wrong_answers(
    announcement: dict[str, list[str]], adjectives: list[str], *, spaced: bool
) -> dict[str, str]:
    """Every noun that announces, next to every adjective of wrongness, before and behind it: what
    denies the answer.
    """
    found: dict[str, str] = {}
    for english, nouns in announcement.items():
        if english.replace(" ", "_") not in _NOUNS:
            continue
        for noun, adjective, space in product(nouns, adjectives, (" ",) if spaced else ("", " ")):
            for phrase in (f"{adjective}{space}{noun}", f"{noun}{space}{adjective}"):
                found[phrase.lower()] = f"wrong {english}"
    return {_bare(phrase): english for phrase, english in found.items()} | found


def _wording(meanings: dict[str, str], around: str, *, spaced: bool) -> Wording:
    each = _alternatives(meanings, spaced=spaced)
    found = re.compile(around.replace("<each>", f"(?:{each})"), re.IGNORECASE)
    return Wording(found, re.compile(each, re.IGNORECASE), meanings)


def _meanings(name: str, sections: list[tuple[str, dict[str, list[str]]]]) -> dict[str, str]:
    """Phrase → English; also without its accents, where that is no other phrase."""
    found: dict[str, str] = {}
    for section, rows in sections:
        for english, phrases in rows.items():
            for phrase in phrases:
                if found.setdefault(phrase.lower(), english) != english:
                    raise ValueError(
                        f"{name}.toml: [{section}] {phrase!r} means {english!r} and"
                        f" {found[phrase.lower()]!r}"
                    )
    return {_bare(phrase): english for phrase, english in found.items() if len(phrase) > 3} | found


def _alternatives(phrases: dict[str, str], *, spaced: bool) -> str:
    """One alternation, the longest phrase first among those that begin alike; where words are
    spaced, of whole ones.
    """
    by_first: dict[str, list[str]] = {}
    for phrase in sorted(phrases, key=len, reverse=True):
        opened = rf"(?<!\\)(?<!{_LETTER})" if spaced and phrase[0].isalpha() else ""
        closed = rf"(?!{_LETTER}|[\^_])" if spaced and phrase[-1].isalnum() else ""
        by_first.setdefault(opened + re.escape(phrase[0]), []).append(
            _gap(phrase[1:]).pattern + closed
        )
    return "|".join(f"{first}(?:{'|'.join(rests)})" for first, rests in by_first.items()) or r"(?!)"


@cache
def _gap(phrase: str) -> re.Pattern[str]:
    """The pattern of a phrase, in which "…" is at most two words."""
    return re.compile(re.escape(phrase).replace("…", rf"(?:{_LETTER}+\s+){{0,2}}?"))


def _bare(text: str) -> str:
    """Without the accents of Latin and Cyrillic letters."""
    if text.isascii():
        return text
    marks = re.sub("[\u0300-\u036f\u064b-\u0652]", "", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", marks)


def english_list(name: str) -> list[str]:
    """One list of English words."""
    words: list[str] = _table("en")[name]
    return words


@cache
def english(*names: str) -> str:
    """The alternation of some lists of English words, the longest first."""
    every = sorted((word for name in names for word in _table("en")[name]), key=len, reverse=True)
    return "|".join(map(re.escape, every)).replace("\\ ", r"\s+")
