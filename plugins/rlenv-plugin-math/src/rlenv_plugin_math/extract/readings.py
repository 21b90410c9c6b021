"""From a sentence that holds an answer to the texts that may be it, best first."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

from .found import Claim
from .values import values

_LONGEST = 600  # a longer text is no final statement; only its formulas and numbers could be


@cache
def _clause() -> re.Pattern[str]:
    return re.compile(
        r"(?:,\s*(?:as|so|which|where|who|with)|,?\s*\b(?:since|because|so that|given that|whereas|although))\b"
        r"|\s[–—]\s|\s-\s(?=[a-z]{2})",
        re.IGNORECASE,
    )


@cache
def _joint() -> re.Pattern[str]:
    return re.compile(
        r"[\s,;$]*(?:and|or|&|、|和|or\s+else|as\s+well\s+as)?[\s,;$(]*(?:[a-zA-Z]\s*=\s*)?",
        re.IGNORECASE,
    )


@cache
def _doubt() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:or|maybe|perhaps|possibly|might|could|may|alternatively|either|otherwise|unsure|instead|depending|else"
        r"|not\s+sure)\b|或",
        re.IGNORECASE,
    )


@cache
def _refused() -> re.Pattern[str]:
    return re.compile(
        r"(?:\b(?:not|never|cannot|neither|nor|except|without|unlike)\b|n't\b|n’t\b)[a-z\s]{0,12}$"
        r"|\b(?:anything|everything|nothing|all|any|everyone)\s+but\s*$"
        r"|(?<!no\s)(?<!not\s)\b(?:more|less|greater|fewer|larger|smaller|bigger|higher|lower|other|rather)\s+than\s*$"
        r"|\bbetween\s*$|\binstead\s+of\s*$",
        re.IGNORECASE,
    )


@cache
def _unsettled() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:whether|(?:can(?:not|'t|’t)|could(?:n't|n’t| not)|unable to|impossible to)\s+(?:tell|say|decide|know|determine"
        r"|be\s+(?:determined|known|decided))|(?:don't|don’t|do not) know)\b",
        re.IGNORECASE,
    )


@cache
def _equals() -> re.Pattern[str]:
    return re.compile(
        r"(?:\b(?:is|are|was|were|be|equals?|get|gets|makes?|has|have|gives?|yields?|obtain|to|of)\b|[=:≈])"
        r"\s*(?:only|exactly|just|equal to|a total of|about|approximately|thus|therefore|then|simply)?\s*[$(*]*\s*$",
        re.IGNORECASE,
    )


def readings(text: str) -> tuple[tuple[str, ...], bool]:
    """(texts that may be the answer, best first; whether the sentence hedges between several).

    The first is the whole text.  The others are for prose: the main clause without "since …", then the one
    formula or number that the clause states.
    """
    if len(text) > _LONGEST:
        return (text,), False
    if "~~" in text:
        text = re.sub(r"~~[^~]*~~", " ", text).strip()  # struck out, so withdrawn
    clause = text[: cut.start()] if (cut := _clause().search(text)) and cut.start() else text
    clause = clause.strip()
    stated, hedged = stated_value(clause)
    tried = [text]
    for reading in (clause, stated):
        if reading and reading not in tried:
            tried.append(reading)
    return tuple(tried), hedged


def stated_value(clause: str) -> tuple[str | None, bool]:
    """(the formula, number or bare list that a clause states, or None; whether it hedges between several)."""
    found = values(clause)
    if not found or _unsettled().search(clause):
        return None, False
    groups = _groups(clause, found)
    if len({v.text for v in found}) > 1 and _hedges(clause, found):
        return None, True
    first, last = _pick(clause, groups)
    if _refused().search(
        clause[max(0, first.start - 40) : first.start].replace("*", "").rstrip(" $\\([")
    ):
        return None, False
    if first is last:
        return first.text, False
    return clause[first.start : last.end], False


def _groups(clause: str, found: list[Claim]) -> list[tuple[Claim, Claim]]:
    """Neighboring values that only a comma or a conjunction parts, as (first, last)."""
    groups = [(found[0], found[0])]
    for value in found[1:]:
        first, last = groups[-1]
        if _joint().fullmatch(clause, last.end, value.start):
            groups[-1] = (first, value)
        else:
            groups.append((value, value))
    return groups


def _hedges(clause: str, found: list[Claim]) -> bool:
    """Whether words of doubt stand between the values (a bare "or" between neighbors makes a list, no hedge)."""
    for left, right in pairwise(found):
        between = clause[left.end : right.start]
        if _doubt().search(between) and not _joint().fullmatch(between):
            return True
    return bool(re.match(r"\s*either\b", clause, re.IGNORECASE))


def _pick(clause: str, groups: list[tuple[Claim, Claim]]) -> tuple[Claim, Claim]:
    """The group right behind "is" or "=", else the last."""
    for group in reversed(groups):
        before = clause[max(0, group[0].start - 40) : group[0].start]
        if not before.strip(" *$(") or _equals().search(before):
            return group
    return groups[-1]
