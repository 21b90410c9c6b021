"""``code/diff``: the share of right answers, and who may read what was expected."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from code_runs import closed_sandbox, task_of
from rlenv.compose.composites import Slot
from rlenv.compose.stages import Attempt
from rlenv.environment import Environment
from rlenv.model.values import Outcome
from rlenv_plugin_code.artifacts import Answer, Answers
from rlenv_plugin_code.stages.diff import Diff
from rlenv_plugin_code.stages.run import Run

pytestmark = pytest.mark.usefixtures("closed_sandbox")
__all__ = ["closed_sandbox"]
OPEN: dict[str, Any] = {"isolation": "process", "min_isolation": "process"}
FUNCTION: dict[str, Any] = {"kind": "function", "entry_point": "f"}


def outcome(stage: Any, attempt: Attempt) -> Outcome:
    made = asyncio.run(stage.check(attempt))
    assert isinstance(made, Outcome)
    return made


def diff(tests: dict[str, Any], *answers: Any, score: str = "fraction", **more: Any) -> Outcome:
    given = [a if isinstance(a, Answer) else Answer("ok", a) for a in answers]
    task = task_of(tests)
    stage = Diff(score=score, **OPEN)
    stage.validate(task)
    made: dict[type, Any] = {Answers: Answers(tests["kind"], tuple(given), **more)}
    return outcome(stage, Attempt(task, "x", artifacts=made))


def cases(*expected: Any) -> dict[str, Any]:
    return {**FUNCTION, "cases": [{"args": [1], "expected": value} for value in expected]}


def test_the_share_of_right_answers() -> None:
    found = diff(cases(1, 2, 3), 1, 5, 3)
    assert found.score == pytest.approx(2 / 3)
    assert found.data["tests_passed"] == 2
    assert found.data["total_tests"] == 3
    assert diff(cases(1, 2, 3), 1, 2, 3).score == 1.0
    assert diff(cases(1, 2, 3), 1, 5, 3, score="all").score == 0.0
    assert diff(cases(1, 2, 3), 1, 2, 3, score="all").score == 1.0


def test_what_was_expected_is_for_the_operator_only() -> None:
    found = diff(cases("secret"), "wrong")
    assert "secret" not in f"{found.detail}{found.data}"
    assert found.detail == "0 of 1 tests passed; test 1: wrong answer"
    failures: Any = found.private["failures"]
    assert failures[0]["difference"] == "expected 'secret', got 'wrong'"


def test_an_answer_that_is_none_fails_with_its_reason() -> None:
    found = diff(
        cases(None, None, None),
        Answer("timeout", error="no answer in time"),
        Answer("error", error="ValueError"),
        Answer("skipped"),
    )
    assert (found.score, found.data["tests_passed"]) == (0.0, 0)
    assert "test 1: timeout: no answer in time" in found.detail


def test_types_are_exact_unless_the_task_is_loose() -> None:
    assert diff(cases(1, [1], 1.0), True, (1,), 1).score == 0.0
    assert diff({**cases([1, {"$tuple": [2]}], 1.0), "types": "loose"}, (1, [2]), 1).score == 1.0
    assert (
        diff({**cases([1.0, 2.0]), "tolerance": {"atol": 0.1}, "unordered": True}, [2.05, 1]).score
        == 1.0
    )


def test_visible_cases_are_never_scored() -> None:
    tests = {
        **FUNCTION,
        "cases": [{"args": [1], "expected": 1, "visible": True}, {"args": [2], "expected": 2}],
    }
    assert diff(tests, 2).data["total_tests"] == 1


def test_outputs_are_compared_by_lines() -> None:
    tests = {"kind": "stdio", "cases": [{"stdin": "", "stdout": "1 2\n3\n"}]}
    assert diff(tests, "1 2  \n3").score == 1.0
    assert diff(tests, "1 2\n").score == 0.0
    failures: Any = diff(tests, "1 2\n").private["failures"]
    assert "line 2" in failures[0]["difference"]


def test_asserts_are_right_when_they_held() -> None:
    tests = {"kind": "asserts", "test": ["assert f(1) == 1", "assert f(2) == 2"]}
    assert diff(tests, True, False).score == 0.5
    assert diff(tests, 1, "yes").score == 0.0


GOLDEN = {
    **FUNCTION,
    "kind": "golden",
    "golden": "def f(x): return x",
    "inputs": [["int", 0, 9]],
    "count": 2,
}


def test_golden_answers_are_the_expected_ones() -> None:
    assert diff(GOLDEN, 1, 2, expected=(1, 2)).score == 1.0
    assert diff(GOLDEN, 1, 2, expected=(1, True)).score == 0.5
    assert diff(GOLDEN, Answer("error"), Answer("error")).score == 0.0


def test_too_few_answers_are_a_fault_and_never_a_score() -> None:
    with pytest.raises(ValueError, match="1 answers to 2 tests"):
        diff(cases(1, 2), 1)
    with pytest.raises(ValueError, match="golden"):
        diff(GOLDEN, 1, 2)


def test_answers_that_change_from_run_to_run_are_worth_nothing() -> None:
    found = diff(cases(1), 1, stable=False)
    assert (found.score, found.data["stable"]) == (0.0, False)


CHECKER = (
    "def check(stdin, stdout, expected):\n    return sorted(stdout.split()) == stdin.split() or 1 /"
    " (stdout != 'boom')\n"
)


def test_a_checker_decides_on_outputs() -> None:
    tests = {
        "kind": "stdio",
        "checker": CHECKER,
        "cases": [{"stdin": text} for text in ("1 2", "1 2", "1", "1")],
    }
    found = diff(tests, "2 1", "3 1", "boom", Answer("timeout"))
    assert found.data["tests_passed"] == 1
    failures: Any = found.private["failures"]
    said = [failure["difference"] for failure in failures]
    assert said[0].startswith("refused")
    assert "the checker failed" in said[1]
    assert "ZeroDivisionError" in said[1]


def test_a_checker_of_a_golden_task_sees_the_inputs() -> None:
    tests = {
        "kind": "golden",
        "io": "stdio",
        "golden": "print(input())",
        "inputs": [["int", 0, 9]],
        "count": 2,
        "checker": (
            "def check(stdin, stdout, expected):\n    return stdin.strip() == stdout.strip() =="
            " expected.strip()\n"
        ),
    }
    assert diff(tests, "1", "2\n", expected=("1\n", "2\n"), inputs=("1\n", "2\n")).score == 1.0
    assert diff(tests, "1", "2\n", expected=("1\n", "2\n"), inputs=("1\n", "3\n")).score == 0.5


def test_an_environment_warns_of_hidden_cases_in_its_prompts() -> None:
    task = task_of(cases(2), "f(1) == 2. Write f.")
    slots = [Slot("run", Run(**OPEN)), Slot("diff", Diff(**OPEN))]
    with Environment("e", slots, [task]) as env:
        assert any("hidden cases" in warning and "the task" in warning for warning in env.warnings)
