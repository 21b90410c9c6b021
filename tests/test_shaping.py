"""examples/shaped_reward is its formula, exactly; docs/explanation/shaping.md shows what pipelines
really pay.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from rlenv import Environment, Verdict

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "shaped_reward"
CASES = 5  # tests of each task
LABELS = ("passed", "errors", "form", "style")


@pytest.fixture(scope="module")
def scored() -> list[tuple[dict[str, Any], Verdict]]:
    rows = [json.loads(line) for line in (EXAMPLE / "responses.jsonl").read_text().splitlines()]
    with Environment.from_file(EXAMPLE / "env.toml") as env:
        pairs = [(env.tasks.by_id(row["task"]), row["response"]) for row in rows]
        return list(zip(rows, env.evaluate_many(pairs), strict=True))


def formula(passed: int, errors: int, form: float, style: float, *, slow: bool) -> float:
    """(tests_passed / total_tests) * base + style_bonus - time_penalty - error_penalty"""
    style_bonus = 0.1 * form + 0.1 * style if passed else 0.0
    raw = passed / CASES * 0.8 + style_bonus - 0.1 * slow - 0.2 * errors / CASES
    return min(1.0, max(0.0, raw))


def test_every_reward_is_the_one_of_the_formula(
    scored: list[tuple[dict[str, Any], Verdict]],
) -> None:
    odd = [
        (row["task"], row["kind"], verdict.value, verdict.fault)
        for row, verdict in scored
        if verdict.value is None
        or abs(verdict.value - formula(*[row[key] for key in LABELS], slow=row["slow"])) > 1e-9
    ]
    assert odd == []
    assert len({verdict.value for _, verdict in scored}) >= 6


def test_form_and_style_without_a_passed_test_earns_nothing(
    scored: list[tuple[dict[str, Any], Verdict]],
) -> None:
    alone = [verdict.value for row, verdict in scored if row["form"] and not row["passed"]]
    assert len(alone) >= 3
    assert set(alone) == {0.0}


def test_a_byte_order_mark_before_the_fence_costs_nothing() -> None:
    text = (EXAMPLE / "crashes.md").read_text()
    with Environment.from_file(EXAMPLE / "env.toml") as env:
        task = env.tasks.by_id("median")

        assert env.verify(task, "\ufeff" + text) == env.verify(task, text) > 0.5


def shaping() -> ModuleType:
    spec = importlib.util.spec_from_file_location("shaping", ROOT / "docs" / "shaping.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow  # seconds of training by policy gradients
def test_the_plots_are_those_that_the_script_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    pictures = shaping().pictures()
    stale = [
        name for name, text in pictures.items() if (shaping().FOLDER / name).read_text() != text
    ]
    assert stale == [], "run `python docs/shaping.py` and commit what it writes"


def test_the_page_says_how_often_groups_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    learns = shaping().learns
    page = (ROOT / "docs" / "explanation" / "shaping.md").read_text()
    assert f"{100 * learns('sparse')(0.5):.1f} % for sparse" in page
    assert f"{100 * learns('dense')(0.5):.3f} % for dense" in page
