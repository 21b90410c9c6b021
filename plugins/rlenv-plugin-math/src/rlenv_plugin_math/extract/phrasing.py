"""The phrases of ``languages/remarks.txt`` by kind and language, and the numbers around them."""

from __future__ import annotations

import re
from functools import cache

from rlenv_plugin_math.languages import words_in
from rlenv_plugin_math.languages.packs import DATA
from rlenv_plugin_math.languages.packs import english as english_words
from rlenv_plugin_math.words import number

NUMBER = r"[-−]?\d+(?:[.,]\d+)*(?:\s?/\s?\d+)?"
ENDS = re.compile(r"[.!?](?<!\b[a-zA-Z]\.[a-zA-Z]\.)(?=\s|\Z)|[\n。！？।۔]")
_UNSPACED = frozenset(["ja", "zh", "ko"])
_LINK = r"[\s:=：$*(＝（]*(?:(?:is|only|exactly|just|then|also|thus|actually)\s+)?\\?[({$\s]*"
_RATIOS = frozenset([7.0, 10.0, 12.0, 24.0, 60.0, 100.0, 1_000.0, 3_600.0, 1_000_000.0])
_number = re.compile(NUMBER)
_fraction = re.compile(r"\\[dt]?frac\s*\{(\d+)\}\s*\{(\d+)\}")


@cache
def lists() -> dict[str, dict[str, list[str]]]:
    """Phrases by kind and language; ``xx`` holds those of every language."""
    every: dict[str, dict[str, list[str]]] = {}
    for line in (DATA / "remarks.txt").read_text("utf-8").splitlines()[1:]:
        head, _, rest = line.partition(": ")
        language, kind = head.split()
        every.setdefault(kind, {})[language] = [phrase.strip() for phrase in rest.split(" | ")]
    return every


@cache
def phrase_pattern(*kinds: str, english: bool, after: str = "") -> re.Pattern[str]:
    """What finds any phrase of some kinds; ``after`` says what is behind it: ``value`` or
    ``end``, that of the text.
    """
    spaced: list[str] = []
    unspaced: list[str] = []
    for kind in kinds:
        for language, phrases in lists()[kind].items():
            if not english or language in ("en", "xx"):
                (unspaced if language in _UNSPACED else spaced).extend(map(as_pattern, phrases))
    either = "|".join(
        [rf"(?<!\w)(?:{_grouped(spaced)})(?!\w)", *filter(None, [_grouped(unspaced)])]
    )
    behind = {
        "": "",
        "value": rf"{_LINK}(?P<value>{NUMBER}|{_words()})",
        "end": r"[\s:：$\\(\[{*]*\Z",
    }
    return re.compile(f"(?:{either}){behind[after]}", re.IGNORECASE)


@cache
def needed(kind: str) -> frozenset[bytes]:
    """English words of which each text with a phrase of a kind has one: the longest of each
    phrase that is in no choice.
    """
    words: set[bytes] = set()
    for language in ("en", "xx"):
        for phrase in lists()[kind].get(language, ()):
            fixed = words_in(re.sub(r"\(\?[:!<][^()]*\)\??|\\w\+?", " ", phrase))
            words.update([max(fixed, key=len)] if fixed else words_in(phrase))
    return frozenset(words)


@cache
def _words() -> str:
    """The pattern of an integer in English words; "one" alone is more often a pronoun."""
    each = english_words("numerals")
    return rf"(?!one\b)\b(?:{each})(?:[\s-]+(?:{each}))*\b"


def _grouped(phrases: list[str]) -> str:
    """Alternatives by their first letter, since most places of a text begin none of them."""
    by_letter: dict[str, list[str]] = {}
    for phrase in dict.fromkeys(phrases):
        by_letter.setdefault(phrase[0] if phrase[0].isalpha() else "", []).append(phrase)
    return "|".join(
        rf"{letter}(?:{'|'.join(phrase[len(letter) :] for phrase in group)})"
        for letter, group in by_letter.items()
    )


def as_pattern(phrase: str) -> str:
    """The pattern of one phrase, in which " … " is up to three words."""
    words = phrase.replace(" … ", r"(?:\s+[^\W\d]+){0,3}?\s+")
    return re.sub(r"(?<!\\) ", r"\\s+", words).replace("'", "['’]")


def amounts(text: str) -> list[float]:
    """The numbers of a text, both ways where a comma can part thousands or decimals."""
    found: list[float] = []
    for mark in _number.finditer(_fraction.sub(r"\1/\2", text)):
        whole, _, below = mark[0].replace("−", "-").partition("/")
        forms = {whole.replace(",", ""), whole.replace(".", "").replace(",", ".")}
        for form in forms:
            if form.count(".") < 2 and len(form) < 300:
                divisor = float(below) if below else 1.0
                found += [float(form) / divisor] if divisor else []
    return found


def amounts_in_words(text: str) -> list[float]:
    """The numbers of a text, in digits or in English words."""
    return amounts(text) + [
        value for mark in _in_words().finditer(text) for value in _counted(mark[0])
    ]


@cache
def _in_words() -> re.Pattern[str]:
    return re.compile(_words(), re.IGNORECASE)


def _counted(words: str) -> list[float]:
    """The integer that some English words are; none where they are no one number."""
    from rlenv_plugin_math.tree import Num

    split = re.split(r"[\s-]+", words.lower())
    read = number(split) if len(split) < 12 else None
    if read is None or read[1] != len(split) or not isinstance(read[0], Num):
        return []
    return [float(read[0].value)]


def is_same(one: float, other: float) -> bool:
    """Whether two numbers are one value, rounded or in another unit."""
    if one == other:
        return True
    if not one or not other:
        return False
    ratio = abs(one / other)
    counts = one.is_integer() and other.is_integer()
    if not counts and (round(one) == round(other) or abs(ratio - 1) < 0.01):
        return True
    return any(abs(ratio / known - 1) < 1e-9 or abs(ratio * known - 1) < 1e-9 for known in _RATIOS)
