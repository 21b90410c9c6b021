"""What sentences are like, one beside the other: their types, lengths, first letters,
alliteration.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from itertools import accumulate, groupby, pairwise
from typing import ClassVar

from attrs import field, frozen

from rlenv_plugin_constraints.constraint import Finding, positive
from rlenv_plugin_constraints.text import Text, base

__all__ = [
    "EqualSentences",
    "GrowingAlliteration",
    "GrowingSentences",
    "SentenceAlphabet",
    "SentenceTypes",
]

_RUN = re.compile(r"([a-z])\1+")
_CLOSERS = "\"'”’»)]}*_`"
_QUESTION = "?？؟"
_SHOUT = "!！‽"


def kind_of(sentence: str) -> str:
    """ "question", "exclamation", "statement", or "" for what no mark ends."""
    bare = ""
    end = sentence
    while bare != end:
        bare = end
        end = bare.rstrip().rstrip(_CLOSERS)
    end = end[-2:]
    marks = set(end) if all(c in _QUESTION + _SHOUT for c in end) else set(end[-1:])
    if marks & set(_QUESTION):
        return "question"
    if marks & set(_SHOUT):
        return "exclamation"
    return "statement" if end.endswith((".", "。", "…", "।")) else ""


@frozen
class SentenceTypes:
    """Two statements for each question.

    Or, where ``equal``, as many statements as questions as exclamations.
    """

    kind: ClassVar[str] = "sentence_types"
    equal: bool = False

    def check(self, text: Text) -> Finding:
        counts = Counter(kind_of(text.raw[a:b]) for a, b in text.sentences)
        stated, asked, cried = (counts[k] for k in ("statement", "question", "exclamation"))
        measured = {"statements": stated, "questions": asked, "exclamations": cried}
        if self.equal:
            return Finding(stated == asked == cried > 0, measured, "as many of each")
        return Finding(stated == 2 * asked > 0, measured, "two statements for each question")


@frozen
class EqualSentences:
    """Exactly ``n`` sentences of equally many characters; no word is in them twice."""

    kind: ClassVar[str] = "equal_sentences"
    n: int = field(default=3, validator=positive)

    def check(self, text: Text) -> Finding:
        lengths = [b - a for a, b in text.sentences]
        words = Counter(text.even_words)
        twice = [word for word, count in words.items() if count > 1]
        fits = len(lengths) == self.n and len(set(lengths)) == 1 and not twice
        note = f"twice: {', '.join(twice)}"[:200] if twice else ""
        return Finding(fits, lengths, {"sentences": self.n}, text.sentences[:100], note)


@frozen
class GrowingSentences:
    """Each sentence has exactly ``n`` words more than the one before; there are two at least."""

    kind: ClassVar[str] = "growing_sentences"
    n: int

    def check(self, text: Text) -> Finding:
        counts = list(map(len, text.sentence_words))
        wrong = [i for i, (a, b) in enumerate(pairwise(counts), 1) if b != a + self.n]
        spans = [text.sentences[i] for i in wrong[:100]]
        return Finding(len(counts) > 1 and not wrong, counts[:100], {"more": self.n}, spans)


@frozen
class GrowingAlliteration:
    """The longest run of words with one first letter grows from each sentence to the next."""

    kind: ClassVar[str] = "growing_alliteration"

    def check(self, text: Text) -> Finding:
        runs = _longest_runs(text.sentence_words)
        wrong = [i for i, (a, b) in enumerate(pairwise(runs), 1) if b <= a]
        spans = [text.sentences[i] for i in wrong[:100]]
        fits = len(runs) > 1 and not wrong
        return Finding(fits, runs[:100], "longer each time", spans)


def _longest_runs(sentences: list[list[str]]) -> list[int]:
    """Of each sentence, how many words in a row begin with one letter at most."""
    initials = ["".join([word[0] for word in words]) for words in sentences]
    if not all(map(str.isascii, initials)):
        return list(map(_longest, initials))
    longest = [min(1, len(words)) for words in sentences]
    ends = list(accumulate(len(letters) + 1 for letters in initials))
    for run in _RUN.finditer("\n".join(initials).lower()):
        sentence = bisect_right(ends, run.start())
        longest[sentence] = max(longest[sentence], run.end() - run.start())
    return longest


def _longest(initials: str) -> int:
    letters = [base(initial)[:1] for initial in initials]
    runs = ((letter, len(list(run))) for letter, run in groupby(letters))
    return max((length if letter.isalpha() else 1 for letter, length in runs), default=0)


@frozen
class SentenceAlphabet:
    """26 sentences, the first words of which begin with A to Z in order."""

    kind: ClassVar[str] = "sentence_alphabet"

    def check(self, text: Text) -> Finding:
        letters = [base(words[0])[:1] if words else "" for words in text.sentence_words]
        right = [chr(97 + place) for place in range(26)]
        wrong = [i for i, (a, b) in enumerate(zip(letters, right, strict=False)) if a != b]
        spans = [text.sentences[i] for i in wrong]
        return Finding(letters == right, "".join(letters)[:100], "".join(right), spans)
