"""`rlenv export`: the rows of each format, what is left out, and what a response cannot do."""

import json
from statistics import stdev

import pytest
from train_cases import MESSAGES, assistant, user


def test_a_pair_is_the_best_and_the_worst_response_to_a_task(scores):
    scores.write(("t1", "b", 0.5), ("t1", "a", 1.0), ("t2", "x", 0.0), ("t1", "c", 0.0))
    scores.export("dpo")

    (row,) = scores.rows
    assert row["prompt"] == user("Capital 1?")
    assert (row["chosen"], row["rejected"]) == (assistant("a"), assistant("c"))
    assert (row["chosen_reward"], row["rejected_reward"]) == (1.0, 0.0)
    assert row["task"] == "t1"
    assert row["provenance"] == {**scores.header, "chosen_row": 2, "rejected_row": 4}


def test_of_equal_rewards_the_first_row_is_taken_and_the_tie_is_said(scores):
    scores.write(*[("t1", f"{reward}{n}", reward) for n in range(3) for reward in (1.0, 0.0)])
    said = scores.export("dpo")

    (row,) = scores.rows
    assert (row["provenance"]["chosen_row"], row["provenance"]["rejected_row"]) == (1, 2)
    assert (row["chosen_ties"], row["rejected_ties"]) == (2, 2)
    assert "tied: 1 pair" in said


def test_what_gives_no_pair_is_said_with_its_reason(scores):
    scores.write(
        ("t1", "a", 1.0),
        ("t1", "b", 1.0),
        ("t2", "a", 1.0),
        ("t2", "b", None),
        ("t3", "a", 0.9),
        ("t3", "b", 0.8),
        ("t4", "same", 1.0),
        ("t4", "same", 0.0),
        ("t5", "a", 1.0),
        ("t5", "b", 0.0),
        (None, "a", None),
    )
    said = scores.export("dpo", "--margin", "0.5")

    assert [row["task"] for row in scores.rows] == ["t5"]
    for reason in (
        "1 response: no task",
        "1 response: no reward",
        "1 task: all rewards equal",
        "1 task: fewer than two rewards",
        "1 task: difference below --margin",
        "1 task: same text",
    ):
        assert f"left out: {reason}" in said


def test_several_pairs_of_a_task_share_no_response(scores):
    scores.write(*[("t1", f"r{n}", n / 10) for n in range(6)])
    scores.export("dpo", "--pairs", "5")

    pairs = [(row["chosen_reward"], row["rejected_reward"]) for row in scores.rows]
    assert pairs == [(0.5, 0.0), (0.4, 0.1), (0.3, 0.2)]


def test_length_matching_prefers_the_nearest_length_and_leaves_the_rest_out(scores):
    scores.write(
        ("t1", "x" * 90, 1.0),
        ("t1", "y" * 30, 0.0),
        ("t1", "z" * 80, 0.0),
        ("t2", "x" * 90, 1.0),
        ("t2", "y", 0.0),
    )
    said = scores.export("dpo", "--match-length", "2")

    (row,) = scores.rows
    assert row["rejected"] == assistant("z" * 80)
    assert "1 task: no pair of similar length" in said


def test_length_matching_takes_a_smaller_difference_of_rewards_where_it_must(scores):
    scores.write(("t1", "x" * 100, 1.0), ("t1", "y" * 10, 0.0), ("t1", "z" * 60, 0.5))
    scores.export("dpo", "--match-length", "2")

    assert scores.rows[0]["rejected_reward"] == 0.5


def test_sft_rows_are_the_passes_and_no_text_comes_twice(scores):
    scores.write(
        ("t1", "a", 1.0), ("t1", "b", 0.9), ("t1", "a", 1.0), ("t2", "a", 1.0), ("t2", "c", None)
    )
    said = scores.export("sft")

    assert [(r["task"], r["completion"]) for r in scores.rows] == [
        ("t1", assistant("a")),
        ("t2", assistant("a")),
    ]
    assert scores.rows[0]["provenance"] == {**scores.header, "row": 1}
    assert "1 response: below the pass mark" in said
    assert "1 response: same text as another row" in said


def test_a_pass_mark_replaces_that_of_the_run(scores):
    scores.write(("t1", "a", 0.6), ("t1", "b", 0.4))
    scores.export("kto", "--pass-mark", "0.5")

    assert [row["label"] for row in scores.rows] == [True, False]


def test_kto_rows_have_a_label_and_unscored_responses_have_none(scores):
    scores.write(("t1", "a", 1.0), ("t1", "b", 0.5), ("t1", "c", None))
    scores.export("kto")

    assert [(row["completion"][0]["content"], row["label"]) for row in scores.rows] == [
        ("a", True),
        ("b", False),
    ]


def test_an_advantage_is_that_of_trl_over_the_scored_responses(scores):
    scores.write(
        ("t1", "a", 1.0),
        ("t1", "b", 0.0),
        ("t1", "c", None),
        ("t1", "d", 0.0),
        ("t2", "e", 1.0),
        ("t3", "f", 1.0),
        ("t3", "g", 1.0),
    )
    said = scores.export("grpo")

    rewards = [1.0, 0.0, 0.0]
    wanted = [(r - sum(rewards) / 3) / (stdev(rewards) + 1e-4) for r in rewards]
    assert [row["advantage"] for row in scores.rows] == pytest.approx([*wanted, 0.0, 0.0])
    groups = [row["group"] for row in scores.rows]
    assert len(set(groups[:3])) == len(set(groups[3:])) == 1
    assert groups[0] != groups[3]
    assert "1 task: fewer than two rewards" in said
    assert "no signal: 1 task" in said


def test_groups_of_two_runs_have_different_names(scores, monkeypatch):
    monkeypatch.delenv("RLENV_SECRET")  # the file is edited by hand
    rows = ("t1", "a", 1.0), ("t1", "b", 0.0)
    scores.write(*rows).export("grpo")
    first = scores.rows[0]["group"]
    changed = scores.path.read_text().replace("ab" * 32, "cd" * 32)
    scores.path.write_text(changed)
    scores.export("grpo", "--overwrite")

    assert scores.rows[0]["group"] != first


def test_text_writes_strings(scores):
    scores.write(("t1", "a", 1.0), ("t1", "b", 0.0))
    scores.export("dpo", "--text")

    assert [scores.rows[0][key] for key in ("prompt", "chosen", "rejected")] == [
        "Capital 1?",
        "a",
        "b",
    ]


def test_a_conversation_brings_its_own_prompt(scores):
    scores.write(("t1", MESSAGES, 1.0))
    scores.export("sft", tasks=False)

    assert scores.rows[0]["prompt"] == MESSAGES[:2]
    assert scores.rows[0]["completion"] == MESSAGES[2:]


def test_a_conversation_without_a_prompt_gets_that_of_its_task(scores):
    scores.set_tasks({"id": "t1", "prompt": MESSAGES[:2], "answer": "1"})
    scores.write(("t1", MESSAGES[2:], 1.0), ("t1", "1", 1.0))
    scores.export("sft")

    assert [row["prompt"] for row in scores.rows] == [MESSAGES[:2]] * 2


def test_conversations_of_different_prompts_make_no_pair(scores):
    scores.write(("t1", MESSAGES, 1.0), ("t1", [*user("another"), *assistant("1")], 0.0))
    said = scores.export("dpo", status=3)

    assert "prompts of the pair differ" in said
    assert not scores.out.exists()


def test_tool_calls_are_kept_with_their_arguments_as_text(scores):
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": {"a": 1}}}
    talk = [
        *user("Capital 1?"),
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "2"},
        *assistant("2"),
    ]
    scores.write(("t1", talk, 1.0), ("t2", "2", 1.0))
    scores.export("sft")

    completion = scores.rows[0]["completion"]
    assert json.loads(completion[0]["tool_calls"][0]["function"]["arguments"]) == {"a": 1}
    assert completion[0]["content"] == ""
    keys = {
        frozenset(message) for row in scores.rows for message in row["prompt"] + row["completion"]
    }
    assert keys == {frozenset(("role", "content", "tool_calls", "tool_call_id"))}


def test_a_response_cannot_forge_where_it_comes_from(scores):
    forged = {
        "provenance": {"fingerprint": "0" * 64, "row": 7},
        "reward": 1.0,
        "label": True,
        "task": "t2",
    }
    scores.write(
        ("t1", [*user("Capital 1?"), {"role": "assistant", "content": "1", **forged}], 0.5),
        ("t1", json.dumps(forged), 0.5),
    )
    scores.export("kto")

    for number, row in enumerate(scores.rows, 1):
        assert row["provenance"] == {**scores.header, "row": number}
        assert (row["task"], row["label"], row["reward"]) == ("t1", False, 0.5)
        assert set(row["completion"][0]) == {"role", "content"}


def test_a_lone_surrogate_is_left_out_and_said(scores):
    scores.write(("t1", "a\ud800", 1.0), ("t1", "b", 1.0))
    said = scores.export("sft")

    assert [row["completion"] for row in scores.rows] == [assistant("b")]
    assert "1 response: a text with a lone surrogate" in said
