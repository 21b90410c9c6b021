"""The program of a response: the last fenced block of its language, else the last without a label,
else all of it.
"""

from __future__ import annotations

import re

from attrs import frozen
from rlenv import Attempt
from rlenv.text import Block, fenced_blocks, last_block, line_of, whole_block

from .artifacts import Program

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
    """Why a response has no program that can be read, and in which line of it.

    A line of 0: nowhere in particular.
    """

    said: str
    line: int = 0


def program_in(attempt: Attempt, lang: str) -> Program | Bad:
    """The program that an earlier stage took out of the response, else ``program_of``."""
    found = attempt.find(Program)
    return found if found is not None and found.lang == lang else program_of(attempt, lang)


def program_of(attempt: Attempt, lang: str) -> Program | Bad:
    """The program of a response; CUDA C++ has a launch plan beside it, the last block of Python.

    Args:
        attempt: any response.
        lang: "numba", "triton" or "cuda".
    """
    text = attempt.visible
    code = last_block(text, LABELS[lang])
    if code is None and not any(block.text.strip() for block in fenced_blocks(text)):
        code = whole_block(text)
    if code is None:
        return Bad(f"the response has no block of {lang} code")
    plan = last_block(text, _PYTHON) if lang == "cuda" and not _planned(code.text) else None
    first = _line(attempt, code)
    problem = _problem(code, first)
    if problem is None and plan is not None and plan.language:
        problem = _problem(plan, _line(attempt, plan))
    if problem is not None:
        return problem
    if plan is None or not plan.language:
        return Program(lang, code.source, first)
    from .lang_cuda.rules import joined

    whole = joined(code.source, plan.source)
    begins = whole.count("\n") - plan.source.rstrip("\n").count("\n")
    return Program(lang, whole, first, begins, _line(attempt, plan))


def _line(attempt: Attempt, block: Block) -> int:
    """The line of the response where a block of its visible text begins."""
    return line_of(attempt.response, attempt.reading.place(block.start))


_planned = re.compile(
    r"^[ \t]*//[ \t]*launch:[ \t]*$", re.M
).search  # a plan in comments of the source


def _problem(block: Block, first: int) -> Bad | None:
    text = block.source
    if len(text) > SOURCE_BYTES or len(text.encode("utf-8", "surrogatepass")) > SOURCE_BYTES:
        return Bad(f"the program is longer than {SOURCE_BYTES} bytes", first)
    for number, line in enumerate(text.split("\n"), first):
        if "\0" in line or any("\ud800" <= letter <= "\udfff" for letter in line):
            return Bad("a character that no program has", number)
    return None
