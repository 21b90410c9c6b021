"""A budget of tokens, by an estimate that needs no tokenizer."""

from __future__ import annotations

import re
from collections import Counter
from typing import ClassVar

from attrs import field, frozen

from rlenv_plugin_constraints.constraint import Finding, positive
from rlenv_plugin_constraints.text import Text

__all__ = ["Tokens", "estimate"]

_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]+")
_DIGITS = re.compile(r"[0-9][0-9]*+")  # a class that stands first is sought fastest
_SIGN = re.compile(r"[^\s0-9A-Za-z\u00c0-\u024f]")
_BREAKS = re.compile(r"\n\n*+")
_SPACES = re.compile(r"[^\S\n]{2,}")
_SIGNS = re.compile(r"([!-/:-@\[-`{-~])\1{3,}")
_BEYOND = re.compile("[^\x00-\uffff]")


def estimate(text: str) -> int:
    """About how many tokens a text is, rather too many than too few.

    A Latin word is a token per four letters begun, a number one per three digits, a run of line breaks or
    of one ASCII sign a token per four, of spaces one per sixteen, every other sign one, three beyond the basic plane; single
    spaces cost nothing.
    """
    count = len(_SIGN.findall(text))
    for pattern, per in ((_LATIN, 4), (_DIGITS, 3), (_BREAKS, 4), (_SPACES, 16)):
        lengths = Counter(map(len, pattern.findall(text)))
        count += sum(times * -(-length // per) for length, times in lengths.items())
    for run in _SIGNS.finditer(text):
        length = run.end() - run.start()
        count += -(-length // 4) - length
    return count if text.isascii() else count + 2 * len(_BEYOND.findall(text))


@frozen
class Tokens:
    """At most ``n`` tokens, as ``estimate`` counts them; a tokenizer's own count differs."""

    kind: ClassVar[str] = "tokens"
    n: int = field(validator=positive)

    def check(self, text: Text) -> Finding:
        count = estimate(text.raw)
        return Finding(count <= self.n, count, {"max": self.n}, note="an estimate")
