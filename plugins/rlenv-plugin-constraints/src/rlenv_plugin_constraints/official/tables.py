"""IFBench's checks of single tasks as published: tables, dates, numbers, lists of places,
questions.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from rlenv_plugin_constraints.geography import CAPITALS

from .letters import bare

__all__ = ["CHECKS"]

_P = Mapping[str, Any]
_LONGEST = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}


def _ascii(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")


def _rows(said: str, delimiter: str) -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(said), delimiter=delimiter))
    except csv.Error:
        return []


def _header(said: str, columns: Sequence[str], delimiter: str) -> bool:
    each = (f'(?:{name}|"{name}")' for name in columns)
    return re.fullmatch(delimiter.join(each), said.split("\n", maxsplit=1)[0].strip()) is not None


def _city(said: str, _: _P) -> bool:
    rows = _rows(said, ",")
    right = len(rows) == 8 and rows[0] == ["ID", "Country", "City", "Year", "Count"]
    return right and all(len(row) == 5 for row in rows)


def _special(said: str, _: _P) -> bool:
    if not _header(said, ("ProductID", "Category", "Brand", "Price", "Stock"), r",[ \t]*"):
        return False
    rows = _rows(said.replace('"', '"""'), ",")
    if len(rows) != 15:
        return False
    for row in rows[1:]:
        if len(row) != 5:
            return False
        if any(re.match(r'".*[^\d\w\s].*"', cell) for cell in row):
            return True
    return False


def _quoted(said: str, _: _P) -> bool:
    if not _header(said, ("StudentID", "Subject", "Grade", "Semester", "Score"), "\t *"):
        return False
    rows = _rows(said.replace('"', '"""'), "\t")
    cells = [cell.strip() for row in rows for cell in row]
    shaped = len(rows) == 4 and all(len(row) == 5 for row in rows)
    return shaped and all(cell[:1] == '"' and cell[-1:] == '"' for cell in cells)


def _dates(said: str, _: _P) -> bool:
    return all(map(_date, said.strip().split(",")))


def _date(part: str) -> bool:
    found = re.match(r"(\d{4})-(\d{2})-(\d{2})$", part.strip())
    if found is None:
        return False
    year, month, day = map(int, found.groups())
    longest = _LONGEST.get(month, 31) if month else 99
    return 1769 <= year <= 1821 and month <= 12 and day <= longest


def _multiples(said: str, _: _P) -> bool:
    return re.findall(r"\d+", said) == ["14", "21", "28", "35", "42", "49"]


def _capitals(said: str, _: _P) -> bool:
    names = [name.strip() for name in _ascii(said).split(",") if name.strip()]
    return names == [name.capitalize() for name in CAPITALS if name != "kyiv"]


def _reverse(said: str, _: _P) -> bool:
    lines = [line for part in said.split("\n") if (line := bare(part))]
    start = next((i for i, line in enumerate(lines) if "Zimbabwe" in line), len(lines))
    listed = [_ascii(line) for line in lines[start:]]
    return len(listed) >= 52 and all(a >= b for a, b in pairwise(listed))


def _questions(said: str, _: _P) -> bool:
    if not said.startswith("Question") and "Question" in said:
        return False
    if "Question" not in said and len(said) > 1:
        return False
    parts = re.split(r"\n*(?:Question \d+[.|):;]?\s*)", said)
    blocks = [part.strip() for part in parts if part.strip()]
    lengths = [_asked(block) for block in blocks]
    return len(lengths) == 4 and all(lengths_ok >= 0 for lengths_ok in lengths) and _grow(lengths)


def _grow(lengths: Sequence[int]) -> bool:
    return all(a < b for a, b in pairwise(lengths))


def _asked(block: str) -> int:
    """Length of the question; -1 without five options."""
    lines = [line.strip() for line in block.split("\n")]
    options = [bool(re.match(r"[A-Ea-e][.|)]\s*\w+", line)) for line in lines]
    if sum(options) != 5:
        return -1
    return len(" ".join(lines[: options.index(True)]).strip())


CHECKS: Mapping[str, Callable[[str, _P], bool]] = {
    "custom:csv_city": _city,
    "custom:csv_quotes": _quoted,
    "custom:csv_special_character": _special,
    "custom:date_format_list": _dates,
    "custom:european_capitals_sort": _capitals,
    "custom:mcq_count_length": _questions,
    "custom:multiples": _multiples,
    "custom:reverse_newline": _reverse,
}
