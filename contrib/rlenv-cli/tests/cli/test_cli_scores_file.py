"""The file of scores is read whole lines only, and damage is named."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv.model.errors import InputError
from rlenv_cli.scores.file import Header, ScoresReader

HEADER = Header("e", "f" * 64, "a" * 64, "b" * 64)


@pytest.fixture(autouse=True, scope="module")
def unchained():
    """Rows are written by hand here; test_cli_chain.py has those with a chain."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RLENV_SECRET", raising=False)
        yield


def row(n):
    return (
        json.dumps({"row": n, "task": "t", "reward": 1.0, "fault": None, "stages": []}).encode()
        + b"\n"
    )


def file(tmp_path, *parts):
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"".join(parts))
    return path


def read(path):
    with ScoresReader(path) as reader:
        rows = list(reader.rows()) if reader.header else []
        return reader.header, rows, reader.size


def test_a_whole_file_is_read_back(tmp_path):
    header, rows, size = read(path := file(tmp_path, HEADER.line(), row(1), row(2)))
    assert header == HEADER
    assert [r["row"] for r in rows] == [1, 2]
    assert size == path.stat().st_size


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_cut_anywhere_the_whole_lines_before_the_cut_remain(tmp_path_factory, data):
    whole = HEADER.line() + row(1) + row(2) + row(3)
    cut = data.draw(st.integers(0, len(whole)))
    header, rows, size = read(file(tmp_path_factory.mktemp("cut"), whole[:cut]))
    assert len(rows) == max(0, whole[:cut].count(b"\n") - 1)
    assert (header is None) == (b"\n" not in whole[:cut])
    assert whole[:size] == whole[:cut][: whole[:cut].rfind(b"\n") + 1]


@pytest.mark.parametrize("tail", [b"\x00" * 400, b'{"row": 3, "rew', b"garbage\n", b"\xff\n"])
def test_a_torn_or_garbled_last_line_is_left_out(tmp_path, tail):
    sound = HEADER.line() + row(1) + row(2)
    _, rows, size = (
        read(file(tmp_path, sound, tail)) if tail != b"{}\n" else (0, [1, 2], len(sound))
    )
    assert len(rows) == 2
    assert size == len(sound)


def test_damage_in_the_middle_is_refused_with_its_line(tmp_path):
    with pytest.raises(
        InputError, match=r"s\.jsonl: line 3 is damaged; sound before it: 1 row.* `head -n 2`"
    ):
        read(file(tmp_path, HEADER.line(), row(1), b"garbage\n", row(3)))


def test_a_row_out_of_order_is_refused(tmp_path):
    with pytest.raises(InputError, match="line 3 has row 3, not 2"):
        read(file(tmp_path, HEADER.line(), row(1), row(3)))


@pytest.mark.parametrize(
    "text", ["hello\n", "{}\n", "[]\n", '{"schema": "other/1"}\n', "\n", "no newline"]
)
def test_another_file_is_refused(tmp_path, text):
    with pytest.raises(InputError, match="not a file of scores"):
        read(file(tmp_path, text.encode()))


def test_a_missing_file_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        ScoresReader(tmp_path / "none.jsonl")
