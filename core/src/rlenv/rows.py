"""Rows of JSONL, JSON, CSV and Parquet files, each also gzipped: for tasks, and for responses."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from io import BufferedReader
from itertools import count
from pathlib import Path
from typing import IO, TypeAlias, Union, cast

from .errors import InputError
from .near import unreadable

Columns: TypeAlias = Collection[str] | None
Row: TypeAlias = tuple[int, Union[dict[str, object], str]]


def read_rows(path: str | Path, columns: Columns = None) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield (number, row), from 1: of JSONL the line, of JSON the item of its one list, else the row.

    ``-`` is JSONL from standard input; a JSON file is read as a whole.

    Args:
        path: the file.
        columns: what is read of a Parquet file, where other columns are None; None for all.

    Raises:
        InputError: at the first row that cannot be read; the message names file, row and remedy.
    """
    for number, row in scan_rows(path, columns):
        if isinstance(row, str):
            raise InputError(f"{path}: {row}")
        yield number, row


def scan_rows(path: str | Path, columns: Columns = None) -> Iterator[Row]:
    """As ``read_rows``, but a row that cannot be read is a text that says why, and reading goes on.

    Args:
        path: the file.
        columns: what is read of a Parquet file, where other columns are None; None for all.

    Raises:
        InputError: when the file as a whole cannot be read.
    """
    read = _reader(path)
    try:
        with _open(path) as file:
            yield from _parquet_rows(file, columns) if read is _parquet_rows else read(file)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: {unreadable(path, error, *_READERS)}") from None


def _reader(path: str | Path) -> Callable[[IO[bytes]], Iterator[Row]]:
    name = ".jsonl" if str(path) == "-" else str(path).lower().removesuffix(".gz")
    for suffix, read in _READERS.items():
        if name.endswith(suffix):
            return read
    raise InputError(f"{path}: the name ends in none of {' '.join(_READERS)}, also with .gz")


def _open(path: str | Path) -> AbstractContextManager[IO[bytes]]:
    if str(path) == "-":
        return nullcontext(sys.stdin.buffer)
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise ValueError("it is not a regular file; copy what it gives into one")
    return _unzipped(path) if str(path).lower().endswith(".gz") else open(path, "rb")


@contextmanager
def _unzipped(path: str | Path) -> Iterator[IO[bytes]]:
    import gzip  # and zlib: most files, and most workers, need neither
    import zlib

    try:
        with gzip.open(path, "rb") as file:
            yield cast("IO[bytes]", file)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path}: not a whole gzip file: {error}") from None


def _json_lines(file: IO[bytes]) -> Iterator[Row]:
    wanted = "each line is one JSON object"
    for number, raw in enumerate(file, 1):
        if raw.strip():
            try:
                row = _object(_json(raw.rstrip(), number), f"line {number}", wanted)
            except ValueError as error:
                row = f"{error}; {wanted}"
            yield number, row


def _json_items(file: IO[bytes]) -> Iterator[Row]:
    items = _json(file.read(), 1)
    if not isinstance(items, list):
        kind = type(items).__name__
        raise ValueError(f"{kind} where a list of objects is expected; one object a line is .jsonl")
    for number, item in enumerate(items, 1):
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


def _csv_rows(file: IO[bytes]) -> Iterator[Row]:
    import csv

    limit = csv.field_size_limit(2**31 - 1)  # a response may be long; the limit is the module's own
    reader = csv.reader(map(decoded, file, count(1)), strict=True)
    try:
        header = next(reader, [])
        if doubled := sorted({name for name in header if header.count(name) > 1}):
            raise ValueError(f"line 1: the column {doubled[0]!r} appears twice in the header")
        for number, cells in enumerate(reader, 1):
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


def _parquet_rows(file: IO[bytes], columns: Columns = None) -> Iterator[Row]:
    try:
        from pyarrow import ArrowException, BufferReader, parquet
    except ImportError:
        raise ValueError("Parquet needs pyarrow: pip install pyarrow") from None
    try:
        source = file if isinstance(file, BufferedReader) else BufferReader(file.read())
        table = parquet.ParquetFile(source)
        names = table.schema_arrow.names
        read = [name for name in names if columns is None or name in columns]
        unread = dict.fromkeys(names)
        batches = table.iter_batches(batch_size=1024, columns=read)
        yield from enumerate((unread | row for batch in batches for row in batch.to_pylist()), 1)
    except ArrowException as error:
        raise ValueError(f"not a Parquet file that can be read: {error}") from None


_READERS: dict[str, Callable[[IO[bytes]], Iterator[Row]]] = {
    ".jsonl": _json_lines,
    ".json": _json_items,
    ".csv": _csv_rows,
    ".parquet": _parquet_rows,
}
