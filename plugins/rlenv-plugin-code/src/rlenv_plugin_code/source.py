"""The program of a response.

It is the last fenced block that is labeled as the language; where none is, the last block without a
label; where there are no blocks, the whole text.  Thinking sections do not count.  Fences are read as
CommonMark reads them, so what stands around the last block changes nothing.  Linear in the response.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from attrs import frozen

from .artifacts import Program
from .languages import language as language_of
from .prefix import completed

__all__ = ["Text", "extract", "program_of"]


@frozen
class Text:
    """A stretch of a response and the line, from 1, where it begins."""

    text: str
    line: int = 1


@frozen
class _Block:
    label: str
    lines: list[str]
    line: int


_TRAILERS = (
    "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end_of_text|>", "<|return|>", "<|end|>", "</s>", "<eos>", "<end_of_turn>", "<｜end▁of▁sentence｜>",
)  # fmt: skip
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
_TRANSPARENT = ("markdown", "md")  # a whole answer may be wrapped so


def program_of(
    response: str,
    language: str,
    *,
    prefix: str = "none",
    prompt: str = "",
    entry_point: str | None = None,
) -> Program:
    """The program of a response; its source is "" where the response has none.

    Args:
        response: any text.
        language: a name of ``languages.LANGUAGES``.
        prefix: "prompt": the response goes on where the prompt ends, or states the function anew.
        prompt: the task's prompt.
        entry_point: the function that the prompt begins.

    Raises:
        ConfigError: for an unknown language.
    """
    found = extract(response, language)
    if prefix == "none" or not found.text.strip():
        return Program(language, found.text, found.line)
    source, above = completed(prompt, found.text, language, entry_point)
    return Program(language, source, found.line - above)


def extract(response: str, language: str) -> Text:
    """The last block of the language, else the last unlabeled block, else the whole text."""
    labels = language_of(language).labels
    lines = _without_trailers(response).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    may_think = any(map(response.lower().__contains__, _HINTS))
    heard = _outside_thinking(lines) if may_think else list(enumerate(lines, 1))
    labeled = plain = None
    for block in _blocks(heard):
        if _is_blank(block.lines):
            continue
        if block.label in labels or _versioned(block.label) in labels:
            labeled = block
        elif not block.label:
            plain = block
    chosen = labeled or plain
    if chosen is None:
        return _whole(heard)
    return Text("\n".join(chosen.lines).rstrip("\n") + "\n", chosen.line)


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


def _versioned(label: str) -> str:
    """``python3.11`` is ``python3``."""
    return label.partition(".")[0]


def _is_blank(lines: Iterable[str]) -> bool:
    return not any(map(str.strip, lines))


def _whole(lines: list[tuple[int, str]]) -> Text:
    first = next((i for i, (_, line) in enumerate(lines) if line and not line.isspace()), None)
    if first is None:
        return Text("", 1)
    text = "\n".join([line for _, line in lines[first:]])
    return Text(text.removeprefix("\ufeff").rstrip() + "\n", lines[first][0])


# -- thinking ------------------------------------------------------------------------------------


def _outside_thinking(lines: list[str]) -> list[tuple[int, str]]:
    """The lines, numbered from 1, that are no thinking."""
    start, rest = _after_bare_close(lines)
    heard: list[tuple[int, str]] = []
    thinking = False
    listed = False
    fence: _Fence | None = None
    for number in range(start, len(lines) + 1):
        line = rest if number == start else lines[number - 1]
        if fence is None:
            thinking, line = _unthought(line, thinking=thinking)
            listed = listed or (not thinking and _item(line) is not None)
        if thinking:
            continue
        fence = _fence_after(fence, line, listed=listed)
        heard.append((number, line))
    return heard


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


# -- fences --------------------------------------------------------------------------------------


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
        """As CommonMark has it: the same mark, as long at least, alone and not four columns further in."""
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


def _blocks(lines: list[tuple[int, str]]) -> Iterator[_Block]:
    """The fenced blocks, in order; one that is never closed reaches to the end."""
    fence: _Fence | None = None
    block = _Block("", [], 0)
    listed = False
    for number, line in lines:
        if "```" not in line and "~~~" not in line:  # most lines
            if fence is not None:
                block.lines.append(_dedented(line, fence.indent))
            else:
                listed = listed or _item(line) is not None
            continue
        before, fence = fence, _fence_after(fence, line, listed=listed)
        if fence is None:
            if before is not None:
                yield block
        elif before is None:
            block = _Block(fence.label, [], number + 1)
        else:
            block.lines.append(_dedented(line, fence.indent))
    if fence is not None:
        yield _Block(block.label, _cut(block.lines, fence.run), block.line)


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
