"""Capital and small letters."""

from __future__ import annotations

import re
from itertools import islice
from typing import ClassVar

from attrs import frozen

from rlenv_plugin_constraints.constraint import Finding, in_order
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.views import Span, rest

__all__ = ["CapitalWords", "Lowercase", "Uppercase"]

_SHOWN = 20
_CAPITAL = re.compile("[A-Z]")
_SMALL = re.compile("[a-z]")
_NO_CAPITAL = bytes(c for c in range(128) if not chr(c).isupper())
_NO_SMALL = bytes(c for c in range(128) if not chr(c).islower())


def _one_case(text: Text, wanted: str) -> Finding:
    seen = text.plain
    if seen.isupper() if wanted == "upper" else seen.islower():
        return Finding(satisfied=True, measured=0, wanted={"max": 0})
    count, spans = _letters(text.raw, upper=wanted == "lower")
    note = "" if count else "there is no letter that has a case"
    return Finding(satisfied=False, measured=count, wanted={"max": 0}, spans=spans, note=note)


def _letters(raw: str, *, upper: bool) -> tuple[int, list[Span]]:
    """How many letters of this case there are, and where the first of them stand."""
    others, has = (_NO_CAPITAL, str.isupper) if upper else (_NO_SMALL, str.islower)
    count = len(raw.encode("ascii", "ignore").translate(None, others))
    if raw.isascii():
        spans = (found.span() for found in (_CAPITAL if upper else _SMALL).finditer(raw))
        return count, list(islice(spans, _SHOWN))
    places = ((at, at + 1) for at, c in enumerate(raw) if has(c))
    return count + sum(map(has, rest(raw))), list(islice(places, _SHOWN))


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
class CapitalWords:
    """Words all in capitals, "NASA", "NASA's" and "A" alike: at least ``min``, at most ``max``."""

    kind: ClassVar[str] = "capital_words"
    min: int | None = None
    max: int | None = None

    def __attrs_post_init__(self) -> None:
        in_order("min", "max", self.min, self.max)

    def check(self, text: Text) -> Finding:
        capital = {word for word in set(text.words) if _capital(word)}
        places = [place for place, word in enumerate(text.words) if word in capital]
        count = len(places)
        fits = (self.min is None or count >= self.min) and (self.max is None or count <= self.max)
        wanted = {k: v for k, v in (("min", self.min), ("max", self.max)) if v is not None}
        return Finding(fits, count, wanted, text.spans_of(places[:_SHOWN]))


def _capital(word: str) -> bool:
    return word.isupper() or (word[-1] == "s" and word[-2:-1] in "'’" and word[:-2].isupper())
