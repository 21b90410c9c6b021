"""The program of a response: the last fenced block of its language, else the last without a label, else all of it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import frozen
from rlenv.stages import Attempt

from .artifacts import Program
from .fences import Block, Lines, blocks, heard

__all__ = ["SOURCE_BYTES", "Bad", "program_in", "program_of"]

SOURCE_BYTES = 1 << 16  # of a program, as UTF-8; what reads it is bounded by this
_PYTHON = ("python", "py", "python3", "numba", "triton")
LABELS = {
    "numba": _PYTHON,
    "triton": _PYTHON,
    "cuda": ("cuda", "cu", "cuh", "cpp", "c++", "cxx", "cc", "c"),
}


@frozen
class Bad:
    """Why a response has no program that can be read, and in which line of it (0: nowhere in particular)."""

    said: str
    line: int = 0


def program_in(attempt: Attempt, lang: str) -> Program | Bad:
    """The program that an earlier stage took out of the response, else ``program_of``."""
    found = attempt.find(Program)
    return found if found is not None and found.lang == lang else program_of(attempt.response, lang)


def program_of(response: str, lang: str) -> Program | Bad:
    """The program of a response; CUDA C++ has a launch plan beside it, the last block of Python.

    Args:
        response: any text.
        lang: "numba", "triton" or "cuda".
    """
    lines = heard(response)
    found = list(blocks(lines))
    code = _last(found, LABELS[lang]) or _last(found, ("",))
    if code is None and not found:
        code = _whole(lines)
    if code is None:
        return Bad(f"the response has no block of {lang} code")
    plan = _last(found, _PYTHON) if lang == "cuda" and not _planned(code.text) else None
    for block in (code, plan):
        problem = _problem(block) if block else None
        if problem is not None:
            return problem
    if plan is None:
        return Program(lang, code.text, code.line)
    from .lang_cuda.rules import joined

    whole = joined(code.text, plan.text)
    begins = whole.count("\n") - plan.text.rstrip("\n").count("\n")
    return Program(lang, whole, code.line, begins, plan.line)


_planned = re.compile(
    r"^[ \t]*//[ \t]*launch:[ \t]*$", re.M
).search  # a plan in comments of the source


def _problem(block: Block) -> Bad | None:
    text = block.text
    if len(text) > SOURCE_BYTES or len(text.encode("utf-8", "surrogatepass")) > SOURCE_BYTES:
        return Bad(f"the program is longer than {SOURCE_BYTES} bytes", block.line)
    for number, line in enumerate(text.split("\n"), block.line):
        if "\0" in line or any("\ud800" <= letter <= "\udfff" for letter in line):
            return Bad("a character that no program has", number)
    return None


def _last(found: Sequence[Block], labels: Sequence[str]) -> Block | None:
    """The last block under one of these labels; ``python3.11`` is ``python3``."""
    for block in reversed(found):
        if block.label in labels or (block.label and block.label.partition(".")[0] in labels):
            return block
    return None


def _whole(lines: Lines) -> Block | None:
    first = next((place for place, (_, text) in enumerate(lines) if text.strip()), None)
    if first is None:
        return None
    text = "\n".join(text for _, text in lines[first:])
    return Block("", text.removeprefix("\ufeff").rstrip() + "\n", lines[first][0])
