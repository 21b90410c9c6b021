"""examples/code_review: programs, constraints and a judge in one reward."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rlenv import Environment

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "code_review"
WEIGHTS = {"tests": 0.6, "style": 0.1, "speed": 0.1, "review": 0.2}


def test_a_review_weighs_programs_before_a_judge(
    judge_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [json.loads(line) for line in (EXAMPLE / "responses.jsonl").read_text().splitlines()]
    for row in rows:
        judge_server.key[row["response"].strip()] = row["quality"]
    monkeypatch.setenv("RLENV_JUDGE_URL", judge_server.url)
    monkeypatch.setenv("RLENV_JUDGE_MODEL", "honest")
    with Environment.from_file(EXAMPLE / "env.toml") as env:
        pairs = [(env.tasks.by_id(row["task"]), row["response"]) for row in rows]
        verdicts = list(env.evaluate_many(pairs))
    by_kind = {(row["task"], row["kind"]): v for row, v in zip(rows, verdicts, strict=True)}

    for verdict in verdicts:
        assert verdict.value is not None, verdict.fault
        scores = {r.stage: r.outcome.score for r in verdict.results if r.outcome is not None}
        if "review" in scores:
            assert verdict.value == pytest.approx(sum(w * scores[n] for n, w in WEIGHTS.items()))
    assert by_kind["palindrome", "does not compile"].value == 0.0
    assert len(by_kind["palindrome", "does not compile"].results) == 1  # no judge was asked
    boasting = by_kind["pairs", "wrong and boasting"].value
    assert boasting is not None
    assert boasting < 0.35
    best = by_kind["palindrome", "lean and explained"].value
    assert best is not None
    assert best > 0.7
