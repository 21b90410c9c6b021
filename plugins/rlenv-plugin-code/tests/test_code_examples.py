"""The environments of `examples/` that run programs: every reward is the one that its label
wants.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from code_corpus import evaluated
from rlenv import Environment

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
Rows = list[dict[str, Any]]


def read(path: Path) -> Rows:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def rewards(folder: str, rows: Rows) -> list[float]:
    """The rewards, -1 where there is none."""
    with Environment.from_file(EXAMPLES / folder / "env.toml") as env:
        pairs = [(env.tasks.by_id(row["task"]), row["response"]) for row in rows]
        values = [verdict.value for verdict in evaluated(env, pairs)]
    return [-1.0 if value is None else value for value in values]


@pytest.mark.slow  # twenty programs with all their cases and their speed
def test_the_pipeline_pays_what_is_right_and_more_for_what_is_lean() -> None:
    rows = read(EXAMPLES / "code_pipeline" / "responses.jsonl")
    found = rewards("code_pipeline", rows)
    by_kind = {(row["task"], row["kind"]): value for row, value in zip(rows, found, strict=True)}

    for row, value in zip(rows, found, strict=True):
        assert (value >= 0.6) if row["right"] else (value == 0.0), (row["task"], row["kind"], value)
    assert len(rows) >= 20
    assert sum(row["right"] for row in rows) >= 6
    assert by_kind["pairs", "right but slow"] < 0.85
    assert by_kind["palindrome", "right but large"] < 0.85
    assert min(value for (_, kind), value in by_kind.items() if kind == "right") > 0.85


@pytest.mark.data
@pytest.mark.slow  # runs 820 programs
@pytest.mark.skipif("RLENV_DATA" not in os.environ, reason="RLENV_DATA names no data folder")
def test_humaneval_pays_its_solutions_and_no_cheat(tmp_path: Path) -> None:
    source = Path(os.environ["RLENV_DATA"]) / "humaneval" / "HumanEval.jsonl.gz"
    target = tmp_path / "responses.jsonl"
    script = EXAMPLES / "humaneval" / "convert.py"
    subprocess.run([sys.executable, script, source, target], check=True, capture_output=True)
    rows = read(target)
    found = rewards("humaneval", rows)
    odd = [
        (row["task"], row["kind"], value)
        for row, value in zip(rows, found, strict=True)
        if value != float(row["right"])
    ]

    assert len(rows) == 5 * 164
    assert odd == []
