"""Whether the words around an explicit answer make it no commitment: what would be so, an example
of the format, a bound, something to fill the box, an erratum, a step before the last one.

What is said behind such a place is the answer, or there is none.
"""

from __future__ import annotations

import re
from functools import cache

from rlenv_plugin_math.held import frozen
from rlenv_plugin_math.languages.packs import english_list
from rlenv_plugin_math.limits import words_of

from .phrasing import (
    ENDS,
    NUMBER,
    amounts,
    amounts_in_words,
    as_pattern,
    is_same,
    lists,
    phrase_pattern,
)

_OPENING = 40  # characters of a line in which a word can say that it is an erratum
_CLAUSE = 120  # characters of a sentence that are read for a rival
_number = re.compile(NUMBER)
_step = re.compile(
    r"(?:^|\n)[\s#*_>(-]*(?:(?:step|étape|etape|paso|schritt|passo|krok|шаг|крок|adım|bước|langkah"
    r"|stap|steg|стъпка|βήμα|الخطوة|चरण|ステップ|手順|단계|步骤)\s*(?P<n>\d+)|第\s?(?P<zh>[一二三四五1-9])\s?步"
    r"|(?P<list>\d)[.)]\s)",
    re.IGNORECASE,
)
_letter = re.compile(r"\W*(?:\\(?:text|textbf|mathrm|mathbf)\{)?\(?([A-J])\)?\W*")
_chosen = re.compile(
    r"\b(?:(?:correct|right|proper|best|true)\s+(?:answer|option|choice|letter|one)\s+(?:is|must\s+be"
    r"|was|should\s+be)|(?:answer|choice)\s+is|i\s+(?:choose|pick|select|chose|go\s+with|went\s+with|opt"
    r"\s+for)|(?:leaves|leaving)(?:\s+us)?(?:\s+with)?)\s*:?\s*[$*]*(?:option\s+|choice\s+)?(?-i:\(?"
    r"(?P<letter>[A-J])\)?)(?!\w)",
    re.IGNORECASE,
)
_dropped = re.compile(
    r"\b(?:extraneous|inadmissible|discard\w*|reject\w*|thr[oe]wn?\s+out|ruled?\s+out|exclude[sd]?|drop(?:ped)?"
    r"|(?:does|do)(?:n['’]t|\s+not)\s+(?:work|satisfy|hold|check|count|qualify|make\s+sense)|fails"
    r"|is\s+(?:invalid|impossible)|makes\b[^.]*\b(?:zero|vanish|undefined)"
    r"|(?:the\s+)?only\s+(?:\w+\s+)?(?:solution|root|answer|value|one))\b",
    re.IGNORECASE,
)
_denied = re.compile(r"\b(?:if|not|would|could|some|many|people|students|might)\b", re.IGNORECASE)
_goes_on = re.compile(r"\s*(?:[-+*/×·÷^]|\\(?:cdot|times))\s*[\d(a-z\\]")


@frozen
class Around:
    """An explicit answer of one or more numbers, and the words around it.

    Args:
        lead: its sentence, before it.
        tail: what is behind it.
        line: the text from the beginning of its line to its own beginning.
        numbers: its own numbers.
        spelled: and as they are written.
        english: whether the text is all in English.
    """

    lead: str
    tail: str
    line: str
    numbers: tuple[float, ...]
    spelled: frozenset[str]
    english: bool


def is_other_option(own: str, tail: str) -> bool:
    """Whether the text behind an answer that is an option chooses another one."""
    letter = _letter.fullmatch(own)
    if letter is None or not tail:
        return False
    chosen = [m for m in _chosen.finditer(tail) if not _denied.search(tail[: m.start()][-40:])]
    return bool(chosen) and chosen[-1]["letter"] != letter[1]


def names_another(around: Around) -> bool:
    """Whether any other number is behind an answer, without which nothing takes its place."""
    for mark in _number.finditer(around.tail):
        if mark[0] not in around.spelled and not _is_own(mark[0], around):
            return True
    return around.english and not _numerals().isdisjoint(around.tail.lower().split())


@cache
def _numerals() -> frozenset[str]:
    """Numbers in words, with the marks that can follow them."""
    return frozenset(
        f"{word}{mark}" for word in english_list("numerals")[1:] for mark in ("", *".,;")
    )


def is_disclaimed(around: Around) -> bool:
    """Whether the words right before an answer, or behind it, make it an example, a bound or a
    filler.
    """
    if around.english and _last_words().isdisjoint(around.lead[-40:].lower().split()[-2:]):
        return False
    before = phrase_pattern("samples", "bounds", "fillers", english=around.english, after="end")
    if before.search(around.lead[-60:]):
        return True
    if around.english or not around.tail:
        return False
    return _bounded().match(around.tail) is not None


@cache
def _last_words() -> frozenset[str]:
    """The English words of which one of the last two before an example, a bound or a filler is."""
    each = [phrase for kind in ("samples", "bounds", "fillers") for phrase in lists()[kind]["en"]]
    words = set(re.findall(r"[a-z][a-z-]+", " ".join(each))) - _COMMON | {"e.g.", "e.g"}
    return frozenset(word + mark for word in words for mark in ("", ":", ",", ",:"))


_COMMON = words_of("is the as in an it this value number figure answer guess box")


def drops_one(own: str, numbers: tuple[float, ...], tail: str) -> bool:
    """Whether the text behind several solutions drops one of them, or keeps only one."""
    if ("=" not in own and "\\{" not in own) or len(set(numbers)) < 2:
        return False
    for sentence in ENDS.split(tail):
        if _dropped.search(sentence) is None or _denied.search(sentence):
            continue
        named = set(amounts(sentence)) & set(numbers)
        if named and named != set(numbers):
            return True
    return False


@cache
def _bounded() -> re.Pattern[str]:
    every = "|".join(as_pattern(p) for phrases in lists()["bounded"].values() for p in phrases)
    return re.compile(rf"[\s$)\]*\\'’]*(?:[^\W\d_]{{1,5}}\s?)?(?:{every})", re.IGNORECASE)


def _is_corrected(around: Around) -> bool:
    """Whether a line behind an answer is an erratum that puts another value in its place."""
    if around.english and _errata().isdisjoint(around.tail.lower().split()):
        return False
    for mark in phrase_pattern("errata", english=around.english).finditer(around.tail):
        start = around.tail.rfind("\n", 0, mark.start()) + 1
        dot = max(around.tail.rfind(". ", start, mark.start()) + 1, start)
        if re.search(r"\d", around.tail[dot : mark.start()]) or mark.start() - dot > _OPENING:
            continue
        stop = around.tail.find("\n", mark.end())
        line = around.tail[mark.end() : stop if stop >= 0 else len(around.tail)][:_CLAUSE]
        if _puts_another(line, around):
            return True
    return False


@cache
def _errata() -> frozenset[str]:
    """The English words for an erratum, with the marks that can follow them."""
    return frozenset(
        f"{word}{mark}" for word in lists()["errata"]["en"] for mark in ("", *":.,;—-")
    )


def _puts_another(line: str, around: Around) -> bool:
    """Whether an erratum names the answer and then another value, or that value alone."""
    named = list(_number.finditer(line))
    own = [m for m in named if _is_own(m[0], around)]
    others = [m for m in named if not _is_own(m[0], around)]
    if not others:
        return False
    if own and own[-1].start() < others[-1].start():
        return True
    if own:
        before = line[: own[-1].start()]
        return (
            phrase_pattern("instead", english=around.english, after="end").search(before)
            is not None
        )
    alone = re.fullmatch(rf"\W{{0,4}}(?:[^\W\d_]+\s){{0,3}}{NUMBER}[\W_]*", line)
    return alone is not None


def _is_own(text: str, around: Around) -> bool:
    return any(value == own for value in amounts(text) for own in around.numbers)


def is_overtaken(around: Around) -> bool:
    """Whether the answer is what would be, or a step, and the text goes on to another value, or
    an erratum puts that in its place.
    """
    if _is_corrected(around) or _is_step(around):
        return True
    if not around.spelled.isdisjoint(_number.findall(around.tail)):
        return False
    others = _values(around.tail, around)
    if any(value == own for value in others for own in around.numbers):
        return False
    unreal = phrase_pattern("unreal", english=around.english).search(around.lead)
    if unreal and any(_is_another(value, around) for value in others):
        return True
    return _concludes_otherwise(around)


def _is_another(value: float, around: Around) -> bool:
    return not any(is_same(value, own) for own in around.numbers)


def _is_step(around: Around) -> bool:
    """Whether the answer is in a numbered step, and a later one comes to another value."""
    here = _step.match(around.line)
    later = list(_step.finditer(around.tail)) if here else []
    if not here or not later or here.lastgroup != later[-1].lastgroup:
        return False
    if here[here.lastgroup or 0] == later[-1][here.lastgroup or 0]:
        return False
    return _comes_to_another(around.tail[later[-1].end() :], around)


def _comes_to_another(text: str, around: Around) -> bool:
    """Whether the last sentence of a text that has a value has not that of the answer."""
    sentences = [part for part in ENDS.split(text) if _number.search(part)]
    last = amounts(sentences[-1]) if sentences else []
    return bool(last) and all(_is_another(value, around) for value in last)


def _concludes_otherwise(around: Around) -> bool:
    """Whether the last sentence with a value concludes to exactly one, which is another; the
    answer is named nowhere behind.
    """
    sentences = [part for part in ENDS.split(around.tail) if part.strip()]
    numbered = [part for part in sentences[-4:] if _values(part, around)]
    if not numbered:
        return False
    if phrase_pattern("checking", english=around.english).search(around.tail):
        return False
    concluding = list(phrase_pattern("conclusions", english=around.english).finditer(numbered[-1]))
    if not concluding:
        return False
    last = numbered[-1][concluding[-1].end() :]
    if phrase_pattern("asides", english=around.english).search(numbered[-1]) or _goes_on.search(
        last
    ):
        return False
    values = _values(last, around)
    return len(set(values)) == 1 and _is_another(values[0], around)


def _values(text: str, around: Around) -> list[float]:
    if not around.english or _numerals().isdisjoint(text.lower().split()):
        return amounts(text)
    return amounts_in_words(text)
