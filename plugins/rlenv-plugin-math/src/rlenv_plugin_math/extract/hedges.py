"""Whether a response takes its answer back, or offers another beside it."""

from __future__ import annotations

import re

from rlenv_plugin_math.languages import holds_any

from .found import Claim
from .patterns import DENIED_THAT, pattern
from .values import values
from .wording import denied_behind, denied_late

_NEAR = 600  # characters behind the answer that are read for another one

retraction = pattern(r"\b(?:<<retractions>>)")

_denying = pattern(
    r"(?:\bnot|n['’]t|\bnever)(?:\s+(?:\w+\s+)?(?:answer|result|solution)\s+is|\s+be)?\Z|\bcannot\s+be\Z"
    rf"|\b{DENIED_THAT}"
)

rivalry = pattern(
    r"\b(?:(?:could|might|may|can)\s+(?:just\s+as\s+well\s+|also\s+|instead\s+|possibly\s+|as\s+well\s+)*(?:be|equal)|or\s+(?:else\s+)?(?:maybe|perhaps|possibly|else|it|the|rather)|alternatively|(?:if|but)\s+not|maybe|perhaps|possibly|another\s+(?:possible\s+)?(?:answer|option|possibility|valid)|either|otherwise|also\s+accept\w*|instead)\b"
)

_sameness = pattern(r"\b(?:<<sameness>>)\b|≈|\\approx")

_joining = pattern(
    r"[\s$)\]}\\*.,;?!。！？]*\(?\s*(?:(?:or|and/or|no|nope|rather|sorry|correction|make"
    r" that|i\s+meant?|(?:(?:this|that|it)\s+)?should\s+(?:be|have\s+been))\b\s*[,:]?(?:\s+(?:it(?:'s|’s|"
    r" is)|is|i\s+meant?))?|/|或)\s*"
)

# "C. Paris or D. Rome": a second option on the line of the first.
_other_option = pattern(r"[^\n]{0,80}?\bor\s+(?:option\s+)?\(?([A-J])(?:[.)]|\s*\Z)", 0)


def rival_behind(text: str, claim: Claim, end: int) -> Claim | None:
    """Another value that the text right behind an answer offers instead: "… or 6", "It could also
    be 6".
    """
    after = text[claim.end : min(end, claim.end + _NEAR)]
    letter = _other_option().match(after) if len(claim.text) <= 3 else None
    if letter and letter[1] not in claim.text:
        return _moved(Claim(letter[1], letter.start(1), letter.end(1), claim.how), claim.end)
    joined = _joining().match(after)
    if joined and joined.end() and not _sameness().match(after, joined.end()):
        close = [v for v in values(after[joined.end() : joined.end() + 80]) if v.start <= 12]
        if close:
            return _moved(close[0], claim.end + joined.end())
        if "/" in joined[0]:
            return None
        words = re.compile(r"(?!so\b)\w+(?: \w+){0,2}(?=[.!?]?\s*$|[.!?]\s)").match(
            after, joined.end()
        )
        if words:
            return _moved(Claim(words[0], words.start(), words.end(), claim.how), claim.end)
    doubt = rivalry().search(after)
    if doubt is None:
        return None
    stop = re.compile(r"\n|(?<=[a-z\d$})])[.!?](?:\s|$)").search(after, doubt.end())
    sentence = after[doubt.end() : stop.start() if stop else len(after)]
    if _sameness().search(sentence):
        return None
    offered = values(sentence)
    return _moved(offered[0], claim.end + doubt.end()) if offered else None


def rival_before(text: str, claim: Claim, start: int) -> Claim | None:
    """Another value right before an answer: "6 or \\boxed{5}"."""
    before = text[max(start, claim.start - 120) : claim.start]
    if " or" not in before[-24:].lower():
        return None
    joint = re.search(r"\bor\s*[$\\(\[*]*\s*(?:[a-zA-Z]\s*=\s*)?$", before, re.IGNORECASE)
    if joint is None:
        return None
    offered = values(before[: joint.start()])
    if not offered or before[offered[-1].end : joint.start()].strip(" $\\)],*"):
        return None
    return _moved(offered[-1], claim.start - len(before))


def denied(text: str, claim: Claim, start: int) -> bool:
    """Whether the words right before an answer, or behind it, say that it is not the answer."""
    late = "not it" in text[claim.end : claim.end + 42] and denied_late().match(text, claim.end)
    if late or denied_behind().match(text, claim.end):
        return True
    before = text[max(start, claim.start - 60) : claim.start].rstrip(" $\\([*=:").lower()
    return holds_any("takeback", before) and _denying().search(before) is not None


def _moved(value: Claim, offset: int) -> Claim:
    return Claim(value.text, value.start + offset, value.end + offset, value.how)
