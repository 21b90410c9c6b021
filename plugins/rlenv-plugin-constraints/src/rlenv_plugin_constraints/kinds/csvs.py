"""CSV as RFC 4180 has it: the same number of fields in every row, and a header with distinct
names.
"""

from __future__ import annotations

import re
from operator import itemgetter
from typing import Any, ClassVar, Literal

from attrs import field, frozen
from rlenv import ConfigError
from rlenv.authoring import Safe

from rlenv_plugin_constraints.blocks import only_block
from rlenv_plugin_constraints.constraint import Finding, Span, in_order
from rlenv_plugin_constraints.kinds.jsons import NotData, spans_at
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.unmet import unmet

__all__ = ["Csv", "Shape", "read_csv"]

LABELS = ("csv", "tsv", "text", "txt")


def _one_sign(_: Any, __: Any, value: str) -> None:
    if len(value) != 1 or value in '"\r\n' or value.isalnum():
        raise ConfigError("a delimiter is one sign, such as a comma, a semicolon or a tab")


def _names(_: Any, __: Any, value: Any) -> None:
    if isinstance(value, int):
        if value < 1:
            raise ConfigError("columns is a list of names or an integer from 1")
    elif value is not None and (not value or len(set(value)) < len(value)):
        raise ConfigError("columns is a list of names, each of them once")


def read_csv(text: str, delimiter: str = ",", *, quoted: bool = False) -> list[list[str]]:
    """The rows of a text; quotes are around a whole field or are doubled within one.  Linear.

    Args:
        text: ends with or without a newline.
        delimiter: one sign.
        quoted: whether every field must be in quotes.

    Raises:
        NotData: with the reason and the place.
    """
    if '"' not in text and not quoted:
        lines = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
        return [line.split(delimiter) for line in lines]
    d = re.escape(delimiter)
    a_field = re.compile(rf'("(?:[^"]|"")*+"|[^"{d}\r\n]*+)({d}|\r\n|\n|\r|\Z)')
    rows: list[list[str]] = [[]]
    place = 0
    while True:
        found = a_field.match(text, place)
        if found is None:
            raise NotData(
                "a quotation mark where none may stand, or one that is never closed", place
            )
        cell, end = found.groups()
        if quoted and not cell.startswith('"'):
            raise NotData("a field without quotation marks", place)
        rows[-1].append(cell[1:-1].replace('""', '"') if cell.startswith('"') else cell)
        place = found.end()
        if not end or (end != delimiter and place == len(text)):
            return rows
        if end != delimiter:
            rows.append([])


@frozen
class Shape:
    """What a table has: its columns and how many rows."""

    columns: Safe[tuple[str, ...] | int | None] = field(default=None, validator=_names)
    rows: int | None = None
    min_rows: int | None = None
    max_rows: int | None = None

    def __attrs_post_init__(self) -> None:
        if self.rows is not None and (self.min_rows is not None or self.max_rows is not None):
            raise ConfigError("give rows, or min_rows and max_rows")
        if self.rows is not None and self.rows < 1:
            raise ConfigError("rows is an integer from 1")
        if self.min_rows is not None or self.max_rows is not None:
            in_order("min_rows", "max_rows", self.min_rows, self.max_rows)

    @property
    def wanted(self) -> dict[str, Any]:
        """What was asked for, a JSON value."""
        columns = list(self.columns) if isinstance(self.columns, tuple) else self.columns
        wanted = {
            "columns": columns,
            "rows": self.rows,
            "min_rows": self.min_rows,
            "max_rows": self.max_rows,
        }
        return {key: value for key, value in wanted.items() if value is not None}

    def judged(self, rows: list[list[str]], spans: list[Span], *, header: bool = True) -> Finding:
        """The finding for a table of these rows of cells, of which the first may be a header."""
        count = len(rows) - header
        measured = {"columns": len(rows[0]), "rows": count}
        note = self._misfit(rows, count, header=header)
        return Finding(not note, measured, self.wanted, spans, note)

    def _misfit(self, rows: list[list[str]], count: int, *, header: bool) -> str:
        width = len(rows[0])
        if len(set(map(len, rows))) > 1:
            odd = next(n for n, row in enumerate(rows, 1) if len(row) != width)
            return f"row {odd} has {len(rows[odd - 1])} fields, the first has {width}"
        names = [name.strip() for name in rows[0]]
        if header and (not all(names) or len(set(names)) < len(names)):
            return "a name of the header is empty or appears twice"
        if isinstance(self.columns, tuple) and names != list(self.columns):
            return "other columns in the header"
        wide = self.columns if isinstance(self.columns, int) else None
        if width != wide if wide else width < 2 and not isinstance(self.columns, tuple):
            return f"{width} columns"
        sure = all(map(str.strip, map(itemgetter(0), rows)))
        blank = None if sure else _first_blank(rows)
        if blank is not None:
            return f"row {blank} is empty"
        least = self.rows if self.rows is not None else max(1, self.min_rows or 0)
        most = self.rows if self.rows is not None else self.max_rows
        if count < least or (most is not None and count > most):
            return f"{count} rows"
        return ""


@frozen
class Csv(Shape):
    """The response is CSV: all of it, or its one fenced block.

    Args:
        columns: the names of the header, in order, or how many columns there are; without it, two
            or more.
        rows: how many rows follow the header, or there are where there is no header.
        min_rows, max_rows: the same as a range.
        delimiter: the sign between fields.
        header: whether the first row holds the names of the columns.
        quoting: "all" wants every field in quotation marks.
        prose: whether text may be around the fenced block.
    """

    kind: ClassVar[str] = "csv"
    is_answer: ClassVar[bool] = True
    delimiter: Safe[str] = field(default=",", validator=_one_sign)
    header: bool = True
    quoting: Literal["minimal", "all"] = "minimal"
    prose: bool = False

    def __attrs_post_init__(self) -> None:
        Shape.__attrs_post_init__(self)
        if not self.header and isinstance(self.columns, tuple):
            raise ConfigError("columns has names, and header = false says that there are none")

    def check(self, text: Text) -> Finding:
        block = only_block(text.raw, LABELS, prose=self.prose)
        if isinstance(block, str):
            return unmet(None, self.wanted, note=block)
        body = block.text.lstrip("\r\n")
        lead = len(block.text) - len(body)
        try:
            rows = read_csv(body.rstrip("\r\n "), self.delimiter, quoted=self.quoting == "all")
        except NotData as err:
            at = None if err.place is None else err.place + lead
            return unmet(None, self.wanted, spans_at(text.raw, block, at), str(err))
        return self.judged(rows, [(block.start, block.end)], header=self.header)


def _first_blank(rows: list[list[str]]) -> int | None:
    return next((n for n, row in enumerate(rows, 1) if not any(map(str.strip, row))), None)
