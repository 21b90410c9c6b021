"""Tables of Markdown: one that a reader of GitHub's dialect shows as a table."""

from __future__ import annotations

import re
from typing import ClassVar

from attrs import frozen
from rlenv.text import fenced_blocks

from rlenv_plugin_constraints.constraint import Finding, Span
from rlenv_plugin_constraints.kinds.csvs import Shape
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.unmet import unmet
from rlenv_plugin_constraints.views import visible

__all__ = ["MarkdownTable"]

_RULE = re.compile(r" {0,3}(?=[^\n]*\|)\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*+\|?[ \t]*")
_NO_ROW = re.compile(r"\s*\Z| {4}|\t| {0,3}(?:#{1,6} |>|[-*+] |```|~~~|<!--)")
_BAR = re.compile(r"(?<!\\)\|")
# Comments, and blocks of HTML, which reach to the next blank line.
_HTML = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|^ {0,3}</?"
    r"(?:details|summary|div|table|section|article|p|center|pre|[ou]l|li|blockquote|form)\b"
    r".*?(?=\n[ \t]*\r?\n|\Z)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)


@frozen
class MarkdownTable(Shape):
    """There is exactly one table in Markdown (header, line of hyphens, rows) of this shape.

    It is outside of code; text may be around it.

    Every row has as many cells as the header, and a letter or digit in one of them.

    Args:
        columns: the names of the header, in order, or how many columns there are; without it, two
            or more.
        rows: how many rows follow the header.
        min_rows, max_rows: the same as a range.
    """

    kind: ClassVar[str] = "markdown_table"

    def check(self, text: Text) -> Finding:
        tables = _tables(text)
        if len(tables) != 1:
            return unmet(len(tables), self.wanted, note=f"there are {len(tables)} tables, not one")
        ((span, rows),) = tables
        blank = next(
            (n for n, row in enumerate(rows) if not any(map(str.isalnum, "".join(row)))), 0
        )
        if blank:
            return unmet(len(rows) - 1, self.wanted, [span], f"row {blank} is blank")
        return self.judged(rows, [span])


def _tables(text: Text) -> list[tuple[Span, list[list[str]]]]:
    """Where each table is, and its rows of cells, the header first."""
    hidden = [block.outer for block in fenced_blocks(text.raw)]
    hidden += [found.span() for found in _HTML.finditer(text.raw)]
    spans = _outside(text.line_spans, hidden)
    lines = [text.raw[start:end] for start, end in spans]
    found: list[tuple[Span, list[list[str]]]] = []
    at = 1
    while at < len(lines):
        head = _cells(lines[at - 1])
        if (
            _RULE.fullmatch(lines[at])
            and not _NO_ROW.match(lines[at - 1])
            and len(_cells(lines[at])) == len(head)
        ):
            end = next(
                (n for n in range(at + 1, len(lines)) if _NO_ROW.match(lines[n])), len(lines)
            )
            rows = [head, *map(_cells, lines[at + 1 : end])]
            found.append(((spans[at - 1][0], spans[end - 1][1]), rows))
            at = end
        at += 1
    return found


def _outside(spans: list[Span], hidden: list[Span]) -> list[Span]:
    """The lines, those that begin or end within something hidden as blank ones."""
    ends = sorted(hidden)
    kept: list[Span] = []
    at = 0
    for start, end in spans:
        while at < len(ends) and ends[at][1] <= start:
            at += 1
        shown = at == len(ends) or ends[at][0] >= end
        kept.append((start, end) if shown else (start, start))
    return kept


def _cells(line: str) -> list[str]:
    inner = visible(line).strip()
    inner = inner[1:] if inner.startswith("|") else inner
    cells = _BAR.split(inner)
    return [cell.strip() for cell in (cells if cells[-1].strip() else cells[:-1])]
