"""How hard an English text reads, by the formulas of Flesch and Kincaid."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import Any, ClassVar, Literal

from attrs import frozen

from rlenv_plugin_constraints.constraint import Finding, in_order
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.unmet import unmet

__all__ = ["Readability", "syllables"]

_ENGLISH = re.compile(r"[a-z]+(?:['’-][a-z]+)*\Z")
_VOWELS = re.compile(r"[aeiouy]+")
_SOUNDED = re.compile(r"(?:[sxz]|ch|sh|[cg])es\Z|[^aeiouy]les?\Z")
_SPLIT = re.compile(
    r"cre[ao]|dea\b|scien|[dr]iety|i[aou](?!u)|eo(?!u)|ua(?!r)|uou|[aeiou]ing|ie[rt]\b|[^q]ue[lnt]\b|io\b"
)
_JOINED = re.compile(r"peo|[cstgx]io|[ct]ia|[cs]iou|[gq]u[aeio]|geo|eau|iou(?=s)")


@lru_cache(maxsize=8192)
def syllables(word: str) -> int:
    """Syllables of an English word, told by its letters; words that break the rules are missed.

    Args:
        word: letters, apostrophes and hyphens; case does not matter.
    """
    return sum(_of_part(part) for part in re.split(r"['’-]", word.lower()) if len(part) > 1) or 1


def _of_part(part: str) -> int:
    count = len(_VOWELS.findall(part))
    count += len(_SPLIT.findall(_JOINED.sub("xo", part)))
    if (part.endswith("e") and not part.endswith(("le", "ee", "ye", "oe", "ie", "ue"))) or (
        part.endswith("le") and len(part) > 2 and part[-3] in "aeiouy"
    ):
        count -= 1
    elif part.endswith("es") and not _SOUNDED.search(part) and len(part) > 3:
        count -= part[-3] not in "aeiouy"
    elif part.endswith("ed") and len(part) > 3 and part[-3] not in "tdaeiouy":
        count -= 1
    return max(1, count)


@frozen
class Readability:
    """The English text reads as easily, or as hard, as asked for.

    Args:
        metric: "flesch" is Flesch's reading ease (1948), 206.835 - 1.015 words per sentence - 84.6
            syllables per word: 100 is very easy, 0 very hard.  "grade" is the grade level of
            Kincaid et al. (1975), 0.39 words per sentence + 11.8 syllables per word - 15.59: years
            of school.
        min, max: of the metric; either may be left out.
    """

    kind: ClassVar[str] = "readability"
    metric: Literal["flesch", "grade"] = "flesch"
    min: float | None = None
    max: float | None = None

    def __attrs_post_init__(self) -> None:
        in_order("min", "max", self.min, self.max)

    def check(self, text: Text) -> Finding:
        wanted: dict[str, Any] = {"metric": self.metric, "min": self.min, "max": self.max}
        counts = Counter(text.lower_words)
        words = {word: count for word, count in counts.items() if _ENGLISH.match(word)}
        total = sum(words.values())
        if not words or 2 * total < len(text.words):
            return unmet(None, wanted, note="too few English words to tell")
        per_sentence = total / max(1, len(text.sentences))
        per_word = sum(syllables(word) * count for word, count in words.items()) / total
        if self.metric == "flesch":
            value = 206.835 - 1.015 * per_sentence - 84.6 * per_word
        else:
            value = 0.39 * per_sentence + 11.8 * per_word - 15.59
        fits = (self.min is None or value >= self.min) and (self.max is None or value <= self.max)
        return Finding(fits, round(value, 1), wanted)
