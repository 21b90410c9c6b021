"""Responses whose worth is sure, over every kind of answer; hook ``rlenv_examples``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from rlenv import Task
from rlenv.hooks import Examples

_BOXED = (
    (r"So \boxed{18}.", r"<think>\boxed{1}</think>\boxed{\frac{1}{2}}", r"\fbox{x=\boxed{3}}"),
    ("18", r"\boxed{}", r"\boxed{18", r"\boxed{1} or \boxed{2}", r"<think>\boxed{1}</think> 1"),
)


def examples() -> Mapping[str, Sequence[Examples]]:
    """Right and wrong responses for ``equal`` and ``boxed``."""
    right, wrong = [], []
    lines = Path(__file__).with_name("examples.jsonl").read_text("utf-8").splitlines()
    for at, row in enumerate(map(json.loads, lines)):
        task = Task(row["prompt"], answer=row["answer"], id=f"math-{at:02}")
        right += [(task, response) for response in row["right"]]
        wrong += [(task, response) for response in row["wrong"]]
    form = Task("Put your answer in a box.", answer="18", id="math-form")
    gate = Examples(
        right=[(form, response) for response in _BOXED[0]],
        wrong=[(form, response) for response in _BOXED[1]],
        gate_only=True,
    )
    return {"equal": [Examples(right=right, wrong=wrong)], "boxed": [gate]}
