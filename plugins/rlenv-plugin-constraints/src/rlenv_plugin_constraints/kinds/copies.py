"""Responses made of a given text: copied, copied with one change, overlapping, or turned around."""

from __future__ import annotations

from typing import ClassVar

from attrs import field, frozen
from rlenv.authoring import Safe

from rlenv_plugin_constraints.constraint import Finding, shown
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.vocabulary import STOP_STEMS

__all__ = ["Overlap", "RepeatsChanged", "RepeatsExactly", "ReversedLetters", "ReversedWords"]


@frozen
class RepeatsExactly:
    """The response is ``text``, letter for letter; white space around it does not count."""

    kind: ClassVar[str] = "repeats_exactly"
    is_answer: ClassVar[bool] = True
    text: Safe[str] = field(validator=shown)

    def check(self, text: Text) -> Finding:
        fits = text.raw.strip() == self.text.strip()
        return Finding(fits, text.raw.strip()[:80], self.text[:80])


@frozen
class RepeatsChanged:
    """The response is ``text`` with another first word, and nothing besides."""

    kind: ClassVar[str] = "repeats_changed"
    is_answer: ClassVar[bool] = True
    text: Safe[str] = field(validator=shown)

    def check(self, text: Text) -> Finding:
        wanted = self.text.split()
        given = text.raw.split()
        wanted_word = _bare(wanted[0])
        word = _bare(given[0]) if given else ""
        changed = bool(word) and word != wanted_word
        same = wanted[1:] == given[1:]
        note = "" if changed else "the first word is the same"
        return Finding(changed and same, word, "another first word", note=note)


def _bare(word: str) -> str:
    return "".join(filter(str.isalnum, word.casefold()))


@frozen
class Overlap:
    """``percent`` ± ``within`` of the different triples of words are in ``reference``.

    The triples are those of the response.
    """

    kind: ClassVar[str] = "overlap"
    reference: Safe[str] = field(validator=shown)
    percent: float
    within: float = 2.0

    def check(self, text: Text) -> Finding:
        given = _triples(text.even_words)
        shared = given & _triples(Text(self.reference).even_words)
        share = 100 * len(shared) / max(1, len(given))
        fits = bool(given) and abs(share - self.percent) <= self.within
        return Finding(fits, round(share, 2), {"percent": self.percent, "within": self.within})


def _triples(words: list[str]) -> set[tuple[str, ...]]:
    return set(zip(words, words[1:], words[2:], strict=False))


@frozen
class ReversedWords:
    """Read from its last word to its first, the response is one sentence with ``phrase`` in it."""

    kind: ClassVar[str] = "reversed_words"
    phrase: Safe[str] = field(validator=shown)

    def check(self, text: Text) -> Finding:
        words = text.even_words
        turned = " ".join(reversed(words))
        there = f" {self.phrase} " in f" {turned} "
        forward = f" {self.phrase} " in f" {' '.join(words)} "
        fits = there and not forward and len(words) >= 4 and len(text.sentences) == 1
        note = "" if len(words) >= 4 else "that is no sentence"
        return Finding(fits, turned[:80], self.phrase, note=note)


@frozen
class ReversedLetters:
    """Read backward, the response is an English sentence with ``phrase`` in it.

    It is read from its last letter to its first.
    """

    kind: ClassVar[str] = "reversed_letters"
    phrase: Safe[str] = field(validator=shown)

    def check(self, text: Text) -> Finding:
        turned = Text(text.raw.strip()[::-1]).even_words
        there = f" {self.phrase} " in f" {' '.join(turned)} "
        known = sum(word in STOP_STEMS for word in turned)
        fits = there and known > 0 and len(turned) >= 4 and self._plainly(text) <= known // 2
        note = "" if known else "backward, that is no sentence"
        return Finding(fits, " ".join(turned)[:80], self.phrase, note=note)

    def _plainly(self, text: Text) -> int:
        return sum(word in STOP_STEMS and len(word) > 1 for word in text.even_words)
