"""Other final answers around the one that was read."""

from __future__ import annotations

import re

from .found import Claim, Extraction
from .hedges import denied, rival_before, rival_behind
from .stance import only_mentioned
from .statements import statements, supposed
from .tagged import hashes, tags
from .values import is_plain, values


def rival(text: str, extraction: Extraction, start: int, end: int) -> Claim | None:
    """A claim that differs from the answer; with an empty text where the answer itself is
    denied.
    """
    assert extraction.span is not None
    own = Claim(extraction.answers[-1], *extraction.span, extraction.how)
    if denied(text, own, start):
        return Claim("", own.start, own.end, own.how)
    for claim in _others(text, own, start, end):
        outside = claim.end <= own.start or claim.start >= own.end
        if claim.text and outside and _differs(claim, extraction):
            return claim
    return None


def _others(text: str, own: Claim, start: int, end: int) -> list[Claim]:
    """Everything else that states a final answer: marks anywhere, sentences behind the answer or
    right before it.
    """
    others: list[Claim | None] = []
    ends = not text[own.end : end].strip(" \n$.)\\]*}")
    if not ends:
        others.append(rival_behind(text, own, end))
    if "####" in text:
        others += hashes(text, start, end)
    if "nswer>" in text or "NSWER>" in text:
        others += tags(text, start, end)
    if own.how != "statement":  # whose own rung has settled these
        others.append(rival_before(text, own, start))
        if not ends:
            others += [c for c in statements(text, own.end, end) if _is_rival(text, c)]
        others.append(_right_before(text, own, start))
    return [claim for claim in others if claim is not None]


def _is_rival(text: str, claim: Claim) -> bool:
    """Whether a statement behind the answer names a value outright, and not under a condition."""
    plain = is_plain(claim.text) and bool(values(claim.text))
    return plain and not supposed(text, claim) and not only_mentioned(text, claim, rivals=True)


def _right_before(text: str, own: Claim, start: int) -> Claim | None:
    """A plain statement that only white space parts from the answer, which is no reasoning any
    more.
    """
    lead = text[max(start, own.start - 8) : own.start].rstrip("$\\([* ")
    if not lead.endswith((".", "\n")):
        return None
    offset = max(start, own.start - 200)
    near = statements(text, offset, offset + len(text[offset : own.start].rstrip(" \n$\\[(*")))
    if not near or text[near[-1].end : own.start].strip(" .\n$\\[(*"):
        return None
    return near[-1] if is_plain(near[-1].text) and values(near[-1].text) else None


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
