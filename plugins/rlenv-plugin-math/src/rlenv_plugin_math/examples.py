"""Responses whose worth is sure, over every kind of answer; hook ``rlenv_examples``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from rlenv import Task
from rlenv.hooks import Examples


def examples() -> Mapping[str, Sequence[Examples]]:
    """Right and wrong responses for ``equal`` and ``boxed``."""
    return {stage: [_examples(stage)] for stage in ("equal", "boxed")}


def _examples(stage: str) -> Examples:
    lines = Path(__file__).with_name("examples.jsonl").read_text("utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row.get("stage", "equal") == stage]
    tasks = [Task(r["prompt"], answer=r["answer"], id=f"math-{at:02}") for at, r in enumerate(rows)]
    right, wrong = (
        [(task, response) for task, row in zip(tasks, rows, strict=True) for response in row[worth]]
        for worth in ("right", "wrong")
    )
    return Examples(right, wrong, gate_only=stage == "boxed")
