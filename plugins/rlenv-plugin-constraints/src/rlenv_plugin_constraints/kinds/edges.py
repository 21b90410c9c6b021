"""How a response begins and ends: phrases, quotation marks, a postscript, a first word, the request
itself.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

from attrs import field, frozen
from rlenv import ConfigError
from rlenv.authoring import Safe

from rlenv_plugin_constraints.constraint import Finding, positive, shown
from rlenv_plugin_constraints.lazy import lazy
from rlenv_plugin_constraints.phrases import Phrase, joins
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.unmet import unmet
from rlenv_plugin_constraints.views import View, even, letters, plain, visible

__all__ = ["EndsWith", "FirstWord", "Postscript", "Quoted", "RepeatsPrompt", "StartsWith"]

_PAIRS = {
    '"': '"',
    "“": "”",
    "„": "“”",
    "«": "»",
    "»": "«",
    "‟": "”",
    "”": "”",
    "＂": "＂",
    "「": "」",
    "『": "』",
}
_SPACE = re.compile(r"\s+")
_ANOTHER = re.compile(r"[\s>*_#(\"“]*(?:P\.?[ \t]?)+S\b", re.IGNORECASE)
_WRAPPERS = " \t\r\n\"'“”‘’«»*_`()[]#>"


@frozen(slots=False)
class StartsWith:
    """The first thing is ``text``, whole words of it, in this letter case unless ``case`` is false.

    The width of spaces does not matter.
    """

    kind: ClassVar[str] = "starts_with"
    text: Safe[str] = field(validator=shown)
    case: bool = True

    def markers(self) -> tuple[str, ...]:
        return (self.text,)

    def check(self, text: Text) -> Finding:
        view = text.caseless_view
        start = len(view.text) - len(view.text.lstrip())
        places = Phrase(self.text).find(View(view.text[: start + _room(self.text)]), 1)
        fits = bool(places) and not view.text[: places[0][0]].strip(_WRAPPERS)
        spans = [view.span(*places[0])] if fits else []
        if fits and self.case and letters(text.raw[slice(*spans[0])]) != letters(self.text):
            return unmet(text.raw[slice(*spans[0])], self.text, spans, "in another letter case")
        return Finding(fits, text.raw.strip()[: len(self.text)], self.text, spans)


def _room(phrase: str) -> int:
    return 2 * len(phrase) + 64


@frozen(slots=False)
class EndsWith:
    """The last thing is ``text``, whole, in this letter case unless ``case`` is false.

    There are no words behind it, quotation marks around the response aside.
    """

    kind: ClassVar[str] = "ends_with"
    text: Safe[str] = field(validator=shown)
    case: bool = True

    @lazy
    def _wanted(self) -> str:
        return even(self.text)

    def markers(self) -> tuple[str, ...]:
        return (self.text,)

    def check(self, text: Text) -> Finding:
        end = text.raw.rstrip()
        tail = end[-_room(self.text) :]
        fits = any(self._closes(form) for form in (even(tail), even(tail).rstrip(_WRAPPERS)))
        spans = [(max(0, len(end) - len(self.text)), len(end))] if fits else []
        if fits and self.case and not letters(tail).endswith(letters(self.text)):
            return unmet(end[-len(self.text) :], self.text, spans, "in another letter case")
        return Finding(fits, end[-len(self.text) :], self.text, spans)

    def _closes(self, tail: str) -> bool:
        if not tail.endswith(self._wanted):
            return False
        before = tail[: len(tail) - len(self._wanted)][-1:]
        return not (before and joins(before) and joins(self._wanted[0]))


@frozen(slots=False)
class Quoted:
    """All of it is between double quotation marks, straight, curly or of another language.

    There is something in between, and none of the same pair that closes early.
    """

    kind: ClassVar[str] = "quoted"

    def check(self, text: Text) -> Finding:
        body = visible(text.raw).strip()
        edges = [body[:1], body[-1:]]
        note = ""
        if len(body) < 2 or edges[1] not in (_PAIRS.get(edges[0]) or "-"):
            note = "it does not begin and end with quotation marks of one pair"
        elif not any(map(str.isalnum, body)):
            note = "nothing is quoted"
        elif _closes_early(body[1:-1], *edges):
            note = "the first quotation ends before the response does"
        return Finding(not note, edges, "quotation marks around all", (), note)


def _closes_early(inner: str, opens: str, closes: str) -> bool:
    """Whether the first mark is closed within: ``"Yes" and "no"`` is two quotations."""
    if opens == closes:
        inner = _SPACE.sub(" ", inner).replace('\\"', "")
        marks = [at for at, letter in enumerate(inner) if letter == opens]
        return bool(marks) and len(marks) % 2 == 0 and _a_closing(inner, marks[0])
    depth = 1
    for letter in inner:
        depth += (letter == opens) - (letter == closes)
        if depth == 0:
            return True
    return False


def _a_closing(inner: str, at: int) -> bool:
    """A mark behind a letter or a stop, with none of these right after it, closes."""
    before = inner[at - 1 : at]
    after = inner[at + 1 : at + 2]
    return bool(before.strip()) and not after.isalnum()


@frozen(slots=False)
class Postscript:
    """A line that begins with ``marker`` and goes on; "P.S." and "P.P.S" are two markers.

    It is last: behind its paragraph there is none but another postscript, and the end phrase of
    ``then``.
    """

    kind: ClassVar[str] = "postscript"
    marker: Safe[str] = field(default="P.S.", validator=shown)
    then: Safe[str] = ""

    @lazy
    def _line(self) -> re.Pattern[str]:
        letters = [c for c in plain(self.marker).text if c.isalnum()]
        if letters and all(c.upper() in "PS" for c in letters):
            spelled = r"\.?[ \t]?".join(map(re.escape, letters)) + r"\.?(?![^\W_])"
        else:
            spelled = re.escape(plain(self.marker).text.strip()) + r"(?![^\W_])"
        opens = r"(?:^|(?<=[.!?][ \t]))[ \t>*_#(\"“]*"
        return re.compile(f"{opens}({spelled})", re.M | re.I)

    def markers(self) -> tuple[str, ...]:
        return (self.marker,)

    def check(self, text: Text) -> Finding:
        view = text.plain_view
        every = list(self._line.finditer(view.text))
        if not every:
            return Finding(satisfied=False, measured=0, wanted=self.marker, note="there is none")
        found = every[-1]
        own, *others = Text(view.text[found.end() :]).paragraphs or [""]
        note = "" if any(map(str.isalnum, own)) else "nothing follows it"
        if not any(map(str.isalnum, view.text[: every[0].start()])):
            note = "nothing is before it"
        last = even(self.then)
        if any(
            _ANOTHER.match(part) is None and even(part) != last
            for part in others
            if Text(part).words
        ):
            note = "it is not last"
        return Finding(not note, found.group(1), self.marker, [view.span(*found.span(1))], note)


@frozen(slots=False)
class FirstWord:
    """The first word of a paragraph, counted from 1, is ``word``.

    With ``paragraphs``, there are exactly so many.
    """

    kind: ClassVar[str] = "first_word"
    word: Safe[str] = field(validator=shown)
    paragraph: int = field(default=1, validator=positive)
    paragraphs: int | None = None

    def __attrs_post_init__(self) -> None:
        if self.paragraphs is not None and self.paragraphs < self.paragraph:
            raise ConfigError(
                f"paragraph {self.paragraph} of {self.paragraphs}: no response can satisfy that"
            )

    def markers(self) -> tuple[str, ...]:
        return (self.word,)

    def check(self, text: Text) -> Finding:
        blocks = text.paragraph_spans
        wanted: dict[str, Any] = {"word": self.word, "paragraph": self.paragraph}
        if self.paragraphs is not None:
            wanted["paragraphs"] = self.paragraphs
        if len(blocks) < self.paragraph:
            note = f"there are {len(blocks)} paragraphs"
            return Finding(satisfied=False, wanted=wanted, note=note)
        start, end = blocks[self.paragraph - 1]
        block = text.raw[start:end]
        first = Text(block[:1000])
        word = first.words[0] if first.words else ""
        seen = first.caseless_view
        places = Phrase(self.word).find(seen, 1)
        fits = bool(places) and not any(map(str.isalnum, seen.text[: places[0][0]]))
        right = self.paragraphs is None or len(blocks) == self.paragraphs
        at = first.word_spans[0] if first.word_spans else (0, 0)
        note = "" if right else f"there are {len(blocks)} paragraphs"
        return Finding(fits and right, word, wanted, [(start + at[0], start + at[1])], note)


@frozen(slots=False)
class RepeatsPrompt:
    """It begins with ``prompt`` (where empty: the task's), word for word, and an answer follows."""

    kind: ClassVar[str] = "repeats_prompt"
    prompt: Safe[str] = ""

    def check(self, text: Text) -> Finding:
        wanted = [word.strip(_WRAPPERS) for word in even(self.prompt or text.prompt).split()]
        if not any(wanted):
            note = "there is no prompt to repeat"
            return Finding(satisfied=False, wanted="the prompt", note=note)
        given = even(text.raw).split()
        head = [word.strip(_WRAPPERS) for word in given[: len(wanted)]]
        same = next(
            (n for n, (a, b) in enumerate(zip(wanted, head, strict=False)) if a != b), len(head)
        )
        if same < len(wanted):
            note = f"{same} of {len(wanted)} words"
            return Finding(satisfied=False, measured=same, wanted={"words": len(wanted)}, note=note)
        answer = sum(any(map(str.isalnum, word)) for word in given[len(wanted) :])
        note = "" if answer else "no answer follows"
        return Finding(
            answer > 0, {"words": same, "answer": answer}, {"words": len(wanted)}, note=note
        )
