"""Naive Bayes over groups of three letters and short words (Cavnar and Trenkle's idea, 1994).

The profiles are frequencies of groups of letters, no text.  They were counted from the translations
of Django's user interface (BSD license) into 39 languages, for English from the prompts of IFEval,
IFBench and GSM8K, and from lists of common words.  ``profiles.json`` ships in the wheel.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.resources import files

from .scripts import ALONE, letters, script_of, scripts

__all__ = ["LANGUAGES", "identify", "language_of", "may_be", "of_script"]

_LETTERS = 2500  # of a text that are looked at
_SHARE = 0.7  # of the letters that must be of one script
# Script of each language that IFEval may ask for.
LANGUAGES: Mapping[str, str] = {
    "en": "latin",
    "es": "latin",
    "pt": "latin",
    "fr": "latin",
    "de": "latin",
    "it": "latin",
    "pl": "latin",
    "vi": "latin",
    "sw": "latin",
    "fi": "latin",
    "nl": "latin",
    "sv": "latin",
    "da": "latin",
    "nb": "latin",
    "ro": "latin",
    "cs": "latin",
    "sk": "latin",
    "hu": "latin",
    "tr": "latin",
    "id": "latin",
    "hr": "latin",
    "ca": "latin",
    "et": "latin",
    "lt": "latin",
    "sq": "latin",
    "eu": "latin",
    "ru": "cyrillic",
    "uk": "cyrillic",
    "bg": "cyrillic",
    "be": "cyrillic",
    "sr": "cyrillic",
    "mk": "cyrillic",
    "kk": "cyrillic",
    "hi": "devanagari",
    "mr": "devanagari",
    "ne": "devanagari",
    "ar": "arabic",
    "fa": "arabic",
    "ur": "arabic",
    "ug": "arabic",
    "ja": "kana",
    "zh": "han",
    **{code: script for script, code in ALONE.items()},
}
# Letters that only some languages of a script write: each time one is there tells against the
# others.
_OWN: Mapping[str, frozenset[str]] = {
    letter: frozenset(languages.split())
    for group, languages in (
        ("ыэ", "ru be kk"),
        ("ё", "ru be kk"),
        ("ъ", "ru bg"),
        ("щ", "ru uk bg"),
        ("и", "ru uk bg sr mk kk"),
        ("і", "uk be kk"),
        ("їєґ", "uk"),
        ("ў", "be"),
        ("ђћ", "sr"),
        ("јљњџ", "sr mk"),
        ("ѓќѕ", "mk"),
        ("әғқңөұүһ", "kk"),
        ("پچگ", "fa ur ug"),
        ("ژ", "fa ur ug"),
        ("ٹڈڑںےۓہھ", "ur ug"),
        ("ةىي", "ar fa ug"),
        ("ك", "ar"),
        ("یک", "fa ur"),
        ("ळ", "mr ne hi"),
        ("ñ", "es eu"),
        ("ãõ", "pt vi et"),
        ("ß", "de"),
        ("łąęśźżń", "pl"),
        ("ơưđạảấầẩậắặẹẻẽếềểễệỉịọỏốồổộớờởợụủứừửựỳỵỷỹ", "vi"),
        ("ı", "tr"),
        ("ğ", "tr"),
        ("ș", "ro"),
        ("ț", "ro"),
        ("ő", "hu"),
        ("ű", "hu"),
        ("ř", "cs"),
        ("ů", "cs"),
        ("æ", "da nb"),
        ("ø", "da nb"),
        ("œ", "fr"),
        ("å", "sv da nb fi"),
        ("è", "fr it ca vi"),
        ("ê", "fr pt vi"),
        ("ë", "sq fr nl"),
        ("ä", "de fi sv et sk"),
        ("ö", "de fi sv et hu tr"),
        ("ü", "de et hu tr es ca"),
    )
    for letter in group
}
_AGAINST = 8  # of the score, for one such letter
_COUNTED = 4  # times that one letter counts


class _Profile:
    """Scores of the groups of letters of the languages of one script."""

    def __init__(self, tables: Mapping[str, Mapping[str, int]]) -> None:
        self.languages = tuple(tables)
        self.scores: dict[str, list[tuple[int, int]]] = {}
        for place, table in enumerate(tables.values()):
            for group, score in table.items():
                self.scores.setdefault(group, []).append((place, score))

    def rank(self, words: Iterable[str]) -> list[tuple[float, str]]:
        """(score, language), best first."""
        words = list(words)
        totals = [0] * len(self.languages)
        rare = "".join(word for word in words if not word.isascii())
        for letter, times in Counter(rare).items():
            own = _OWN.get(letter)
            if own is not None:
                for place, name in enumerate(self.languages):
                    totals[place] -= 0 if name in own else _AGAINST * min(times, _COUNTED)
        for group, times in Counter(_groups(words)).items():
            weight = min(times, 5)
            for place, score in self.scores.get(group, ()):
                totals[place] += score * weight
        return sorted(
            zip(totals, self.languages, strict=True), key=lambda pair: (-pair[0], pair[1])
        )


def _groups(words: Iterable[str]) -> list[str]:
    """Groups of three letters of each word, a space at its ends, and short words whole."""
    framed = f" {' '.join(words)} "
    short = [f" {word} " for word in words if len(word) < 5]
    return short + [framed[at : at + 3] for at in range(len(framed) - 2)]


@lru_cache(maxsize=1)
def _profiles() -> Mapping[str, _Profile]:
    source = files(__package__).joinpath("profiles.json").read_text(encoding="utf-8")
    return {script: _Profile(tables) for script, tables in json.loads(source).items()}


def of_script(text: str) -> tuple[str, float]:
    """The script of most letters, and its share of them; ``("", 0)`` where there are no letters."""
    counts = scripts(text)
    counts["kana"] += counts.pop("han", 0) if counts["kana"] else 0
    total = counts.total()
    if not total:
        return "", 0.0
    script, most = max(counts.items(), key=lambda pair: (pair[1], pair[0]))
    return script, most / total


def identify(text: str) -> str:
    """The ISO 639-1 code of a text's language; ``""`` where it cannot be told.

    About 1 ms for 2,000 letters.  Depends on nothing but the text.
    """
    return language_of(text)[0]


def language_of(text: str) -> tuple[str, float]:
    """The language, and how much better it fits than the next, in half nats."""
    text = text[:_LETTERS]
    script, share = of_script(text)
    if not script or share < _SHARE:
        return "", 0.0
    if script in ALONE:
        return ALONE[script], 1000.0
    if script in ("kana", "han"):
        return "ja" if script == "kana" else "zh", 1000.0
    words = [word for word in letters(text) if script_of(word[0]) == script]
    return _of_words(script, words)


def may_be(text: str, language: str, within: float) -> bool:
    """Whether a language fits as well as the best one, but for ``within`` half nats."""
    script, _ = of_script(text)
    profile = _profiles().get(script)
    if profile is None:
        return identify(text) == language
    ranked = profile.rank(
        [word for word in letters(text[:_LETTERS]) if script_of(word[0]) == script]
    )
    own = next((score for score, name in ranked if name == language), None)
    return own is not None and own > 0 and ranked[0][0] - own <= within


def _of_words(script: str, words: list[str]) -> tuple[str, float]:
    profile = _profiles().get(script)
    if profile is None or not words:
        return "", 0.0
    (first, name), (second, _) = profile.rank(words)[:2]
    return (name, float(first - second)) if first else ("", 0.0)
