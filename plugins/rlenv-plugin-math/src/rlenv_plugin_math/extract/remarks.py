"""What is said behind an explicit answer, in any language, that takes it back in words of its own:
"the real product is 418", "that number is made up", "the key is mistaken: I get 30".

The words are data, beside the packs; the text is read as it was written, since a pack need not
translate such words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from rlenv_plugin_math.held import frozen
from rlenv_plugin_math.languages import words_in

from .found import Claim, Extraction, found
from .phrasing import (
    ENDS,
    NUMBER,
    amounts,
    amounts_in_words,
    as_pattern,
    is_same,
    lists,
    needed,
    phrase_pattern,
)
from .uncommitted import (
    Around,
    drops_one,
    is_disclaimed,
    is_other_option,
    is_overtaken,
    names_another,
)

_FAR = 1_500  # characters behind an answer that are read
_NEAR = 160  # characters before an answer that can say whose it is
_SLOTS = frozenset({"boxed", "hash", "answer-tag", "json", "labeled", "statement"})
_MARKED = frozenset({"boxed", "answer-tag", "bold"})
_CLOSERS = " \n.$)}\\]*"
_number = re.compile(NUMBER)
_clauses = re.compile(r"[,;:，；：؛、·](?=\s|\Z)|[，；：؛、]|\s[—–]\s|[.!?](?=\s|\Z)|[\n。！？।۔]")
_goes_on = re.compile(r"\s*(?:[-+*/×·÷^]|\\(?:cdot|times))\s*[\d(a-z\\]")
_rejected = re.compile(r"\([^()\n]*\b(?:no,\s*-?\d|false|wrong|nope|incorrect)[^()\n]*\)")


@frozen
class _Answer:
    """An explicit answer: what is said before it and behind it, and its numbers."""

    line: str
    lead: str
    tail: str
    numbers: list[float]
    english: bool
    words: frozenset[bytes]

    def lacks(self, kind: str) -> bool:
        """Whether the tail, in English, has no word that a phrase of a kind needs."""
        return self.english and needed(kind).isdisjoint(self.words)

    def says(self, kind: str, text: str) -> re.Match[str] | None:
        """Where a text first has a phrase of a kind."""
        return phrase_pattern(kind, english=self.english).search(text)

    def rivals(self, kind: str, at: int = 0) -> Iterator[re.Match[str]]:
        """Where other values follow a phrase of a kind behind the answer."""
        if self.lacks(kind):
            return
        for mark in phrase_pattern(kind, english=self.english, after="value").finditer(
            self.tail, at
        ):
            if _is_rival(self.tail, mark, self.numbers):
                yield mark

    def is_aside(self, start: int, end: int) -> bool:
        """Whether the sentence around a part of the tail is about what others do wrong."""
        first, last = _sentence(self.tail, start, end)
        around = f"{self.tail[first:start]} \n {self.tail[end:last]}"
        return self.says("asides", around) is not None


def taken_back(text: str, extraction: Extraction, *, english: bool) -> bool:
    """Whether the words in the line of an explicit answer, behind it, or around it take it back.

    ``english`` says that the text holds no other language.
    """
    if extraction.span is None or len(extraction.answers) != 1:
        return False
    first, last = extraction.span
    if first == 0 and not text[last : last + 12].strip(_CLOSERS):
        return extraction.how in _SLOTS and _is_excepted(_answer(text, extraction, english=english))
    if extraction.how in _SLOTS or extraction.how == "bold":
        return _is_replaced(text, _answer(text, extraction, english=english), extraction)
    answer = _answer(text, extraction, english=english)
    return bool(answer.tail.strip(_CLOSERS)) and _is_disowned(answer)


def _answer(text: str, extraction: Extraction, *, english: bool) -> _Answer:
    assert extraction.span is not None
    first, last = extraction.span
    own = None if extraction.how in _MARKED else _number.search(text, first, last)
    at = own.end() if own else last
    whole = extraction.how in _MARKED
    tail = text[at : at + _FAR]
    return _Answer(
        line=text[first:last] if whole else _line(text, first, last),
        lead=ENDS.split(text[max(0, first - _NEAR) : first].rstrip(" \n$\\[(#*"))[-1],
        tail=tail,
        numbers=amounts(text[first:last]),
        english=english,
        words=frozenset(words_in(tail)) if english else frozenset(),
    )


def _is_replaced(text: str, answer: _Answer, extraction: Extraction) -> bool:
    """Whether the words around an explicit answer take it back or put another in its place."""
    if not answer.numbers:
        return is_other_option(extraction.answers[0], answer.tail)
    if _is_excepted(answer):
        return True
    assert extraction.span is not None
    first = extraction.span[0]
    around = Around(
        lead=answer.lead,
        tail=answer.tail,
        line=text[text.rfind("\n", max(0, first - _NEAR), first) + 1 : first],
        numbers=tuple(answer.numbers),
        spelled=frozenset(_number.findall(text, *extraction.span)),
        english=answer.english,
    )
    if extraction.how in _MARKED and answer.lead and is_disclaimed(around):
        return True
    if not answer.tail.strip(_CLOSERS):
        return False
    if _is_disowned(answer):
        return True
    if drops_one(extraction.answers[0], around.numbers, around.tail):
        return True
    if not names_another(around):
        return False
    return any(_names_right(answer)) or is_overtaken(around) or _disagrees(answer)


def labeled_in_any_words(text: str) -> Extraction | None:
    """The number, and at most a unit, behind a label that is a line of its own at the end of a
    text in a language without a pack: "Απάντηση: 3 ώρες".
    """
    offset = max(0, len(text) - _NEAR)
    last = _label().search(text, offset)
    if last is None or phrase_pattern("except", english=False).search(last[0]):
        return None
    return found(Claim(last["value"], *last.span("value"), "statement"))


@cache
def _label() -> re.Pattern[str]:
    words = "|".join(map(as_pattern, lists()["labels"]["xx"]))
    value = rf"(?P<value>{NUMBER})(?:[ *]+[^\W\d]+)?"
    return re.compile(
        rf"(?:\A|\n)[*_\s]*(?:{words})\s?[:：][*_\s]*{value}[*_.\s]*\Z",
        re.IGNORECASE,
    )


def _line(text: str, first: int, last: int) -> str:
    """The line around an answer, from the mark that announces it."""
    start = max(text.rfind("\n", 0, first) + 1, first - _NEAR)
    end = text.find("\n", last, last + _NEAR)
    lead = re.split(r"[:：#]", text[start:first])[-1]
    return lead + text[first : last + _NEAR if end < 0 else end]


def _is_excepted(answer: _Answer) -> bool:
    """Whether the line of an answer says that it is none: "anything but 16", "90 (false)"."""
    value = _number.search(answer.line)
    if value is None or not re.search(r"[^\W\d]", answer.line):
        return False
    before = phrase_pattern("except", english=answer.english, after="value").search(answer.line)
    if before is not None and before.start("value") == value.start():
        return True
    behind = answer.says("excepted", answer.line[value.end() :])
    near = behind is not None and not _number.search(answer.line[value.end() :][: behind.start()])
    return near or _rejected.search(answer.line) is not None


def _is_disowned(answer: _Answer) -> bool:
    """Whether a sentence that names no other value says that the answer is made up, or not the
    writer's own.
    """
    if answer.lacks("disowned"):
        return False
    for mark in phrase_pattern("disowned", english=answer.english).finditer(answer.tail):
        first, last = _sentence(answer.tail, *mark.span())
        others = amounts(answer.tail[first:last])
        named = others and not set(others) & set(answer.numbers)
        if not named and not answer.is_aside(*mark.span()):
            return True
    return False


def _names_right(answer: _Answer) -> Iterator[bool]:
    """For every other value that is called the right one, whether its sentence is no aside."""
    for mark in answer.rivals("right"):
        yield not answer.is_aside(mark.start(), mark.start("value"))


def _disagrees(answer: _Answer) -> bool:
    """Whether the answer is another's, or something is wrong, and the writer gets another value."""
    concluded = list(phrase_pattern("conclusions", english=answer.english).finditer(answer.lead))
    lead = answer.lead[concluded[-1].end() :] if concluded else answer.lead
    near = ENDS.split(answer.tail)[0]
    sourced = bool(answer.says("sources", lead) or answer.says("sources", near))
    if sourced and any(answer.rivals("mine")):
        return True
    wrong = None if answer.lacks("adverse") else answer.says("adverse", answer.tail)
    if wrong is None or (not sourced and answer.is_aside(*wrong.span())):
        return False
    for kind in ("mine", "gets"):
        for mark in answer.rivals(kind, wrong.end()):
            between = answer.tail[wrong.end() : mark.start()]
            aside = answer.is_aside(mark.start(), mark.start("value"))
            if len(ENDS.findall(between)) < 2 and (sourced or not aside):
                return True
    return False


def _is_rival(tail: str, mark: re.Match[str], own: list[float]) -> bool:
    """Whether the value of a mark is another than the answer, which is not restated behind it."""
    clause = _clauses.split(tail[: mark.start()])[-1]
    if _number.search(clause):
        return False
    stop = ENDS.search(tail, mark.end())
    rest = tail[mark.end() : stop.start() if stop else len(tail)]
    if _goes_on.match(rest) and "=" not in rest:
        return False
    others = amounts_in_words(mark["value"])
    if not others or any(is_same(other, value) for other in others for value in own):
        return False
    return not any(value == again for again in amounts(tail[mark.end() :]) for value in own)


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the sentence around a part of a text begins and ends."""
    first = max((mark.end() for mark in ENDS.finditer(text, 0, start)), default=0)
    stop = ENDS.search(text, end)
    return first, stop.start() if stop else len(text)
