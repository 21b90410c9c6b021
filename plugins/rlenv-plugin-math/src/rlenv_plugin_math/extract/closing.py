"""Answers that nothing announces: a bare reply, bold text, a formula, the value of the last
sentence.
"""

from __future__ import annotations

import re

from .found import AMBIGUOUS, FOUND, MISSING, Claim, Extraction, found, nothing, rivals
from .patterns import pattern
from .picking import calculated
from .readings import refuses, stated_value
from .sentences import sentences
from .settle import TWICE
from .stance import only_mentioned
from .statements import claim_of
from .values import bolds, formulas, is_plain, numbers, values

_CLOSING = 4_000  # characters at the end that are read for a formula or a number
_BARE = 600  # a longer reply is prose


_concluding = pattern(r"\s*(?:so|thus|hence|therefore|in total)\b")
_conclusion = pattern(
    r"\b(?:<<then>>|<<conclusions>>|left|now)\b|\b[A-J]\s+is\s+(?:the\s+)?(?:correct|right)\b"
    r"|\b(?:<<numerals>>)\s+(?:<<measures>>)\b(?:\s+\w+)?[\s.。]*\Z"
)
# A sentence that only supposes what it states.
_supposed = pattern(
    r"\s*(?:assum|suppos)|[^.\n]*\d[^.\n\d]{0,12}\b(?:is\s+no\s+solution"
    r"|does\s+not\s+work)\s*(?:[.。"
    r"\n]|\Z)"
)
_checking = pattern(
    r"[\s*_#>(]*(?:<<checks>>)\b(?!\s+(?:the\s+)?(?:answer|number|result)s?\s+is)"
    r"|\s*[^\W\d_]+\s?[:：][^\n]*[✓✔✅☑]|\s*(?:[^\s:：.。"
    r"\d]+\s+){1,3}(?:<<checks>>)\b[^.:：。\d]{0,20}[:：]"
)
_doubting = pattern(
    r"\s*(?:or\b|alternatively|maybe|perhaps|possibly|but|it (?:could|might|may)|another)"
)


def bare(text: str, start: int, end: int) -> Extraction | None:
    """A reply that is one short sentence, or a few lines of mathematics, is the answer as a
    whole.
    """
    if end - start > _BARE and "\\begin" not in text[start : start + 40]:
        return None
    if text.startswith("> **", start):  # a quote block
        start += 2
    spans = sentences(text, start, end)
    if (
        len(spans) == 1
        and not _supposed().match(text, start)
        and not text[: spans[0][1] + 1].rstrip().endswith("?")
    ):
        claim = claim_of(text, *spans[0], "bare")
        return found(claim) if claim.text else None
    lines = [claim_of(text, *span, "bare") for span in spans]
    if 1 < len(lines) <= 12 and all(_is_item(c.text) for c in lines):
        return found(*lines)
    return None


def _is_item(line: str) -> bool:
    """``5`` or ``x = 5``: a line of an answer, not of a calculation."""
    left, _, right = line.strip("$ ").partition("=")
    item = right or left
    return not re.search(r"[=+*×÷]|[^\W\d_]{2}", item) and (
        not right or re.fullmatch(r"\s*[a-zA-Z]\w?\s*", left) is not None
    )


def bold(text: str, start: int, end: int) -> Extraction | None:
    """The last bold text that holds a value or a single word."""
    every = bolds(text, max(start, end - _CLOSING), end)
    claims = [c for c in every if is_plain(c.text) or values(c.text)]
    return found(claims[-1]) if claims else None


def formula(text: str, start: int, end: int) -> Extraction | None:
    """The last formula."""
    claims = formulas(text, max(start, end - _CLOSING), end)
    return found(claims[-1]) if claims else None


def last_number(text: str, start: int, end: int) -> Extraction | None:
    """The last number."""
    claims = numbers(text, max(start, end - _CLOSING), end)
    return found(claims[-1]) if claims else None


def closing(text: str, start: int, end: int) -> Extraction | None:
    """What the last sentence with a value states; a sentence with a formula goes before one
    without.
    """
    spans = [
        s
        for s in sentences(text, _line_start(text, start, end), end)
        if text[s[1] : s[1] + 1] not in ("?", "？")
    ]
    stated = [
        s
        for s in spans[-8:]
        if not refuses(text[slice(*s)])
        and not only_mentioned(text, Claim(text[slice(*s)], *s, "last-number"))
        and (values(text[slice(*s)]) or (s is spans[-1] and _concludes(text[slice(*s)])))
        and not _supposed().match(text, s[0])
    ]
    checks = [at for at, s in enumerate(stated) if at and _checking().match(text, s[0])]
    stated = stated[: checks[0]] if checks else stated  # a check of the answer states another value
    if not stated:
        return None
    with_formula = [s for s in stated if formulas(text, *s)]
    chosen = stated[-1]
    if with_formula and not _concluding().match(text, chosen[0]):
        chosen = with_formula[-1]
    return _stated(text, chosen, stated[: stated.index(chosen)])


def concluded(text: str, start: int, end: int) -> Extraction | None:
    """What the last sentence states, where it begins with a word that concludes."""
    spans = sentences(text, start, end)
    concludes = spans and _concluding().match(text, spans[-1][0])
    last = closing(text, spans[-1][0], end) if concludes else None
    return last if last and last.state == FOUND else None


def _concludes(sentence: str) -> bool:
    """Whether the last sentence has a number in words, or a choice, and words that conclude."""
    return _conclusion().search(sentence) is not None and stated_value(sentence)[0] is not None


def _stated(text: str, span: tuple[int, int], earlier: list[tuple[int, int]]) -> Extraction:
    sentence = text[slice(*span)]
    value, hedged = stated_value(sentence, calculated(text, 0, *span))
    if value is None:
        return nothing(
            TWICE if hedged else "no single value is stated",
            state=AMBIGUOUS if hedged else MISSING,
        )
    start = text.find(value, *span)
    how = "formula" if formulas(text, *span) else "last-number"
    final = Claim(value, max(start, span[0]), max(start, span[0]) + len(value), how)
    if earlier and _doubting().match(sentence):
        before, _ = stated_value(text[slice(*earlier[-1])])
        if before and before != value:
            return rivals([Claim(before, *earlier[-1], how), final], TWICE)
    if _is_listing(text, final.start, earlier, span):
        return nothing("a list of numbers states no answer", state=AMBIGUOUS, how=how)
    return found(final)


def _is_listing(text: str, at: int, earlier: list[tuple[int, int]], span: tuple[int, int]) -> bool:
    """Whether the lines above are bare numbers too."""
    if len(earlier) < 2 or text[span[0] : at].strip(" $*-"):
        return False
    return all(re.fullmatch(r"[-\s$*\d.,/()]+", text[slice(*s)]) is not None for s in earlier[-2:])


def _line_start(text: str, start: int, end: int) -> int:
    if end - start <= _CLOSING:
        return start
    line = text.find("\n", end - _CLOSING, end)
    return line + 1 if line >= 0 else end - _CLOSING
