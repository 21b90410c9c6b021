"""The fenced blocks of a text, as CommonMark reads them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import chain

from attrs import frozen

_ITEM = re.compile(r"(?m:^)[ \t]*+(?:[-*+]|[0-9]{1,9}[.)])[ \t]")
_FENCE = re.compile(  # its indentation and list marks, its run (no code span's), what is behind it
    r"(?:(?m:^)|(?<=\r)|\A\ufeff)([ \t]*+(?:(?:[-*+]|[0-9]{1,9}[.)])["
    r" \t]++)*+)(`{3,}+(?![^\r\n]*`)|~{3,}+)([^\r\n]*+)(?:\r\n|\r|\n)?"
)
_LABEL = re.compile(r"[\w+#.-]*")
_TRANSPARENT = ("markdown", "md")  # a whole answer may be wrapped so


@frozen
class Block:
    """A fenced block.

    Args:
        text: what it holds, without the indentation of its fence.
        language: the first word behind its opening fence, in small letters; "" where there is none.
        start, end: where what it holds is in the text, in characters.
        outer: where it stands with its fences.
        closed: whether its fence is closed.
    """

    text: str
    language: str
    start: int
    end: int
    outer: tuple[int, int]
    closed: bool = True

    @property
    def source(self) -> str:
        """Its text as a program: lines end in ``\\n``, the last one too."""
        return self.text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n") + "\n"


def fences(text: str, end: int) -> Iterator[re.Match[str]]:
    """What may open or close a block, up to ``end``."""
    return _FENCE.finditer(text, 0, end if "```" in text or "~~~" in text else 0)


def fenced_blocks(text: str, languages: Collection[str] | None = None) -> Iterator[Block]:
    """The fenced blocks of a text, in order, as CommonMark reads them.

    Fences are of backticks or tildes, three or more, at most three columns in, or deeper once a
    list has begun.  A block that is never closed reaches to the end, or to where its run of marks
    is right behind some code or before some text.  What is fenced as Markdown is read for the
    blocks in it.

    Args:
        text: any text; best the visible one.
        languages: only blocks of these, in small letters; "" is a block without a language, and
            ``python3`` takes ``python3.11`` too.  None: all.
    """
    opening: re.Match[str] | None = None
    # whether a list has begun, and from where to look for one
    listed = False
    gap = 0
    for fence in chain(fences(text, len(text)), (None,)):
        if opening is not None:
            if fence is None or _is_end(fence, opening):
                block = _block(text, opening, fence)
                if languages is None or has_language(block, languages):
                    yield block
                opening = None
                gap = block.outer[1]
        elif fence is not None:
            if not listed and (_width(fence) >= 4 or fence[1].strip()):
                listed = _ITEM.search(text, gap, fence.end()) is not None
                gap = fence.start()
            if (listed or _width(fence) < 4) and _language(fence) not in _TRANSPARENT:
                opening = fence


def last_block(text: str, languages: Collection[str]) -> Block | None:
    """The last block of these languages that holds anything, else the last such without a language.

    Args:
        text: any text; best the visible one.
        languages: in small letters, as ``fenced_blocks`` takes them.
    """
    chosen: Block | None = None
    for block in fenced_blocks(text, (*languages, "")):
        if block.text.strip() and (block.language or chosen is None or not chosen.language):
            chosen = block
    return chosen


def whole_block(text: str) -> Block | None:
    """All of a text as one block, from its first line that is not blank; None where it is blank."""
    start = len(text) - len(text.lstrip())
    if start == len(text):
        return None
    start = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    held = text[start:].removeprefix("\ufeff").rstrip()
    return Block(held, "", start, len(text), (start, len(text)))


def has_language(block: Block, languages: Collection[str]) -> bool:
    """Whether a block is of one of these languages.

    Args:
        block: any block.
        languages: in small letters, as ``fenced_blocks`` takes them.
    """
    return block.language in languages or block.language.partition(".")[0] in languages


def _width(fence: re.Match[str]) -> int:
    return len(fence[1].expandtabs(4))


def _language(fence: re.Match[str]) -> str:
    found = _LABEL.match(fence[3].strip().lower().lstrip("{. "))
    return "" if found is None else found[0]


def _is_end(fence: re.Match[str], opening: re.Match[str]) -> bool:
    """The same mark, as long at least, alone, and not four columns further in."""
    # Lengths first: to copy long opening marks for each fence would take quadratic time.
    fits = not (fence[1] + fence[3]).strip() and len(fence[2]) >= opening.end(2) - opening.start(2)
    return fits and fence[2].startswith(opening[2]) and _width(fence) < _width(opening) + 4


def _block(text: str, opening: re.Match[str], closing: re.Match[str] | None) -> Block:
    end, outer = closing.span() if closing else (_cut(text, opening), len(text))
    held = text[opening.end() : end]
    width = _width(opening)
    if width:
        held = re.sub(r"(?m)^[ \t]+", lambda m: " " * (len(m[0].expandtabs(4)) - width), held)
    return Block(
        text=held,
        language=_language(opening),
        start=opening.end(),
        end=end,
        outer=(opening.start(), outer),
        closed=closing is not None,
    )


def _cut(text: str, opening: re.Match[str]) -> int:
    """Where a block ends that is never closed."""
    run = opening[2]
    place = opening.end()
    while (found := text.find(run, place)) >= 0:
        begin = text.rfind("\n", place, found) + 1 or place
        line_end = text.find("\n", found)
        line = text[begin : len(text) if line_end < 0 else line_end]
        code = line.rstrip().rstrip(run[0])
        if line.rstrip().endswith(run) and not code[-1:].isspace():
            return begin + len(code)
        if line.lstrip(" \t").startswith(run) and not line[:4].isspace():
            return begin
        place = begin + len(line)
    return len(text)


def line_of(text: str, offset: int) -> int:
    """The number, from 1, of the line in which a character stands.

    Args:
        text: any text; its lines end in any of three ways.
        offset: of the character, from 0.
    """
    head = text[:offset]
    return 1 + head.count("\n") + head.count("\r") - head.count("\r\n")
