"""Fenced blocks of a response, as CommonMark reads them, outside of what a model thinks aloud.  Linear in the response."""

from __future__ import annotations

import re
from collections.abc import Iterator

from attrs import frozen

__all__ = ["Block", "blocks", "heard"]

Lines = list[tuple[int, str]]  # (number from 1, text)


@frozen
class Block:
    """One fenced block: its label in small letters, its text, and the line of the response where the text begins."""

    label: str
    text: str
    line: int


_TRAILERS = (
    "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end_of_text|>", "<|return|>", "<|end|>", "</s>", "<eos>",
    "<end_of_turn>", "<｜end▁of▁sentence｜>",
)  # fmt: skip
_TRANSPARENT = ("markdown", "md")  # a whole answer may be wrapped so
_HINTS = ("think", "reasoning", "thought")
_NAMES = r"(?:seed:)?(?:think|thinking|reasoning|thought|thoughts)"
_opens = re.compile(
    rf"\s*(?:<{_NAMES}>|◁think▷|\[THINK\]|<\|begin_of_thought\|>|<\|think\|>)", re.IGNORECASE
).match
_closes = re.compile(
    rf"</{_NAMES}>|◁/think▷|\[/THINK\]|<\|end_of_thought\|>|<\|/think\|>", re.IGNORECASE
).search
_item = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]").match  # of a list
_label = re.compile(r"[a-z0-9+#_.-]*").match


def heard(response: str) -> Lines:
    """The lines of a response, numbered, without those in which a model thinks."""
    lines = _without_trailers(response).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not any(map(response.lower().__contains__, _HINTS)):
        return list(enumerate(lines, 1))
    start, rest = _after_bare_close(lines)
    found: Lines = []
    thinking = listed = False
    fence: _Fence | None = None
    for number in range(start, len(lines) + 1):
        line = rest if number == start else lines[number - 1]
        if fence is None:
            thinking, line = _unthought(line, thinking=thinking)
            listed = listed or (not thinking and _item(line) is not None)
        if thinking:
            continue
        fence = _fence_after(fence, line, listed=listed)
        found.append((number, line))
    return found


def blocks(lines: Lines) -> Iterator[Block]:
    """The blocks that hold anything, in order; one that is never closed reaches to the end."""
    fence: _Fence | None = None
    label, held, begun, listed = "", list[str](), 0, False
    for number, line in lines:
        if fence is None and "```" not in line and "~~~" not in line:  # most lines
            listed = listed or _item(line) is not None
            continue
        before, fence = fence, _fence_after(fence, line, listed=listed)
        if before is None and fence is None:
            continue
        if before is None:
            assert fence is not None
            label, held, begun = fence.label, [], number + 1
        elif fence is None:
            yield from _block(label, held, begun)
        else:
            held.append(_dedented(line, before.indent))
    if fence is not None:
        yield from _block(label, _cut(held, fence.run), begun)


def _block(label: str, lines: list[str], line: int) -> Iterator[Block]:
    text = "\n".join(lines).rstrip("\n") + "\n"
    if text.strip():
        yield Block(label, text, line)


def _without_trailers(response: str) -> str:
    """The response without the marks that end a model's text."""
    end = bare = len(response)
    while bare:
        if response[bare - 1].isspace():
            bare -= 1
            continue
        mark = next((t for t in _TRAILERS if response.endswith(t, 0, bare)), None)
        if mark is None:
            break
        end = bare = bare - len(mark)
    return response[:end]


def _after_bare_close(lines: list[str]) -> tuple[int, str]:
    """Where the text begins when the prompt had opened the thinking already: (line, its rest)."""
    for number, line in enumerate(lines, 1):
        if _opens(line):
            break
        if "<" not in line and "◁" not in line and "[" not in line:
            continue
        closing = _closes(line)
        if closing and (not line[: closing.start()].strip() or not line[closing.end() :].strip()):
            return number, line[closing.end() :]
    return 1, lines[0]


def _unthought(line: str, *, thinking: bool) -> tuple[bool, str]:
    """(still thinking, what of the line is heard)."""
    place = 0
    while True:
        if not thinking:
            opening = _opens(line, place)
            if opening is None:
                return False, line[place:]
            place = opening.end()
        closing = _closes(line, place)
        if closing is None:
            return True, ""
        thinking, place = False, closing.end()


@frozen
class _Fence:
    """A run of backticks or tildes at the beginning of a line."""

    run: str
    indent: int
    info: str

    @property
    def label(self) -> str:
        found = _label(self.info.lower().lstrip("{. "))
        return found[0] if found else ""

    def opens(self, *, listed: bool) -> bool:
        """Whether it opens a block; four columns in, it does so only inside a list: else it is a docstring's."""
        if (self.run[0] == "`" and "`" in self.info) or (self.indent >= 4 and not listed):
            return False
        return self.label not in _TRANSPARENT

    def closes(self, opening: _Fence) -> bool:
        """The same mark, as long at least, alone and not four columns further in."""
        return (
            not self.info and self.run.startswith(opening.run) and self.indent < opening.indent + 4
        )


def _fence(line: str) -> _Fence | None:
    bare = line.lstrip(" \t")
    if not bare.startswith(("```", "~~~")):
        return None
    info = bare.lstrip(bare[0])
    return _Fence(bare[: len(bare) - len(info)], _indent(line), info.strip())


def _indent(line: str) -> int:
    return len(line[: len(line) - len(line.lstrip(" \t"))].expandtabs(4))


def _fence_after(fence: _Fence | None, line: str, *, listed: bool) -> _Fence | None:
    """The open fence after this line, None when none is; ``listed`` says that a list has begun."""
    if "```" not in line and "~~~" not in line:
        return fence
    found = _fence(line)
    if found is None:
        return fence
    if fence is None:
        return found if found.opens(listed=listed) else None
    return None if found.closes(fence) else fence


def _dedented(line: str, width: int) -> str:
    """The line without the indentation of its fence."""
    if not width:
        return line
    return " " * max(0, _indent(line) - width) + line.lstrip(" \t")


def _cut(lines: list[str], run: str) -> list[str]:
    """A block that is never closed ends where its mark stands before a text, or right behind some code."""
    for place, line in enumerate(lines):
        if run not in line:
            continue
        bare = line.rstrip()
        if bare.endswith(run) and not bare.removesuffix(run)[-1:].isspace():
            return [*lines[:place], bare.removesuffix(run)]
        found = _fence(line)
        if found is not None and found.indent < 4:
            return lines[:place]
    return lines
