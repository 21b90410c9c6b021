"""Capital and small letters."""

from __future__ import annotations

from typing import ClassVar

from attrs import frozen

from rlenv_plugin_constraints.constraint import Finding, in_order
from rlenv_plugin_constraints.text import Text

__all__ = ["CapitalWords", "Lowercase", "Uppercase"]

_SHOWN = 20


def _one_case(text: Text, wanted: str) -> Finding:
    seen = text.plain
    if seen.isupper() if wanted == "upper" else seen.islower():
        return Finding(satisfied=True, measured=0, wanted={"max": 0})
    even = str.upper if wanted == "upper" else str.lower

    def wrong(word: str) -> bool:
        return word != even(word)

    count = sum(map(wrong, text.words))
    note = "" if count else "there is no letter that has a case"
    spans = text.spans_of(wrong, _SHOWN)
    return Finding(satisfied=False, measured=count, wanted={"max": 0}, spans=spans, note=note)


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
        count = sum(map(_capital, text.words))
        fits = (self.min is None or count >= self.min) and (self.max is None or count <= self.max)
        wanted = {k: v for k, v in (("min", self.min), ("max", self.max)) if v is not None}
        return Finding(fits, count, wanted, text.spans_of(_capital, _SHOWN))


def _capital(word: str) -> bool:
    return word.isupper() or (word[-2:] in ("'s", "’s") and word[:-2].isupper())
