"""The rungs of extraction: each looks for one way of stating a final answer and settles its own rivals."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from .boxes import boxes, is_placeholder
from .found import AMBIGUOUS, EMPTY, MISSING, Claim, Extraction, found, nothing, rivals
from .hedges import retracted
from .readings import stated_value
from .sentences import sentence_end, sentences
from .statements import claim_of, hashes, statements, tags
from .values import bolds, formulas, numbers, values

_CLOSING = 4_000  # characters at the end that are read for a formula or a number
_BARE = 600  # a longer reply is prose
_PAIRS = 64  # neighboring claims between which a withdrawal is looked for
_TWICE = "several different answers are stated"


def boxed(text: str, start: int, end: int) -> Extraction | None:
    """The last box, or the boxes of one sentence as a list."""
    every, is_open = boxes(text, start, end)
    claims = [c for c in every if not is_placeholder(c.text)]
    if claims:
        return settle(text, claims)
    if is_open:
        return nothing("the box is never closed", how="boxed")
    return nothing("the box is empty", state=EMPTY, how="boxed") if every else None


def answer_tag(text: str, start: int, end: int) -> Extraction | None:
    """The content of ``<answer>…</answer>``."""
    every = tags(text, start, end)
    claims = [c for c in every if not is_placeholder(c.text)]
    if claims:
        return settle(text, claims)
    return nothing("the answer tag is empty", state=EMPTY, how="answer-tag") if every else None


def hashed(text: str, start: int, end: int) -> Extraction | None:
    """What follows ``####``."""
    every = hashes(text, start, end)
    claims = [c for c in every if c.text]
    if claims:
        return settle(text, claims)
    return nothing("nothing follows ####", state=EMPTY, how="hash") if every else None


def statement(text: str, start: int, end: int) -> Extraction | None:
    """The sentence that announces the answer; other announcements that are as plain are its rivals."""
    every = statements(text, start, end)
    claims = [c for c in every if c.text]
    if claims:
        return _announced(text, claims)
    return (
        nothing("nothing follows the words that announce an answer", state=EMPTY, how="statement")
        if every
        else None
    )


def result(text: str, start: int, end: int) -> Extraction | None:
    """The last sentence that announces a result, a solution or a total."""
    claims = [c for c in statements(text, start, end, weak=True) if values(c.text)]
    return found(claims[-1]) if claims else None


def _announced(text: str, claims: list[Claim]) -> Extraction:
    plain = [c for c in claims if is_plain(c.text)]
    if not plain:
        stated = [c for c in claims if values(c.text)]
        return found((stated or claims)[-1])
    return settle(text, plain)


def is_plain(text: str) -> bool:
    """Whether a statement is little more than a value, and so can rival another one."""
    if len(text) > 200:
        return False
    found_values = values(text)
    if not found_values:
        return len(text.split()) <= 3
    words = text[: found_values[0].start].split()
    rest = text[found_values[-1].end :].split()
    return len(words) <= 2 and len(rest) <= 6


def bare(text: str, start: int, end: int) -> Extraction | None:
    """A reply that is one short sentence, or a few lines of mathematics, is the answer as a whole."""
    if end - start > _BARE and "\\begin" not in text[start : start + 40]:
        return None
    spans = sentences(text, start, end)
    if (
        len(spans) == 1
        and not _supposed(text, start)
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
    return not re.search(r"[=+*×÷]|[a-zA-Z]{2}", item) and (
        not right or re.fullmatch(r"\s*[a-zA-Z]\w?\s*", left) is not None
    )


def bold(text: str, start: int, end: int) -> Extraction | None:
    """The last bold text that holds a value or a single word."""
    claims = [
        c
        for c in bolds(text, max(start, end - _CLOSING), end)
        if is_plain(c.text) or values(c.text)
    ]
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
    """What the last sentence with a value states; a sentence with a formula goes before one without."""
    spans = [
        s
        for s in sentences(text, _line_start(text, start, end), end)
        if not _is_question(text, s[1])
    ]
    stated = [s for s in spans[-8:] if values(text[s[0] : s[1]]) and not _supposed(text, s[0])]
    if not stated:
        return None
    with_formula = [s for s in stated if formulas(text, *s)]
    chosen = stated[-1]
    if with_formula and not re.match(
        r"\s*(?:so|thus|hence|therefore|in total)\b", text[slice(*chosen)], re.IGNORECASE
    ):
        chosen = with_formula[-1]
    return _stated(text, chosen, stated[: stated.index(chosen)])


def _stated(text: str, span: tuple[int, int], earlier: list[tuple[int, int]]) -> Extraction:
    sentence = text[slice(*span)]
    value, hedged = stated_value(sentence)
    if value is None:
        return nothing(
            _TWICE if hedged else "no single value is stated",
            state=AMBIGUOUS if hedged else MISSING,
        )
    start = text.find(value, *span)
    how = "formula" if formulas(text, *span) else "last-number"
    final = Claim(value, max(start, span[0]), max(start, span[0]) + len(value), how)
    if earlier and re.match(
        r"\s*(?:or\b|alternatively|maybe|perhaps|possibly|but|it (?:could|might|may)|another)",
        sentence,
        re.IGNORECASE,
    ):
        before, _ = stated_value(text[slice(*earlier[-1])])
        if before and before != value:
            return rivals([Claim(before, *earlier[-1], how), final], _TWICE)
    if _is_listing(text, final.start, earlier, span):
        return nothing("a list of numbers states no answer", state=AMBIGUOUS, how=how)
    return found(final)


def _is_listing(text: str, at: int, earlier: list[tuple[int, int]], span: tuple[int, int]) -> bool:
    """Whether the lines above are bare numbers too."""
    if len(earlier) < 2 or text[span[0] : at].strip(" $*-"):
        return False
    return all(re.fullmatch(r"[-\s$*\d.,/()]+", text[slice(*s)]) is not None for s in earlier[-2:])


def _supposed(text: str, start: int) -> bool:
    """Whether a sentence only supposes what it states."""
    return re.compile(r"\s*(?:assum|suppos)", re.IGNORECASE).match(text, start) is not None


def _is_question(text: str, end: int) -> bool:
    return text[end : end + 1] in ("?", "？")


def _line_start(text: str, start: int, end: int) -> int:
    if end - start <= _CLOSING:
        return start
    line = text.find("\n", end - _CLOSING, end)
    return line + 1 if line >= 0 else end - _CLOSING


def settle(text: str, claims: list[Claim]) -> Extraction:
    """One answer of several claims: repeated ones count once, retracted ones not, those of one sentence are a list."""
    if len({c.text for c in claims}) == 1:
        return found(claims[-1])
    last = len(claims) - 1
    for at in range(last, max(0, last - _PAIRS), -1):
        if retracted(_between(text, claims[at - 1], claims[at])):
            claims = claims[at:]
            break
    distinct = list({c.text: c for c in reversed(claims)}.values())[::-1]
    if len(distinct) == 1:
        return found(claims[-1])
    return found(*claims) if _is_list(text, claims) else rivals(distinct, _TWICE)


def _is_list(text: str, claims: list[Claim]) -> bool:
    """Whether all claims stand in one sentence."""
    if claims[-1].end - claims[0].start > _BARE * 2:
        return False
    if claims[0].how != "boxed":
        return False
    return all(sentence_end(text, a.end, b.start) >= b.start for a, b in pairwise(claims))


def _between(text: str, left: Claim, right: Claim) -> str:
    between = text[left.end : right.start]
    return between if len(between) <= 1_000 else between[:500] + "\n" + between[-500:]


Rung = Callable[[str, int, int], "Extraction | None"]
RUNGS: dict[str, Rung] = {
    "boxed": boxed,
    "answer-tag": answer_tag,
    "statement": statement,
    "hash": hashed,
    "result": result,
    "bare": bare,
    "bold": bold,
    "closing": closing,
    "formula": formula,
    "last-number": last_number,
}
