"""What ``ptxas -v`` says of each function, out of a log whose beginning may be an answer's own
words.

A compiler prints its complaints first, and an answer can make it print nearly anything there (a
deprecated function's message may hold whole lines).  The assembler speaks last, and begins with the
size of global memory: so what is before the last such line is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from attrs import frozen

__all__ = ["Said", "said"]

_BEGIN = re.compile(r"^ptxas info +: [0-9]+ bytes gmem", re.M)
_ENTRY = re.compile(r"ptxas info +: Compiling entry function '([^']+)' for '[^']+'")
_FRAME = re.compile(
    r"(?:ptxas +\. )? *([0-9]+) bytes stack frame,"
    r" ([0-9]+) bytes spill stores, ([0-9]+) bytes spill loads"
)
_USED = re.compile(r"ptxas info +: Used ([0-9]+) registers\b.*")
_SHARED = re.compile(r"\b([0-9]+)(?:\+([0-9]+))? bytes smem")
LINES = 20_000


@frozen
class Said:
    """One kernel: bytes, and registers per thread.

    Spills include those of the functions that it calls.
    """

    registers: int
    shared: int
    spill_stores: int
    spill_loads: int


def said(log: str) -> dict[str, Said]:
    """{kernel: what the assembler said of it}."""
    starts = [match.start() for match in _BEGIN.finditer(log)]
    if not starts:
        return {}
    found: dict[str, Said] = {}
    for name, block in _blocks(log[starts[-1] :].splitlines()[:LINES]):
        used = next((match for line in block if (match := _USED.fullmatch(line))), None)
        if used is None:
            continue
        smem = _SHARED.search(used[0])
        frames = [match for line in block if (match := _FRAME.fullmatch(line))]
        found[name] = Said(
            int(used[1]),
            int(smem[1]) + int(smem[2] or 0) if smem else 0,
            sum(int(match[2]) for match in frames),
            sum(int(match[3]) for match in frames),
        )
    return found


def _blocks(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The lines of each kernel, those of the functions that were compiled for it among them."""
    name = ""
    block = list[str]()
    for line in lines:
        match = _ENTRY.fullmatch(line)
        if match is None:
            block.append(line)
            continue
        if name:
            yield name, block
        name = match[1]
        block = []
    if name:
        yield name, block
