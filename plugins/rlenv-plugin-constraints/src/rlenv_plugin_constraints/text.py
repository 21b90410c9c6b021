"""A response as constraints look at it: words, lines, paragraphs and sentences, each found once."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate, islice
from typing import Any

from rlenv_plugin_constraints.lazy import lazy

from .sentences import sentences
from .views import Span, View, beyond_ascii, caseless, look_alikes, plain, western
from .words import WORDS, pattern_of, spans_of

__all__ = ["Text", "base"]

_BLANK = re.compile(r"\n[^\S\n]*\n\s*")
_MARKS = re.compile("[\u0300-\u036f]")


def base(text: str) -> str:
    """Small letters without their marks: "É" is "e"."""
    text = text.casefold()
    if text.isascii():
        return text
    return _MARKS.sub("", unicodedata.normalize("NFKD", text))


def _apart(words: str) -> list[str]:
    return words.split("\n") if words else []


class Text:
    """One response and, where it matters, the prompt.  Offsets are those of ``raw``.

    A *word* is a run of letters, marks and digits; hyphens, apostrophes and the points of numbers
    join up to five of them.  Scripts that write no spaces count a word per character (Han, kana). A
    *line* ends where Python's ``splitlines`` says.  A *paragraph* is what is between blank lines.
    """

    def __init__(self, raw: str, prompt: str = "") -> None:
        self.raw = raw
        self.prompt = prompt

    @lazy
    def _pattern(self) -> Any:
        return pattern_of(self.raw)

    @lazy
    def odd(self) -> frozenset[str]:
        """Its characters beyond ASCII."""
        return beyond_ascii(self.raw)

    @lazy
    def _flat(self) -> str | None:
        return WORDS.flat(self.raw, self.odd)

    @lazy
    def words(self) -> list[str]:
        """The words as written; a hyphenated or contracted word is one."""
        return self.words_within(0, len(self.raw))

    @lazy
    def word_spans(self) -> list[Span]:
        return spans_of(self.raw, self.words, range(len(self.words)))

    def spans_of(self, places: Sequence[int]) -> list[Span]:
        """Where the words with these numbers, from 0, stand."""
        return spans_of(self.raw, self.words, places)

    def words_within(self, start: int, end: int) -> list[str]:
        """The words of a part that white space bounds."""
        if self._flat is not None:
            return self._flat[start:end].split()
        found: list[str] = self._pattern.findall(self.raw, start, end)
        return found

    @lazy
    def sentence_words(self) -> list[list[str]]:
        """The words that begin in each sentence."""
        if self._flat is not None or self.raw.isascii() or western(self.raw):
            return [self.words_within(*span) for span in self.sentences]
        starts = [start for start, _ in self.word_spans]  # no white space need be between
        places = [(bisect_left(starts, a), bisect_left(starts, b)) for a, b in self.sentences]
        return [self.words[first:last] for first, last in places]

    def first_words(self, count: int) -> list[tuple[str, Span]]:
        """The first words and where they stand; the rest is not read."""
        found = islice(self._pattern.finditer(self.raw), count)
        return [(match.group(), match.span()) for match in found]

    @lazy
    def lower_words(self) -> list[str]:
        """The words without case."""
        if self._flat is not None:
            return self._flat.casefold().split()
        return _apart("\n".join(self.words).casefold())

    @lazy
    def even_words(self) -> list[str]:
        """The words without case, apostrophes in one form."""
        if self.raw.isascii():
            return self.lower_words
        return _apart("\n".join(self.lower_words).replace("\u2019", "'"))

    @lazy
    def base_words(self) -> list[str]:
        """The words without case and without the marks of their letters: "É" is "e"."""
        if self.raw.isascii():
            return self.lower_words
        return _apart(base("\n".join(self.lower_words)))

    @lazy
    def lines(self) -> list[str]:
        return self.raw.splitlines()

    @lazy
    def line_spans(self) -> list[Span]:
        """Where each line begins and ends, its line break left out."""
        ends = accumulate(map(len, self.raw.splitlines(keepends=True)), initial=0)
        return [(start, start + len(line)) for start, line in zip(ends, self.lines, strict=False)]

    @lazy
    def paragraphs(self) -> list[str]:
        """The blocks between blank lines, none of them blank."""
        return [self.raw[start:end] for start, end in self.paragraph_spans]

    @lazy
    def paragraph_spans(self) -> list[Span]:
        """Where each paragraph begins and ends."""
        text = self.raw.replace("\r\n", " \n").replace("\r", "\n")  # of one length
        start = 0
        spans = []
        for cut in [*_BLANK.finditer(text), None]:
            end = len(text) if cut is None else cut.start()
            block = text[start:end]
            if block.strip():
                spans.append(
                    (start + len(block) - len(block.lstrip()), start + len(block.rstrip()))
                )
            start = end if cut is None else cut.end()
        return spans

    @lazy
    def sentences(self) -> list[Span]:
        """Where each sentence begins and ends."""
        return sentences(self.raw)

    @lazy
    def plain_view(self) -> View:
        """As a reader sees it: compatibility forms composed (NFKC), invisible characters gone."""
        return plain(self.raw, self.odd)

    @lazy
    def caseless_view(self) -> View:
        """``plain_view`` without case, with one form of every quotation mark and hyphen."""
        return caseless(self.plain_view)

    @lazy
    def skeleton_view(self) -> View:
        """``caseless_view`` with look-alikes of Latin letters as these: for words that must not be
        there.
        """
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
