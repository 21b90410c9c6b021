"""The mutation score: mistakes in a golden program are rejected, and what cannot be told from it
raises no alarm.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rlenv.model.values import Task
from rlenv_auditor import Result, audit
from rlenv_auditor.programs import arguments, difference, program_of
from rlenv_auditor.telling import Alike, like, told_apart

VERIFIER = '''
import ast, re

def ran(response, info):
    names = {}
    source = re.findall(r"```python\\n(.*?)```", response, re.S) or [response]
    if "def " not in source[0] or len(response) > 5000 or "import" in response:
        return None
    try:
        exec(source[0], names)
        return names[info["entry_point"]]
    except BaseException:
        return None

def score(response, info):
    """Assertions beside the program: good enough for honest mutants."""
    made = ran(response, info)
    try:
        exec(info["test"], {"candidate": made})
    except BaseException:
        return 0.0
    return float(made is not None)

def blind(response, info):
    """Nothing but the name is asked for."""
    return float(info["entry_point"] in response)
'''
ABS = "def size(x):\n    if x < 0:\n        return -x\n    return x\n"
GOOD = (
    "assert candidate(-3) == 3\nassert candidate(4) == 4\nassert candidate(0) == 0\nassert"
    " candidate(1) == 1\nassert candidate(-1) == 1"
)
POOR = "assert candidate(4) == 4\nassert candidate(-9) is not None"


def row(test: str) -> dict[str, Any]:
    return {
        "id": "size",
        "prompt": "Write size(x).",
        "entry_point": "size",
        "canonical_solution": ABS,
        "test": test,
    }


def scored(target: str) -> Result:
    card = audit(target, tasks_from="tasks.jsonl", only=["mutation"], budget=300.0, patience=60.0)
    return card.results[0]


def test_good_tests_refuse_every_mistake_and_equal_programs_raise_no_alarm(
    written: Callable[..., Path],
) -> None:
    written(VERIFIER, [row(GOOD)], "mutated_good")
    result = scored("mutated_good:score")

    assert result.status == "clean", result.findings
    assert result.figures["known to answer otherwise"] == 0
    alive = {one["what"] for one in result.figures["survivors"]}
    assert "line 2: Lt became LtE" in alive  # -0 is 0
    assert result.figures["killed"] >= 5
    assert "are rejected" in result.reason


def test_a_mistake_that_is_paid_is_told_with_the_input_that_shows_it(
    written: Callable[..., Path],
) -> None:
    written(VERIFIER, [row(POOR)], "mutated_poor")
    result = scored("mutated_poor:score")

    assert result.status == "found"
    first = result.findings[0]
    assert "differs on size(" in first.title
    assert first.more["diff"]
    assert first.reward == 1.0
    shown = result.figures["survivors"][0]
    assert shown["diff"].startswith("-")
    assert shown["differs on"].startswith("size(")


def test_where_nothing_can_be_told_apart_a_poor_score_is_told(
    written: Callable[..., Path],
) -> None:
    written(VERIFIER, [row("check(candidate)")], "mutated_blind")
    result = scored("mutated_blind:blind")

    assert result.status == "found"
    assert "more than equivalent ones explain" in result.findings[0].title


@pytest.mark.parametrize(
    ("task", "why"),
    [
        ({"prompt": "1 + 1?", "answer": "2"}, "does not verify programs"),
        ({"prompt": "Write it.", "entry_point": "size", "test": GOOD}, "no golden program"),
        (
            {**row(GOOD), "canonical_solution": "def size(x):\n    return 7\n"},
            "no golden program gets a reward",
        ),
    ],
)
def test_what_has_no_golden_program_is_skipped_with_the_reason(
    written: Callable[..., Path], task: dict[str, Any], why: str
) -> None:
    written(VERIFIER, [task], "mutated_none")
    result = scored("mutated_none:score")

    assert result.status == "skipped"
    assert why in result.reason


def test_inputs_are_like_those_of_the_tests() -> None:
    made = like([[5, [1, 2, 9]], [7, [0, 3]]], "seed")

    assert made == like([[5, [1, 2, 9]], [7, [0, 3]]], "seed")
    assert all(5 <= number <= 7 for number, _ in made)
    assert all(numbers == sorted(numbers) for _, numbers in made)


def test_arguments_are_read_from_cases_and_assertions() -> None:
    cases = Task(
        "", info={"tests": {"entry_point": "f", "cases": [{"args": [1, "a"]}, {"stdin": "x"}]}}
    )
    texts = Task(
        "", info={"entry_point": "f", "test_list": ["assert f([1]) == 2", "assert f(x) == 3"]}
    )

    assert arguments(cases) == [[1, "a"]]
    assert arguments(texts) == [[[1]]]


def test_programs_are_told_apart_only_where_the_golden_one_answers() -> None:
    golden = "def f(x):\n    return 1 // x\n"
    others = [golden.replace("1", "2"), golden, "def f(x):\n    return 1 // x if x else 7\n"]

    groups = [Alike(golden, others, "f", [[0], [1]]), Alike(golden, others, "f", [])]

    assert told_apart(groups) == [[[1], None, None], [None, None, None]]


def test_a_difference_is_of_lines_that_differ() -> None:
    assert difference("x = 1\ny=2\n", "x = 1\ny = 3\n") == "-y = 2\n+y = 3"
    assert program_of("text\n```python\nx = 1\n```\ntext") == "x = 1\n"
    assert program_of("```py\nx = 0\n```\n</think>\n~~~py\nx = 1\n~~~") == "x = 1\n"
    assert program_of("```py\nx = 0\n```\n```\nx = 1\n```") is None
    assert program_of("42") is None
    assert json.dumps(program_of("def f(): pass")) == '"def f(): pass"'
