"""How much mathematics one answer may hold, and the refusal of what holds more.

Everything that the parser does is linear in the text and bounded by these sizes, so that it may run
inline in any thread without a clock.
"""

from __future__ import annotations

LENGTH = 4_352  # characters of an answer: the longest literal and some brackets around it
TOKENS = 2_000  # every token makes about one node
DEPTH = 64  # brackets, exponents and prefixes inside one another
HEIGHT = 150  # levels of the finished tree, so that recursion over it is safe
DIGITS = 4_096  # of one literal
EXPONENT = 4_096  # of scientific notation that is carried out; beyond it the power stays a power


class Unparsed(ValueError):
    """The text is beyond the limits, or looks like mathematics and is broken.

    ``reason`` is a few words without any of the text; ``at`` is the character of the normalized
    text where the reading stopped.
    """

    def __init__(self, reason: str, at: int = 0) -> None:
        self.reason = reason
        self.at = at
        super().__init__(f"{reason} at {at}")

    def __reduce__(self) -> tuple[type[Unparsed], tuple[str, int]]:
        return type(self), (self.reason, self.at)


def words_of(text: str) -> frozenset[str]:
    """A set of words that is written as running text."""
    return frozenset(text.split())
