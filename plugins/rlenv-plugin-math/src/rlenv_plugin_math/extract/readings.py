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
        r"(?:,\s*(?:as|so|which|where|who|with)|,?\s*\b(?:since|because|so that|given that|whereas))\b"
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
        r"|not\s+sure|also|but|unless|though|although|however)\b|或",
        re.IGNORECASE,
    )


@cache
def _refused() -> re.Pattern[str]:
    return re.compile(
        r"(?:\b(?:not|never|cannot|neither|nor|except|without|unlike)\b|n't\b|n’t\b)[a-z\s]{0,12}$"
        r"|\b(?:anything|everything|nothing|all|any|everyone)\s+but\s*$"
        r"|\b(?:at\s+(?:least|most)|up\s+to|over|above|below|under|beyond|almost|nearly)\s*$"
        r"|\b(?:more|less|greater|fewer|larger|smaller|bigger|higher|lower|other|rather)\s+than\s*$"
        r"|\bbetween\s*$|\binstead\s+of\s*$",
        re.IGNORECASE,
    )


@cache
def _denial() -> re.Pattern[str]:
    return re.compile(
        r"[\s$*)]*\b(?:(?:is|are|was|were|does|do|did|can|could|would)(?:n't|n’t|\s+not|\s+never)|cannot|fails)\b"
        r"|[\s$*)]*\bnot\b(?!\s*[\d$-])"
        r"|[\s$*)]*\b(?:is|are)\s+(?:an?\s+)?(?:prime|composite|odd|even|positive|negative|(?:ir)?rational|integer|divisible|wrong"
        r"|incorrect|impossible|excluded|too)\b",
        re.IGNORECASE,
    )


@cache
def _condition() -> re.Pattern[str]:
    """Behind a value: words under which alone it holds, or which make it a bound."""
    return re.compile(
        r"[^.;]*?\b(?:if|unless|provided|assuming|depending|or\s+(?:any|more|less|fewer|greater|above|below|over|another|some|so|else))\b"
        r"|[\s,*$(]*or\s+(?!about\b|approx|equivalent|simply\b|roughly\b|around\b)[a-zA-Z]{2}",
        re.IGNORECASE,
    )


@cache
def _doubt_ahead() -> re.Pattern[str]:
    """Behind a dash or a comma: words that take back what stood before it."""
    return re.compile(
        r"[\s,]*(?:no\b|wait|actually|or\b|maybe|perhaps|sorry|rather)", re.IGNORECASE
    )


@cache
def _letter() -> re.Pattern[str]:
    return re.compile(
        r"\(([A-J])\)|\b(?:option|choice|letter|answer|choose|select|pick)s?\s+([A-J])\b(?!['’(])"
    )


@cache
def _vague() -> re.Pattern[str]:
    return re.compile(r"\d-?ish\b", re.IGNORECASE)


@cache
def _magnitude() -> re.Pattern[str]:
    return re.compile(r"\s+(?:hundred|thousand|million|billion|trillion|dozen)\b", re.IGNORECASE)


@cache
def _unsettled() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:whether|or so|or thereabouts|if the answer|(?:is|was|are) not(?=[\s).!]*$)|(?:can(?:not|'t|’t)|could(?:n't|n’t| not)|unable to|impossible to)\s+(?:tell|say|decide|know|determine"
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
    if text.rstrip("*$ ").endswith("?") or _vague().search(text):
        return (text,), True
    if text[:1] == "=":  # what stood to the left of it was left out
        text = text[1:].strip()
    if "~~" in text:
        text = re.sub(r"~~[^~]*~~", " ", text).strip()  # struck out, so withdrawn
    if "cancel{" in text or "\\sout{" in text:
        text = re.sub(r"\\(?:[bx]?cancel|sout)\{[^{}]*\}", " ", text).strip()
    plain = _unwrapped(text)
    cut = _clause().search(plain)
    clause = (plain[: cut.start()] if cut and cut.start() else plain).strip()
    stated, hedged = stated_value(clause)
    if cut and _doubt_ahead().match(plain, cut.end()):
        hedged = True
    if hedged:
        return (text,), True
    if stated and not _is_prose(clause, stated):
        stated = None
    tried = [text]
    for reading in (clause if clause != plain.strip() else None, stated):
        if reading and reading not in tried:
            tried.append(reading)
    return tuple(tried), False


def _unwrapped(text: str) -> str:
    """``\\text{…}`` around words opened, so that the words can be read."""
    if "\\text" not in text and "\\mbox" not in text:
        return text
    return re.sub(
        r"\\(?:text|textbf|textit|textrm|mbox|mathrm)\{([^{}]*[a-zA-Z]{2}[^{}]*)\}", r" \1 ", text
    ).strip()


def _is_prose(clause: str, stated: str) -> bool:
    """Whether what stands around a stated value is words, and no code and no torn formula."""
    around = re.sub(r"=?\s*" + re.escape(stated), lambda _: " ", clause, count=1)
    for value in values(around):
        around = around.replace(value.text, " ", 1)
    return (
        re.fullmatch(r"[^;={}\[\]\\|<>^_#@&~]*", around.replace("\\(", "").replace("\\)", ""))
        is not None
    )


def stated_value(clause: str) -> tuple[str | None, bool]:
    """(the formula, number or bare list that a clause states, or None; whether it hedges between several)."""
    if _unsettled().search(clause):
        return None, False
    stated = values(clause)
    if not stated:
        return _stated_letter(clause)
    found = _affirmed(clause, stated)
    refused = {v.text for v in stated if v not in found}
    if not found:
        return None, False
    groups = _groups(clause, found)
    if len({v.text for v in found}) > 1 and _hedges(clause, found):
        return None, True
    first, last = _pick(clause, groups)
    if first.text in refused or _condition().match(clause, last.end):
        return None, False
    if first is last:
        magnitude = _magnitude().match(clause, last.end)
        return first.text + (magnitude[0] if magnitude else ""), False
    return clause[first.start : last.end], False


def _affirmed(clause: str, stated: list[Claim]) -> list[Claim]:
    """The values without those that the words around them refuse; both ends of "between 1 and 2" go."""
    kept: list[Claim] = []
    dropped: Claim | None = None
    for value in stated:
        joined = dropped is not None and re.fullmatch(
            r"[\s$]*and[\s$]*", clause[dropped.end : value.start]
        )
        if joined or _is_refused(clause, value):
            dropped = value
        else:
            kept.append(value)
            dropped = None
    return kept


def _is_refused(clause: str, value: Claim) -> bool:
    """Whether the words right before a value say that it is not stated: "not 5", "less than 5"."""
    before = clause[max(0, value.start - 40) : value.start].replace("*", "")
    return bool(_refused().search(before.rstrip(" $\\(["))) or bool(
        _denial().match(clause, value.end)
    )


def _stated_letter(clause: str) -> tuple[str | None, bool]:
    """(the one option that a clause without mathematics names, or None; whether it names several)."""
    marks = list(_letter().finditer(clause))
    letters = {m[1] or m[2] for m in marks}
    if len(letters) != 1:
        return None, len(letters) > 1
    letter = Claim(f"({letters.pop()})", marks[-1].start(), marks[-1].end(), "statement")
    return (None if _is_refused(clause, letter) else letter.text), False


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
    announced: tuple[Claim, Claim] | None = None
    for group in reversed(groups):
        before = clause[max(0, group[0].start - 40) : group[0].start]
        if not before.strip(" *$(") or _equals().search(before):
            if not before.rstrip(" *$(").endswith(":"):
                return group
            announced = announced or group
    if announced:
        return announced
    return groups[-1]
