"""Words that must be in a response, must not, or so many times."""

from __future__ import annotations

import unicodedata
from typing import Any, ClassVar

from attrs import field, frozen
from rlenv import ConfigError
from rlenv.authoring import Safe

from rlenv_plugin_constraints.constraint import Finding, Relation, holds, relation
from rlenv_plugin_constraints.lazy import lazy
from rlenv_plugin_constraints.phrases import Phrase, occurrences
from rlenv_plugin_constraints.text import Text

__all__ = ["Contains", "Forbids", "Keyword", "Letter"]


def _some(_: Any, attribute: Any, value: tuple[str, ...]) -> None:
    if not value:
        raise ConfigError(f"{attribute.name} is a list of at least one word")
    for word in value:
        _seen(_, attribute, word)


def _seen(_: Any, _attribute: Any, value: str) -> None:
    Phrase(value)


def _count(_: Any, attribute: Any, value: int) -> None:
    if value < 0:
        raise ConfigError(f"{attribute.name} is an integer from 0, not {value!r}")


@frozen(slots=False)
class Contains:
    """Every one of ``words`` is there, as a word: "cat" is not in "concatenate".

    Case does not matter, words of a phrase may be parted by any space.
    """

    kind: ClassVar[str] = "contains"
    words: Safe[tuple[str, ...]] = field(validator=_some)

    @lazy
    def _phrases(self) -> tuple[Phrase, ...]:
        return tuple(map(Phrase, self.words))

    def markers(self) -> tuple[str, ...]:
        return self.words

    def check(self, text: Text) -> Finding:
        view = text.caseless_view
        found = {wanted.text: wanted.find(view, 1) for wanted in self._phrases}
        spans = [view.span(*places[0]) for places in found.values() if places]
        missing = [word for word, places in found.items() if not places]
        note = f"missing: {', '.join(missing)}"[:300] if missing else ""
        return Finding(not missing, len(found) - len(missing), list(self.words), spans, note)


@frozen(slots=False)
class Forbids:
    """None of ``words`` is there, as a word.

    Neither spelled with invisible characters nor with letters of other alphabets that look the
    same.
    """

    kind: ClassVar[str] = "forbids"
    words: Safe[tuple[str, ...]] = field(validator=_some)

    @lazy
    def _phrases(self) -> tuple[Phrase, ...]:
        return tuple(Phrase(word, strict=True) for word in self.words)

    def check(self, text: Text) -> Finding:
        view = text.skeleton_view
        spans = []
        there = []
        for wanted in self._phrases:
            places = wanted.find(view, 100)
            spans += [view.span(*place) for place in places]
            there += [wanted.text] if places else []
        note = f"there: {', '.join(there)}"[:300] if there else ""
        return Finding(not there, len(spans), {"max": 0, "words": list(self.words)}, spans, note)


@frozen(slots=False)
class Keyword:
    """``word`` is there so many times.

    ``relation`` is "at least" (the default), "at most", "less than", "more than" or "exactly".
    """

    kind: ClassVar[str] = "keyword"
    word: Safe[str] = field(validator=_seen)
    n: int = field(validator=_count)
    relation: Relation = field(default="at least", validator=relation)

    def __attrs_post_init__(self) -> None:
        possible(self.relation, self.n)

    @lazy
    def _phrase(self) -> Phrase:
        return Phrase(self.word, strict=self._bounded)

    @property
    def _bounded(self) -> bool:
        return self.relation in ("at most", "less than")

    def markers(self) -> tuple[str, ...]:
        return () if self._bounded else (self.word,)

    def check(self, text: Text) -> Finding:
        view = text.skeleton_view if self._bounded else text.caseless_view
        spans = occurrences(view, self._phrase)
        wanted = {"relation": self.relation, "n": self.n, "word": self.word}
        return Finding(holds(len(spans), self.relation, self.n), len(spans), wanted, spans[:100])


@frozen(slots=False)
class Letter:
    """``letter``, one character in either case, is there so many times.

    A letter with an accent is another.
    """

    kind: ClassVar[str] = "letter"
    letter: Safe[str] = field()
    n: int = field(validator=_count)
    relation: Relation = field(default="at least", validator=relation)

    @letter.validator
    def _one(self, _: Any, value: str) -> None:
        seen = unicodedata.normalize("NFC", value)
        if len(seen) != 1 or seen.isspace():
            raise ConfigError(f"letter is one character that can be seen, not {value!r}")

    def __attrs_post_init__(self) -> None:
        possible(self.relation, self.n)

    def check(self, text: Text) -> Finding:
        bounded = self.relation in ("at most", "less than")
        letter = unicodedata.normalize("NFKC", self.letter).casefold()
        count = text.plain.casefold().count(letter)
        if bounded:  # nor in the guise of another alphabet
            count = max(count, text.skeleton.count(letter))
        wanted = {"relation": self.relation, "n": self.n, "letter": self.letter}
        return Finding(holds(count, self.relation, self.n), count, wanted)


def possible(relation: str, n: int) -> None:
    """Refuse a count that no text has."""
    if relation == "less than" and n == 0:
        raise ConfigError("less than 0: no response can satisfy that")
