"""Which word stands where: first, last, in one sentence, at every nth place."""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import pairwise
from typing import ClassVar

from attrs import field, frozen

from rlenv_plugin_constraints.constraint import Finding, positive
from rlenv_plugin_constraints.kinds.keywords import Contains
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.unmet import unmet
from rlenv_plugin_constraints.verbs import is_verb
from rlenv_plugin_constraints.views import Span

__all__ = [
    "ChainedSentences",
    "FramedParagraphs",
    "JapaneseWords",
    "KeywordInSentence",
    "SecondWords",
    "StartsWithVerb",
    "words_between",
]

_JAPANESE = re.compile(
    "[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f]"
)
_CHUNK = re.compile(r"\S+")


def words_between(text: Text, start: int, end: int) -> list[Span]:
    """The words that begin within a part of the response, as spans."""
    spans = text.word_spans
    return spans[bisect_left(spans, (start, 0)) : bisect_left(spans, (end, 0))]


def even(word: str) -> str:
    return word.casefold().replace("’", "'")


def _stem(word: str) -> str:
    """Without the possessive: "Paris's" is "Paris"."""
    return even(word).removesuffix("'s")


@frozen
class KeywordInSentence:
    """``word`` stands in sentence number ``sentence``, as its word number ``place`` where that is given."""

    kind: ClassVar[str] = "keyword_in_sentence"
    word: str
    sentence: int = field(validator=positive)
    place: int = 0

    def check(self, text: Text) -> Finding:
        wanted = {"word": self.word, "sentence": self.sentence}
        if self.place:
            wanted["place"] = self.place
        if len(text.sentences) < self.sentence:
            return unmet(len(text.sentences), wanted, note="too few sentences")
        start, end = text.sentences[self.sentence - 1]
        if not self.place:
            found = Contains((self.word,)).check(Text(text.raw[start:end]))
            spans = [(start + a, start + b) for a, b in found.spans]
            return Finding(found.satisfied, found.measured, wanted, spans or [(start, end)])
        words = words_between(text, start, end)
        if len(words) < self.place:
            return unmet(len(words), wanted, [(start, end)], "the sentence is too short")
        a, b = words[self.place - 1]
        fits = even(self.word) in (even(text.raw[a:b]), _stem(text.raw[a:b]))
        return Finding(fits, text.raw[a:b], wanted, [(a, b)])


@frozen
class SecondWords:
    """The second word and the last but one are both ``word``."""

    kind: ClassVar[str] = "second_words"
    word: str

    def check(self, text: Text) -> Finding:
        if len(text.words) < 3:
            return unmet(len(text.words), self.word, note="there are fewer than three words")
        places = [text.word_spans[1], text.word_spans[-2]]
        words = [text.raw[a:b] for a, b in places]
        return Finding(all(even(w) == even(self.word) for w in words), words, self.word, places)


@frozen
class ChainedSentences:
    """The last word of each sentence is the first of the next; there are two sentences at least."""

    kind: ClassVar[str] = "chained_sentences"

    def check(self, text: Text) -> Finding:
        ends = [words_between(text, *span) for span in text.sentences]
        spans = []
        for here, after in pairwise(ends):
            (a, b), (c, d) = here[-1], after[0]
            if even(text.raw[a:b]) != even(text.raw[c:d]):
                spans += [(a, b), (c, d)]
        note = "" if len(ends) > 1 else "there are not two sentences"
        return Finding(len(ends) > 1 and not spans, len(spans) // 2, {"max": 0}, spans[:100], note)


@frozen
class FramedParagraphs:
    """Each line of text ends with the word it began with, and has more than that word."""

    kind: ClassVar[str] = "framed_paragraphs"

    def check(self, text: Text) -> Finding:
        spans, count = [], 0
        for start, end in text.line_spans:
            words = words_between(text, start, end)
            if not words:
                continue
            count += 1
            first, last = (even(text.raw[a:b]) for a, b in (words[0], words[-1]))
            if len(words) < 2 or first != last:
                spans.append((start, end))
        return Finding(count > 0 and not spans, len(spans), {"max": 0}, spans[:100])


@frozen
class JapaneseWords:
    """Every ``n``-th word, as spaces part them, is written in Japanese; there are ``n`` words at least."""

    kind: ClassVar[str] = "japanese_words"
    n: int = field(validator=positive)

    def check(self, text: Text) -> Finding:
        chunks = [
            f
            for f in _CHUNK.finditer(text.raw)
            if f.group()[0].isalnum() or any(map(str.isalnum, f.group()))
        ]
        every = chunks[self.n - 1 :: self.n]
        wrong = [found.span() for found in every if not _japanese(found.group())]
        if not every and chunks and all(_japanese(found.group()) for found in chunks):
            return Finding(
                satisfied=True,
                measured=len(chunks),
                wanted={"every": self.n},
                note="all of it is Japanese",
            )
        note = "" if every else f"there are fewer than {self.n} words"
        return Finding(bool(every) and not wrong, len(wrong), {"every": self.n}, wrong[:100], note)


def _japanese(chunk: str) -> bool:
    letters = [letter for letter in chunk if letter.isalpha()]
    return bool(letters) and all(_JAPANESE.match(letter) for letter in letters)


@frozen
class StartsWithVerb:
    """The first word is a verb of English, by a list of verbs and what follows."""

    kind: ClassVar[str] = "starts_with_verb"

    def check(self, text: Text) -> Finding:
        if not text.words:
            return unmet("", "a verb")
        follow = text.lower_words[1] if len(text.words) > 1 else ""
        fits = is_verb(even(text.words[0]), even(follow))
        return Finding(fits, text.words[0], "a verb", [text.word_spans[0]])
