"""Which proposals become criteria, and which criteria no longer tell responses apart: plain
arithmetic.

After RLER (reinforcement learning with evolving rubrics: DR Tulu, Shao and others 2025): criteria
come from what separates a group of rollouts, none of them twice or with both signs, and those that
separate nothing any more are retired.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import fsum, isclose, sqrt

from attrs import frozen

__all__ = ["LONGEST", "Proposal", "against", "refused", "same", "spread", "told_already"]

LONGEST = 240  # characters of a criterion
_QUOTE = 6  # words of a response in a row make a quotation
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_NEGATIONS = frozenset(
    re.findall(
        r"\S+",
        "not no never none without isn't doesn't don't didn't aren't wasn't won't cannot can't nor"
        " neither lack lacks lacking fail fails failing omit omits omitting avoid avoids avoiding"
        " miss misses missing absent absence free",
    )
)
_FILLERS = frozenset(
    re.findall(
        r"\S+",
        "a an the is are was be been being do does did it its this that these those there to of in"
        " on at for with and or any some all each every has have having contain contains include"
        " includes including provide provides mention mentions give gives response answer text must"
        " should shall",
    )
)
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|previous instructions|full marks|highest score|maximum"
    r" score|nonce|verdict|judge|grader|"
    r"system prompt|true for every|always holds?)\b|[{}<>|`\\]|[\"]\s*[:,]|https?:|BEGIN |END ",
    re.I,
)


@frozen
class Proposal:
    """A statement that a judge proposes, and whether it speaks for a response or against it."""

    text: str
    positive: bool


def refused(text: str, responses: Sequence[str]) -> str:
    """Why a statement may not become a criterion, "" where it may.

    It was written by a judge who had read the responses, and would stand among the instructions of
    later calls: so it is one short line, orders nothing, and carries no words of a response over.
    """
    if not 8 <= len(text) <= LONGEST or not text.isprintable() or len(_WORD.findall(text)) < 3:
        return f"not one line of 8 to {LONGEST} characters"
    if _ORDERS.search(text):
        return "speaks of judging, or has signs that a statement needs not"
    words = _words(text)
    pieces = {tuple(words[n : n + _QUOTE]) for n in range(len(words) - _QUOTE + 1)}
    for response in responses:
        there = _words(response)
        if any(tuple(there[n : n + _QUOTE]) in pieces for n in range(len(there) - _QUOTE + 1)):
            return "quotes a response"
    return ""


def same(one: str, other: str) -> bool:
    """Whether two statements are one, or one and its negation, by the words that carry them."""
    a = _core(one)
    b = _core(other)
    if not a or not b:
        return a == b
    return len(a & b) / len(a | b) >= 0.75


def spread(shares: Sequence[float]) -> float:
    """Standard deviation over a group, in [0, 1/2]."""
    middle = fsum(shares) / len(shares)
    return sqrt(fsum((share - middle) ** 2 for share in shares) / len(shares))


def against(shares: Sequence[float], quality: Sequence[float], *, positive: bool) -> bool:
    """Whether a criterion would pay the worse responses of a group whose quality is known."""
    means = fsum(shares) / len(shares), fsum(quality) / len(quality)
    together = fsum((s - means[0]) * (q - means[1]) for s, q in zip(shares, quality, strict=True))
    return together <= 0 if positive else together >= 0


def told_already(shares: Sequence[float], known: Mapping[str, Sequence[float]]) -> str:
    """The criterion that parts this group in the very same way, or the very opposite one; "" if
    none does.
    """
    for name, others in known.items():
        pairs = list(zip(shares, others, strict=True))
        if all(isclose(s, o, abs_tol=1e-9) for s, o in pairs) or all(
            isclose(s, 1.0 - o, abs_tol=1e-9) for s, o in pairs
        ):
            return name
    return ""


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _core(text: str) -> frozenset[str]:
    words = {word.replace("’", "'") for word in _words(text)} - _NEGATIONS - _FILLERS
    return frozenset(_stem(word) for word in words)


def _stem(word: str) -> str:
    """Without the endings of plurals and participles, crudely: ``cites``, ``cited``, ``citing`` are
    one.
    """
    for ending in ("ing", "ies", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
