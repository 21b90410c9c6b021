"""Rows of Parquet files, read in pieces whose size is known before they are made Python objects.

A few bytes of Parquet can stand for gigabytes: a dictionary holds a long value once, and a run of
one number counts the rows that have it.  So strings stay in their dictionaries until the sizes of
the rows were summed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import IO, TYPE_CHECKING, Any

from .row_limits import RowLimits, expansion_problem, read_whole, row_problem

if TYPE_CHECKING:
    from collections.abc import Iterable

# Rows that are decoded together.  Many, because each batch brings along the dictionary of all
# before it in the row group; what they take is bounded by what the row group is decompressed to.
BATCH = 1 << 16
PIECE = 16 << 20  # bytes of rows that are made Python objects together


def parquet_rows(
    file: IO[bytes], columns: Collection[str] | None, limits: RowLimits
) -> Iterator[tuple[int, dict[str, object] | str]]:
    """Yield (number, row); a row that is too long is a text that says so.

    Args:
        file: the file; one that cannot seek is read as a whole.
        columns: what is read, other columns are None; None for all.
        limits: of a row, and of what the whole file expands to.

    Raises:
        ValueError: when pyarrow is missing, or the file is not sound or expands too far.
    """
    try:
        from pyarrow import ArrowException, BufferReader, parquet
    except ImportError:
        raise ValueError("Parquet needs pyarrow: pip install pyarrow") from None
    try:
        source: Any = file
        if not file.seekable():
            source = BufferReader(read_whole(file, limits, "decompress it first, with gunzip"))
        table = parquet.ParquetFile(source)
        schema = table.schema_arrow
        names = schema.names
        read = [name for name in names if columns is None or name in columns]
        plan = _Plan(table.metadata, read, limits)
        allowed = limits.expanded(plan.compressed)
        if plan.expanded > allowed:
            raise ValueError(expansion_problem(plan.compressed, allowed))
        table = parquet.ParquetFile(source, read_dictionary=plan.dictionaries)
        batches = table.iter_batches(batch_size=plan.batch, columns=read)
        pieces = _decoded(batches, schema, limits)
        yield from _rows(pieces, dict.fromkeys(names), plan.compressed, limits)
    except ArrowException as error:
        raise ValueError(f"not a Parquet file that can be read: {error}") from None


class _Plan:
    """What the metadata say of the columns that are read.

    Attributes:
        compressed: bytes in the file.
        expanded: bytes once decompressed, at least.
        dictionaries: the paths of strings that are kept in dictionaries while their sizes are
            summed.
        batch: rows that are decoded together.
    """

    def __init__(self, metadata: Any, read: list[str], limits: RowLimits) -> None:
        self.compressed = self.expanded = 0
        self.batch = BATCH
        dictionaries: set[str] = set()
        for group in range(metadata.num_row_groups):
            for index in range(metadata.num_columns):
                column = metadata.row_group(group).column(index)
                path = column.path_in_schema
                if path.partition(".")[0] not in read and path not in read:
                    continue
                self.compressed += column.total_compressed_size
                repeated = metadata.schema.column(index).max_repetition_level > 0
                counted = 8 * column.num_values if repeated else 0
                self.expanded += max(column.total_uncompressed_size, counted)
                if column.physical_type == "BYTE_ARRAY":
                    dictionaries.add(path)
                if longest := _longest(column, metadata.schema.column(index)):
                    self.batch = max(1, min(self.batch, limits.row_bytes // longest))
        self.dictionaries = sorted(dictionaries)


def _longest(column: Any, kind: Any) -> int:
    """Bytes of the longest value that pages of this encoding can repeat although no dictionary is
    kept; else 0.
    """
    if column.physical_type == "FIXED_LEN_BYTE_ARRAY":
        return int(kind.length)
    if "DELTA_BYTE_ARRAY" in column.encodings:  # each value may repeat a part of the one before
        return int(column.total_uncompressed_size)
    return 0


def _decoded(
    batches: Iterable[Any], schema: Any, limits: RowLimits
) -> Iterator[tuple[list[dict[str, object]] | None, int]]:
    """The rows of each piece with their bytes; None for one row that is too long."""
    for batch in batches:
        plain = schema.empty_table().select(batch.schema.names).schema
        for piece, size in _pieces(batch, min(PIECE, limits.row_bytes)):
            yield piece.cast(plain).to_pylist() if size <= limits.row_bytes else None, size


def _rows(
    pieces: Iterable[tuple[list[dict[str, object]] | None, int]],
    unread: dict[str, object],
    compressed: int,
    limits: RowLimits,
) -> Iterator[tuple[int, dict[str, object] | str]]:
    number = 0
    total = 0
    allowed = limits.expanded(compressed)
    for rows, size in pieces:
        total += size
        if total > allowed:
            raise ValueError(expansion_problem(compressed, allowed))
        if rows is None:
            number += 1
            yield number, row_problem(f"row {number}", limits)
            continue
        for row in rows:
            number += 1
            yield number, unread | row


def _pieces(batch: Any, most: int) -> Iterator[tuple[Any, int]]:
    """Slices of at most so many bytes, or of one row, with their bytes, in order."""
    waiting = [batch]
    while waiting:
        piece = waiting.pop()
        size = sum(map(_size, piece.columns))
        if size <= most or piece.num_rows <= 1:
            yield piece, size
        else:
            half = piece.num_rows // 2
            waiting += [piece.slice(half), piece.slice(0, half)]


def _size(array: Any) -> int:
    """Bytes of the values of an array once it is decoded."""
    from pyarrow import compute, types

    kind = array.type
    if types.is_dictionary(kind):
        lengths = compute.binary_length(array.dictionary)
        return int(compute.sum(compute.take(lengths, array.indices)).as_py() or 0)
    if types.is_struct(kind):
        return sum(map(_size, array.flatten()))
    if types.is_map(kind):
        first = array.offsets[0].as_py()
        count = array.offsets[-1].as_py() - first
        return 8 * len(array) + sum(
            _size(of.slice(first, count)) for of in (array.keys, array.items)
        )
    if types.is_nested(kind):
        return 8 * len(array) + _size(array.flatten())
    return int(array.nbytes)
