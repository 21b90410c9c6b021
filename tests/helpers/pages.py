"""The blocks of a page, the commands in them, and whether an output is the one that a page
shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    page
    for pattern in (
        "*.md",
        "core/*.md",
        "plugins/*/*.md",
        "contrib/*/*.md",
        "docs/**/*.md",
        "examples/*/*.md",
        "benchmarks/*.md",
    )
    for page in ROOT.glob(pattern)
)


class Block(NamedTuple):
    language: str
    name: str
    text: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text("utf-8")
    for found in re.finditer(r"^```(\w*)(?: (\S+))?\n(.*?)^```$", text, re.M | re.S):
        line = text.count("\n", 0, found.start()) + 1
        yield Block(found[1] or "text", found[2] or "", found[3], line)


def commands(block: Block) -> Iterator[str]:
    """The commands of a block; a line that ends in a backslash goes on in the next."""
    for line in block.text.replace("\\\n", " ").splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            yield line.strip()


def obeys(found: str, said: str) -> bool:
    """Whether an output is the one that a page shows; columns may be wider and … is anything."""

    def even(text: str) -> str:
        lines = (
            re.sub(r"\s+", " ", re.sub("[─-]{2,}", "──", line)).strip() for line in text.split("\n")
        )
        return "\n".join(line for line in lines if line)

    pattern = re.escape(even(said)).replace(re.escape("…"), ".*?")
    return re.fullmatch(pattern, even(found), re.S) is not None
