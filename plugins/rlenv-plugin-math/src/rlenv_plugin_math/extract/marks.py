"""Where a final answer is announced: "the answer is", "Answer:", "A:", "the correct option is"."""

from __future__ import annotations

from .patterns import DENIED_THAT, pattern

MOST = 16  # announcements looked at, from the end

_IS = (
    r"\b(?:is|are|equals|was|would be|will be|should be|must be|comes (?:out"
    r" )?to|becomes)\b(?!n't|n’t)"
)
_MARK = r"[*_]{0,2}\s?(?::|：|->|→|⇒|\\Rightarrow)[*_]{0,2}"
_OF = (
    r"[ *_]*(?:\d{1,2}|\([^()\n]{0,30}\)|in\s[a-zA-Z"
    r" ]{1,20}|(?:to|for)\s(?:the|this|part|question)\b[\w"
    r" ()]{0,30}|therefore|then|so|correct|right)?[ *_]*"
)
_LINK = f"(?:{_IS}|{_MARK}|=)"

# What may be between the word "answer" and the answer itself.
_behind_answer = pattern(
    r"s?\b(?!\s*(?:key|sheet|choice|question|option))"
    rf"(?:[^\n.:：=?!<>\\]{{0,60}}?{_IS}|(?P<gap>{_OF}){_MARK}|\s*[=＝]|[ \t]+(?=\$|\\[(\[]))"
)

_heading = pattern(r"s?[ \t*_#]*(?=\n)", 0)


# Words that ask for an answer, as in "express the answer as a percentage: …".
_asking = pattern(
    r"\b(?:express|writ|giv|round|find|get|check|verify|simplify|leav|stat|put|present|provid|calculat|comput|report|box)"
    r"[a-z]*\s+(?:the|your|my|our)\s+(?:final\s+)?\Z|\bto\s+[a-z]+\s+(?:the|this)\s+\Z"
)

# Words that only suppose or deny an answer: "if the answer is 5, …".
_supposing = pattern(
    r"\b(?:if|assum\w+|suppos\w+|whether|unless|let)\s+(?:that\s+)?(?:the|my|our|its|this)?\s*(?:final\s+|correct\s+)?\Z|\bnot\s+\Z"
    rf"|\b{DENIED_THAT}"
)

_choice = pattern(
    rf"(?<![a-zA-Z])(?:(?:correct|right|best)\s+(?:option|choice|letter)|(?:option|choice)\s+correct)\b[^\n.:：=?!]{{0,40}}?{_LINK}"
)

_short = pattern(r"(?<![a-zA-Z\\])ans\.?\s?[:：=]")

# What announces a result that is the answer when nothing stronger is said.
_weak = pattern(
    r"(?<![a-zA-Z])(?:final\s)?(?:result|solutions?|solution\sset|conclusion|total|output)\b[^\n.:：=?!<>\\]{0,40}?"
    + _LINK
)


def announcements(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """(start, end) of the announcements, in order; the answers begin where they end."""
    region = text[start:end]
    lowered = region.lower()
    if len(lowered) != len(region):  # a few letters grow when lowered
        lowered = region
    marks: list[tuple[int, int]] = []
    at = lowered.rfind("answer")
    while at >= 0 and len(marks) < MOST:
        stop = _announced_at(text, start, start + at, end)
        if stop is not None:
            marks.append((start + at, stop))
        at = lowered.rfind("answer", 0, at)
    marks += [(start + at, start + stop) for at, stop in _letter_marks(region)]
    if "ans" in lowered:
        marks += [m.span() for m in _short().finditer(text, start, end)][-MOST:]
    if "option" in lowered or "choice" in lowered or "letter" in lowered:
        marks += [m.span() for m in _choice().finditer(text, start, end)][-MOST:]
    return sorted(set(marks))


def _announced_at(text: str, start: int, at: int, end: int) -> int | None:
    """Where an announcement that holds the word "answer" at ``at`` ends, None when it announces
    nothing.
    """
    before = text[at - 1] if at > start else "\n"
    if before == "-" or (before.isascii() and before.isalpha()):
        return None
    mark = _behind_answer().match(text, at + 6, end)
    if mark is not None:
        if _supposing().search(text, max(start, at - 40), at):
            return None
        asks = _asking().search(text, max(start, at - 32), at)
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
        if at < 0:
            continue
        line = region[region.rfind("\n", 0, at) + 1 : at]
        stop = at + len(letter)
        if (
            not line.strip(" \t*_")
            and region[stop : stop + 1].isspace()
            and "\nB:" not in region[stop:]
        ):
            marks.append((at, stop))
    return marks


def weak_announcements(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """(start, end) of the weaker announcements ("the result is"), in order."""
    return [mark.span() for mark in _weak().finditer(text, start, end)][-MOST:]
