r"""Boxes: ``\boxed{…}``, ``\fbox{…}``, ``\framebox{…}`` and ``\boxed 5``, in one pass over the
braces.
"""

from __future__ import annotations

import re

from rlenv_plugin_math.limits import words_of

from .found import Claim
from .patterns import pattern

_Span = tuple[int, int, int, int]  # start and end of the whole box, then of its content
_PLACEHOLDERS = words_of(r"answer ... \ldots \dots \cdots … ? \cdot _ __ ___") | {""}

_command = pattern(
    r"(?:\\{1,4}(?:boxed|fbox|framebox)(?![a-zA-Z])|\x08oxed|(?<![a-zA-Z\\])boxed(?=\s*\{))", 0
)

_braces = pattern(r"\\.|[{}]", re.DOTALL)


def boxes(text: str, start: int, end: int) -> tuple[list[Claim], bool]:
    """(outermost boxes in order, whether one was left open) of ``text[start:end]``."""
    first = text.find("box", start, end)
    if "\x08oxed" in text:
        first = start
    elif first > start and text.find("box", first + 3, end) < 0:
        alone = _only(text, first, end)
        if alone is not None:
            return [alone], False
    if first < 0:
        return [], False
    start = max(start, first - 8)  # "\\\\frame"
    openers: dict[int, int] = {}
    spans: list[_Span] = []
    for mark in _command().finditer(text, start, end):
        brace = _argument(text, mark.end(), end)
        if brace is None:
            spans.append(_unbraced(text, mark.start(), mark.end(), end))
        else:
            openers[brace] = mark.start()
    closed, is_open = _balanced(text, openers, end)
    return [_claim(text, span) for span in _outermost(spans + closed)], is_open


def _only(text: str, at: int, end: int) -> Claim | None:
    """The one box of a text, where it is written plainly, which is the common case; None for any
    other.
    """
    if not text.startswith("\\boxed{", at - 1) or text.startswith("\\", max(0, at - 2), at - 1):
        return None
    depth = 0
    for mark in _braces().finditer(text, at + 5, end):
        brace = mark[0]
        if brace == "{":
            depth += 1
        elif brace == "}":
            depth -= 1
            if depth == 0:
                return Claim(text[at + 6 : mark.start()].strip(), at - 1, mark.end(), "boxed")
    return None


def is_placeholder(content: str) -> bool:
    """Whether a box holds nothing but a stand-in for an answer."""
    if "\\{" in content or content.isdigit():
        return False
    bare = re.sub(
        r"\\text(?![a-z])|\\(?:[;, ]|quad)|[{}~$\s]|\b(?:your|final)\b", "", content.lower()
    )
    return bare in _PLACEHOLDERS


def _argument(text: str, at: int, end: int) -> int | None:
    """Index of the brace that opens a box's argument, None when the argument has no braces."""
    at = _skip_space(text, at, end)
    if at < end and text[at] == "[" and text.startswith("box", at - 3):  # \framebox[3cm]{5}
        width = text.find("]", at, min(end, at + 40))
        if width > 0 and text.startswith("{", width + 1):
            return width + 1
    return at if at < end and text[at] == "{" else None


def _unbraced(text: str, start: int, at: int, end: int) -> _Span:
    at = _skip_space(text, at, end)
    stop = at
    while stop < min(end, at + 200) and not text[stop].isspace() and text[stop] != "$":
        if text.startswith(("\\)", "\\]"), stop):
            break
        stop += 1
    while stop > at and text[stop - 1] in ".,;:":
        stop -= 1
    return start, stop, at, stop


def _balanced(text: str, openers: dict[int, int], end: int) -> tuple[list[_Span], bool]:
    """Boxes whose braces close, and whether one does not."""
    if not openers:
        return [], False
    closed: list[_Span] = []
    stack: list[int] = []
    for mark in _braces().finditer(text, min(openers), end):
        at = mark.start()
        if text[at] == "{":
            stack.append(at)
        elif text[at] == "}" and stack:
            opened = stack.pop()
            if opened in openers:
                closed.append((openers[opened], at + 1, opened + 1, at))
    return closed, any(at in openers for at in stack)


def _outermost(spans: list[_Span]) -> list[_Span]:
    """Boxes that are in no other box, in order."""
    kept: list[_Span] = []
    for span in sorted(spans, key=lambda s: (s[0], -s[1])):
        if not kept or span[0] >= kept[-1][1]:
            kept.append(span)
    return kept


def _claim(text: str, span: _Span) -> Claim:
    start, end, first, last = span
    content = text[first:last]
    if "box" in content:  # a box in a box: the outer one's content counts
        content = _command().sub("", content).strip()
        if content[:1] == "{" and content[-1:] == "}" and content.count("{") == 1:
            content = content[1:-1]
    return Claim(content.strip(), start, end, "boxed")


def _skip_space(text: str, at: int, end: int) -> int:
    while at < end and text[at].isspace():
        at += 1
    return at
