"""Words of a class, counted: different words, stop words, conjunctions, pronouns, names,
numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, ClassVar

from attrs import field, frozen
from rlenv import ConfigError

from rlenv_plugin_constraints.constraint import Finding, positive
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.vocabulary import CONJUNCTIONS, NAMES, PRONOUNS, STOP_WORDS
from rlenv_plugin_constraints.words import PARTS, spans_of

__all__ = [
    "Conjunctions",
    "Numbers",
    "PersonNames",
    "Pronouns",
    "StopWords",
    "UniqueWords",
    "WordRepeats",
]

_SHOWN = 100
_APART = str.maketrans("-_", "  ")
_PART = r"[^\W_]+(?:['’][^\W_]+)*"
_PARTS = re.compile(_PART)
# Digits, grouped by threes or not, with decimals; not the digits of a name such as B12.
_NUMBER = re.compile(
    r"\d(?<![^\W_].)(?:\d{0,2}(?:,\d{3})+(?!\d)|\d*)(?:\.\d+)*(?:/\d+(?![\d/]))?", re.DOTALL
)


def _parts(
    text: Text, wanted: frozenset[str], *, stems: bool = False
) -> tuple[list[str], list[int], list[str]]:
    """Words as written, those that a hyphen joins apart.

    Which of them are wanted, with ``stems`` also by what stands before an apostrophe; these without
    case.
    """
    flat = PARTS.flat(text.raw, text.odd)
    words = _PARTS.findall(text.raw) if flat is None else flat.split()
    even = "\n".join(words).casefold().replace("’", "'").split("\n")
    different = set(even)
    among = wanted & different
    if stems:
        among |= {w for w in different if "'" in w and w.partition("'")[0] in wanted}
    places = [place for place, word in enumerate(even) if word in among] if among else []
    return words, places, [even[place] for place in places]


def _few(_: Any, attribute: Any, value: int) -> None:
    if not 1 <= value <= 20:
        raise ConfigError(f"{attribute.name} is an integer from 1 to 20, not {value!r}")


@frozen
class UniqueWords:
    """At least ``min`` different words; case makes no difference."""

    kind: ClassVar[str] = "unique_words"
    min: int = field(validator=positive)

    def check(self, text: Text) -> Finding:
        count = len(set(text.even_words))
        return Finding(count >= self.min, count, {"min": self.min})


@frozen
class WordRepeats:
    """No word, or run of ``n`` words, is there more than ``max`` times.

    Case, punctuation, invisible characters and look-alikes of letters make no difference.
    """

    kind: ClassVar[str] = "word_repeats"
    max: int = field(validator=positive)
    n: int = field(default=1, validator=_few)

    def check(self, text: Text) -> Finding:
        # A hyphen makes one word of two, and so no other run of them.
        seen = Text(text.skeleton.translate(_APART) if self.n > 1 else text.skeleton)
        words = seen.even_words
        runs = list(zip(*(words[step:] for step in range(self.n)), strict=False))
        counts = Counter(runs)
        over = {run for run, count in counts.items() if count > self.max}
        places = [place for place, run in enumerate(runs) if run in over][:_SHOWN] if over else []
        first = seen.spans_of(places)
        last = seen.spans_of([at + self.n - 1 for at in places])
        spans = [text.skeleton_view.span(a, b) for (a, _), (_, b) in zip(first, last, strict=True)]
        most = max(counts.values(), default=0)
        return Finding(bool(words) and not over, most, {"max": self.max}, spans)


@frozen
class StopWords:
    """Stop words of English are at most ``max_percent`` of the words."""

    kind: ClassVar[str] = "stop_words"
    max_percent: float

    def check(self, text: Text) -> Finding:
        words = text.even_words
        share = 100 * sum(word in STOP_WORDS for word in words) / max(1, len(words))
        fits = bool(words) and share <= self.max_percent
        return Finding(fits, round(share, 2), {"max": self.max_percent})


@frozen
class Conjunctions:
    """At least ``min`` different coordinating conjunctions: and, but, for, nor, or, so, yet."""

    kind: ClassVar[str] = "conjunctions"
    min: int = field(validator=positive)

    def check(self, text: Text) -> Finding:
        words, places, found = _parts(text, CONJUNCTIONS)
        first: dict[str, int] = {}
        for word, place in zip(found, places, strict=True):
            first.setdefault(word, place)
        spans = spans_of(text.raw, words, list(first.values()))
        return Finding(len(first) >= self.min, len(first), {"min": self.min}, spans)


@frozen
class Pronouns:
    """At least ``min`` pronouns of English; "I'm" has one."""

    kind: ClassVar[str] = "pronouns"
    min: int = field(validator=positive)

    def check(self, text: Text) -> Finding:
        words, places, _ = _parts(text, PRONOUNS, stems=True)
        spans = spans_of(text.raw, words, places[:_SHOWN])
        return Finding(len(places) >= self.min, len(places), {"min": self.min}, spans)


@frozen
class PersonNames:
    """At least ``min`` different first names, written as names.

    They are those of the list that IFBench's prompts show.
    """

    kind: ClassVar[str] = "person_names"
    min: int = field(validator=positive)

    def check(self, text: Text) -> Finding:
        named = {word: names for word in set(text.words) if (names := _names(word))}
        first: dict[str, int] = {}
        for place, word in enumerate(text.words) if named else ():
            for name in named.get(word, ()):
                first.setdefault(name, place)
        spans = text.spans_of(list(first.values()))
        return Finding(len(first) >= self.min, len(first), {"min": self.min}, spans)


def _names(word: str) -> list[str]:
    """The first names that a word is made of, "Anna-Maria's" of two."""
    if not word[0].isupper():
        return []
    parts = [part.partition("'")[0].partition("’")[0] for part in _PARTS.findall(word)]
    return [name.casefold() for name in parts if name[0].isupper() and name.casefold() in NAMES]


@frozen
class Numbers:
    """Exactly ``n`` numbers in digits: 1,000 and 3.14 are one each, 3-4 is two; B12 is a name."""

    kind: ClassVar[str] = "numbers"
    n: int

    def check(self, text: Text) -> Finding:
        spans = [found.span() for found in _NUMBER.finditer(text.plain)]
        if text.plain != text.raw:
            spans = [text.plain_view.span(*span) for span in spans]
        return Finding(len(spans) == self.n, len(spans), {"exactly": self.n}, spans[:_SHOWN])
