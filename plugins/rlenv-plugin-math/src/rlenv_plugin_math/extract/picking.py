"""Which of several values a clause states: the one behind "is", what was calculated, the last."""

from __future__ import annotations

import re
from itertools import pairwise

from . import wording
from .found import Claim

_LONGEST = 600  # characters before a sentence in which its calculation is looked for
_VERB_LAST = re.compile("[ğış\u0900-\u0dff\u3040-\u30ff\uac00-\ud7a3]")  # as in Turkish


def pick(clause: str, groups: list[tuple[Claim, Claim]], result: str = "") -> tuple[Claim, Claim]:
    """The group right behind "is" or "=", else what was calculated, else the last."""
    announced: tuple[Claim, Claim] | None = None
    equations = [group for group in groups if "=" in group[1].text]
    if equations == groups[-1:] and re.match(r"[^a-zA-Z=]+=", groups[-1][1].text):
        return groups[-1]  # a calculation comes to what is asked for
    is_computed = bool(equations) and equations[-1] in groups[-2:-1]
    if is_computed and wording.restating().search(_right_before(clause, groups[-1])):
        return groups[-1]  # "10/50 = 0.2, i.e. 20%"
    if len(equations) == len(groups) > 1 and _derives(clause, groups):
        return _solved(groups[-1])
    for group in reversed(groups):
        before = clause[max(0, group[0].start - 40) : group[0].start]
        if not (before.strip(" *$(") or _VERB_LAST.search(clause)) or wording.equals().search(
            before
        ):
            if not before.rstrip(" *$(").endswith(":"):
                return _solved(_unless_calculated(clause, group, groups, result))
            announced = announced or group
    if announced:
        return announced
    whole = [g for g in groups if not wording.partitive().search(_right_before(clause, g))]
    return _solved((_equal_to(whole, result) or whole or groups)[-1])


def _right_before(clause: str, group: tuple[Claim, Claim]) -> str:
    """The words right before a group."""
    return clause[max(0, group[0].start - 24) : group[0].start]


def _equal_to(groups: list[tuple[Claim, Claim]], result: str) -> list[tuple[Claim, Claim]]:
    """The single values that are what was calculated."""
    return [g for g in groups if result and _count(g[0].text) == result and g[0] is g[1]]


def _unless_calculated(
    clause: str, group: tuple[Claim, Claim], groups: list[tuple[Claim, Claim]], result: str
) -> tuple[Claim, Claim]:
    """The group, or what was calculated where the group opens the clause: "3 hours: 240 km"."""
    named = _equal_to(groups, result)
    opens = group is groups[0] and not clause[: group[0].start].strip(" *$(")
    if not named or not opens or wording.copula().search(clause, group[1].end):
        return group
    return named[-1]


def _derives(clause: str, groups: list[tuple[Claim, Claim]]) -> bool:
    """Whether each of several equations follows from the one before it: "3x = 21, so x = 7"."""
    between = [clause[a[1].end : b[0].start] for a, b in pairwise(groups)]
    return all(
        wording.derives().search(words) and not wording.reason().search(words) for words in between
    )


def _solved(group: tuple[Claim, Claim]) -> tuple[Claim, Claim]:
    """The solved equation of "3x = 21 and x = 7", which are no two answers."""
    first, last = group
    name = re.match(r"\$?([a-zA-Z])\s*=", last.text)
    if first is last or name is None or re.match(r"\$?[a-zA-Z]\s*=", first.text):
        return group
    return (last, last) if name[1] in first.text else group


def _count(text: str) -> str:
    """A plain number without its sign of currency and its commas."""
    return re.sub(r"[\s$€£*,]", "", text).removesuffix(".00")


def calculated(text: str, start: int, sentence: int, end: int) -> str:
    """What the last calculation of a text comes to, as a plain number; empty where it is none, or
    where the sentence that begins at ``sentence`` has no two numbers.
    """
    if "=" not in text or len(re.findall(r"\d+", text[sentence:end])) < 2:
        return ""
    results = wording.calculation().findall(text, max(start, end - _LONGEST), end)
    return _count(results[-1]) if results else ""
