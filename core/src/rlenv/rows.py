"""Rows of JSONL, CSV and Parquet files, each also gzipped: for tasks, and for responses."""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, Any, TypeAlias, Union, cast

from .errors import InputError
from .near import no_such_file

Row: TypeAlias = tuple[int, Union[dict[str, Any], str]]
SUFFIXES = (".jsonl", ".csv", ".parquet")


def read_rows(path: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (number, row): of JSONL the line, of the others the row, from 1; ``-`` is JSONL from stdin.

    Raises:
        InputError: at the first row that cannot be read; the message names file, row and remedy.
    """
    for number, row in scan_rows(path):
        if isinstance(row, str):
            raise InputError(f"{path}: {row}")
        yield number, row


def scan_rows(path: str | Path) -> Iterator[Row]:
    """As ``read_rows``, but a row that cannot be read is a text that says why, and reading goes on.

    Raises:
        InputError: when the file as a whole cannot be read.
    """
    kind = _kind(path)
    try:
        with _open(path) as file:
            yield from {".jsonl": _json_lines, ".csv": _csv_rows, ".parquet": _parquet_rows}[kind](
                file
            )
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise InputError(f"{path}: {_reason(Path(path), error)}") from error


def _kind(path: str | Path) -> str:
    name = str(path).lower().removesuffix(".gz")
    if name == "-":
        return ".jsonl"
    for suffix in SUFFIXES:
        if name.endswith(suffix):
            return suffix
    raise InputError(
        f"{path}: the name ends in none of {' '.join(SUFFIXES)} (each may be followed by .gz)"
    )


def _open(path: str | Path) -> AbstractContextManager[IO[bytes]]:
    if str(path) == "-":
        return nullcontext(sys.stdin.buffer)
    if str(path).lower().endswith(".gz"):
        return cast("AbstractContextManager[IO[bytes]]", gzip.open(path, "rb"))
    return open(path, "rb")


def _reason(path: Path, error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return no_such_file(path)
    if isinstance(error, IsADirectoryError):
        return f"this is a folder; name a file in it that ends in {' '.join(SUFFIXES)}"
    if isinstance(error, (gzip.BadGzipFile, EOFError, zlib.error)):
        return f"not a whole gzip file: {error}"
    return f"cannot be read: {getattr(error, 'strerror', None) or error}"


def _json_lines(file: IO[bytes]) -> Iterator[Row]:
    for number, raw in enumerate(file, 1):
        if number == 1:
            raw = raw.removeprefix(b"\xef\xbb\xbf")  # noqa: PLW2901 - a byte order mark
        if raw.strip():
            yield number, _json_row(raw, number)


def _json_row(raw: bytes, number: int) -> dict[str, Any] | str:
    try:
        row = json.loads(raw.decode("utf-8"), parse_constant=_no_number)
    except UnicodeDecodeError as error:
        return f"line {number}, byte {error.start + 1}: 0x{raw[error.start]:02x} is not UTF-8; save the file as UTF-8"
    except json.JSONDecodeError as error:
        return f"line {number}, column {error.pos + 1}: not valid JSON: {error.msg}; each line is one JSON object"
    except RecursionError:
        return f"line {number}: nested too deep to be read"
    except ValueError as error:
        return f"line {number}: {error}"
    if not isinstance(row, dict):
        return f"line {number}: {type(row).__name__} where an object is expected; each line is one JSON object"
    return row


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value; write null or a text")


def _csv_rows(file: IO[bytes]) -> Iterator[Row]:
    import csv

    limit = csv.field_size_limit(2**31 - 1)  # a response may be long; the limit is the module's own
    try:
        yield from _csv_records(csv.reader(_text_lines(file), strict=True), csv.Error)
    finally:
        csv.field_size_limit(limit)


def _text_lines(file: IO[bytes]) -> Iterator[str]:
    for number, raw in enumerate(file, 1):
        try:
            yield raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(
                f"line {number}: byte 0x{raw[error.start]:02x} is not UTF-8; save the file as UTF-8"
            ) from None


def _csv_records(reader: Any, broken: type[Exception]) -> Iterator[Row]:
    try:
        header: list[str] = next(reader, [])
        if doubled := {name for name in header if header.count(name) > 1}:
            raise ValueError(
                f"line 1: the column {sorted(doubled)[0]!r} stands twice in the header"
            )
        for number, cells in enumerate(reader, 1):
            if len(cells) == len(header):
                yield number, dict(zip(header, cells, strict=True))
            elif cells:
                where = f"row {number} (line {reader.line_num})"
                counts = f"{len(cells)} cells where the header has {len(header)}"
                yield number, f"{where}: {counts}; quote cells that hold commas"
    except broken as error:
        raise ValueError(f"line {reader.line_num}: not valid CSV: {error}") from None


def _parquet_rows(file: IO[bytes]) -> Iterator[Row]:
    try:
        from pyarrow import ArrowException, BufferReader, parquet
    except ImportError:
        raise ValueError("Parquet needs pyarrow: pip install 'rlenv[parquet]'") from None
    try:
        packed = isinstance(cast("Any", file), gzip.GzipFile)
        source = BufferReader(file.read()) if packed else file
        number = 0
        for batch in parquet.ParquetFile(source).iter_batches(batch_size=1024):
            for row in batch.to_pylist():
                number += 1
                yield number, row
    except ArrowException as error:
        raise ValueError(f"not a Parquet file that can be read: {error}") from None
