"""A response as constraints look at it: words, lines, paragraphs and sentences, each found once."""

from __future__ import annotations

import re
import unicodedata
from functools import cached_property

from .sentences import sentences

__all__ = ["Text"]

# Letters, marks and digits; apostrophes and hyphens only between them.
_WORD = re.compile(r"[^\W_]+(?:['’\-‐‑][^\W_]+)*")
_BLANK = re.compile(r"\n[^\S\n]*\n\s*")
_INVISIBLE = {0x00AD: None, 0x034F: None, 0x061C: None, 0x115F: None, 0x1160: None, 0x17B4: None, 0x17B5: None, 0x180E: None, 0x3164: None, 0xFEFF: None, 0xFFA0: None}  # fmt: skip
_INVISIBLE |= dict.fromkeys(
    [*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070)]
)
_INVISIBLE |= dict.fromkeys(
    [*range(0xFE00, 0xFE10), *range(0xE0000, 0xE0080), *range(0xE0100, 0xE01F0)]
)
_LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕһԁԛԝӏьАВЕКМНОРСТУХІЈЅԌԚԜαβγεικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɑɡʟꞌ՛",
    "aeopcyxijshdqwlbABEKMHOPCTYXIJSGQWaBgeiknopruxABEZHIKMNOPTYXiagL''",
)


class Text:
    """One response and, where it matters, the prompt.  Offsets are those of ``raw``."""

    def __init__(self, raw: str, prompt: str = "") -> None:
        self.raw = raw
        self.prompt = prompt

    @cached_property
    def word_spans(self) -> list[tuple[int, int]]:
        return [found.span() for found in _WORD.finditer(self.raw)]

    @cached_property
    def words(self) -> list[str]:
        """The words as written; a hyphenated or contracted word is one."""
        return _WORD.findall(self.raw)

    @cached_property
    def lower_words(self) -> list[str]:
        return [word.casefold() for word in self.words]

    @cached_property
    def lines(self) -> list[str]:
        return self.raw.splitlines()

    @cached_property
    def paragraphs(self) -> list[str]:
        """The blocks between blank lines, none of them blank."""
        return [block for block in _BLANK.split(self.raw.strip()) if block.strip()]

    @cached_property
    def sentences(self) -> list[tuple[int, int]]:
        """Where each sentence begins and ends."""
        return sentences(self.raw)

    @cached_property
    def plain(self) -> str:
        """As a reader sees it: compatibility forms composed, invisible characters gone.  Other offsets."""
        if self.raw.isascii():
            return self.raw
        return unicodedata.normalize("NFKC", self.raw).translate(_INVISIBLE)

    @cached_property
    def skeleton(self) -> str:
        """``plain``, caseless, with look-alikes of Latin letters as these: for words that must not be there."""
        if self.raw.isascii():
            return self.raw.lower()
        decomposed = unicodedata.normalize("NFD", self.plain.translate(_LOOK_ALIKES).casefold())
        return unicodedata.normalize("NFC", decomposed)

    @cached_property
    def skeleton_words(self) -> list[str]:
        return _WORD.findall(self.skeleton)

    @property
    def blank(self) -> bool:
        """Whether there is neither letter nor digit."""
        return not self.words
