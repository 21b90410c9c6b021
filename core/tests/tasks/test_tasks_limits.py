"""Limits on rows: long ones, and compressed files that expand to more than a machine should
hold.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rlenv import ConfigError, Environment, InputError
from rlenv.config.row_limits import RowLimits, size_of
from rlenv.config.rows import read_rows, scan_rows

MIB = 1 << 20
SMALL = RowLimits(row_bytes=1000, whole_bytes=5000, expansion=10, expanded_bytes=20_000)
SHORT = {"prompt": "p"}
LONG = {"prompt": "x" * 1200}


def as_jsonl(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def as_csv(rows: list[dict[str, Any]]) -> bytes:
    return "".join(["prompt\n", *(f'"{row["prompt"]}"\n' for row in rows)]).encode()


def as_json(rows: list[dict[str, Any]]) -> bytes:
    return json.dumps(rows).encode()


def as_parquet(rows: list[dict[str, Any]]) -> bytes:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    sink = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.Table.from_pylist(rows), sink, compression="zstd")
    return bytes(sink.getvalue())


MAKERS: dict[str, Callable[[list[dict[str, Any]]], bytes]] = {
    "jsonl": as_jsonl,
    "csv": as_csv,
    "json": as_json,
    "parquet": as_parquet,
}


def written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        list(read_rows(path, limits=SMALL))
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    return message


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("kind", MAKERS)
def test_a_long_row_is_named_with_the_limit(tmp_path: Path, kind: str, suffix: str) -> None:
    path = written(tmp_path, f"rows.{kind}{suffix}", MAKERS[kind]([SHORT, LONG]))

    message = refusal(path)

    place = {"jsonl": "line 2", "csv": "line 3", "json": "item 2", "parquet": "row 2"}
    assert place[kind] in message
    assert "1,000 bytes" in message
    assert "leave it out" in message


@pytest.mark.parametrize("kind", MAKERS)
def test_rows_within_the_limit_are_read(tmp_path: Path, kind: str) -> None:
    rows = [{"prompt": "x" * 900}, SHORT, {"prompt": "é" * 100}]
    path = written(tmp_path, f"rows.{kind}.gz", MAKERS[kind](rows))

    assert [row for _, row in read_rows(path, limits=SMALL)] == rows


def test_a_csv_row_of_many_lines_is_counted_as_a_whole(tmp_path: Path) -> None:
    path = written(tmp_path, "rows.csv", b'prompt\np\n"' + b"line\n" * 300 + b'"\n')

    assert "row 2 (line " in refusal(path)


def test_a_long_json_file_is_to_be_written_as_lines(tmp_path: Path) -> None:
    path = written(tmp_path, "rows.json", as_json([SHORT] * 1000))

    assert "as .jsonl" in refusal(path)


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_a_file_that_expands_too_far_is_rejected(tmp_path: Path, kind: str) -> None:
    path = written(tmp_path, f"rows.{kind}.gz", MAKERS[kind]([{"prompt": "x" * 500}] * 100))

    message = refusal(path)

    assert "expand to more than 20,000" in message
    assert "uncompressed as .jsonl" in message
    plain = written(tmp_path, f"rows.{kind}", gzip.decompress(path.read_bytes()))
    assert len(list(read_rows(plain, limits=SMALL))) == 100


@pytest.mark.parametrize(
    "row",
    [
        {"prompt": "x" * 500},
        {"prompt": [{"role": "user", "content": "x" * 250}] * 2},
        {"prompt": list(range(60))},
    ],
    ids=["string", "messages", "numbers"],
)
def test_a_parquet_dictionary_that_expands_too_far_is_rejected(
    tmp_path: Path, row: dict[str, Any]
) -> None:
    path = written(tmp_path, "rows.parquet", as_parquet([row] * 100))
    assert path.stat().st_size < 3000

    assert "expand to more than 20,000" in refusal(path)


def test_rows_of_parquet_keep_their_order_and_values_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        {"prompt": f"{i % 7}" * (i % 50), "info": [{"a": i, "b": str(i % 3)}] * (i % 3)}
        for i in range(3000)
    ]
    path = written(tmp_path, "rows.parquet", as_parquet(rows))
    monkeypatch.setattr("rlenv.config.parquet_rows.PIECE", 700)

    assert list(read_rows(path)) == list(enumerate(rows, 1))


def test_values_of_all_kinds_of_parquet_are_as_pyarrow_reads_them(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    text = pa.string()
    columns = {
        "map": pa.array([[("k", "v" * 10), ("l", None)], None, []], pa.map_(text, text)),
        "large": pa.array([["a"], [], None], pa.large_list(pa.large_string())),
        "fixed": pa.array([["a", "b"], None, ["c", "d"]], pa.list_(text, 2)),
        "struct": pa.array([{"a": ["x"], "b": 1}, None, {"a": None, "b": 2}]),
        "bytes": pa.array([b"x", None, b"\xff"]),
        "coded": pa.array(["x", None, "x"]).dictionary_encode(),
        "none": pa.nulls(3),
        "time": pa.array([1, 2, None], pa.timestamp("s")),
    }
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table(columns), path)

    assert [row for _, row in read_rows(path)] == parquet.read_table(path).to_pylist()


def test_a_long_row_of_parquet_or_json_leaves_the_others(tmp_path: Path) -> None:
    for kind in ("parquet", "json"):
        path = written(tmp_path, f"rows.{kind}", MAKERS[kind]([SHORT, LONG, SHORT]))
        rows = [row for _, row in scan_rows(path, limits=SMALL)]
        assert [isinstance(row, str) for row in rows] == [False, True, False]


def test_the_size_of_a_value_counts_all_its_parts() -> None:
    assert size_of({"a": ["xy", 1, None]}) == 8 + 1 + 8 + 2 + 8 + 8
    assert size_of("é\ud800") == 5


CHILD = """
import resource, sys
from rlenv import ConfigError, Environment, InputError
from rlenv.config.rows import read_rows
resource.setrlimit(resource.RLIMIT_AS, (800 << 20, 800 << 20))
try:
    for _ in read_rows(sys.argv[1]):
        pass
except InputError as error:
    print(error)
"""


def test_a_row_of_hundreds_of_megabytes_in_a_small_file_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b'{"prompt": "')
        for _ in range(140):
            file.write(b"x" * MIB)
        file.write(b'"}\n')
    assert path.stat().st_size < MIB

    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(path)], capture_output=True, text=True, check=True
    )

    assert "line 1 is longer than 134,217,728 bytes" in done.stdout


MANY = b'{"prompt": "p", "a": [' + b"[]," * 300 + b"0]}\n"


@pytest.mark.parametrize("name", ["t.jsonl", "t.json", "t.jsonl.gz"])
def test_a_row_of_very_many_small_values_is_too_large(tmp_path: Path, name: str) -> None:
    """Three bytes of JSON stand for a list of 56 bytes."""
    content = b"[" + MANY + b"]" if name.endswith(".json") else MANY
    limits = RowLimits(row_bytes=1000, whole_bytes=1000)
    path = written(tmp_path, name, content)

    with pytest.raises(InputError, match="takes more than 4,000 bytes of memory"):
        list(read_rows(path, limits=limits))


def test_a_compressed_file_of_very_many_small_values_is_too_large(tmp_path: Path) -> None:
    path = written(tmp_path, "t.jsonl.gz", b'{"a": [[], []]}\n' * 1_000)
    limits = RowLimits(row_bytes=1000, expansion=1, expanded_bytes=20_000)

    with pytest.raises(InputError, match="expand to more than 20,000"):
        list(read_rows(path, limits=limits))


def test_reading_of_tasks_ends_after_many_rows_with_mistakes(tmp_path: Path) -> None:
    def told(content: str) -> str:
        (tmp_path / "t.jsonl").write_text(content)
        tables = {"name": "x", "stage": [{"use": "core/equal"}], "tasks": {"path": "t.jsonl"}}
        with pytest.raises(ConfigError) as caught:
            Environment.from_dict(tables, base_dir=tmp_path)
        return str(caught.value)

    assert "row 1 and 999 more: no column 'prompt'" in told("{}\n" * 5_000)
    assert "ended after 1,000 rows with mistakes" in told("{}\n" * 5_000)
    assert "rows 1 and 2 have the same" in told('{"prompt": "p"}\n' * 5_000)
    assert "and 980 more" in told('{"prompt": "p"}\n' * 5_000)
    assert "row 1 and 2 more" in told("{}\n" * 3)
