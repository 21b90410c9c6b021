"""Parquet files, whose schema is declared: readers of JSON lines infer one, and take a column of
dates for times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from rlenv import InputError
from rlenv.model.record import dumps
from rlenv_cli.scores import Header, ScoreRow

from .conversation import OPTIONAL

if TYPE_CHECKING:
    import pyarrow as pa

BATCH = 1024
SCORES = {
    "row": "int64", "task": "string", "response": "string", "messages": "string",
    "reward": "float64", "passed": "bool_", "stopped_at": "string", "fault": "string",
    "stages": "string",
}  # fmt: skip
KINDS = {str: "string", bool: "bool_", int: "int64", float: "float64"}


def arrow() -> pa:
    """The module.

    Raises:
        InputError: when it is not installed.
    """
    try:
        import pyarrow as pa
    except ImportError:
        raise InputError("Parquet needs pyarrow: pip install pyarrow") from None
    return pa


def write_scores(path: Path, header: Header, rows: Iterable[ScoreRow]) -> None:
    """One row per response; ``messages``, ``fault`` and ``stages`` are JSON text. The header is
    repeated on every row.
    """
    pa = arrow()
    source = {name: _valid(value) for name, value in header.source.items()}
    kinds = {**SCORES, **dict.fromkeys(source, "string")}
    schema = pa.schema([(name, getattr(pa, kind)()) for name, kind in kinds.items()])
    _write(path, schema, (_flat(row) | source for row in rows))


def write_training(path: Path, rows: Iterator[Mapping[str, object]], keys: frozenset[str]) -> None:
    """Rows of training data, of which the first says the columns.

    Args:
        keys: keys that messages have besides role and content.
    """
    pa = arrow()
    first = next(rows, None)
    if first is not None:
        string = pa.string()
        call = pa.struct(
            {
                "id": string,
                "type": string,
                "function": pa.struct({"name": string, "arguments": string}),
            }
        )
        found = [key for key in OPTIONAL if key in keys]
        named = {key: pa.list_(call) if key == "tool_calls" else string for key in found}
        messages = pa.list_(pa.struct({"role": string, "content": string, **named}))
        schema = pa.schema([(name, _kind(pa, value, messages)) for name, value in first.items()])
        _write(path, schema, chain((first,), rows))


def _kind(pa: pa, value: object, messages: pa.DataType) -> pa.DataType:
    if isinstance(value, Mapping):
        return pa.struct({name: _kind(pa, each, messages) for name, each in value.items()})
    return messages if isinstance(value, list) else getattr(pa, KINDS[type(value)])()


def _write(path: Path, schema: pa.Schema, rows: Iterable[Mapping[str, object]]) -> None:
    from pyarrow.parquet import ParquetWriter

    pa = arrow()
    left = iter(rows)
    with ParquetWriter(path, schema) as writer:
        while batch := list(islice(left, BATCH)):
            writer.write_table(pa.Table.from_pylist(batch, schema))


def _flat(row: ScoreRow) -> dict[str, object]:
    """The columns of one row of scores."""
    response = row.get("response")
    text, messages = (response, None) if isinstance(response, str) else (None, response)
    plain = {key: row.get(key) for key in ("row", "reward", "passed")}
    texts = {"task": row["task"], "response": text, "stopped_at": row.get("stopped_at")}
    parts = {"messages": messages, "fault": row.get("fault"), "stages": row["stages"]}
    written = {key: None if part is None else dumps(part) for key, part in parts.items()}
    return {**plain, **written, **{key: _valid(value) for key, value in texts.items()}}


def _valid(text: str | None) -> str | None:
    """Parquet holds UTF-8: a lone surrogate becomes a question mark."""
    return None if text is None else text.encode("utf-8", "replace").decode("utf-8")
