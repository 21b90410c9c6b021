"""IFBench's checks of words and letters as published."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from rlenv_plugin_constraints.kinds.readability import syllables
from rlenv_plugin_constraints.verbs import is_verb
from rlenv_plugin_constraints.vocabulary import CONJUNCTIONS, NAMES, PRONOUNS, STOP_STEMS

from .punkt import tokens

__all__ = ["CHECKS", "bare", "unmarked"]

_P = Mapping[str, Any]
MARKS = string.punctuation
_DROPPED = str.maketrans("", "", MARKS)
_CONSONANTS = re.compile("[bcdfghjklmnpqrstvwxyz]{2}")
_PRIMES = frozenset(n for n in range(2, 98) if all(n % d for d in range(2, n)))
_JAPANESE = re.compile("[\u3040-\u30ff\u4e00-\u9fff]")


def bare(word: str) -> str:
    """A word without the ASCII marks and spaces at its ends."""
    return word.strip(MARKS + " ")


def unmarked(said: str) -> str:
    """Without ASCII marks, also those within words."""
    return said.translate(_DROPPED)


def _stop_words(said: str, p: _P) -> bool:
    words = re.findall(r"\w+", said)
    stops = sum(word.lower() in STOP_STEMS for word in words)
    return bool(words) and stops / len(words) * 100 <= p["percentage"]


def _conjunctions(said: str, p: _P) -> bool:
    forms = {word for word in said.split() if bare(word).lower() in CONJUNCTIONS}
    return bool(len(forms) >= p["small_n"])


def _names(said: str, p: _P) -> bool:
    count = sum(re.search(rf"\b{name.capitalize()}\b", said) is not None for name in NAMES)
    return bool(count >= p["N"])


def _alphabet(said: str, _: _P) -> bool:
    letters = [word[0].lower() for word in unmarked(said).split()]
    if not letters or letters[0] not in string.ascii_lowercase:
        return False
    start = ord(letters[0])
    return all(ord(letter) == 97 + (start - 97 + n) % 26 for n, letter in enumerate(letters))


def _vowels(said: str, _: _P) -> bool:
    body = said.strip()
    return "\n" not in body and len(set(body.lower()) & set("aeiou")) <= 3


def _palindromes(said: str, _: _P) -> bool:
    words = unmarked(said).lower().split()
    return sum(len(word) >= 5 and word == word[::-1] for word in words) >= 10


def _parity(said: str, _: _P) -> bool:
    counts = [syllables(word) % 2 for word in unmarked(said).lower().split()]
    return all(a != b for a, b in pairwise(counts))


def _initials(said: str, _: _P) -> bool:
    words = unmarked(said.lower()).split()
    return all(a[0] != b[0] for a, b in pairwise(words))


def _repeats(said: str, p: _P) -> bool:
    counts = Counter(unmarked(said.lower()).split())
    return bool(max(counts.values(), default=0) <= p["small_n"])


def _japanese(said: str, p: _P) -> bool:
    n = p["N"]
    every = (bare(word) for word in said.split()[n - 1 :: n]) if n else ()
    return all(not w or w.isdigit() or _JAPANESE.search(w) is not None for w in every)


def _verb(said: str, _: _P) -> bool:
    words = tokens(said[:2000])
    return bool(words) and is_verb(words[0].lower(), words[1].lower() if len(words) > 1 else "")


def _keywords(said: str, p: _P) -> bool:
    low = said.lower()
    counts = zip(range(1, 6), (1, 2, 3, 5, 7), strict=True)
    return all(low.count(p[f"keyword{i}"].strip().lower()) == n for i, n in counts)


def _pronouns(said: str, p: _P) -> bool:
    words = tokens(said.replace("/", " ").lower())
    return bool(sum(word in PRONOUNS for word in words) >= p["N"])


CHECKS: Mapping[str, Callable[[str, _P], bool]] = {
    "count:conjunctions": _conjunctions,
    "count:keywords_multiple": _keywords,
    "count:numbers": lambda said, p: len(re.findall(r"\d+", unmarked(said))) == p["N"],
    "count:person_names": _names,
    "count:pronouns": _pronouns,
    "count:unique_word_count": lambda said, p: (
        len({bare(word) for word in said.lower().split()}) >= p["N"]
    ),
    "count:word_count_range": lambda said, p: (
        p["min_words"] <= len(re.findall(r"\w+", said)) <= p["max_words"]
    ),
    "count:words_japanese": _japanese,
    "ratio:stop_words": _stop_words,
    "words:alphabet": _alphabet,
    "words:consonants": lambda said, _: all(map(_CONSONANTS.search, said.lower().split())),
    "words:no_consecutive": _initials,
    "words:odd_even_syllables": _parity,
    "words:palindrome": _palindromes,
    "words:prime_lengths": lambda said, _: all(
        len(word) in _PRIMES for word in unmarked(said).split()
    ),
    "words:repeats": _repeats,
    "words:start_verb": _verb,
    "words:vowel": _vowels,
}
