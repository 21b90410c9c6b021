"""A budget of tokens, by an estimate that needs no tokenizer."""

from __future__ import annotations

import re
from typing import ClassVar

from attrs import field, frozen

from rlenv_plugin_constraints.constraint import Finding, positive
from rlenv_plugin_constraints.text import Text

__all__ = ["Tokens", "estimate"]

_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]+")
_DIGITS = re.compile(r"[0-9]+")
_REST = re.compile(r"(\n+|[^\S\n]{2,}|([!-/:-@\[-`{-~])\2{3,})|[^\s0-9A-Za-z\u00c0-\u024f]")


def estimate(text: str) -> int:
    """About how many tokens a text is, rather too many than too few.

    A Latin word is a token per four letters begun, a number one per three digits, a run of line breaks or
    of one ASCII sign a token per four, of spaces one per sixteen, every other sign one, three beyond the basic plane; single
    spaces cost nothing.
    """
    count = sum([(len(word) + 3) // 4 for word in _LATIN.findall(text)])
    count += sum([(len(number) + 2) // 3 for number in _DIGITS.findall(text)])
    for found in _REST.finditer(text):
        if found[1] is not None:
            per = 16 if found[1].isspace() and found[1][0] != "\n" else 4
            count += (found.end() - found.start() + per - 1) // per
        else:
            count += 1 if found[0] <= "\uffff" else 3
    return count


@frozen
class Tokens:
    """At most ``n`` tokens, as ``estimate`` counts them; a tokenizer's own count differs."""

    kind: ClassVar[str] = "tokens"
    n: int = field(validator=positive)

    def check(self, text: Text) -> Finding:
        count = estimate(text.raw)
        return Finding(count <= self.n, count, {"max": self.n}, note="an estimate")
