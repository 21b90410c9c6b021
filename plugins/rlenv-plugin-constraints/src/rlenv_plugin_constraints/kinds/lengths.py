"""How long a response is: words, sentences, paragraphs, lines, characters."""

from __future__ import annotations

from typing import ClassVar

from attrs import evolve, field, frozen
from rlenv.authoring import Safe

from rlenv_plugin_constraints.constraint import Finding, Range, positive
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.views import visible

__all__ = [
    "Characters",
    "Lines",
    "MaxWords",
    "MinWords",
    "Paragraphs",
    "Sentences",
    "Words",
]


@frozen
class Words(Range):
    """Words: letters and digits; a hyphenated or contracted word is one."""

    kind: ClassVar[str] = "words"

    def check(self, text: Text) -> Finding:
        return self.found(len(text.words))


@frozen
class MaxWords:
    """At most ``n`` words."""

    kind: ClassVar[str] = "max_words"
    n: int = field(validator=positive)

    def check(self, text: Text) -> Finding:
        count = len(text.words)
        over = count > self.n
        ends = text.spans_of([self.n, count - 1]) if over else []
        marked = [(ends[0][0], ends[1][1])] if over else []
        return Finding(not over, count, {"max": self.n}, marked)


@frozen
class MinWords:
    """At least ``n`` words."""

    kind: ClassVar[str] = "min_words"
    n: int = field(validator=positive)

    def check(self, text: Text) -> Finding:
        return Range(self.n).found(len(text.words))


@frozen
class Sentences(Range):
    """Sentences, told by their punctuation; abbreviations, decimals and initials end none."""

    kind: ClassVar[str] = "sentences"

    def check(self, text: Text) -> Finding:
        return self.found(len(text.sentences))


@frozen
class Paragraphs(Range):
    """Blocks of text between blank lines, none of them empty.

    With ``separator``, between lines that hold only that.
    """

    kind: ClassVar[str] = "paragraphs"
    separator: Safe[str] = ""

    def check(self, text: Text) -> Finding:
        if not self.separator:
            return self.found(len(text.paragraphs))
        blocks = [False]
        for line in text.lines:
            if line.strip() == self.separator:
                blocks.append(False)
            elif any(map(str.isalnum, line)):
                blocks[-1] = True
        found = self.found(sum(blocks))
        if all(blocks):
            return found
        return evolve(found, satisfied=False, note="a paragraph is empty")


@frozen
class Lines(Range):
    """Lines that are not blank."""

    kind: ClassVar[str] = "lines"

    def check(self, text: Text) -> Finding:
        return self.found(sum(bool(line.strip()) for line in text.lines))


@frozen
class Characters(Range):
    """Characters (code points) that can be seen, spaces at both ends left out."""

    kind: ClassVar[str] = "characters"

    def check(self, text: Text) -> Finding:
        return self.found(len(visible(text.raw).strip()))
