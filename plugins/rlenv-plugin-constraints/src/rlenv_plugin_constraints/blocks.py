"""The answer of a response as a block: the one that is fenced, the last of a language, or all of
the text.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from rlenv.text import Block, fenced_blocks, last_block

__all__ = ["line_spans", "only_block", "program", "whole"]

_NEWLINE = re.compile(r"\r\n|\r|\n")


def whole(raw: str) -> Block:
    """All of a text as one block."""
    return Block(raw, "", 0, len(raw), (0, len(raw)))


def only_block(raw: str, labels: Collection[str], *, prose: bool = False) -> Block | str:
    """The whole text or its one fenced block; a reason where there is no such thing.

    Args:
        raw: the visible text.
        labels: what the block may be labeled; an unlabeled one is taken as well.
        prose: whether text may be around the block.
    """
    found = list(fenced_blocks(raw))
    if not found:
        return whole(raw)
    if len(found) > 1:
        return f"{len(found)} fenced blocks, not one"
    block = found[0]
    around = raw[: block.outer[0]] + raw[block.outer[1] :]
    if not block.closed:
        return "the fenced block is never closed"
    if around.strip() and not prose:
        return "there is text around the fenced block"
    if block.language and block.language not in labels:
        return f"the block is labeled {block.language[:20]!r}"
    return block


def program(raw: str, labels: Collection[str]) -> Block:
    """The last block with one of these labels, else the last without any, else the whole text."""
    return last_block(raw, labels) or whole(raw)


def line_spans(raw: str, block: Block) -> list[tuple[int, int]]:
    """Where the lines of a block are in the text; line 1 of the block is item 0."""
    starts = [block.start, *(m.end() for m in _NEWLINE.finditer(raw, block.start, block.end))]
    ends = [*(m.start() for m in _NEWLINE.finditer(raw, block.start, block.end)), block.end]
    return list(zip(starts, ends, strict=True))
