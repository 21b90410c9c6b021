"""Other final answers around the one that was read."""

from __future__ import annotations

import re

from .found import Claim, Extraction
from .hedges import denied, retracted, rival_before, rival_behind
from .rungs import is_plain
from .statements import hashes, statements, tags
from .values import values


def rival(text: str, extraction: Extraction, start: int, end: int) -> Claim | None:
    """A claim that differs from the answer; with an empty text where the answer itself is denied."""
    assert extraction.span is not None
    own = Claim(extraction.answers[-1], *extraction.span, extraction.how)
    if denied(text, own, start):
        return Claim("", own.start, own.end, own.how)
    for claim in _others(text, own, start, end):
        if claim is not None and _differs(claim, extraction):
            return claim
    return None


def _others(text: str, own: Claim, start: int, end: int) -> list[Claim | None]:
    """Everything else that states a final answer: marks anywhere, sentences behind the answer or right before it."""
    others: list[Claim | None] = []
    if own.how != "statement":
        others.append(rival_before(text, own, start))
    others.append(rival_behind(text, own, end))
    others += (
        [c for c in tags(text, start, end) if c.text and _apart(c, own)]
        if "nswer" in text or "NSWER" in text
        else []
    )
    others += (
        [c for c in hashes(text, start, end) if c.text and _apart(c, own)] if "####" in text else []
    )
    return others + [c for c in _statements(text, own, start, end) if c.text and _apart(c, own)]


def _statements(text: str, own: Claim, start: int, end: int) -> list[Claim]:
    if own.how == "statement":  # its own rung has settled these
        return []
    behind = [c for c in statements(text, own.end, end) if is_plain(c.text) and values(c.text)]
    return behind + _right_before(text, own, start)


def _right_before(text: str, own: Claim, start: int) -> list[Claim]:
    """A plain statement that only white space parts from the answer, which is no reasoning any more."""
    gap = text[max(start, own.start - 200) : own.start].rstrip(" \n$\\[(*")
    line = gap[gap.rfind("\n") + 1 :]
    if not line or (line == gap and own.start - start > 200):
        return []
    offset = max(start, own.start - 200)
    stated = statements(text, offset, offset + len(gap))
    near = [
        c
        for c in stated
        if not text[c.end : own.start].strip(" .\n$\\[(*") and is_plain(c.text) and values(c.text)
    ]
    if (
        not near
        or own.start - near[-1].end < 1
        or (
            "\n" not in text[near[-1].end : own.start] and "." not in text[near[-1].end : own.start]
        )
    ):
        return []
    return [] if retracted(text[near[-1].end : own.start]) else near[-1:]


def _apart(claim: Claim, own: Claim) -> bool:
    return claim.end <= own.start or claim.start >= own.end


def _differs(claim: Claim, extraction: Extraction) -> bool:
    """Whether a claim says anything that the answer does not already say."""
    said = " ".join(extraction.answers)
    if re.search(r"≈|\\approx|approx|\babout\b|roughly", claim.text):
        return False
    if _squeezed(claim.text) in (_squeezed(a) for a in extraction.answers):
        return False
    digits = set(re.findall(r"\d+", claim.text))
    return not digits or not digits <= set(re.findall(r"\d+", said))


def _squeezed(text: str) -> str:
    return re.sub(r"[\s$*\\,.;!]|text|\{|\}", "", text).lower()
