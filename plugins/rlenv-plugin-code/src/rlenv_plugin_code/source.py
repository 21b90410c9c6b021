"""The program of a response.

It is the last fenced block that is labeled as the language; where none is, the last block without a
label; where there are no blocks, the whole text.  Only what is visible of the response counts.
"""

from __future__ import annotations

from attrs import frozen
from rlenv import Attempt
from rlenv.text import last_block, line_of, whole_block

from .artifacts import Program
from .languages import language as language_of
from .prefix import completed

__all__ = ["Text", "extract", "program_of"]


@frozen
class Text:
    """A stretch of a response and the line, from 1, where it begins."""

    text: str
    line: int = 1


def program_of(
    attempt: Attempt, language: str, *, prefix: str = "none", entry_point: str | None = None
) -> Program:
    """The program of a response; its source is "" where the response has none.

    Args:
        attempt: any response.
        language: a name of ``languages.LANGUAGES``.
        prefix: "prompt": the response goes on where the task's prompt ends, or states the function
            anew.
        entry_point: the function that the prompt begins.

    Raises:
        ConfigError: for an unknown language.
    """
    found = extract(attempt, language)
    if prefix == "none" or not found.text.strip():
        return Program(language, found.text, found.line)
    source, above = completed(attempt.task.prompt, found.text, language, entry_point)
    return Program(language, source, found.line - above)


def extract(attempt: Attempt, language: str) -> Text:
    """The last block of the language, else the last unlabeled block, else the whole text."""
    text = attempt.visible
    block = last_block(text, language_of(language).labels) or whole_block(text)
    if block is None:
        return Text("", 1)
    return Text(block.source, line_of(attempt.response, attempt.reading.place(block.start)))
