"""Which word is where: first, last, in one sentence, at every nth place."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import ClassVar, Literal

from attrs import field, frozen
from rlenv.authoring import Safe

from rlenv_plugin_constraints.constraint import Finding, positive
from rlenv_plugin_constraints.kinds.keywords import Contains
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.unmet import unmet
from rlenv_plugin_constraints.verbs import begins_with_verb, is_verb, tagger
from rlenv_plugin_constraints.views import Span
from rlenv_plugin_constraints.words import spans_of

__all__ = [
    "ChainedSentences",
    "FramedParagraphs",
    "JapaneseWords",
    "KeywordInSentence",
    "SecondWords",
    "StartsWithVerb",
]

_JAPANESE = re.compile(
    "[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f]"
)


def even(word: str) -> str:
    return word.casefold().replace("’", "'")


def _stem(word: str) -> str:
    """Without the possessive: "Paris's" is "Paris"."""
    return even(word).removesuffix("'s")


@frozen
class KeywordInSentence:
    """``word`` is in sentence number ``sentence``.

    Where ``place`` is given, it is the word of this number there.
    """

    kind: ClassVar[str] = "keyword_in_sentence"
    word: Safe[str]
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
        count = len(text.sentence_words[self.sentence - 1])
        if count < self.place:
            return unmet(count, wanted, [(start, end)], "the sentence is too short")
        before = sum(map(len, text.sentence_words[: self.sentence - 1]))
        ((a, b),) = text.spans_of([before + self.place - 1])
        fits = even(self.word) in (even(text.raw[a:b]), _stem(text.raw[a:b]))
        return Finding(fits, text.raw[a:b], wanted, [(a, b)])


@frozen
class SecondWords:
    """The second word and the last but one are both ``word``."""

    kind: ClassVar[str] = "second_words"
    word: Safe[str]

    def check(self, text: Text) -> Finding:
        if len(text.words) < 3:
            return unmet(len(text.words), self.word, note="there are fewer than three words")
        places = text.spans_of([1, len(text.words) - 2])
        words = [text.words[1], text.words[-2]]
        return Finding(all(even(w) == even(self.word) for w in words), words, self.word, places)


@frozen
class ChainedSentences:
    """The last word of each sentence is the first of the next; there are two sentences at least."""

    kind: ClassVar[str] = "chained_sentences"

    def check(self, text: Text) -> Finding:
        words = text.sentence_words
        wrong = [
            place
            for place, (here, after) in enumerate(pairwise(words))
            if even(here[-1]) != even(after[0])
        ]
        spans = [span for place in wrong[:50] for span in self._link(text, place)]
        note = "" if len(words) > 1 else "there are not two sentences"
        return Finding(len(words) > 1 and not wrong, len(wrong), {"max": 0}, spans, note)

    def _link(self, text: Text, place: int) -> list[Span]:
        """Where the last word of a sentence stands and the first of the next."""
        (start, end), (after, _) = text.sentences[place : place + 2]
        last = text.sentence_words[place][-1]
        first = text.sentence_words[place + 1][0]
        a = text.raw.rfind(last, start, end)
        b = text.raw.find(first, after)
        return [(a, a + len(last)), (b, b + len(first))]


@frozen
class FramedParagraphs:
    """Each line of text ends with the word it began with, and has more than that word."""

    kind: ClassVar[str] = "framed_paragraphs"

    def check(self, text: Text) -> Finding:
        spans = []
        count = 0
        for start, end in text.line_spans:
            words = text.words_within(start, end)
            if not words:
                continue
            count += 1
            if len(words) < 2 or even(words[0]) != even(words[-1]):
                spans.append((start, end))
        return Finding(count > 0 and not spans, len(spans), {"max": 0}, spans[:100])


@frozen
class JapaneseWords:
    """Every ``n``-th word, as spaces part them, is written in Japanese.

    There are ``n`` words at least.
    """

    kind: ClassVar[str] = "japanese_words"
    n: int = field(validator=positive)

    def check(self, text: Text) -> Finding:
        pieces = text.raw.split()
        chunks = [
            place
            for place, chunk in enumerate(pieces)
            if chunk[0].isalnum() or any(map(str.isalnum, chunk))
        ]
        every = chunks[self.n - 1 :: self.n]
        odd = {chunk for chunk in {pieces[place] for place in every} if not _japanese(chunk)}
        places = [place for place in every if pieces[place] in odd]
        wrong = spans_of(text.raw, pieces, places[:100])
        if not every and chunks and all(_japanese(pieces[place]) for place in chunks):
            return Finding(
                satisfied=True,
                measured=len(chunks),
                wanted={"every": self.n},
                note="all of it is Japanese",
            )
        note = "" if every else f"there are fewer than {self.n} words"
        return Finding(bool(every) and not places, len(places), {"every": self.n}, wrong, note)


def _japanese(chunk: str) -> bool:
    if chunk.isascii():
        return False
    letters = [letter for letter in chunk if letter.isalpha()]
    return bool(letters) and all(_JAPANESE.match(letter) for letter in letters)


@frozen
class StartsWithVerb:
    """The first word is a verb of English.

    Args:
        by: "tagger", with the extra ``tagger`` (TextBlob), or "list", by a list of verbs and the
            word that follows, which takes more nouns for verbs ("Plans change").
    """

    kind: ClassVar[str] = "starts_with_verb"
    by: Literal["tagger", "list"] = "tagger"

    def __attrs_post_init__(self) -> None:
        if self.by == "tagger":
            tagger()

    def check(self, text: Text) -> Finding:
        first = text.first_words(2)
        if not first:
            return unmet("", "a verb")
        (word, span) = first[0]
        follow = first[1][0] if len(first) > 1 else ""
        if self.by == "list":
            fits = is_verb(even(word), even(follow))
        else:
            fits = begins_with_verb(text.raw[span[0] :], even(word), even(follow))
        return Finding(fits, word, "a verb", [span])
