"""Tables of delimited values with given columns, so many rows, and quotation marks where they were
asked for.
"""

from __future__ import annotations

import re
from typing import ClassVar, Literal, TypeAlias

from attrs import field, frozen
from rlenv.authoring import Safe

from rlenv_plugin_constraints.constraint import Finding, positive
from rlenv_plugin_constraints.text import Text

__all__ = ["CsvTable"]

_FENCE = re.compile(r"\s*```[^\n]*\n(.*?)\n\s*```\s*\Z", re.S)
Field: TypeAlias = tuple[str, bool]  # the value, and whether it is between quotation marks


@frozen
class CsvTable:
    """A header with these ``columns`` and ``rows`` rows below it, no field empty, and nothing else.

    Args:
        columns: names of the columns, in order.
        rows: how many rows there are below the header.
        delimiter: between two fields.
        quoted: "all": every field is in double quotation marks; "special": one in the rows does
            that holds a character which is neither letter, digit nor space.
    """

    kind: ClassVar[str] = "csv_table"
    is_answer: ClassVar[bool] = True
    columns: Safe[tuple[str, ...]]
    rows: int = field(validator=positive)
    delimiter: Safe[str] = ","
    quoted: Literal["", "all", "special"] = ""

    def check(self, text: Text) -> Finding:
        fenced = _FENCE.match(text.raw)
        body = fenced.group(1) if fenced else text.raw.strip("\r\n ")
        rows = _read(body, self.delimiter)
        wanted = {"columns": list(self.columns), "rows": self.rows}
        measured = {"rows": len(rows) - 1 if rows else 0}
        note = "no such table can be read" if rows is None else self._misfit(rows)
        return Finding(not note, measured, wanted, note=note)

    def _misfit(self, rows: list[list[Field]]) -> str:
        if [value for value, _ in rows[0]] != list(self.columns):
            return "the header is another"
        if len(rows) != self.rows + 1:
            return f"there are {len(rows) - 1} rows"
        for number, row in enumerate(rows):
            if len(row) != len(self.columns) or not all(value for value, _ in row):
                return f"row {number} has other columns, or an empty field"
            if self.quoted == "all" and not all(marked for _, marked in row):
                return f"row {number} has a field without quotation marks"
        if self.quoted == "special" and not any(
            map(_special, (f for row in rows[1:] for f in row))
        ):
            return "no field in quotation marks holds a special character"
        return ""


def _special(cell: Field) -> bool:
    value, marked = cell
    return marked and any(not (c.isalnum() or c.isspace()) for c in value)


def _read(body: str, delimiter: str) -> list[list[Field]] | None:
    """Rows of fields; None for what no reader of RFC 4180 takes."""
    cell = re.compile(
        r' *(?:"((?:[^"]|"")*)"'
        rf' *|([^"\n{re.escape(delimiter)}]*))({re.escape(delimiter)}|\r?\n|\Z)'
    )
    rows: list[list[Field]] = [[]]
    at = 0
    while True:
        found = cell.match(body, at)
        if found is None:
            return None
        marked = found.group(1) is not None
        value = found.group(1).replace('""', '"') if marked else found.group(2)
        rows[-1].append((value.strip(), marked))
        at = found.end()
        if found.group(3) == "":
            return [row for row in rows if any(value for value, _ in row)] or None
        if found.group(3) != delimiter:
            rows.append([])
