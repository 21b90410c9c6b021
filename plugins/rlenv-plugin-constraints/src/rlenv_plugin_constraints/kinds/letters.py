"""The letters that words are made of: first letters, vowels, clusters, palindromes, lengths,
syllables.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import compress, count
from operator import eq
from typing import ClassVar

from attrs import field, frozen

from rlenv_plugin_constraints.constraint import Finding, positive
from rlenv_plugin_constraints.kinds.readability import syllables
from rlenv_plugin_constraints.text import Text, base
from rlenv_plugin_constraints.unmet import unmet
from rlenv_plugin_constraints.views import Span

__all__ = [
    "AlphabetOrder",
    "ConsonantClusters",
    "NoSharedInitials",
    "Palindromes",
    "PrimeLengths",
    "SyllableParity",
    "VowelTypes",
]

_SHOWN = 100
_CLUSTER = re.compile("[b-df-hj-np-tv-z]{2}")


def _wrong(text: Text, right: Callable[[str], bool], wanted: object) -> Finding:
    """Every word must be ``right``, and there must be one."""
    odd = {word for word in set(text.base_words) if not right(word)}
    places = [place for place, word in enumerate(text.base_words) if word in odd] if odd else []
    spans = text.spans_of(places[:_SHOWN])
    return Finding(bool(text.words) and not places, len(places), wanted, spans)


@frozen
class AlphabetOrder:
    """Each word begins with the letter after that of the word before; A follows Z."""

    kind: ClassVar[str] = "alphabet_order"

    def check(self, text: Text) -> Finding:
        letters = [word[:1] for word in text.base_words]
        for place, letter in enumerate(letters):
            before = letters[place - 1] if place else ""
            follows = not before or (ord(letter) - ord(before)) % 26 == 1
            if not ("a" <= letter <= "z") or not follows:
                return unmet(place, {"words": len(letters)}, text.spans_of([place]))
        note = "" if len(letters) > 1 else "two words at least show an order"
        return Finding(len(letters) > 1, len(letters), {"words": len(letters)}, note=note)


@frozen
class VowelTypes:
    """One paragraph whose words have at most ``max`` of the vowels a, e, i, o, u between them."""

    kind: ClassVar[str] = "vowel_types"
    max: int = field(default=3, validator=positive)

    def check(self, text: Text) -> Finding:
        vowels = sorted(set("aeiou") & set(base(text.plain)))
        count = len(text.paragraphs)
        note = "" if count == 1 else f"there are {count} paragraphs"
        fits = count == 1 and 0 < len(vowels) <= self.max
        return Finding(fits, vowels, {"max": self.max, "paragraphs": 1}, note=note)


@frozen
class ConsonantClusters:
    """Each word has two consonants side by side; y is one."""

    kind: ClassVar[str] = "consonant_clusters"

    def check(self, text: Text) -> Finding:
        return _wrong(text, lambda word: _CLUSTER.search(word) is not None, "a cluster in each")


@frozen
class Palindromes:
    """At least ``min`` different words that read the same backward.

    Each has ``letters`` letters or more.
    """

    kind: ClassVar[str] = "palindromes"
    min: int = field(default=10, validator=positive)
    letters: int = field(default=5, validator=positive)

    def check(self, text: Text) -> Finding:
        found: dict[str, Span] = {}
        turned = {word for word in set(text.words) if self._turns(word)}
        for place, word in enumerate(text.words) if turned else ():
            if word in turned and word.casefold() not in found:
                (found[word.casefold()],) = text.spans_of([place])
        wanted = {"min": self.min, "letters": self.letters}
        return Finding(len(found) >= self.min, len(found), wanted, found.values())

    def _turns(self, word: str) -> bool:
        only = word.casefold()
        whole = only.isalpha() and len(only) == len(word) >= self.letters
        return whole and only == only[::-1] and len(set(only)) > 1


@lru_cache(maxsize=256)
def _prime(n: int) -> bool:
    return n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))


@frozen
class PrimeLengths:
    """The number of letters and digits of each word is prime."""

    kind: ClassVar[str] = "prime_lengths"

    def check(self, text: Text) -> Finding:
        return _wrong(
            text,
            lambda word: _prime(len(word) if word.isalnum() else sum(map(str.isalnum, word))),
            "prime lengths",
        )


@frozen
class NoSharedInitials:
    """No two words in a row begin with the same letter; case and marks make no difference."""

    kind: ClassVar[str] = "no_shared_initials"

    def check(self, text: Text) -> Finding:
        letters = [word[0] for word in text.base_words]
        twins = compress(count(1), map(eq, letters, letters[1:]))
        same = [place for place in twins if letters[place].isalpha()]
        spans = text.spans_of(same[:_SHOWN])
        return Finding(bool(letters) and not same, len(same), {"max": 0}, spans)


@frozen
class SyllableParity:
    """Words with an odd and an even number of syllables take turns."""

    kind: ClassVar[str] = "syllable_parity"

    def check(self, text: Text) -> Finding:
        parity = [syllables(word) % 2 for word in text.base_words]
        same = list(compress(count(1), map(eq, parity, parity[1:])))
        spans = text.spans_of(same[:_SHOWN])
        fits = len(parity) > 1 and not same and all(any(map(str.isalpha, w)) for w in text.words)
        return Finding(fits, len(same), {"max": 0}, spans)
