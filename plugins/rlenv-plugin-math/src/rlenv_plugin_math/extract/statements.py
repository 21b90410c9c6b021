"""Sentences that announce a final answer, and the claim that each of them makes."""

from __future__ import annotations

import re

from .found import Claim
from .marks import MOST, announcements, weak_announcements
from .patterns import pattern
from .sentences import sentence_end

_DECOR = frozenset("✓✔✅☑🎉🎊🙂😊👍⭐🌟✨💡🏆📌👉\ufe0f")
TAIL = 20_000  # a statement further from the end than this is no final one

_noise = pattern(
    r"(?:[\s:：}]|```[a-z]*(?=\n)|=>?|\*+(?=\s)|\*\*(?=\s|:)|(?<=\n)-+(?=\s)|\$(?=\s*\$\$)|\\Rightarrow|→|⇒)*",
    0,
)

_empty_talk = pattern(
    r"(?:in)?(?:correct|right|wrong|helpful|reasonable|clear|unique|as\ follows|below|above|given|found|obtained|verified"
    r"|consistent|not\s|hidden|already|known|based|easy|simple|indeed\s(?:correct|right)|accurate|in\sthe\sbox)\b",
    re.IGNORECASE | re.VERBOSE,
)

_condition = pattern(r"\b(?:if|had|were|would\s+be)\b")
_ended = pattern(r"\n|[.!?]\s|[。！？]")
_option = pattern(r"[(*_ $]{0,4}([A-J])(?=[).,;:*_ $]*(?:\Z|[.,;:*)]|(?:or|and|but|also)\b))", 0)


def statements(text: str, start: int, end: int, *, weak: bool = False) -> list[Claim]:
    """Answers announced in sentences near the end, in order; those with nothing behind the mark
    have an empty text.
    """
    start = max(start, end - TAIL)
    marks = (
        weak_announcements(text, start, end) if weak else announcements(text, start, end)[-MOST:]
    )
    claims: list[Claim] = []
    for (_, at), following in zip(marks, [*marks[1:], None], strict=False):
        claim = _tail(text, at, end)
        if following is not None and following[1] <= claim.end:
            claim = claim_of(text, claim.start, max(claim.start, following[0]), "statement")
            option = _option().match(claim.text)
            if option:  # "Answer: A, or the answer is C"
                claim = Claim(option[1], claim.start, claim.start + option.end(1), "statement")
            elif not any(c.isnumeric() for c in claim.text):
                continue  # "Final answer: the answer is 5" announces once
        asked = text[claim.end : claim.end + 1] in ("?", "？") and not weak
        if not asked and not _empty_talk().match(claim.text):
            claims.append(claim)
    return claims


def supposed(text: str, claim: Claim) -> bool:
    """Whether the words before a claim in its sentence say that it holds under a condition."""
    lead = _ended().split(text[max(0, claim.start - 120) : claim.start])[-1]
    return _condition().search(lead) is not None


def _tail(text: str, at: int, end: int) -> Claim:
    """What follows a mark: the rest of its sentence, or the next paragraph when the line ends
    there.
    """
    first = stop = at
    for _ in range(3):
        noise = _noise().match(text, stop, end)
        first = noise.end() if noise else stop
        stop = sentence_end(text, first, end)
        if not text[first:stop].rstrip().endswith((":", "：")) or stop >= end:
            break
    claim = claim_of(text, first, stop, "statement")
    spoken = text[at - 1].isalpha() and text[stop : stop + 1] in ("", "\n")
    if spoken and claim.text.endswith("!") and "$" not in claim.text:
        return Claim(claim.text.rstrip("!"), claim.start, claim.end, claim.how)  # joy, no factorial
    return claim


def claim_of(text: str, start: int, end: int, how: str) -> Claim:
    """The claim ``text[start:end]`` without white space and Markdown marks around it."""
    start, end = _trimmed(text, start, end)
    content = text[start:end]
    if "*" in content or "_" in content or "`" in content:
        start, end = _trimmed(text, *_unmarked(text, start, end))
        content = text[start:end]
    if content[-1:] == ")" and not any(c in content for c in "([{]"):
        end -= 1  # the tail of a parenthesis that began earlier, or of "C)"
        content = content[:-1]
    return Claim(content.removesuffix(",").removesuffix(";"), start, end, how)


def _unmarked(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without the Markdown marks at its ends that belong to it, or to nothing."""
    for mark in ("**", "__", "*", "`"):
        inside = text.count(mark, start, end)
        if not 1 <= inside <= 2 or end - start <= inside * len(mark):
            continue
        opened = text.startswith(mark, start, end)
        closed = text.endswith(mark, start, end)
        if inside == 1 or (opened and closed):
            start = start + len(mark) * opened
            end = end - len(mark) * closed
    return start, end


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without the white space at its ends."""
    while end > start and (text[end - 1].isspace() or text[end - 1] in _DECOR):
        end -= 1
    while start < end and (text[start].isspace() or text[start] in _DECOR):
        start += 1
    return start, end
