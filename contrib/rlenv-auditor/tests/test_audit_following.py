"""What is asked once training has begun: the held-out delta over checkpoints, and a person's check
of what got nothing.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rlenv.model.errors import InputError
from rlenv_auditor.cli import command
from rlenv_auditor.delta import measured
from rlenv_auditor.spotting import Zero, drawn


def kept(path: Path, rows: Sequence[Mapping[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_checkpoints_may_have_names_and_rows_without_a_reward_are_counted(tmp_path: Path) -> None:
    rows = [{"checkpoint": f"ckpt-{n}", "reward": 0.1 * n, "task": "a"} for n in range(4)]
    one = kept(
        tmp_path / "one.jsonl",
        [{"schema": "rlenv.scores/1"}, *rows, {"checkpoint": "ckpt-9", "reward": None}],
    )
    two = kept(tmp_path / "two.jsonl", rows)

    result = CliRunner().invoke(
        command, ["delta", "--train", one, "--heldout", two, "--by", "checkpoint"]
    )

    assert result.exit_code == 0, result.output
    assert "rise in training +0.300" in result.output
    assert "left out, without a reward: 1 rows of training, 0 held out" in result.output


def test_rollouts_of_one_task_do_not_count_as_independent() -> None:
    """Two tasks, fifty rollouts of each at each checkpoint, and all that rises is one of the
    two.
    """
    rises = [
        (step, float(task == "a") * step / 4, task)
        for step in range(5)
        for task in "ab"
        for _ in range(50)
    ]
    flat = [(step, 0.5, f"h{n}") for step in range(5) for n in range(10)]

    many = measured(
        [(step, reward, f"{task}{n}") for n, (step, reward, task) in enumerate(rises)], flat
    )
    two = measured(rises, flat)

    assert two.train.rise == pytest.approx(many.train.rise)
    assert many.train.low > 0.3
    assert two.train.low == 0.0  # a draw that has only the other task
    assert not two.alarm


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"reward": float("nan"), "step": 1}, "NaN"),
        ({"reward": 1.0, "step": "1 of 2"}, "--by names the column"),
        ({"reward": 1.0}, "as step"),
        ({"reward": "high", "step": 1}, "'high'"),
        ({"step": 1}, "no row has a reward"),
    ],
)
def test_a_row_that_cannot_be_read_says_what_was_expected(
    tmp_path: Path, row: Mapping[str, Any], said: str
) -> None:
    path = kept(tmp_path / "rows.jsonl", [row])

    result = CliRunner().invoke(command, ["delta", "--train", path, "--heldout", path])

    assert isinstance(result.exception, InputError)
    assert said in str(result.exception)
    assert "rows.jsonl" in str(result.exception)


def zeros() -> list[Zero]:
    """Nine of ten were stopped by one stage."""
    return [
        Zero(n, f"t{n % 7}", f"response {n}", "rare" if n % 10 == 0 else "often")
        for n in range(300)
    ]


def test_a_sample_has_every_stage_in_proportion_and_no_row_twice() -> None:
    sample = drawn(zeros(), 50, seed=1)

    assert len({zero.row for zero in sample}) == 50
    assert Counter(zero.stopped_at for zero in sample) == {"often": 45, "rare": 5}
    assert sample == drawn(zeros(), 50, seed=1) != drawn(zeros(), 50, seed=2)
    assert len(drawn(zeros()[:3], 50, seed=1)) == 3


def test_the_share_in_a_sample_is_that_of_all() -> None:
    chance = random.Random(0)
    right = {n for n in range(300) if chance.random() < 0.2}
    shares = [
        sum(zero.row in right for zero in drawn(zeros(), 50, seed)) / 50 for seed in range(200)
    ]

    assert sum(shares) / len(shares) == pytest.approx(len(right) / 300, abs=0.02)


ENV = """
name = "sums"
[[stage]]
use = "core/equal"
[[task]]
id = "one"
prompt = "What is 1 + 1?"
answer = "2"
"""


def test_a_person_sees_the_task_and_its_answer_and_may_end_at_any_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sums.toml").write_text(ENV)
    kept(Path("scores.jsonl"), [{"task": "one", "row": n, "reward": 0.0} for n in (1, 2, 3)])
    kept(Path("said.jsonl"), [{"task": "one", "response": text} for text in ("two", "three", "II")])
    words = [
        "spot-check",
        "scores.jsonl",
        "--responses",
        "said.jsonl",
        "--env",
        "sums.toml",
        "--labels",
        "labels.jsonl",
    ]

    first = CliRunner().invoke(command, words, input="y\n")
    second = CliRunner().invoke(command, [*words, "--emit-tests", "missed"], input="n\ns\n")
    emitted = Path("missed/test_wrong_refusals.py").read_text()

    assert first.exit_code == second.exit_code == 0, first.output + second.output
    assert "What is 1 + 1?" in first.output
    assert "its answer: 2" in first.output
    assert "1 of 1: 100.0 % (2.5–100.0)" in first.output
    assert "1 of 2: 50.0 % (1.3–98.7)" in second.output
    assert "ENV = 'sums.toml'" in emitted
    names: dict[str, Any] = {}
    exec(compile(emitted, "missed", "exec"), names)
    with pytest.raises(AssertionError):
        names["test_a_right_response_is_paid"](*names["RIGHT"][0])
