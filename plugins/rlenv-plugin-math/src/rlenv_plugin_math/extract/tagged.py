"""Final answers in marks of their own: ``<answer>…</answer>`` and ``####``."""

from __future__ import annotations

from .found import Claim
from .marks import MOST
from .patterns import pattern
from .sentences import REACH
from .statements import TAIL, claim_of


def hashes(text: str, start: int, end: int) -> list[Claim]:
    """Answers behind ``####``: on the last line, or plainly an amount (a Markdown heading is
    neither).
    """
    claims: list[Claim] = []
    floor = max(start, end - TAIL)
    at = text.rfind("####", floor, end)
    while at >= 0 and len(claims) < MOST:
        line = text.find("\n", at, end)
        stop = line if line >= 0 else end
        alone = (at == start or text[at - 1] != "#") and not text.startswith("#", at + 4)
        claim = claim_of(text, at + 4, stop, "hash")
        if alone and (not text[stop:end].strip() or _amount().fullmatch(claim.text)):
            claims.append(claim)
        at = text.rfind("####", floor, at)
    return claims[::-1]


_amount = pattern(r"[-+−$€£¥ ]*\d[\d,./ ]*(?<!\.)(?:%|[a-z]{1,12})?", 0)


def tags(text: str, start: int, end: int) -> list[Claim]:
    """Answers in ``<answer>…</answer>``; the last may lack its closing tag, which stop strings cut
    off.
    """
    claims: list[Claim] = []
    lowered = text.lower()
    if "answer>" not in lowered and "answer|>" not in lowered:
        return claims
    marks = list(_tag().finditer(text, start, end))[-2 * MOST :]
    for mark, following in zip(marks, [*marks[1:], None], strict=False):
        if mark["slash"]:
            continue
        stop = following.start() if following else end
        if stop - mark.end() <= REACH:
            claims.append(claim_of(text, mark.end(), stop, "answer-tag"))
    return claims


_tag = pattern(r"<(?P<slash>/?)(?:final_)?answer>|<\|(?P<end>/?)answer\|>")
