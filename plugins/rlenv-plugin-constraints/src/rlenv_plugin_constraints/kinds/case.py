"""Capital and small letters."""

from __future__ import annotations

import re
from itertools import compress, count, islice
from operator import eq
from typing import ClassVar

from attrs import frozen

from rlenv_plugin_constraints.constraint import Finding, Range
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.views import Span, rest

__all__ = ["AlternatingCase", "CapitalWords", "Lowercase", "Uppercase"]

_SHOWN = 20
_CAPITAL = re.compile("[A-Z]")
_SMALL = re.compile("[a-z]")
_NO_CAPITAL = bytes(c for c in range(128) if not chr(c).isupper())
_NO_SMALL = bytes(c for c in range(128) if not chr(c).islower())


def _one_case(text: Text, wanted: str) -> Finding:
    seen = text.plain
    if seen.isupper() if wanted == "upper" else seen.islower():
        return Finding(satisfied=True, measured=0, wanted={"max": 0})
    number, spans = _letters(text.raw, upper=wanted == "lower")
    note = "" if number else "there is no letter that has a case"
    return Finding(satisfied=False, measured=number, wanted={"max": 0}, spans=spans, note=note)


def _letters(raw: str, *, upper: bool) -> tuple[int, list[Span]]:
    """How many letters of this case there are, and where the first of them stand."""
    others, has = (_NO_CAPITAL, str.isupper) if upper else (_NO_SMALL, str.islower)
    ascii_ones = len(raw.encode("ascii", "ignore").translate(None, others))
    if raw.isascii():
        spans = (found.span() for found in (_CAPITAL if upper else _SMALL).finditer(raw))
        return ascii_ones, list(islice(spans, _SHOWN))
    places = ((at, at + 1) for at, c in enumerate(raw) if has(c))
    return ascii_ones + sum(map(has, rest(raw))), list(islice(places, _SHOWN))


@frozen
class Uppercase:
    """Every letter that has a case is a capital, and there is one."""

    kind: ClassVar[str] = "uppercase"

    def check(self, text: Text) -> Finding:
        return _one_case(text, "upper")


@frozen
class Lowercase:
    """Every letter that has a case is a small one, and there is one."""

    kind: ClassVar[str] = "lowercase"

    def check(self, text: Text) -> Finding:
        return _one_case(text, "lower")


@frozen
class CapitalWords(Range):
    """Words all in capitals, "NASA", "NASA's" and "A" alike: at least ``min``, at most ``max``.

    An "A" or "I" in capitals counts, as it does at the head of a sentence; IFEval's checker counts
    it too.
    """

    kind: ClassVar[str] = "capital_words"

    def check(self, text: Text) -> Finding:
        capital = {word for word in set(text.words) if _capital(word)}
        places = [place for place, word in enumerate(text.words) if word in capital]
        return self.found(len(places), text.spans_of(places[:_SHOWN]))


@frozen
class AlternatingCase:
    """Words all in capitals and words all in small letters take turns; there are two at least.

    Words without a letter that has a case are not looked at.
    """

    kind: ClassVar[str] = "alternating_case"

    def check(self, text: Text) -> Finding:
        words = [
            (place, word) for place, word in enumerate(text.words) if word.upper() != word.lower()
        ]
        cases = [(word.isupper(), word.islower()) for _, word in words]
        same = compress(count(), map(eq, cases, [(), *cases]))
        mixed = [at for at, case in enumerate(cases) if not any(case)]
        wrong = sorted({*same, *mixed})
        spans = text.spans_of([words[at][0] for at in wrong[:_SHOWN]])
        note = "" if len(words) > 1 else "two words at least take turns"
        return Finding(len(words) > 1 and not wrong, len(wrong), {"max": 0}, spans, note)


def _capital(word: str) -> bool:
    return word.isupper() or (word[-1] == "s" and word[-2:-1] in "'’" and word[:-2].isupper())
