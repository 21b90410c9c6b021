"""What policies that read nothing earn on IFEval's own prompts, with the test of content."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from rlenv.stages import Attempt
from rlenv.values import Task
from rlenv_plugin_constraints.content import CONSTANTS
from rlenv_plugin_constraints.stages.ifeval import IFEval

POLICIES: dict[str, Callable[[str], str]] = {
    **{name: (lambda _prompt, said=said: said) for name, said in CONSTANTS.items()},  # type: ignore[misc]
    "echo": lambda prompt: prompt,
    "echo in capitals": lambda prompt: prompt.upper(),
    "echo in small letters": lambda prompt: prompt.lower(),
    "echo without commas": lambda prompt: prompt.replace(",", ""),
    "echo in quotation marks": lambda prompt: f'"{prompt}"',
    "echo twice": lambda prompt: f"{prompt}\n******\n{prompt}",
    "yes": lambda _prompt: "yes",
}


@pytest.mark.skipif("RLENV_DATA" not in os.environ, reason="RLENV_DATA names no data folder")
@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_that_reads_nothing_earns_at_most_two_percent(name: str) -> None:
    source = Path(os.environ["RLENV_DATA"]) / "ifeval" / "input_data.jsonl"
    rows = [json.loads(line) for line in source.read_text("utf-8").splitlines()]
    stage = IFEval()
    paid = 0.0
    for row in rows:
        info = {key: row[key] for key in ("instruction_id_list", "kwargs")}
        paid += stage.check(
            Attempt(Task(row["prompt"], info=info), POLICIES[name](row["prompt"]))
        ).score
    assert len(rows) == 541
    assert paid / len(rows) <= 0.02
