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
from rlenv_plugin_math.languages.packs import DATA

from .found import Claim, Extraction, found

_FAR = 1_500  # characters behind an answer that are read
_NEAR = 160  # characters before an answer that can say whose it is
_SLOTS = frozenset({"boxed", "hash", "answer-tag", "json", "labeled", "statement"})
_UNSPACED = frozenset(["ja", "zh", "ko"])
_NUMBER = r"[-−]?\d+(?:[.,]\d+)*(?:\s?/\s?\d+)?"
_LINK = r"[\s:=：$*(＝（]*(?:(?:is|only|exactly|just|then|also|thus|actually)\s+)?\\?[({$\s]*"
_RATIOS = frozenset([7.0, 10.0, 12.0, 24.0, 60.0, 100.0, 1_000.0, 3_600.0, 1_000_000.0])
_number = re.compile(_NUMBER)
_fraction = re.compile(r"\\[dt]?frac\s*\{(\d+)\}\s*\{(\d+)\}")
_ends = re.compile(r"[.!?](?=\s|\Z)|[\n。！？।۔]")
_clauses = re.compile(r"[,;:，；：؛、·](?=\s|\Z)|[，；：؛、]|\s[—–]\s|[.!?](?=\s|\Z)|[\n。！？।۔]")
_goes_on = re.compile(r"\s*(?:[-+*/×·÷^]|\\(?:cdot|times))\s*[\d(a-z\\]")
_rejected = re.compile(r"\([^()\n]*\b(?:no,\s*-?\d|false|wrong|nope|incorrect)[^()\n]*\)")


@cache
def _lists() -> dict[str, dict[str, list[str]]]:
    lists: dict[str, dict[str, list[str]]] = {}
    for line in (DATA / "remarks.txt").read_text("utf-8").splitlines()[1:]:
        head, _, rest = line.partition(": ")
        language, kind = head.split()
        lists.setdefault(kind, {})[language] = [phrase.strip() for phrase in rest.split(" | ")]
    return lists


@cache
def _said(kind: str, *, english: bool, after: bool = False) -> re.Pattern[str]:
    """What finds any phrase of a kind; ``after`` which a value is."""
    spaced: list[str] = []
    unspaced: list[str] = []
    for language, phrases in _lists()[kind].items():
        if not english or language in ("en", "xx"):
            (unspaced if language in _UNSPACED else spaced).extend(map(_phrase, phrases))
    either = "|".join(
        [rf"(?<!\w)(?:{_grouped(spaced)})(?!\w)", *filter(None, [_grouped(unspaced)])]
    )
    behind = rf"{_LINK}(?P<value>{_NUMBER})" if after else ""
    return re.compile(f"(?:{either}){behind}", re.IGNORECASE)


def _grouped(phrases: list[str]) -> str:
    """Alternatives by their first letter, since most places of a text begin none of them."""
    by_letter: dict[str, list[str]] = {}
    for phrase in dict.fromkeys(phrases):
        by_letter.setdefault(phrase[0] if phrase[0].isalpha() else "", []).append(phrase)
    return "|".join(
        rf"{letter}(?:{'|'.join(phrase[len(letter) :] for phrase in group)})"
        for letter, group in by_letter.items()
    )


def _phrase(phrase: str) -> str:
    words = phrase.replace(" … ", r"(?:\s+[^\W\d]+){0,3}?\s+")
    return re.sub(r"(?<!\\) ", r"\\s+", words).replace("'", "['’]")


@frozen
class _Answer:
    """An explicit answer: what is said before it and behind it, and its numbers."""

    line: str
    lead: str
    tail: str
    numbers: list[float]
    english: bool

    def says(self, kind: str, text: str) -> re.Match[str] | None:
        """Where a text first has a phrase of a kind."""
        return _said(kind, english=self.english).search(text)

    def rivals(self, kind: str, at: int = 0) -> Iterator[re.Match[str]]:
        """Where other values follow a phrase of a kind behind the answer."""
        for mark in _said(kind, english=self.english, after=True).finditer(self.tail, at):
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
    if extraction.how not in _SLOTS or extraction.span is None or len(extraction.answers) != 1:
        return False
    first, last = extraction.span
    own = _number.search(text, first, last)
    if own is None:
        return False
    at = last if extraction.how == "boxed" else own.end()
    answer = _Answer(
        line=text[first:last] if extraction.how == "boxed" else _line(text, first, last),
        lead=_ends.split(text[max(0, first - _NEAR) : first].rstrip(" \n$\\[(#*"))[-1],
        tail=text[at : at + _FAR],
        numbers=_amounts(text[first:last]),
        english=english,
    )
    if _is_excepted(answer):
        return True
    if not answer.tail.strip(" \n.$)}\\]*"):
        return False
    return _is_disowned(answer) or any(_names_right(answer)) or _disagrees(answer)


def labeled_in_any_words(text: str) -> Extraction | None:
    """The number, and at most a unit, behind a label that is a line of its own at the end of a
    text in a language without a pack: "Απάντηση: 3 ώρες".
    """
    offset = max(0, len(text) - _NEAR)
    last = _label().search(text, offset)
    if last is None or _said("except", english=False).search(last[0]):
        return None
    return found(Claim(last["value"], *last.span("value"), "statement"))


@cache
def _label() -> re.Pattern[str]:
    words = "|".join(map(_phrase, _lists()["labels"]["xx"]))
    value = rf"(?P<value>{_NUMBER})(?:[ *]+[^\W\d]+)?"
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
    before = _said("except", english=answer.english, after=True).search(answer.line)
    if before is not None and before.start("value") == value.start():
        return True
    behind = answer.says("excepted", answer.line[value.end() :])
    near = behind is not None and not _number.search(answer.line[value.end() :][: behind.start()])
    return near or _rejected.search(answer.line) is not None


def _is_disowned(answer: _Answer) -> bool:
    """Whether a sentence that names no other value says that the answer is made up, or not the
    writer's own.
    """
    for mark in _said("disowned", english=answer.english).finditer(answer.tail):
        first, last = _sentence(answer.tail, *mark.span())
        others = _amounts(answer.tail[first:last])
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
    concluded = list(_said("conclusions", english=answer.english).finditer(answer.lead))
    lead = answer.lead[concluded[-1].end() :] if concluded else answer.lead
    near = _ends.split(answer.tail)[0]
    sourced = bool(answer.says("sources", lead) or answer.says("sources", near))
    if sourced and any(answer.rivals("mine")):
        return True
    wrong = answer.says("adverse", answer.tail)
    if wrong is None or (not sourced and answer.is_aside(*wrong.span())):
        return False
    for kind in ("mine", "gets"):
        for mark in answer.rivals(kind, wrong.end()):
            between = answer.tail[wrong.end() : mark.start()]
            aside = answer.is_aside(mark.start(), mark.start("value"))
            if len(_ends.findall(between)) < 2 and (sourced or not aside):
                return True
    return False


def _is_rival(tail: str, mark: re.Match[str], own: list[float]) -> bool:
    """Whether the value of a mark is another than the answer, which is not restated behind it."""
    clause = _clauses.split(tail[: mark.start()])[-1]
    if _number.search(clause):
        return False
    stop = _ends.search(tail, mark.end())
    rest = tail[mark.end() : stop.start() if stop else len(tail)]
    if _goes_on.match(rest) and "=" not in rest:
        return False
    others = _amounts(mark["value"])
    if not others or any(_is_same(other, value) for other in others for value in own):
        return False
    return not any(value == again for again in _amounts(tail[mark.end() :]) for value in own)


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the sentence around a part of a text begins and ends."""
    first = max((mark.end() for mark in _ends.finditer(text, 0, start)), default=0)
    stop = _ends.search(text, end)
    return first, stop.start() if stop else len(text)


def _amounts(text: str) -> list[float]:
    """The numbers of a text, both ways where a comma can part thousands or decimals."""
    amounts: list[float] = []
    for mark in _number.finditer(_fraction.sub(r"\1/\2", text)):
        number, _, below = mark[0].replace("−", "-").partition("/")
        forms = {number.replace(",", ""), number.replace(".", "").replace(",", ".")}
        for form in forms:
            if form.count(".") < 2 and len(form) < 300:
                divisor = float(below) if below else 1.0
                amounts += [float(form) / divisor] if divisor else []
    return amounts


def _is_same(one: float, other: float) -> bool:
    """Whether two numbers are one value, rounded or in another unit."""
    if one == other:
        return True
    if not one or not other:
        return False
    ratio = abs(one / other)
    counts = one.is_integer() and other.is_integer()
    if not counts and (round(one) == round(other) or abs(ratio - 1) < 0.01):
        return True
    return any(abs(ratio / known - 1) < 1e-9 or abs(ratio * known - 1) < 1e-9 for known in _RATIOS)
