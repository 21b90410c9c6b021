"""One answer of several claims of one kind."""

from __future__ import annotations

from itertools import pairwise

from .found import Claim, Extraction, found, rivals
from .hedges import retracted
from .sentences import sentence_end

TWICE = "several different answers are stated"
_PAIRS = 64  # neighboring claims between which a withdrawal is looked for
_LIST = 1_200  # characters that a list of boxes may span


def settle(text: str, claims: list[Claim]) -> Extraction:
    """One answer of several claims: repeated ones count once, retracted ones not, those of one sentence are a list."""
    if len(claims) == 1 or len({c.text for c in claims}) == 1:
        return found(claims[-1])
    last = len(claims) - 1
    for at in range(last, max(0, last - _PAIRS), -1):
        if retracted(_between(text, claims[at - 1], claims[at])):
            claims = claims[at:]
            break
    distinct = list({c.text: c for c in reversed(claims)}.values())[::-1]
    if len(distinct) == 1:
        return found(claims[-1])
    return found(*claims) if _is_list(text, claims) else rivals(distinct, TWICE)


def _is_list(text: str, claims: list[Claim]) -> bool:
    """Whether all claims stand in one sentence."""
    if claims[-1].end - claims[0].start > _LIST:
        return False
    if claims[0].how != "boxed":
        return False
    return all(sentence_end(text, a.end, b.start) >= b.start for a, b in pairwise(claims))


def _between(text: str, left: Claim, right: Claim) -> str:
    between = text[left.end : right.start]
    return between if len(between) <= 1_000 else between[:500] + "\n" + between[-500:]
