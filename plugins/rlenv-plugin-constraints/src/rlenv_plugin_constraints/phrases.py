"""Finding a word or a phrase as a reader would: whole words, and no pattern language."""

from __future__ import annotations

import re
import unicodedata

from attrs import field, frozen
from rlenv import ConfigError

from .views import Span, View, caseless, look_alikes, plain

__all__ = ["Phrase", "joins", "occurrences"]

_GAP = r"[*_~`]*\s+[*_~`]*"  # emphasis may begin or end between two words
_NOT = re.compile(r"'t(?![^\W_])")  # "can't" is another word than "can"


def joins(letter: str) -> bool:
    """Whether a letter, mark or digit makes one word with its neighbor.

    Scripts without spaces do not.
    """
    if letter.isascii():
        return letter.isalnum()
    return (letter.isalnum() or unicodedata.category(letter)[0] == "M") and not _unspaced(letter)


def _unspaced(letter: str) -> bool:
    """Thai, Lao, Burmese, Khmer, kana and Han write no spaces between words."""
    return (
        "\u0e00" <= letter <= "\u0eff"
        or "\u1000" <= letter <= "\u109f"
        or "\u1780" <= letter <= "\u17ff"
        or "\u3040" <= letter <= "\u30ff"
        or "\u3400" <= letter <= "\u9fff"
        or "\uf900" <= letter <= "\ufaff"
        or "\U00020000" <= letter <= "\U0003ffff"
    )


def _hangul(letter: str) -> bool:
    return "\uac00" <= letter <= "\ud7a3"


@frozen
class Phrase:
    """A word or phrase that is looked for.

    Args:
        text: as it was given.
        strict: look-alikes and decorations count as the letters they look like, and an underscore
            parts words: for what must not be there.
    """

    text: str
    strict: bool = False
    parts: re.Pattern[str] = field(init=False, repr=False, eq=False)
    first: str = field(init=False, repr=False, eq=False)
    last: str = field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        seen = caseless(plain(self.text))
        words = (look_alikes(seen) if self.strict else seen).text.split()
        if not words:
            raise ConfigError(f"a keyword has something that can be seen, not {self.text!r}")
        object.__setattr__(self, "parts", re.compile(_GAP.join(map(re.escape, words))))
        object.__setattr__(self, "first", words[0][0])
        object.__setattr__(self, "last", words[-1][-1])

    def find(self, view: View, limit: int = 10_000) -> list[Span]:
        """Where it is in a caseless view: spans of the view, none overlapping."""
        found: list[Span] = []
        at = 0
        text = view.text
        while len(found) < limit and (match := self.parts.search(text, at)) is not None:
            if self._alone(text, *match.span()):
                found.append(match.span())
                at = match.end()
            else:
                at = match.start() + 1
        return found

    def _alone(self, text: str, start: int, end: int) -> bool:
        return self._begins(text, start) and self._closes(text, end)

    def _begins(self, text: str, start: int) -> bool:
        if start == 0 or not joins(self.first):
            return True
        before = text[start - 1]
        if before == "_" and not self.strict:
            return start == 1 or not joins(text[start - 2])
        if before in ".," and self.first.isdigit():
            return start == 1 or not text[start - 2].isdigit()
        return not joins(before)

    def _closes(self, text: str, end: int) -> bool:
        if end == len(text) or not joins(self.last):
            return True
        after = text[end]
        if after == "_" and not self.strict:
            return end + 1 == len(text) or not joins(text[end + 1])
        if after in ".," and self.last.isdigit():
            return not text[end + 1 : end + 2].isdigit()
        if after == "'":
            return _NOT.match(text, end) is None
        return _hangul(self.last) or not joins(after)  # particles follow a Korean noun


def occurrences(view: View, wanted: Phrase) -> list[Span]:
    """Where a phrase stands, as spans of the response."""
    return [view.span(*found) for found in wanted.find(view)]
