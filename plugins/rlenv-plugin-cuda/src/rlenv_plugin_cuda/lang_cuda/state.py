"""What a CUDA C++ program would keep from one launch to the next: variables of the device that can
change.
"""

from __future__ import annotations

import re
from collections import Counter

from .signatures import bare

__all__ = ["kept", "unfolded"]

_STORAGE = re.compile(r"\b(?:__device__|__managed__|static|thread_local)\b")
_ATTRIBUTE = re.compile(
    r"\b(?:__align__|alignas|__attribute__|__launch_bounds__|__maxnreg__)\s*\([^()]*(?:\([^()]*\)[^()]*)*\)"
)
_END = re.compile(r"[(;={\[]")
_OPERATOR = re.compile(r"\boperator\b")
_FIXED = re.compile(r"\b(?:const|constexpr|__constant__|__shared__)\b")
_POINTER = re.compile(r"\bconst\b[^*]*\*(?!\s*const\b)")
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.M)
_QUALIFIERS = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+"
    r"((?:(?:__(?:device|global|forceinline|inline|noinline)__|inline|static|extern|void)\b"
    r"[ \t]*)+)$",
    re.M,
)
_NAMED = re.compile(r"#[ \t]*(?:define|undef)[ \t]+(\w+)")


def unfolded(source: str) -> str:
    """With macros that are qualifiers and nothing else written out where they stand; lines stay."""
    text = bare(source)
    times = Counter(_NAMED.findall(text))
    found = {match[1]: match for match in _QUALIFIERS.finditer(text) if times[match[1]] == 1}
    for match in found.values():
        source = source[: match.start()] + " " * len(match[0]) + source[match.end() :]
    return re.sub(r"\w+", lambda word: found[word[0]][2] if word[0] in found else word[0], source)


def kept(source: str) -> tuple[int, str] | None:
    """(line, why) of the first variable that outlives a launch and can change.

    None where there is none.
    """
    text = bare(source)
    for directive in _DIRECTIVE.finditer(text):
        word = _STORAGE.search(directive[0])
        if word:
            return _line(text, directive.start()), f"`{word[0]}` behind a macro"
    plain = _ATTRIBUTE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    for word in _STORAGE.finditer(plain):
        end = _END.search(plain, word.end())
        start = max(plain.rfind(mark, 0, word.start()) for mark in ";{}") + 1
        whole = plain[start : end.start()] if end else plain[start:]
        if _OPERATOR.search(whole) or (end is not None and end[0] in "({"):
            continue  # a function
        if not _FIXED.search(whole) or _POINTER.search(whole):
            return (
                _line(text, word.start()),
                f"a variable with `{word[0]}` keeps what it holds from launch to launch",
            )
    return None


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1
