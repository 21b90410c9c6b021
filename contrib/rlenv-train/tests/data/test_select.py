"""`rlenv select`: the best response per task, and the gate, which an unscored response never passes
unsaid.
"""

import os

import pytest
from rlenv_train.data import index as indexing

ROWS = ("t1", "a", 0.5), ("t2", "b", 1.0), ("t1", "c", 1.0), ("t2", "d", 1.0), ("t1", "e", None)


def gate(scores, *options, status):
    return scores.run("select", scores.path, *options, status=status, out=False)


def test_the_best_response_of_each_task_is_the_first_of_equal_rewards(scores):
    scores.write(*ROWS)
    said = scores.run("select", scores.path)

    first, second = scores.rows
    assert first == {
        "task": "t1",
        "response": "c",
        "reward": 1.0,
        "passed": True,
        "scored": 2,
        "tied": 0,
        "unscored": 1,
        "provenance": {**scores.header, "row": 3},
    }
    assert (second["task"], second["response"], second["tied"]) == ("t2", "b", 1)
    assert "tied: 1 task" in said
    assert "unscored: 1 response" in said


def test_a_task_without_any_reward_is_named_and_has_no_row(scores):
    scores.write(*ROWS, ("t3", "x", None))
    said = scores.run("select", scores.path)

    assert "no reward: 1 task: t3" in said
    assert [row["task"] for row in scores.rows] == ["t1", "t2"]


def test_what_was_selected_can_be_scored_again(scores):
    scores.write(("t1", "1", 1.0), ("t1", "2", 0.0))
    scores.run("select", scores.path)
    again = scores.folder / "again.jsonl"

    scores.run("score", scores.env, scores.out, "-o", again, "--quiet", out=False)


def test_the_gate_compares_the_mean_of_the_best(scores):
    scores.write(("t1", "a", 1.0), ("t1", "b", 0.0), ("t2", "c", 0.5))

    assert "reaches --min-reward 0.75" in gate(scores, "--min-reward", "0.75", status=0)
    assert "mean reward 0.75 of 2 tasks is below --min-reward 0.76" in gate(
        scores, "--min-reward", "0.76", status=1
    )


def test_an_unscored_task_never_passes_the_gate_silently(scores):
    scores.write(("t1", "a", 1.0), ("t2", "b", None))

    assert "was not decided: tasks without reward: 1" in gate(
        scores, "--min-reward", "0.5", status=3
    )
    said = gate(scores, "--min-reward", "0.5", "--max-unscored", "1", status=0)
    assert "(1 without reward left out) reaches" in said


def test_the_gate_is_not_decided_without_any_reward(scores):
    scores.write(("t1", "a", None))

    gate(scores, "--min-reward", "0", "--max-unscored", "5", status=3)


def test_a_row_without_a_task_counts_against_the_gate(scores):
    scores.write(("t1", "a", 1.0), (None, "b", None))

    gate(scores, "--min-reward", "0.5", status=3)


def test_a_task_that_nobody_answered_counts_where_the_tasks_are_given(scores):
    scores.write(*((f"t{n}", "a", 1.0) for n in range(1, 5)))

    gate(scores, "--min-reward", "1", status=0)
    said = gate(scores, "--min-reward", "1", "--tasks", scores.env, status=3)
    assert "no reward: 1 task: t5" in said


def test_a_torn_file_does_not_pass_the_gate(scores):
    scores.write(("t1", "a", 1.0), ("t2", "b", 0.0))
    os.truncate(scores.path, scores.path.stat().st_size - 3)

    assert "the file is torn" in gate(scores, "--min-reward", "0.5", status=3)
    gate(scores, status=0)


def test_a_file_without_its_last_rows_does_not_pass_the_gate(scores):
    scores.write(("t1", "a", 1.0), ("t2", "b", 0.0), responses=2)
    lines = scores.path.read_bytes().splitlines(keepends=True)
    scores.path.write_bytes(b"".join(lines[:2]))

    said = gate(scores, "--min-reward", "0.5", status=3)
    assert "rows are missing at its end" in said
    assert "incomplete: 1 of 2 rows" in " ".join(said.split())
    assert "incomplete: 1 of 2 rows" in " ".join(scores.export("sft").split())


@pytest.mark.parametrize("least", ["nan", "-0.1", "1.1", "inf", "x"])
def test_a_gate_that_is_no_number_between_0_and_1_is_an_error(scores, least):
    scores.write(("t1", "a", 0.0))

    gate(scores, "--min-reward", least, status=2)


def test_a_file_without_rows_or_without_a_header_is_an_error(scores):
    scores.write()
    assert "contains no responses" in gate(scores, "--min-reward", "0", status=2)
    scores.path.write_text("")
    assert "is empty" in gate(scores, status=2)


@pytest.mark.parametrize("second", ["b", "bb"])  # lines of equal length are whole, but another row
def test_a_file_that_changes_between_the_two_readings_is_an_error(scores, second):
    scores.write(("t1", "a", 1.0), ("t1", second, 1.0))
    with indexing.indexed(scores.path) as index:
        lines = scores.path.read_bytes().splitlines(keepends=True)
        scores.path.write_bytes(lines[0] + lines[2] + lines[1])
        with pytest.raises(indexing.InputError, match="changed while it was read"):
            index.row(index.tasks["t1"][1])
