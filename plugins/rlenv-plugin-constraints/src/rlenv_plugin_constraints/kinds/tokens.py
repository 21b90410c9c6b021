"""A budget of tokens, by an estimate that needs no tokenizer."""

from __future__ import annotations

import re
from collections import Counter
from typing import ClassVar, Literal

from attrs import field, frozen

from rlenv_plugin_constraints.constraint import Finding, in_order, positive
from rlenv_plugin_constraints.kinds.writing import SPACE
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.views import beyond_ascii, rest

__all__ = ["Tokens", "estimate"]

_LONG = 100  # characters
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]+")
_DIGITS = re.compile(r"[0-9][0-9]*+")  # a class that is first is sought fastest
_BREAKS = re.compile(r"\n\n*+")
_SPACES = re.compile(r"[^\S\n]{2,}")
_SIGNS = re.compile(r"([!-/:-@\[-`{-~])\1{3,}")
_NO_SIGNS = re.compile(r"[\s\u00c0-\u024f]")
# For the bytes of ASCII and Latin-1: letters as they are, a space for the rest; and what is no
# sign.
_LETTERED = bytes(c if chr(c).isascii() and chr(c).isalpha() else 32 for c in range(256))
_NO_SIGN = bytes(c for c in range(128) if chr(c).isalnum() or chr(c).isspace())


def _latin(text: str, odd: frozenset[str]) -> list[str]:
    """The runs of Latin letters."""
    if any("\u00c0" <= sign <= "\u024f" for sign in odd):
        return _LATIN.findall(text)
    return text.encode("ascii", "replace").translate(_LETTERED).decode("ascii").split()


def _signs(text: str, odd: frozenset[str]) -> int:
    """How many signs there are, those beyond the basic plane three times."""
    count = len(text.encode("ascii", "ignore").translate(None, _NO_SIGN))
    if odd:
        others = rest(text)
        far = len(others.encode("utf-16-le", "surrogatepass")) // 2 - len(others)
        count += len(others) - len(_NO_SIGNS.findall(others)) + 2 * far
    return count


def estimate(text: str) -> int:
    """About how many tokens a text is, rather too many than too few.

    A Latin word is a token per four letters begun, a number one per three digits, a run of line
    breaks or of one ASCII sign a token per four, of spaces one per sixteen, every other sign one,
    three beyond the basic plane; single spaces cost nothing.
    """
    odd = beyond_ascii(text)
    count = _signs(text, odd)
    found = (
        (_latin(text, odd), 4),
        (_DIGITS.findall(text), 3),
        (_BREAKS.findall(text), 4),
        (_SPACES.findall(text), 16),
    )
    for runs, per in found:
        lengths = Counter(map(len, runs))
        count += sum(times * -(-length // per) for length, times in lengths.items())
    for run in _SIGNS.finditer(text):
        length = run.end() - run.start()
        count += -(-length // 4) - length
    return count


@frozen
class Tokens:
    """At most ``n`` tokens and at least ``min``, as ``estimate`` counts them.

    A tokenizer's own count differs.

    With ``by = "space"``, a token is what white space or signs that look like it part; every 100
    characters begun of a longer one count too, so that text without spaces has a size.
    """

    kind: ClassVar[str] = "tokens"
    n: int = field(validator=positive)
    min: int = 0
    by: Literal["estimate", "space"] = "estimate"

    def __attrs_post_init__(self) -> None:
        in_order("min", "n", self.min, self.n)

    def check(self, text: Text) -> Finding:
        if self.by == "space":
            parts = SPACE.sub(" ", text.raw).split()
            count = sum(-(-len(part) // _LONG) for part in parts)
            note = ""
        else:
            count = estimate(text.raw)
            note = "an estimate"
        return Finding(
            self.min <= count <= self.n, count, {"min": self.min, "max": self.n}, note=note
        )
