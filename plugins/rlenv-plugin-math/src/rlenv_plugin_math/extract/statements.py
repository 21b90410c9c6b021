"""Sentences and marks that announce a final answer: "the answer is …", "Answer: …", ``<answer>``, ``####``."""

from __future__ import annotations

import re
from functools import cache

from .found import Claim
from .sentences import REACH, sentence_end

TAIL = 20_000  # a statement further from the end than this is no final one
_MOST = 16  # statements looked at, from the end

_IS = r"\b(?:is|are|equals|was|would be|will be|should be|must be|comes (?:out )?to|becomes)\b(?!n't|n’t)"
_MARK = r"[*_]{0,2}\s?(?::|：|->|→|⇒|\\Rightarrow)[*_]{0,2}"
_LINK = f"(?:{_IS}|{_MARK}|=)"


@cache
def _noise() -> re.Pattern[str]:
    return re.compile(
        r"(?:[\s:：=>]|\*+(?=\s)|\*\*(?=\s|:)|-+(?=[\s-])|\$(?=\s*\$\$)|\\Rightarrow|→|⇒)*"
    )


@cache
def _strong() -> re.Pattern[str]:
    """What announces the answer in so many words; ``verb`` is set where the words ask for one instead."""
    return re.compile(
        r"(?P<verb>\b(?:express|writ|giv|round|find|get|check|verify|simplify|leav|stat|put|present|provid|calculat|comput"
        r"|report|box)[a-z]*\s+(?:the|your|my|our)\s+(?:final\s+)?)?"
        r"(?<![-a-zA-Z])answers?\b(?!\s*(?:key|sheet|choice|question|option))"
        rf"(?:[^\n.:：=?!<>\\]{{0,60}}?{_IS}|(?P<gap>[^\n.:：=?!<>\\]{{0,30}}?){_MARK}|\s*[=＝])"
        r"|(?:^|\n)[ \t>#*_]*(?:final[ ]+answers?|answers?)[ \t*_#]*(?=\n)"
        r"|(?:^|\n)[ \t*_]*A[*_]*\s?:(?=\s)"
        rf"|(?<![a-zA-Z])(?:correct|right|best)\s(?:option|choice|letter)\b[^\n.:：=?!]{{0,40}}?{_LINK}"
        r"|(?:最终)?答案(?:应该)?[是为：:]+",
        re.IGNORECASE,
    )


@cache
def _weak() -> re.Pattern[str]:
    """What announces a result that is the answer when nothing stronger is said."""
    return re.compile(
        r"(?<![a-zA-Z])(?:final\s)?(?:result|solutions?|solution\sset|conclusion|total|output)\b[^\n.:：=?!<>\\]{0,40}?"
        + _LINK,
        re.IGNORECASE,
    )


@cache
def _empty_talk() -> re.Pattern[str]:
    return re.compile(
        r"(?:in)?(?:correct|right|wrong|helpful|reasonable|clear|unique|as\ follows|below|above|given|found|obtained|verified"
        r"|consistent|not\s|hidden|already|known|based|easy|simple|indeed\s(?:correct|right)|accurate|in\sthe\sbox)\b",
        re.IGNORECASE | re.VERBOSE,
    )


def statements(text: str, start: int, end: int, *, weak: bool = False) -> list[Claim]:
    """Answers announced in sentences near the end, in order; those with nothing behind the mark have an empty text."""
    start = max(start, end - TAIL)
    pattern = _weak() if weak else _strong()
    marks = [m for m in pattern.finditer(text, start, end) if weak or not _asks(m)][-_MOST:]
    claims: list[Claim] = []
    for mark, following in zip(marks, [*marks[1:], None], strict=False):
        claim = _tail(text, mark.end(), end)
        if following is not None and following.end() <= claim.end:
            continue  # "Final answer: the answer is 5" announces once
        if not _empty_talk().match(claim.text):
            claims.append(claim)
    return claims


def _asks(mark: re.Match[str]) -> bool:
    """Whether the words ask for an answer, as in "express the answer as a percentage: …"."""
    return bool(mark["verb"] and (mark["gap"] is None or mark["gap"].strip(" *_")))


def _tail(text: str, at: int, end: int) -> Claim:
    """What follows a mark: the rest of its sentence, or the next paragraph when the line ends there."""
    noise = _noise().match(text, at, end)
    first = noise.end() if noise else at
    stop = sentence_end(text, first, end)
    sentence = text[first:stop].rstrip()
    if sentence.endswith((":", "：")) and stop < end and stop - first < REACH:
        return _tail(text, stop, end)
    claim = claim_of(text, first, stop, "statement")
    if sentence.endswith("!") and "$" not in sentence and not text[stop : stop + 1].strip():
        return Claim(claim.text.rstrip("!"), claim.start, claim.end, claim.how)  # joy, no factorial
    return claim


def claim_of(text: str, start: int, end: int, how: str) -> Claim:
    """The claim ``text[start:end]`` without white space and Markdown marks around it."""
    start, end = _trimmed(text, start, end)
    for mark in ("**", "__", "*", "`"):
        opened, closed = text.startswith(mark, start, end), text.endswith(mark, start, end)
        inside = text.count(mark, start, end)
        if end - start > inside * len(mark) and (
            inside == 1 or (inside == 2 and opened and closed)
        ):
            start, end = start + len(mark) * opened, end - len(mark) * closed
    start, end = _trimmed(text, start, end)
    return Claim(text[start:end].removesuffix(",").removesuffix(";"), start, end, how)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without the white space at its ends."""
    while end > start and text[end - 1].isspace():
        end -= 1
    while start < end and text[start].isspace():
        start += 1
    return start, end


def hashes(text: str, start: int, end: int) -> list[Claim]:
    """Answers behind ``####``: on the last line, or plainly an amount (a Markdown heading is neither)."""
    claims: list[Claim] = []
    floor = max(start, end - TAIL)
    at = text.rfind("####", floor, end)
    while at >= 0 and len(claims) < _MOST:
        line = text.find("\n", at, end)
        stop = line if line >= 0 else end
        alone = (at == start or text[at - 1] != "#") and not text.startswith("#", at + 4)
        claim = claim_of(text, at + 4, stop, "hash")
        if alone and (not text[stop:end].strip() or _amount().fullmatch(claim.text)):
            claims.append(claim)
        at = text.rfind("####", floor, at)
    return claims[::-1]


@cache
def _amount() -> re.Pattern[str]:
    return re.compile(r"[-+−$€£¥ ]*\d[\d,./ ]*(?<!\.)(?:%|[a-z]{1,12})?")


def tags(text: str, start: int, end: int) -> list[Claim]:
    """Answers in ``<answer>…</answer>``; the last may lack its closing tag, which stop strings cut off."""
    claims: list[Claim] = []
    marks = list(_tag().finditer(text, start, end))
    for mark, following in zip(marks, [*marks[1:], None], strict=False):
        if mark["slash"]:
            continue
        stop = following.start() if following else end
        if stop - mark.end() <= REACH:
            claims.append(claim_of(text, mark.end(), stop, "answer-tag"))
    return claims


@cache
def _tag() -> re.Pattern[str]:
    return re.compile(r"<(?P<slash>/?)(?:final_)?answer>|<\|(?P<end>/?)answer\|>", re.IGNORECASE)
