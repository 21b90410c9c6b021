"""What CUDA C++ may not say before it meets the compiler: nothing reads a file, names another file
or leaves the language; the usual headers may be named, and are ours.

The text is taken apart as the standard's first phases do it: lines that end in a backslash are
joined, comments and strings are set aside, then directives and words are held against short lists.
What the phases of compilers disagree about (other line ends, trigraphs, raw strings) is rejected
rather than guessed.  The compiler runs in a sandbox without anything worth reading besides.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from .prelude import HEADERS

__all__ = ["SOURCE_BYTES", "refused"]

SOURCE_BYTES = 1 << 18
DIRECTIVES = frozenset(
    ("define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "pragma")
)
PRAGMAS = frozenset(("unroll", "nounroll", "once"))
_REASONS = {
    "inline assembly": "asm __asm __asm__",
    "a look at the file system": "__has_include __has_include_next __has_embed",
    "a pragma in the midst of a line": "_Pragma __pragma",
    "memory of its own": "malloc calloc realloc new __nv_aligned_device_malloc",
    "a pointer made of a number": (
        "__cvta_generic_to_global __cvta_global_to_generic __cvta_shared_to_generic "
        "__cvta_local_to_generic __cvta_constant_to_generic"
    ),
    "the time of day": "__DATE__ __TIME__ __TIMESTAMP__",
}
WORDS = {word: reason for reason, words in _REASONS.items() for word in words.split()}
_SPLICE = re.compile(r"\\\n")
_ODD = re.compile(r"[^\n\t\x20-\U0010FFFF]|[\x7f-\x9f]|\\[ \t]+\n|\?\?[=/'()!<>-]")
_TOKEN = re.compile(
    r"""
      (?P<space>[ \t]+|//[^\n]*|/\*.*?\*/)
    | (?P<newline>\n)
    | (?P<raw>(?:u8|[uUL])?R")
    | (?P<text>(?:u8|[uUL])?(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+'))
    | (?P<word>[A-Za-z_$][\w$]*)
    | (?P<number>\.?[0-9](?:[eEpP][+-]|'?[\w.])*)
    | (?P<paste>\#\#|%:%:)
    | (?P<hash>\#|%:)
    | (?P<open>["']|/\*)
    | (?P<other>[\s\S])
    """,
    re.X | re.S | re.A,
)


def refused(source: str) -> tuple[int, str] | None:
    """(line, why) of the first thing that is not allowed, None where there is none.

    Lines count from 1.
    """
    if len(source.encode("utf-8", "surrogatepass")) > SOURCE_BYTES:
        return 1, f"the program is longer than {SOURCE_BYTES} bytes"
    source = source.replace("\r\n", "\n")
    odd = _ODD.search(source)
    if odd:
        return (
            _line(source, odd.start()),
            "a character, line end or trigraph that compilers read differently",
        )
    joined, lines = _joined(source)
    tokens = list(_tokens(joined))
    for place, (kind, text, start) in enumerate(tokens):
        said = _wrong(kind, text, tokens, place)
        if said:
            return lines(start), said
    return None


def _wrong(kind: str, text: str, tokens: list[tuple[str, str, int]], place: int) -> str:
    if kind == "raw":
        return "a raw string"
    if kind == "open":
        return "a string or comment without an end"
    if kind == "paste":
        return "`##` makes words that nobody has read"
    if kind == "word" and text in WORDS:
        return f"`{text}`: {WORDS[text]} has no place in a kernel"
    if kind == "number" and _address(tokens, place):
        return f"a pointer made of a number, {text:.20}"
    if kind == "hash" and _first(tokens, place):
        return _directive(tokens, place)
    return ""


def _address(tokens: list[tuple[str, str, int]], place: int) -> bool:
    """Whether a number, but for 0, is cast to a pointer: ``(float*)1`` or
    ``reinterpret_cast<float*>(1)``.
    """
    if not tokens[place][1].strip("0xXuUlL"):
        return False
    before = [
        t for kind, t, _ in tokens[max(0, place - 24) : place] if kind not in ("space", "newline")
    ]
    while before and before[-1] == "(":
        before.pop()
    return before[-2:] in (["*", ")"], ["*", ">"])


def _directive(tokens: list[tuple[str, str, int]], place: int) -> str:
    kind, name = _next(tokens, place)
    if kind == "newline":
        return ""
    if kind == "word" and name == "include":
        return _included(tokens, place)
    if kind != "word" or name not in DIRECTIVES:
        return f"`#{name:.20}` has no place in a kernel: its lines are its own"
    if name != "pragma":
        return ""
    kind, name = _next(tokens, place, 2)
    return "" if name in PRAGMAS else "of pragmas there are unroll, nounroll and once"


def _included(tokens: list[tuple[str, str, int]], place: int) -> str:
    """Of headers there are those that are known by name, and come as text."""
    words = []
    while (place := place + 1) < len(tokens) and tokens[place][0] != "newline":
        words += [tokens[place][1]] if tokens[place][0] != "space" else []
    name = "".join(words[1:])
    if name[:1] + name[-1:] in ("<>", '""') and name[1:-1] in HEADERS:
        return ""
    return (
        f"`#include` of {name[:40] or 'nothing'}: no file is read; there are"
        f" {', '.join(sorted(HEADERS))}"
    )


def _next(tokens: list[tuple[str, str, int]], place: int, nth: int = 1) -> tuple[str, str]:
    while (place := place + 1) < len(tokens):
        kind, text, _ = tokens[place]
        if kind == "space":
            continue
        nth -= 1
        if not nth or kind == "newline":
            return kind, text
    return "newline", ""


def _first(tokens: list[tuple[str, str, int]], place: int) -> bool:
    """Whether nothing but space is before it in its line."""
    while place:
        place -= 1
        if tokens[place][0] == "newline":
            return True
        if tokens[place][0] != "space":
            return False
    return True


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    """Up to the first string or comment without an end: to look for one twice is to look for it a
    thousand times.
    """
    for match in _TOKEN.finditer(text):
        yield match.lastgroup or "other", match[0], match.start()
        if match.lastgroup == "open":
            return


def _joined(source: str) -> tuple[str, _Lines]:
    removed = [match.start() for match in _SPLICE.finditer(source)]
    starts = [0, *(match.end() for match in re.finditer("\n", source))]
    return _SPLICE.sub("", source), _Lines(removed, starts)


def _line(source: str, place: int) -> int:
    return source.count("\n", 0, place) + 1


class _Lines:
    """From a place in the joined text to the line of the source that it stood in."""

    def __init__(self, removed: list[int], starts: list[int]) -> None:
        self.removed = removed
        self.starts = starts

    def __call__(self, place: int) -> int:
        for at in self.removed:
            if at > place:
                break
            place += 2
        return bisect_right(self.starts, place)
