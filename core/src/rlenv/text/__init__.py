"""What of a response counts: its visible text, and the fenced blocks in it.

One reader for every stage, so that no response shows one answer to one verifier and another to the
next. The marks are those that chat templates make models emit; docs/explanation/visible-text.md
names the template of each.  Everything here takes any text and is linear in it.
"""

from .fences import Block, fenced_blocks, has_language, last_block, line_of, whole_block
from .reading import Thinking, VisibleText, read, visible

__all__ = [
    "Block",
    "Thinking",
    "VisibleText",
    "fenced_blocks",
    "has_language",
    "last_block",
    "line_of",
    "read",
    "visible",
    "whole_block",
]
