"""One answer of several claims of one kind."""

from __future__ import annotations

from itertools import pairwise

from .found import Claim, Extraction, found, rivals
from .hedges import retraction, rivalry
from .patterns import pattern
from .sentences import sentence_end
from .wording import denial

TWICE = "several different answers are stated"
_PAIRS = 64  # neighboring claims between which a withdrawal is looked for
_NEAR = 500  # characters from a claim in which a withdrawal of it is looked for
_LIST = 1_200  # characters that a list of boxes may span


def settle(text: str, claims: list[Claim]) -> Extraction:
    """One answer of several claims: repeated ones count once, retracted ones not, those of one
    sentence are a list.
    """
    last = len(claims) - 1
    for at in range(last, max(0, last - _PAIRS), -1):
        between = _between(text, claims[at - 1], claims[at])
        if retraction().search(between) and not rivalry().search(between):
            claims = claims[at:]
            break
    distinct = list({c.text: c for c in reversed(claims)}.values())[::-1]
    if len(distinct) == 1:
        return found(claims[-1])
    boxed = claims[0].how == "boxed"
    if boxed and _is_list(text, claims):
        return found(*claims)
    return found(claims[-1]) if boxed and _concludes(text, claims) else rivals(distinct, TWICE)


def _is_list(text: str, claims: list[Claim]) -> bool:
    """Whether all claims are in one sentence."""
    if claims[-1].end - claims[0].start > _LIST:
        return False
    return all(
        sentence_end(text, after, b.start) >= b.start
        and not _sequence().search(text, after, b.start)
        for a, b in pairwise(claims)
        for after in (_behind(text, a.end),)
    )


def _behind(text: str, at: int) -> int:
    """Index behind the delimiters that close right after a box."""
    for closer in ("$$", "$", "\\)", "\\]"):
        if text.startswith(closer, at):
            return at + len(closer)
    return at


# Words that part one step from the next.
_sequence = pattern(r"\b(?:<<then>>|next)\b")
_conclusion = pattern(
    r"\b(?:<<then>>|<<conclusions>>|asked|asks|required|requested|desired|sought|wanted|looking\s+for)\b"
)
# Words before a box that make more of it than a step.
_announcement = pattern(r"\b(?:<<candidates>>)\b(?!\s+[a-z]\))")
# Words after a box that make it one of several possible answers.
_condition = pattern(r"\b(?:guess|(?:if|or|unless|case)\b)")


def _concludes(text: str, claims: list[Claim]) -> bool:
    """Whether boxes before the last hold steps: the last is announced as the result, and none of
    them is.
    """
    last = claims[-1]
    before = claims[-2]
    between = text[_behind(text, before.end) : last.start]
    if not 8 < len(between) < _LIST or rivalry().search(between) or "####" in between:
        return False
    lead = between[max(between.rfind("\n\n"), between.rfind(". "), 0) :]
    first = text[max(0, claims[0].start - 80) : claims[0].start]
    if _announcement().search(first) or denial().match(text, _behind(text, last.end)):
        return False
    return _conclusion().search(lead) is not None and _condition().search(between) is None


def _between(text: str, left: Claim, right: Claim) -> str:
    between = text[left.start if left.how == "statement" else left.end : right.start]
    return between if len(between) <= 2 * _NEAR else between[:_NEAR] + "\n" + between[-_NEAR:]
