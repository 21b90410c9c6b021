"""Rows of JSONL, JSON, CSV and Parquet files, each also gzipped: for tasks, and for responses."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from io import BufferedReader
from pathlib import Path
from typing import IO, Self, TypeAlias, Union

from rlenv.model.errors import InputError
from rlenv.model.messages import unreadable

from .parquet_rows import parquet_rows
from .row_limits import (
    LIMITS,
    Inflated,
    RowLimits,
    read_whole,
    row_problem,
    size_of,
    sound_lines,
)

Columns: TypeAlias = Collection[str] | None
Row: TypeAlias = tuple[int, Union[dict[str, object], str]]


def read_rows(
    path: str | Path, columns: Columns = None, *, limits: RowLimits = LIMITS
) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield (number, row), from 1: of JSONL the line, of JSON the item of its one list, else the
    row.

    ``-`` is JSONL from standard input; a JSON file is read as a whole.  A row that is too long, and
    a compressed file that expands too far, cannot be read.

    Args:
        path: the file.
        columns: what is read of a Parquet file, where other columns are None; None for all.
        limits: on the bytes of a row, and on what a compressed file expands to.

    Raises:
        InputError: at the first row that cannot be read; the message names file, row and remedy.
    """
    for number, row in scan_rows(path, columns, limits=limits):
        if isinstance(row, str):
            raise InputError(f"{path}: {row}")
        yield number, row


def scan_rows(
    path: str | Path, columns: Columns = None, *, limits: RowLimits = LIMITS
) -> Iterator[Row]:
    """As ``read_rows``, but a row that cannot be read is a text that says why, and reading goes on.

    Args:
        path: the file.
        columns: what is read of a Parquet file, where other columns are None; None for all.
        limits: on the bytes of a row, and on what a compressed file expands to.

    Raises:
        InputError: when the file as a whole cannot be read.
    """
    read = _reader(path)
    try:
        with _open(path, limits) as file:
            yield from read(file, columns, limits)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: {unreadable(path, error, *_READERS)}") from None


def _reader(path: str | Path) -> Callable[[IO[bytes], Columns, RowLimits], Iterator[Row]]:
    name = ".jsonl" if str(path) == "-" else str(path).lower().removesuffix(".gz")
    for suffix, read in _READERS.items():
        if name.endswith(suffix):
            return read
    raise InputError(f"{path}: the name ends in none of {' '.join(_READERS)}, also with .gz")


def _open(path: str | Path, limits: RowLimits) -> AbstractContextManager[IO[bytes]]:
    if str(path) == "-":
        return nullcontext(sys.stdin.buffer)
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise ValueError("it is not a regular file; copy what it gives into one")
    return _unzipped(path, limits) if str(path).lower().endswith(".gz") else open(path, "rb")


@contextmanager
def _unzipped(path: str | Path, limits: RowLimits) -> Iterator[IO[bytes]]:
    import gzip  # and zlib: most files, and most workers, need neither
    import zlib

    try:
        with gzip.open(path, "rb") as file:
            yield BufferedReader(Inflated(file, os.path.getsize(path), limits), 1 << 16)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path}: not a whole gzip file: {error}") from None


def _json_lines(file: IO[bytes], _columns: Columns, limits: RowLimits) -> Iterator[Row]:
    wanted = "each line is one JSON object"
    for number, raw in enumerate(sound_lines(file, limits), 1):
        if raw.strip():
            try:
                row = _object(_json(raw.rstrip(), number), f"line {number}", wanted)
            except ValueError as error:
                row = f"{error}; {wanted}"
            yield number, row


def _json_items(file: IO[bytes], _columns: Columns, limits: RowLimits) -> Iterator[Row]:
    content = read_whole(file, limits, "write one object a line, as .jsonl")
    items = _json(content, 1)
    if not isinstance(items, list):
        kind = type(items).__name__
        raise ValueError(f"{kind} where a list of objects is expected; one object a line is .jsonl")
    long = len(content) > limits.row_bytes
    del content
    for number, item in enumerate(items, 1):
        if long and size_of(item) > limits.row_bytes:
            yield number, row_problem(f"item {number}", limits)
        else:
            yield number, _object(item, f"item {number}", "the file is one list of objects")


def _object(row: object, where: str, wanted: str) -> dict[str, object] | str:
    if isinstance(row, dict):
        return row
    return f"{where}: {type(row).__name__} where an object is expected; {wanted}"


def _json(raw: bytes, line: int) -> object:
    """The value that ``raw`` holds, whose first line has this number.

    Raises:
        ValueError: with the line, and the column where there is one.
    """
    text = decoded(raw, line)
    try:
        return json.loads(text, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        place = f"line {line + error.lineno - 1}, column {error.colno}"
        raise ValueError(f"{place}: not valid JSON: {error.msg}") from None
    except (RecursionError, ValueError) as error:
        why = error if isinstance(error, ValueError) else "nested too deep to be read"
        raise ValueError(f"line {line}: {why}" if "\n" not in text else str(why)) from None


def decoded(raw: bytes, line: int = 1) -> str:
    """The text of a file or of a line of it, without a byte order mark.

    Raises:
        ValueError: when it is not UTF-8, with the line and the byte.
    """
    try:
        return raw.decode("utf-8-sig" if line == 1 else "utf-8")
    except UnicodeDecodeError as error:
        above = raw[: error.start].split(b"\n")
        byte = f"byte 0x{raw[error.start]:02x} is not UTF-8 (byte {len(above[-1]) + 1} of the line)"
        raise ValueError(f"line {line + len(above) - 1}: {byte}; save the file as UTF-8") from None


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is not a JSON value; write null or a string")


class _CsvLines:
    """The lines of a CSV file as text, which counts the bytes of the row that is being read."""

    def __init__(self, file: IO[bytes], limits: RowLimits) -> None:
        self._lines = enumerate(sound_lines(file, limits), 1)
        self._limits = limits
        self._row = 0  # that of the header
        self._taken = 0  # bytes of this row

    def end_row(self) -> None:
        """Count anew: the next line begins a row."""
        self._row += 1
        self._taken = 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        number, line = next(self._lines)
        self._taken += len(line)
        if self._taken > self._limits.row_bytes:
            place = f"row {self._row} (line {number})"
            raise ValueError(row_problem(place, self._limits))
        return decoded(line, number)


def _csv_rows(file: IO[bytes], _columns: Columns, limits: RowLimits) -> Iterator[Row]:
    import csv

    limit = csv.field_size_limit(2**31 - 1)  # a response may be long; the limit is the module's own
    lines = _CsvLines(file, limits)
    reader = csv.reader(lines, strict=True)
    try:
        header = next(reader, [])
        if doubled := sorted({name for name in header if header.count(name) > 1}):
            raise ValueError(f"line 1: the column {doubled[0]!r} appears twice in the header")
        lines.end_row()
        for number, cells in enumerate(reader, 1):
            lines.end_row()
            if len(cells) == len(header):
                yield number, dict(zip(header, cells, strict=True))
            elif cells:
                counts = f"{len(cells)} cells where the header has {len(header)}"
                where = f"row {number} (line {reader.line_num})"
                yield number, f"{where}: {counts}; quote cells that hold commas"
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: not valid CSV: {error}") from None
    finally:
        csv.field_size_limit(limit)


_READERS: dict[str, Callable[[IO[bytes], Columns, RowLimits], Iterator[Row]]] = {
    ".jsonl": _json_lines,
    ".json": _json_items,
    ".csv": _csv_rows,
    ".parquet": parquet_rows,
}
