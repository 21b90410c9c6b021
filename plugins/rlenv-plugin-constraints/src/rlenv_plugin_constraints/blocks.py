"""Where the answer of a response stands: after the thinking, in a fenced block, or all of it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from attrs import frozen

__all__ = ["Block", "answer_start", "blocks", "line_spans", "only_block", "program"]

_NAMES = r"(?:seed:)?(?:think|thinking|reasoning|thought|thoughts)"
_OPENS = re.compile(
    rf"\s*(?:<{_NAMES}>|◁think▷|\[THINK\]|<\|begin_of_thought\|>|<\|think\|>)", re.IGNORECASE
)
_CLOSES = re.compile(
    rf"</{_NAMES}>|◁/think▷|\[/THINK\]|<\|end_of_thought\|>|<\|/think\|>", re.IGNORECASE
)
_OPENS_ANYWHERE = re.compile(_OPENS.pattern.removeprefix(r"\s*"), re.IGNORECASE)
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)?")
_NEWLINE = re.compile(r"\r\n|\r|\n")
_FENCE = re.compile(r"([ \t]*)(`{3,}|~{3,})([^\r\n]*)")
_LABEL = re.compile(r"[\w+#.-]*")
_TRAILERS = re.compile(
    r"(?:\s*(?:<\|(?:im_end|endoftext|eot_id|end_of_text|return|end)\|>|</s>|<eos>|<end_of_turn>|<｜end▁of▁sentence｜>))+\s*\Z"
)
_ITEM = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]")
_TRANSPARENT = ("markdown", "md")  # a whole answer may be wrapped so


@frozen
class Block:
    """A stretch of the response.

    Args:
        text: what it holds, without the indentation of its fence.
        start, end: where it stands in the response, in characters.
        label: the first word behind its fence, in lower case.
        closed: whether its fence is closed.
        outer: where the block stands with its fences.
    """

    text: str
    start: int
    end: int
    label: str = ""
    closed: bool = True
    outer: tuple[int, int] = (0, 0)


def answer_start(raw: str) -> int:
    """Where the text begins that is no thinking; the end where the thinking is never closed."""
    if "<" not in raw and "◁" not in raw and "[" not in raw:
        return 0
    place = 0
    while opening := _OPENS.match(raw, place):
        closing = _CLOSES.search(raw, opening.end())
        if closing is None:
            return len(raw)
        place = closing.end()
    return place


def blocks(raw: str, start: int = 0) -> Iterator[Block]:
    """The fenced blocks from ``start`` on, in order, read as CommonMark does.  Linear."""
    if "```" not in raw and "~~~" not in raw:
        return
    opened: re.Match[str] | None = None
    listed = False
    for line in _LINE.finditer(raw, start):
        fence = _FENCE.match(line[0])
        if opened is None:
            listed = listed or _ITEM.match(line[0]) is not None
            if fence is not None and _may_open(fence, listed=listed):
                opened, inside, begin = fence, line.end(), line.start()
        elif fence is not None and _closes(fence, opened):
            yield _block(raw, opened, (inside, line.start()), (begin, line.end()))
            opened = None
    if opened is not None:
        yield _block(raw, opened, (inside, len(raw)), (begin, len(raw)), closed=False)


def _may_open(fence: re.Match[str], *, listed: bool) -> bool:
    indent, run, info = fence.groups()
    if (run[0] == "`" and "`" in info) or (len(indent.expandtabs(4)) >= 4 and not listed):
        return False
    return _label(info) not in _TRANSPARENT


def _closes(fence: re.Match[str], opened: re.Match[str]) -> bool:
    indent, run, info = fence.groups()
    deep = len(indent.expandtabs(4)) >= len(opened[1].expandtabs(4)) + 4
    return not info.strip() and run.startswith(opened[2]) and not deep


def _label(info: str) -> str:
    found = _LABEL.match(info.strip().lower().lstrip("{. "))
    return found[0] if found else ""


def _block(
    raw: str,
    fence: re.Match[str],
    span: tuple[int, int],
    outer: tuple[int, int],
    *,
    closed: bool = True,
) -> Block:
    text = raw[span[0] : span[1]]
    width = len(fence[1].expandtabs(4))
    if width:
        text = re.sub(rf"(?m)^[ \t]{{1,{width}}}", "", text)
    return Block(text, *span, _label(fence[3]), closed, outer)


def only_block(raw: str, labels: Collection[str], *, prose: bool = False) -> Block | str:
    """The whole answer or its one fenced block; a reason where there is no such thing.

    Args:
        raw: the response.
        labels: what the block may be labeled; an unlabeled one is taken as well.
        prose: whether text may stand around the block.
    """
    start = answer_start(raw)
    found = list(blocks(raw, start))
    if not found:
        return Block(raw[start:], start, len(raw))
    if len(found) > 1:
        return f"{len(found)} fenced blocks, not one"
    block = found[0]
    around = raw[start : block.outer[0]] + raw[block.outer[1] :]
    if not block.closed:
        return "the fenced block is never closed"
    if around.strip() and not prose:
        return "there is text around the fenced block"
    if block.label and block.label not in labels:
        return f"the block is labeled {block.label[:20]!r}"
    return block


def program(raw: str, labels: Collection[str]) -> Block | str:
    """The last block with one of these labels, else the last without any, else the whole answer.

    A reason where readers would not agree what is thinking: who runs the program must see the same one.
    """
    end = len(raw)
    if raw.rstrip().endswith((">", "｜>")) and (
        trailer := _TRAILERS.search(raw, max(0, end - 400))
    ):
        end = trailer.start()
    start = _after_thinking(raw)
    if _marks_thinking(raw, start):
        return "a mark of thinking stands in the answer"
    labeled = plain = None
    for block in blocks(raw[:end], start):
        if not block.text.strip():
            continue
        if block.label.partition(".")[0] in labels:
            labeled = block
        elif not block.label:
            plain = block
    return labeled or plain or Block(raw[start:end].lstrip("\ufeff"), start, end)


def _after_thinking(raw: str) -> int:
    """As ``answer_start``; where the prompt opened the thinking, behind the line that closes it."""
    start = answer_start(raw)
    if start == 0 and (closing := _CLOSES.search(raw)) is not None:
        line = raw.rfind("\n", 0, closing.start()) + 1
        rest = raw[closing.end() :].partition("\n")[0]
        alone = not raw[line : closing.start()].strip() or not rest.strip()
        if alone and _OPENS_ANYWHERE.search(raw, 0, closing.start()) is None:
            return closing.end()
    return start


def _marks_thinking(raw: str, start: int) -> bool:
    return _CLOSES.search(raw, start) is not None or _OPENS_ANYWHERE.search(raw, start) is not None


def line_spans(raw: str, block: Block) -> list[tuple[int, int]]:
    """Where the lines of a block stand in the response; line 1 of the block is item 0."""
    starts = [block.start, *(m.end() for m in _NEWLINE.finditer(raw, block.start, block.end))]
    ends = [*(m.start() for m in _NEWLINE.finditer(raw, block.start, block.end)), block.end]
    return list(zip(starts, ends, strict=True))
