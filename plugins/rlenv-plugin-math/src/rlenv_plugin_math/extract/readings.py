"""From a sentence that holds an answer to the texts that may be it, best first."""

from __future__ import annotations

import re
from itertools import pairwise

from . import wording
from .found import Claim
from .picking import pick
from .values import values

_ARROWS = ("=", "\\", "⇒", "→", "∴")
_SHAKEN = (wording.doubt, wording.unsettled, wording.negated)
_LABEL = re.compile(r"(?<=[a-z] )\([A-Z]\) (?=[-+$\\\d])")  # of a choice, before its text
_LONGEST = 600  # a longer text is no final statement; only its formulas and numbers could be


def readings(text: str) -> tuple[tuple[str, ...], bool]:
    """(texts that may be the answer, best first; whether the sentence hedges between several).

    The first is the whole text.  The others are for prose: the main clause without "since …", then
    the one formula or number that the clause states.
    """
    if len(text) > _LONGEST:
        return (text,), False
    if text.rstrip("*$ ").endswith("?") or wording.vague().search(text):
        return (text,), True
    if text[:1] in _ARROWS:  # what stood to the left of it was left out
        text = re.sub(
            r"\A(?:=>?|⇒|→|∴|\\(?:Rightarrow|implies|therefore)(?![a-zA-Z]))\s*", "", text
        )
    bold = _bold_words(text) if "**" in text else ()
    if "**" in text:
        text = _unbold(text)
    if "~~" in text:
        text = re.sub(r"~~[^~]*~~", " ", text).strip()  # struck out, so withdrawn
    if "cancel{" in text or "\\sout{" in text:
        text = re.sub(r"\\(?:[bx]?cancel|sout)\{[^{}]*\}", " ", text).strip()
    text = without_rejected(text)
    chosen = _selected(text) or _named_option(text)
    if chosen:
        return (chosen,), False
    if not wording.words().search(text):
        return (text,), False
    plain = _unwrapped(text)
    clause, hedged = _main_clause(plain)
    stated, doubted = stated_value(clause)
    if hedged or doubted or (not stated and wording.denied_option().match(plain)):
        return (text,), True
    bare = _LABEL.sub("", clause)
    if bare != clause and stated and not stated_value(bare)[0]:
        return (text,), False  # "it is not (B) 8": what is denied with its letter is denied
    if stated and not _is_prose(clause, stated):
        stated = None
    option = _option(plain)
    plainest = option or stated
    said = (plainest,) if plainest else (*_said(clause), *bold)
    aside = stated and plain[len(clause) :].lstrip()[:1] in ("(", "（")  # "12 (and not 15)"
    tried = [] if aside else [text]
    for reading in (clause if clause != plain.strip() else None, *said):
        if reading and reading not in tried:
            tried.append(reading)
    return tuple(tried), False


def without_rejected(text: str) -> str:
    """Drop what is behind a semicolon and only rejects other values: "42; 41 is wrong"."""
    if len(text) > _LONGEST:
        return text
    for mark in re.finditer(r"[;；؛]|,(?=\s*but\b)", text):
        head = text[: mark.start()].rstrip()
        rest = text[mark.end() :].strip()
        if not head or not wording.words().search(rest):
            continue
        if refuses(rest) or (not values(rest) and wording.denied_option().match(rest)):
            return head
    return text


def _selected(text: str) -> str | None:
    """The candidate that a text selects: "x = 1 or 3; since x > 2, x = 3"."""
    mark = wording.selection().search(text)
    if mark is None:
        return None
    before = text[: mark.start()]
    rest = text[mark.end() :]
    if not wording.selects().search(rest) or re.search(r"\bor\b|±|\\pm", rest):
        return None
    candidates = [v.text for v in values(before) if not wording.compared().search(v.text)]
    named = {_value(part) for each in candidates for part in re.split(r"\bor\b|,|\\text", each)}
    signed = {
        _value(each).lstrip("±").replace("\\pm", "").strip()
        for each in candidates
        if "±" in each or "\\pm" in each
    }
    named |= signed | {f"-{each}" for each in signed}
    stated = [v for v in values(rest) if not wording.compared().search(v.text)]
    if not stated or len(named - {""}) < 2 or _value(stated[-1].text) not in named:
        return None
    others = {_value(v.text) for v in stated[:-1]} & named
    return stated[-1].text if others <= {_value(stated[-1].text)} else None


def _named_option(text: str) -> str | None:
    """The letter of "B, my friend", "la B", "B which is correct": an option and no other one."""
    option = wording.lone_option().fullmatch(text)
    if option is None:
        return None
    rest = option["rest"] or ""
    if wording.doubt().search(rest) or wording.negated().search(rest) or " not" in rest:
        return None
    return f"({option['letter']})"


def _value(text: str) -> str:
    """What a value is without the name before "="."""
    return re.sub(r"[\s$]|\\[()]", "", text.rpartition("=")[2])


def _option(plain: str) -> str | None:
    """The letter of "C. 1223, Rigord", which is a choice and its text; not of "(C) is wrong"."""
    option = wording.option().search(plain)
    if option is None or wording.doubt().search(plain):
        return None
    if plain[option.end() :][:1].islower() and wording.negated().search(plain):
        return None
    return f"({option[option.lastindex or 0]})"


def _main_clause(plain: str) -> tuple[str, bool]:
    """(the clause that states the answer; whether what is cut off takes it back)."""
    cut = wording.clause().search(plain)
    if not cut or not cut.start() or wording.measured().search(plain):
        return plain.strip(), False
    before = plain[: cut.start()].strip()
    behind = plain[cut.end() :].strip()
    word = cut[0].lower().split()[-1].strip(",")
    if wording.amounts_to().match(behind) and values(behind):
        return behind, False  # "the legs are 5 and 12, which means the area is 30"
    if word in ("so", "total") and (
        values(behind) or number_words(behind)
    ):  # "there are 6 rows, so 6 × 18 = 108"
        stated = values(before)
        opened = stated and not before[: stated[0].start].strip(" $")
        if opened and "=" in behind and wording.compared().search(stated[0].text):
            return behind, False  # "x > 40, so x = 42"
        if word == "total" or not opened or wording.negated().search(before):
            return behind, False
    hedged = wording.doubt_ahead().match(plain, cut.end()) or wording.unsettled().search(
        behind[:32]
    )
    return before, bool(hedged)


def _said(clause: str) -> tuple[str, ...]:
    """The words that a clause without a value says of its subject: "The day is Thursday", "Yes, it
    converges".
    """
    if len(clause) > _LONGEST // 4 or values(clause):
        return ()
    if any(words().search(clause) for words in _SHAKEN):
        return ()
    verdict = wording.verdict().match(clause)
    if verdict:
        return (verdict[1],)
    verbs = wording.behavior().findall(clause)
    if verbs:
        return (verbs[0],) if len(verbs) == 1 else ()
    predicate = wording.predicate().search(clause)
    return (predicate[1],) if predicate else ()


def _bold_words(text: str) -> tuple[str, ...]:
    """The bold subject of a sentence that leaves no doubt: "**Alice** is the winner"."""
    marked = wording.bold_subject().match(text)
    if not marked or text.count("**") > 2 or any(words().search(text) for words in _SHAKEN):
        return ()
    return (marked[1],)


def _unbold(text: str) -> str:
    """Without the Markdown marks around bold parts: "6 × 3 = **18**"."""
    return re.sub(r"(?<![\w)\]}*])\*\*(?=[^\s*])([^*\n]+?)(?<=\S)\*\*(?![\w(\[{*])", r"\1", text)


def _unwrapped(text: str) -> str:
    """``\\text{…}`` around words opened, so that the words can be read."""
    if "\\text" not in text and "\\mbox" not in text:
        return text
    return re.sub(
        r"\\(?:text|textbf|textit|textrm|mbox|mathrm)\{([^{}]*[a-zA-Z]{2}[^{}]*)\}", r" \1 ", text
    ).strip()


def _is_prose(clause: str, stated: str) -> bool:
    """Whether what is around a stated value is words, and no code and no torn formula."""
    at = clause.find(stated)
    around = clause
    if at >= 0:
        around = clause[:at].rstrip().removesuffix("=") + " " + clause[at + len(stated) :]
    for value in values(around):
        around = around.replace(value.text, " ", 1)
    return re.fullmatch(
        r"(?:[^;={}\[\]\\|<>^_#@&~]|(?<=[a-z\d\s]);\s(?=[a-z]|[A-J]\s))*",
        around.replace("\\(", "").replace("\\)", ""),
    ) is not None and not wording.code().search(clause)


def stated_value(clause: str, result: str = "") -> tuple[str | None, bool]:
    """(the formula, number or bare list that a clause states, or None; whether it hedges between
    several).

    ``result`` is what the last calculation before the clause came to, which the clause states where
    it names that among other values: "She reads 90 pages in 6 days".
    """
    if wording.unsettled().search(clause):
        return None, False
    for turn in wording.turn().finditer(clause):  # "5, but it should be 7"
        rest = clause[turn.end() :]
        if values(clause[: turn.start()]) and values(rest) and not wording.doubt().search(rest):
            return stated_value(rest, result)
    measured = wording.measured().search(clause)
    if measured and not refuses(measured[0]) and (said := number_words(measured[0])):
        return said, False
    odds = wording.odds().search(clause)
    if odds and wording.chance().search(clause):
        return f"{odds[1]} out of {odds[2]}", False
    stated = values(clause)
    if not stated:
        letter, several = _stated_letter(clause)
        return (letter, several) if letter or several else (number_words(clause), False)
    if wording.other().search(clause, 0, stated[0].start):
        return None, True  # "… or 5"
    found = _affirmed(clause, stated)
    refused = {v.text for v in stated if v not in found}
    if not found:
        return None, False
    groups = _groups(clause, found)
    if len({v.text for v in found}) > 1 and _hedges(clause, found):
        return None, True
    first, last = pick(clause, groups, result)
    if first.text in refused or wording.condition().match(clause, last.end):
        return None, False
    if first is last:
        return first.text + _measure(clause, last.end), False
    return clause[first.start : last.end], False


def _measure(clause: str, at: int) -> str:
    """What right behind a value belongs to it: "million", "out of 5", a unit of the table."""
    if wording.permille().match(clause, at):
        return " permille"
    magnitude = wording.magnitude().match(clause, at) or wording.meridiem().match(clause, at)
    if magnitude:
        return magnitude[0]
    unit = wording.unit().match(clause, at)
    if unit is None:
        return ""
    from rlenv_plugin_math.units import lookup
    from rlenv_plugin_math.words import STOP

    return unit[0] if unit[1].lower() not in STOP and lookup(unit[1]) else ""


def refuses(text: str) -> bool:
    """Whether a text has values and denies all of them: "12 is not it"."""
    stated = values(text) if " " in text else []
    return bool(stated) and not _affirmed(text, stated)


def _affirmed(clause: str, stated: list[Claim]) -> list[Claim]:
    """The values without those that the words around them refuse; both ends of "between 1 and 2"
    go.
    """
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
    return bool(wording.refused().search(before.rstrip(" $\\(["))) or bool(
        wording.denial().match(clause, value.end)
        or ("not it" in clause and wording.denied_late().match(clause, value.end))
    )


def _stated_letter(clause: str) -> tuple[str | None, bool]:
    """(the one option that a clause without mathematics names, or None; whether it names
    several).
    """
    marks = [
        Claim(f"({m[m.lastindex or 0]})", m.start(), m.end(), "statement")
        for m in wording.letter().finditer(clause)
    ]
    letters = {mark.text for mark in marks if not _is_refused(clause, mark)}
    return (letters.pop(), False) if len(letters) == 1 else (None, len(letters) > 1)


def number_words(clause: str) -> str | None:
    """The one number that a clause has in words: "So she has twenty-five apples left"."""
    found = set(wording.number_words().findall(wording.then().split(clause)[-1]))
    return found.pop() if len(found) == 1 and not wording.negated().search(clause) else None


def _groups(clause: str, found: list[Claim]) -> list[tuple[Claim, Claim]]:
    """Neighboring values that only a comma or a conjunction parts, as (first, last)."""
    groups = [(found[0], found[0])]
    for value in found[1:]:
        first, last = groups[-1]
        if wording.joint().fullmatch(clause, last.end, value.start):
            groups[-1] = (first, value)
        else:
            groups.append((value, value))
    return groups


def _hedges(clause: str, found: list[Claim]) -> bool:
    """Whether words of doubt are between the values (a bare "or" between neighbors makes a list, no
    hedge).
    """
    for left, right in pairwise(found):
        between = clause[left.end : right.start]
        if wording.doubt().search(between) and not wording.joint().fullmatch(between):
            return True
    return bool(re.match(r"\s*either\b", clause, re.IGNORECASE))
