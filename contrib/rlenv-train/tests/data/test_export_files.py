"""`rlenv export`: files that are damaged or in the way, limits of options, and Parquet."""

import json
import math
import os
import tracemalloc

import pytest
from rlenv_train.data.output import replacing
from train_cases import MESSAGES, user


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet"])
def test_an_id_with_a_lone_surrogate_is_left_out_too(scores, name):
    scores.set_tasks({"id": "t\ud800", "prompt": "Capital?", "answer": "1"})
    scores.write(("t\ud800", "1", 1.0))
    scores.out = scores.folder / name

    assert "1 response: a text with a lone surrogate" in scores.export("sft", status=3)


def test_a_tool_call_without_a_function_is_left_out(scores):
    scores.write(
        ("t1", [*user("?"), {"role": "assistant", "content": "", "tool_calls": ["add"]}], 1.0)
    )

    assert "1 response: a tool call without a function" in scores.export("sft", status=3)


@pytest.mark.parametrize(
    ("reward", "key"),
    [("NaN", "reward"), ("Infinity", "reward"), ("1.5", "reward"), ("-0.1", "reward")],
)
def test_a_reward_out_of_range_names_file_line_and_key(scores, reward, key, monkeypatch):
    monkeypatch.delenv("RLENV_SECRET")  # the file is edited by hand
    scores.write(("t1", "a", 1.0), ("t1", "b", 0.5))
    scores.path.write_text(scores.path.read_text().replace('"reward": 0.5', f'"reward": {reward}'))
    said = scores.export("dpo", status=2)

    assert f"scores.jsonl: line 3: {key}: " in said
    assert not scores.out.exists()


def test_a_pass_without_a_reward_is_an_error(scores):
    scores.write(("t1", "a", None), passed=True)

    assert "scores.jsonl: line 2: passed: True is not null" in scores.export("sft", status=2)


def test_a_text_without_prompts_names_its_line_and_the_remedy(scores):
    scores.write(("t1", MESSAGES, 1.0), ("t1", "a", 0.0))
    said = scores.export("dpo", status=2, tasks=False)

    assert "scores.jsonl: line 3: response: a text" in said
    assert "--tasks" in said


def test_another_environment_than_that_of_the_run_is_an_error(scores):
    scores.write(("t1", "a", 1.0), ("t1", "b", 0.0))
    scores.set_tasks({"id": "t1", "prompt": "Another prompt?", "answer": "1"})

    assert "line 1: tasks_sha256: scored with other tasks" in " ".join(
        scores.export("dpo", status=2).split()
    )


def test_a_file_cut_in_a_line_is_read_to_there_with_a_warning(scores):
    scores.write(("t1", "a", 1.0), ("t1", "b", 0.0), ("t2", "c", 1.0))
    os.truncate(scores.path, scores.path.stat().st_size - 10)
    said = scores.export("sft")

    assert len(scores.rows) == 1
    assert "the last line is torn" in said
    assert "read 2 whole rows" in said


def test_a_damaged_line_in_the_middle_writes_nothing(scores):
    scores.write(*[("t1", str(n), 1.0) for n in range(4)])
    lines = scores.path.read_text().splitlines()
    scores.path.write_text("\n".join([*lines[:2], lines[2][:40], *lines[3:]]) + "\n")

    assert "scores.jsonl: line 3 is damaged" in scores.export("sft", status=2)
    assert not scores.out.exists()


def test_a_row_number_that_comes_twice_is_damage(scores):
    scores.write(("t1", "a", 1.0), ("t1", "b", 0.0))
    text = scores.path.read_text().replace('"row": 2', '"row": 1')
    scores.path.write_text(text)

    assert "line 3 has row 1, not 2" in scores.export("dpo", status=2)


def test_an_existing_file_is_replaced_only_when_asked_and_never_the_scores(scores):
    scores.write(("t1", "a", 1.0))
    scores.out.write_text("mine")
    assert "--overwrite" in scores.export("sft", status=2)
    assert scores.out.read_text() == "mine"
    scores.export("sft", "--overwrite")
    assert len(scores.rows) == 1
    before = scores.path.read_text()
    scores.out.unlink()
    scores.out.symlink_to(scores.path)

    assert "this is the score file" in scores.export("sft", "--overwrite", status=2)
    assert scores.path.read_text() == before


def test_what_is_not_a_file_is_not_replaced(scores):
    scores.write(("t1", "a", 1.0))
    os.mkfifo(scores.out)

    assert "not a regular file" in scores.export("sft", "--overwrite", status=2)


def test_nothing_else_is_left_in_the_folder(scores):
    scores.write(("t1", "a", 0.0))
    before = set(os.listdir(scores.folder))
    said = scores.export("sft", status=3)

    assert "nothing to write" in said
    assert set(os.listdir(scores.folder)) == before


@pytest.mark.parametrize(
    "words",
    [
        ("sft", "--pairs", "2"),
        ("grpo", "--pass-mark", "0.5"),
        ("parquet", "--text"),
        ("dpo", "--margin", "nan"),
        ("kto", "--pass-mark", "nan"),
    ],
)
def test_an_option_that_a_format_does_not_read_is_an_error(scores, words):
    scores.write(("t1", "a", 1.0), ("t1", "b", 0.0))
    assert words[1] in scores.export(*words, status=2, tasks=words[0] != "parquet")


def test_parquet_has_every_row_as_it_is(scores):
    parquet = pytest.importorskip("pyarrow.parquet")
    scores.write(("t1", "a\ud800", 1.0), (None, MESSAGES, None), ("t2", None, 0.5))
    scores.export("parquet", tasks=False)

    rows = parquet.read_table(scores.out).to_pylist()
    assert [row["row"] for row in rows] == [1, 2, 3]
    assert [row["reward"] for row in rows] == [1.0, None, 0.5]
    assert [row["response"] for row in rows] == ["a?", None, None]
    assert json.loads(rows[1]["messages"]) == MESSAGES
    assert json.loads(rows[1]["fault"])["kind"] == "error"
    assert {key: rows[2][key] for key in scores.header} == scores.header


def test_no_advantage_is_infinite(scores):
    scores.write(("t1", "a", 0.5), ("t1", "b", math.nextafter(0.5, 1)))
    scores.export("grpo")

    assert all(abs(row["advantage"]) < 1e-6 for row in scores.rows)


def test_memory_does_not_grow_with_the_texts(scores):
    scores.write(*((f"t{n % 5 + 1}", f"{n} " + "x" * 50_000, float(n % 2)) for n in range(400)))
    assert scores.path.stat().st_size > 20_000_000
    tracemalloc.start()
    try:
        scores.export("sft")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert len(scores.rows) == 200
    assert peak < 8_000_000


@pytest.mark.parametrize("options", [(), ("--text",)])
@pytest.mark.parametrize("form", ["dpo", "sft", "kto", "grpo"])
def test_parquet_of_a_format_has_the_rows_of_its_lines(scores, form, options):
    parquet = pytest.importorskip("pyarrow.parquet")
    scores.write(("t1", "2026-01-01", 1.0), ("t1", "2026-01-02", 0.0), ("t2", "x", None))
    scores.export(form, *options)
    wanted = scores.rows
    scores.out = scores.folder / "out.parquet"
    scores.export(form, *options)

    assert parquet.read_table(scores.out).to_pylist() == wanted


def test_parquet_holds_tool_calls_that_come_late(scores):
    parquet = pytest.importorskip("pyarrow.parquet")
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    talk = [*user("Capital 2?"), {"role": "assistant", "content": "2", "tool_calls": [call]}]
    scores.write(("t1", "a", 1.0), ("t2", talk, 1.0))
    scores.out = scores.folder / "out.parquet"
    scores.export("sft")

    rows = parquet.read_table(scores.out).to_pylist()
    assert [row["completion"][0]["tool_calls"] for row in rows] == [None, [call]]


def test_a_parquet_file_without_rows_is_not_written(scores):
    scores.write(("t1", "a", 0.0))
    scores.out = scores.folder / "out.parquet"
    scores.export("sft", status=3)

    assert not scores.out.exists()


def test_equal_rewards_make_no_pair_without_a_margin_either(scores):
    scores.write(("t1", "a", 0.5), ("t1", "b", 0.5))

    assert "1 task: all rewards equal" in scores.export("dpo", status=3)


def test_limits_are_reached_by_what_is_equal_to_them(scores):
    scores.write(("t1", "x" * 20, 1.0), ("t1", "y" * 10, 0.5))
    scores.export("dpo", "--margin", "0.5", "--match-length", "2")
    assert len(scores.rows) == 1
    scores.export("sft", "--pass-mark", "0.5", "--overwrite")

    assert len(scores.rows) == 2


def test_an_empty_response_counts_as_one_character(scores):
    scores.write(("t1", "ab", 1.0), ("t1", "", 0.0))
    scores.export("dpo", "--match-length", "2")

    assert len(scores.rows) == 1


@pytest.mark.parametrize("options", [(), ("--match-length", "9")])
def test_the_first_rows_win_however_many_are_equal(scores, options):
    scores.write(*[("t1", f"{n:02}", float(n % 2)) for n in range(200)])
    scores.export("dpo", *options)

    source = scores.rows[0]["provenance"]
    assert (source["chosen_row"], source["rejected_row"]) == (2, 1)


def test_a_failure_while_writing_leaves_nothing(scores):
    def fail(path):
        path.write_text("half")
        raise RuntimeError("no room")

    with pytest.raises(RuntimeError), replacing(scores.out) as part:
        fail(part)

    assert list(scores.folder.glob("*out*")) == []
