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
_OF = r"[ *_]*(?:\d{1,2}|\([^()\n]{0,30}\)|in\s[a-zA-Z ]{1,20}|(?:to|for)\s(?:the|this|part|question)\b[\w ()]{0,30}|therefore|then|so)?[ *_]*"
_LINK = f"(?:{_IS}|{_MARK}|=)"


@cache
def _noise() -> re.Pattern[str]:
    return re.compile(
        r"(?:[\s:：]|=>?|\*+(?=\s)|\*\*(?=\s|:)|(?<=\n)-+(?=\s)|\$(?=\s*\$\$)|\\Rightarrow|→|⇒)*"
    )


@cache
def _behind_answer() -> re.Pattern[str]:
    """What may stand between the word "answer" and the answer itself."""
    return re.compile(
        r"s?\b(?!\s*(?:key|sheet|choice|question|option))"
        rf"(?:[^\n.:：=?!<>\\]{{0,60}}?{_IS}|(?P<gap>{_OF}){_MARK}|\s*[=＝]|[ \t]+(?=\$|\\[(\[]))",
        re.IGNORECASE,
    )


@cache
def _heading() -> re.Pattern[str]:
    return re.compile(r"s?[ \t*_#]*(?=\n)")


@cache
def _asking() -> re.Pattern[str]:
    """Words that ask for an answer, as in "express the answer as a percentage: …"."""
    return re.compile(
        r"\b(?:express|writ|giv|round|find|get|check|verify|simplify|leav|stat|put|present|provid|calculat|comput|report|box)"
        r"[a-z]*\s+(?:the|your|my|our)\s+(?:final\s+)?\Z|\bto\s+[a-z]+\s+(?:the|this)\s+\Z",
        re.IGNORECASE,
    )


@cache
def _supposing() -> re.Pattern[str]:
    """Words that only suppose an answer: "if the answer is 5, …"."""
    return re.compile(
        r"\b(?:if|assum\w+|suppos\w+|whether|unless|let)\s+(?:that\s+)?(?:the|my|our|its|this)?\s*(?:final\s+|correct\s+)?\Z",
        re.IGNORECASE,
    )


@cache
def _choice() -> re.Pattern[str]:
    return re.compile(
        rf"(?<![a-zA-Z])(?:correct|right|best)\s(?:option|choice|letter)\b[^\n.:：=?!]{{0,40}}?{_LINK}"
        r"|(?:最终)?答案(?:应该)?[是为：:]+",
        re.IGNORECASE,
    )


def _marks(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """(start, end) of the announcements, in order; the answers begin where they end."""
    region = text[start:end]
    lowered = region.lower()
    if len(lowered) != len(region):  # a few letters grow when lowered
        lowered = region
    marks: list[tuple[int, int]] = []
    at = lowered.rfind("answer")
    while at >= 0 and len(marks) < _MOST:
        stop = _announced_at(text, start, start + at, end)
        if stop is not None:
            marks.append((start + at, stop))
        at = lowered.rfind("answer", 0, at)
    marks += [(start + at, start + stop) for at, stop in _letter_marks(region)]
    if "option" in lowered or "choice" in lowered or "letter" in lowered or "答案" in lowered:
        marks += [m.span() for m in _choice().finditer(text, start, end)][-_MOST:]
    return sorted(set(marks))


def _announced_at(text: str, start: int, at: int, end: int) -> int | None:
    """Where an announcement that holds the word "answer" at ``at`` ends, None when it announces nothing."""
    before = text[at - 1] if at > start else "\n"
    if before == "-" or (before.isascii() and before.isalpha()):
        return None
    mark = _behind_answer().match(text, at + 6, end)
    if mark is not None:
        asks = _asking().search(text, max(start, at - 32), at)
        if _supposing().search(text, max(start, at - 40), at):
            return None
        return None if asks and (mark["gap"] is None or mark["gap"].strip(" *_")) else mark.end()
    heading = _heading().match(text, at + 6, end)
    line = text[max(start, text.rfind("\n", start, at) + 1) : at]
    if heading and line.strip(" \t>#*_").lower() in ("", "final"):
        return heading.end()
    return None


def _letter_marks(region: str) -> list[tuple[int, int]]:
    """An ``A:`` that begins a line, as in the GSM8K solutions; not where options follow it."""
    marks: list[tuple[int, int]] = []
    for letter in ("A:", "A :", "**A**:", "**A:**"):
        at = region.rfind(letter)
        line = region[region.rfind("\n", 0, at) + 1 : at] if at >= 0 else "?"
        stop = at + len(letter)
        if (
            not line.strip(" \t*_")
            and region[stop : stop + 1].isspace()
            and "\nB:" not in region[stop:]
        ):
            marks.append((at, stop))
    return marks


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
    if weak:
        marks = [m.span() for m in _weak().finditer(text, start, end)][-_MOST:]
    else:
        marks = _marks(text, start, end)[-_MOST:]
    claims: list[Claim] = []
    for (_, at), following in zip(marks, [*marks[1:], None], strict=False):
        claim = _tail(text, at, end)
        if following is not None and following[1] <= claim.end:
            claim = claim_of(text, claim.start, max(claim.start, following[0]), "statement")
            if not any(c.isnumeric() for c in claim.text):
                continue  # "Final answer: the answer is 5" announces once
        asked = text[claim.end : claim.end + 1] in ("?", "？") and not weak
        if not asked and not _empty_talk().match(claim.text):
            claims.append(claim)
    return claims


def _tail(text: str, at: int, end: int) -> Claim:
    """What follows a mark: the rest of its sentence, or the next paragraph when the line ends there."""
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
    for mark in ("**", "__", "*", "`"):
        opened, closed = text.startswith(mark, start, end), text.endswith(mark, start, end)
        inside = text.count(mark, start, end)
        if end - start > inside * len(mark) and (
            inside == 1 or (inside == 2 and opened and closed)
        ):
            start, end = start + len(mark) * opened, end - len(mark) * closed
    start, end = _trimmed(text, start, end)
    if text.endswith(")", start, end) and not any(c in "([{]" for c in text[start:end]):
        end -= 1  # the tail of a parenthesis that began earlier, or of "C)"
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
    marks = list(_tag().finditer(text, start, end))[-2 * _MOST :]
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
