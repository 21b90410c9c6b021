"""A response as constraints look at it: words, lines, paragraphs and sentences, each found once."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any

from .sentences import sentences
from .views import Span, View, caseless, look_alikes, plain

__all__ = ["Text"]

_BLANK = re.compile(r"\n[^\S\n]*\n\s*")
# The first branch is all that most words need.
_ASCII_WORD = re.compile(
    r"[A-Za-z0-9]++(?!['\-_&.,:][A-Za-z0-9])"
    r"|(?:[A-Za-z]\.){2,}"
    r"|[A-Za-z0-9]++(?:['\-_&][A-Za-z0-9]++|(?<=[0-9])[.,:][0-9][A-Za-z0-9]*+){0,4}"
)


@lru_cache(maxsize=1)
def _word() -> Any:
    import regex  # type: ignore[import-untyped]

    unspaced = r"[\p{Han}\p{Hiragana}\p{Katakana}]"
    letter = rf"[\p{{L}}\p{{N}}--{unspaced}]"
    run = rf"{letter}[\p{{L}}\p{{M}}\p{{N}}\p{{Cf}}--{unspaced}]*+"
    return regex.compile(
        rf"(?:[A-Za-z]\.){{2,}}|{unspaced}[\p{{M}}\u30FC]*+"
        rf"|{run}(?:['’‘\-‐‑_&]{run}|(?<=\p{{N}})[.,:٫٬](?=\p{{N}}){run}){{0,4}}",
        regex.V1,
    )


class Text:
    """One response and, where it matters, the prompt.  Offsets are those of ``raw``.

    A *word* is a run of letters, marks and digits; hyphens, apostrophes and the points of numbers join up
    to five of them.  Scripts that write no spaces count a word per character (Han, kana).
    A *line* ends where Python's ``splitlines`` says.  A *paragraph* is what stands between blank lines.
    """

    def __init__(self, raw: str, prompt: str = "") -> None:
        self.raw = raw
        self.prompt = prompt

    @property
    def _pattern(self) -> Any:
        return _ASCII_WORD if self.raw.isascii() else _word()

    @cached_property
    def word_spans(self) -> list[Span]:
        return [found.span() for found in self._pattern.finditer(self.raw)]

    @cached_property
    def words(self) -> list[str]:
        """The words as written; a hyphenated or contracted word is one."""
        found: list[str] = self._pattern.findall(self.raw)
        return found

    def spans_of(self, wanted: Callable[[str], bool], limit: int) -> list[Span]:
        """Where the first ``limit`` words stand of which this holds."""
        found = (
            match.span() for match in self._pattern.finditer(self.raw) if wanted(match.group())
        )
        return list(islice(found, limit))

    @cached_property
    def lower_words(self) -> list[str]:
        return [word.casefold() for word in self.words]

    @cached_property
    def lines(self) -> list[str]:
        return self.raw.splitlines()

    @cached_property
    def line_spans(self) -> list[Span]:
        """Where each line begins and ends, its line break left out."""
        spans, at = [], 0
        for line in self.raw.splitlines(keepends=True):
            spans.append((at, at + len(line.splitlines()[0])))
            at += len(line)
        return spans

    @cached_property
    def paragraphs(self) -> list[str]:
        """The blocks between blank lines, none of them blank."""
        return [self.raw[start:end] for start, end in self.paragraph_spans]

    @cached_property
    def paragraph_spans(self) -> list[Span]:
        """Where each paragraph begins and ends."""
        text = self.raw.replace("\r\n", " \n").replace("\r", "\n")  # of one length
        start, spans = 0, []
        for cut in [*_BLANK.finditer(text), None]:
            end = len(text) if cut is None else cut.start()
            block = text[start:end]
            if block.strip():
                spans.append(
                    (start + len(block) - len(block.lstrip()), start + len(block.rstrip()))
                )
            start = end if cut is None else cut.end()
        return spans

    @cached_property
    def sentences(self) -> list[Span]:
        """Where each sentence begins and ends."""
        return sentences(self.raw)

    @cached_property
    def plain_view(self) -> View:
        """As a reader sees it: compatibility forms composed (NFKC), invisible characters gone."""
        return plain(self.raw)

    @cached_property
    def caseless_view(self) -> View:
        """``plain_view`` without case, with one form of every quotation mark and hyphen."""
        return caseless(self.plain_view)

    @cached_property
    def skeleton_view(self) -> View:
        """``caseless_view`` with look-alikes of Latin letters as these: for words that must not be there."""
        return look_alikes(self.caseless_view)

    @property
    def plain(self) -> str:
        return self.plain_view.text

    @property
    def skeleton(self) -> str:
        return self.skeleton_view.text

    @property
    def blank(self) -> bool:
        """Whether there is neither letter nor digit."""
        return self._pattern.search(self.raw) is None
