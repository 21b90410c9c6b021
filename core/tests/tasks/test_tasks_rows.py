"""Rows of files: JSONL, CSV, Parquet, each gzipped as well; a bad row is reported with its
location.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv import InputError
from rlenv.config.rows import read_rows, scan_rows
from rlenv.config.taskfile import load_tasks

ROWS = [{"a": "x", "b": "1"}, {"a": 'é, "q"\nline', "b": ""}]


def jsonl(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def as_csv(rows: list[dict[str, str]]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def parquet(rows: list[dict[str, str]]) -> bytes:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet as pq

    sink = pyarrow.BufferOutputStream()
    pq.write_table(pyarrow.Table.from_pylist(rows), sink)
    return bytes(sink.getvalue())


def written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def refusal(path: Path | str) -> str:
    with pytest.raises(InputError) as caught:
        list(read_rows(path))
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("kind", ["jsonl", "json", "csv", "parquet", "JSONL"])
def test_each_kind_gives_the_same_rows(tmp_path: Path, kind: str, suffix: str) -> None:
    makers = {
        "csv": as_csv,
        "parquet": parquet,
        "json": lambda rows: json.dumps(rows, indent=1).encode(),
    }
    content = makers.get(kind, jsonl)(ROWS)

    assert list(read_rows(written(tmp_path, f"rows.{kind}{suffix}", content))) == [
        (1, ROWS[0]), (2, ROWS[1]),
    ]  # fmt: skip


def test_standard_input_is_jsonl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(jsonl(ROWS))))

    assert [row for _, row in read_rows("-")] == ROWS
    assert not sys.stdin.buffer.closed


def test_a_byte_order_mark_is_no_matter(tmp_path: Path) -> None:
    array = json.dumps(ROWS).encode()
    for name, content in (("a.jsonl", jsonl(ROWS)), ("a.csv", as_csv(ROWS)), ("a.json", array)):
        path = written(tmp_path, name, b"\xef\xbb\xbf" + content)
        assert [row for _, row in read_rows(path)] == ROWS


def test_blank_lines_count_but_are_no_rows(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", b'\n{"a": 1}\n  \r\n{"a": 2}')

    assert list(read_rows(path)) == [(2, {"a": 1}), (4, {"a": 2})]


def test_windows_line_ends_are_no_matter(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", b"a,b\r\n1,2\r\n\r\n3,4\r\n")

    assert [row for _, row in read_rows(path)] == [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.jsonl", b'{"a": 1}\n{"a": }\n', "line 2, column 7: not valid JSON"),
        ("a.jsonl", b'{"a": "\xff"}\n', "line 1: byte 0xff is not UTF-8 (byte 8 of the line)"),
        ("a.jsonl", b"[1]\n", "line 1: list where an object is expected"),
        ("a.jsonl", b'{"a": NaN}\n', "line 1: NaN is not a JSON value"),
        ("a.jsonl", b'{"a": ' + b"9" * 5000 + b"}", "line 1: "),
        ("a.jsonl", b'{"a": ' + b"[" * 200_000, "line 1"),
        ("a.csv", b"a,b\n1,2,3\n", "row 1 (line 2): 3 cells where the header has 2"),
        ("a.csv", b"a,b\n1\n", "row 1 (line 2): 1 cells where the header has 2"),
        ("a.csv", b"a,a\n1,2\n", "the column 'a' appears twice"),
        ("a.csv", b'a\n"x" y\n', "line 2: not valid CSV"),
        ("a.csv", b'a\n"never closed\n', "not valid CSV"),
        ("a.csv", b"a\n1\n\xff\n", "line 3: byte 0xff is not UTF-8"),
        ("a.parquet", b"PAR1 no", "not a Parquet file"),
        ("a.parquet", b"", "not a Parquet file"),
        ("a.json", b'[{"a": 1},\n {"a": }]', "line 2, column 8: not valid JSON"),
        (
            "a.json",
            b'[{"a": 1},\n {"a": "\xff"}]',
            "line 2: byte 0xff is not UTF-8 (byte 9 of the line)",
        ),
        ("a.json", b'[{"a": 1}, [2]]', "item 2: list where an object is expected"),
        (
            "a.json",
            b'{"a": 1}',
            "dict where a list of objects is expected; one object a line is .jsonl",
        ),
        ("a.json", b'[{"a": NaN}]', "NaN is not a JSON value"),
        ("a.json", b"[" * 200_000, "nested too deep"),
        ("a.json", b"", "line 1, column 1: not valid JSON"),
        ("a.txt", b"[]", "the name ends in none of .jsonl .json .csv .parquet"),
        ("a.gz", b"", "the name ends in none of"),
    ],
)
def test_a_bad_file_is_told(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    assert words in refusal(written(tmp_path, name, content))


def test_a_torn_gzip_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    for content in (b"not gzip", gzip.compress(jsonl(ROWS) * 100)[:40], b"\x1f\x8b\x08\x00bad"):
        path.write_bytes(content)
        assert "not a whole gzip file" in refusal(path)


def test_a_missing_file_names_its_neighbor(tmp_path: Path) -> None:
    written(tmp_path, "tasks.jsonl", b"")

    assert f"did you mean {tmp_path / 'tasks.jsonl'}?" in refusal(tmp_path / "task.jsonl")
    assert "the folder" in refusal(tmp_path / "nowhere" / "tasks.jsonl")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").mkdir()

    assert "this is a folder" in refusal(tmp_path / "a.jsonl")


def test_parquet_without_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    assert "pip install pyarrow" in refusal(written(tmp_path, "a.parquet", b""))


def test_an_item_that_is_no_object_stops_no_scan(tmp_path: Path) -> None:
    path = written(tmp_path, "a.json", b'[{"a": 1}, 3, {"a": 2}]')

    assert [type(row) for _, row in scan_rows(path)] == [dict, str, dict]


def test_scanning_goes_on_after_a_bad_row(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", b'{"a": 1}\n{\n\xff\n{"a": 2}\n')

    kinds = [(number, type(row)) for number, row in scan_rows(path)]

    assert kinds == [(1, dict), (2, str), (3, str), (4, dict)]


def test_long_cells_are_read_and_the_limit_put_back(tmp_path: Path) -> None:
    limit = csv.field_size_limit()
    path = written(tmp_path, "a.csv", b"a\n" + b"x" * 300_000 + b"\n")

    assert [len(str(row["a"])) for _, row in read_rows(path)] == [300_000]
    assert csv.field_size_limit() == limit


def test_lone_surrogates_survive(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", b'{"a": "\\ud800"}\n')

    assert next(read_rows(path)) == (1, {"a": "\ud800"})


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["a.jsonl", "a.json", "a.csv", "a.jsonl.gz", "a.parquet", "a.csv.gz"]),
    st.binary(max_size=200),
)
def test_any_bytes_are_rows_or_an_input_error(
    tmp_path_factory: pytest.TempPathFactory, name: str, content: bytes
) -> None:
    path = tmp_path_factory.mktemp("rows") / name
    path.write_bytes(content)
    try:
        rows = list(read_rows(path))
    except InputError as error:
        rows = []
        message = str(error)
        assert message.startswith(str(path))
    assert all(isinstance(row, dict) for _, row in rows)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv", "parquet", "jsonl.gz"])
def test_a_pipe_or_device_is_not_waited_for(tmp_path: Path, suffix: str) -> None:
    os.mkfifo(tmp_path / f"pipe.{suffix}")
    for device in ("zero", "stdin"):
        (tmp_path / f"{device}.{suffix}").symlink_to(f"/dev/{device}")

    for name in ("pipe", "zero"):
        assert "it is not a regular file" in refusal(tmp_path / f"{name}.{suffix}")
    assert refusal(tmp_path / f"stdin.{suffix}")


def test_of_a_parquet_file_only_what_is_asked_for_is_read(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet as pq

    nanoseconds = pyarrow.array([1, 2], pyarrow.timestamp("ns"))  # unreadable without pandas
    columns = {"a": ["x", "y"], "b": [{"c": 1}, {"c": 2}], "a.d": ["p", "q"], "when": nanoseconds}
    path = tmp_path / "t.parquet"
    pq.write_table(pyarrow.table(columns), path)

    assert [row for _, row in read_rows(path, ("a", "a.d", "none"))] == [
        {"a": "x", "b": None, "a.d": "p", "when": None},
        {"a": "y", "b": None, "a.d": "q", "when": None},
    ]
    (first, _) = load_tasks(
        {"path": str(path), "prompt": {"template": "{a} {a.d}"}, "answer": "b.c", "id": "a"},
        tmp_path,
    )
    assert (first.id, first.prompt, first.answer) == ("x", "x p", 1)
    with pytest.raises(InputError, match="no column 'whn'; did you mean \"when\""):
        load_tasks({"path": str(path), "prompt": "a", "answer": "whn"}, tmp_path)
