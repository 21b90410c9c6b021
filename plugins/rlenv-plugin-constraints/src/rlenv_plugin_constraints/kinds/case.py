"""Capital and small letters."""

from __future__ import annotations

import re
from typing import ClassVar

from attrs import frozen

from rlenv_plugin_constraints.constraint import Finding, in_order
from rlenv_plugin_constraints.text import Text

__all__ = ["CapitalWords", "Lowercase", "Uppercase"]

_SHOWN = 20
_POSSESSIVE = re.compile("['’]s$")


def _words_with(text: Text, *, upper: bool) -> list[tuple[int, int]]:
    """Spans of words with a letter of this case."""
    has = str.isupper if upper else str.islower
    raw = text.raw
    return [(a, b) for a, b in text.word_spans if any(map(has, raw[a:b]))]


def _one_case(text: Text, wanted: str) -> Finding:
    seen = text.plain
    if seen.isupper() if wanted == "upper" else seen.islower():
        return Finding(satisfied=True, measured=0, wanted={"max": 0})
    wrong = _words_with(text, upper=wanted == "lower")
    note = "" if wrong else "there is no letter that has a case"
    return Finding(
        satisfied=False, measured=len(wrong), wanted={"max": 0}, spans=wrong[:_SHOWN], note=note
    )


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
        raw = text.raw
        spans = [(a, b) for a, b in text.word_spans if _POSSESSIVE.sub("", raw[a:b]).isupper()]
        fits = (self.min is None or len(spans) >= self.min) and (
            self.max is None or len(spans) <= self.max
        )
        wanted = {k: v for k, v in (("min", self.min), ("max", self.max)) if v is not None}
        return Finding(fits, len(spans), wanted, spans[:_SHOWN])
