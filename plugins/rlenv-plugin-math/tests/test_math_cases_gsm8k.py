"""The GSM8K example: its converter, its comparison with the labels, and the figures that its README
reports.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rlenv import Environment

FOLDER = Path(__file__).parents[3] / "examples" / "gsm8k"


def script(name: str, *args: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(FOLDER / name), *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def record(**models: dict[str, Any]) -> dict[str, Any]:
    return {"question": "How many?", "ground_truth": "A: 3", **models}


def test_the_converter_writes_one_row_per_model_and_problem(tmp_path: Path) -> None:
    found = {"is_correct": True, "solution": "A: 3"}
    source = write(tmp_path / "in.jsonl", record(small=found, large=found))
    ran = script("convert.py", source, tmp_path / "out.jsonl")
    assert ran.returncode == 0
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["model"] for row in rows] == ["small", "large"]
    assert rows[0]["prompt"] == "How many?"
    assert rows[0]["is_correct"] is True


@pytest.mark.parametrize("bad", [{"question": "q"}, [1], {"m": {"solution": "A: 3"}}])
def test_the_converter_names_the_line_that_it_cannot_read(tmp_path: Path, bad: object) -> None:
    source = write(tmp_path / "in.jsonl", bad)
    ran = script("convert.py", source, tmp_path / "out.jsonl")
    assert ran.returncode == 2
    assert "line 1" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert script("convert.py", tmp_path / "none", tmp_path / "out.jsonl").returncode == 2


def scored(reward: float | None) -> dict[str, Any]:
    stage = {"data": {"extracted": "4"}, "private": {"gold": ["3"]}}
    return {"row": 0, "task": "t", "reward": reward, "stages": [stage]}


def test_agreement_counts_and_shows_every_difference(tmp_path: Path) -> None:
    label = {"index": 7, "model": "small", "is_correct": True}
    responses = write(tmp_path / "r.jsonl", label, label, label)
    scores = write(
        tmp_path / "s.jsonl", {"schema": "rlenv.scores/1"}, scored(1.0), scored(0.0), scored(None)
    )
    ran = script("agreement.py", responses, scores)
    assert ran.returncode == 0
    assert "1 of 2 rewards agree" in ran.stdout
    assert "1 unscored" in ran.stdout
    assert "problem 7, small: read '4', gold '3'; we say wrong, the label says right" in ran.stdout


def test_agreement_refuses_files_that_do_not_belong_together(tmp_path: Path) -> None:
    responses = write(tmp_path / "r.jsonl", {"is_correct": True})
    assert "no schema" in script("agreement.py", responses, responses).stderr
    scores = write(tmp_path / "s.jsonl", {"schema": "rlenv.scores/1"})
    ran = script("agreement.py", responses, scores)
    assert ran.returncode == 2
    assert "--resume" in ran.stderr


@pytest.mark.data
@pytest.mark.skipif("RLENV_DATA" not in os.environ, reason="RLENV_DATA names no data folder")
def test_rewards_agree_with_the_labels_of_the_data_set(tmp_path: Path) -> None:
    source = Path(os.environ["RLENV_DATA"]) / "gsm8k" / "example_model_solutions.jsonl"
    assert script("convert.py", source, tmp_path / "r.jsonl").returncode == 0
    rows = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    with Environment.from_file(FOLDER / "env.toml") as env:
        pairs = [(row["prompt"], row["response"]) for row in rows]
        verdicts = list(env.evaluate_many(pairs))
    assert all(verdict.scored for verdict in verdicts)
    agree = sum(
        (v.reward == 1.0) == row["is_correct"] for v, row in zip(verdicts, rows, strict=True)
    )
    assert agree == len(rows)
