"""Golden programs: they answer first, to inputs that nobody foresees, and a broken one is no
response's fault.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from code_runs import closed_sandbox, judged, task_of
from rlenv.model.errors import TaskError
from rlenv.model.values import Task
from rlenv_plugin_code.drive.box import Box
from rlenv_plugin_code.drive.checker import checked
from rlenv_plugin_code.drive.clock import Clock
from rlenv_plugin_code.drive.runs import Runs

pytestmark = pytest.mark.usefixtures("closed_sandbox")
__all__ = ["closed_sandbox"]

SORT = "def f(xs): return sorted(xs)"


def golden(**more: Any) -> Task:
    tests = {"kind": "golden", "entry_point": "f", "golden": SORT, "count": 6}
    return task_of({**tests, "inputs": [["list", ["int", -9, 9], 0, 9]], **more})


def generated(source: str, **more: Any) -> Task:
    tests = {"kind": "golden", "entry_point": "f", "golden": SORT, "count": 4, "generate": source}
    return task_of({**tests, **more})


def test_the_golden_program_says_what_is_expected() -> None:
    _, answers = judged(golden(), SORT)
    assert answers.kind == "golden"
    assert answers.expected == tuple(answer.value for answer in answers.answers)
    assert len(answers.expected) == 6


def test_the_same_response_gets_the_same_inputs_and_another_other_ones() -> None:
    first, again = (judged(golden(), SORT)[1].expected for _ in range(2))
    other = judged(golden(), SORT + "\n# another")[1].expected
    assert first == again != other


def test_a_generator_runs_in_a_sandbox_with_a_seed_of_its_own() -> None:
    task = generated("def generate(rng):\n    return [[rng.random() for _ in range(3)]]")
    _, answers = judged(task, SORT)
    assert answers.expected == tuple(answer.value for answer in answers.answers)
    assert len(set(map(repr, answers.expected or ()))) == 4


def test_programs_on_text_have_golden_programs_too() -> None:
    task = task_of(
        {
            "kind": "golden",
            "io": "stdio",
            "golden": "print(sum(map(int, input().split())))",
            "generate": (
                "def generate(rng):\n    return f'{rng.randint(0, 9)} {rng.randint(0, 9)}\\n'"
            ),
            "count": 3,
        }
    )
    _, answers = judged(task, "a, b = map(int, input().split())\nprint(a + b)")
    assert answers.expected == tuple(answer.value for answer in answers.answers)


def test_a_golden_program_that_fails_is_an_error_that_names_the_task() -> None:
    for task, said in (
        (golden(golden="def f(xs): return 1 / 0"), "golden fails on input 1"),
        (golden(golden="def f(xs): return lambda: 1"), "no plain value"),
        (generated("def generate(rng):\n    return 1 / 0"), "generate fails"),
        (generated("def generate(rng):\n    return 7"), "list of arguments"),
    ):
        with pytest.raises(TaskError, match=said) as caught:
            judged(task, SORT)
        assert caught.value.task_id == "the task"


def test_golden_programs_can_be_tried_when_tasks_load() -> None:
    tests = {"kind": "function", "entry_point": "f", "golden": SORT}
    good = {**tests, "cases": [{"args": [[2, 1]], "expected": [1, 2]}]}
    judged(task_of(good), SORT, check_golden=True)
    judged(golden(), SORT, check_golden=True)
    bad = {**tests, "cases": [{"args": [[2, 1]], "expected": [2, 1]}]}
    with pytest.raises(TaskError, match="fails case 1"):
        judged(task_of(bad), SORT, check_golden=True)
    judged(task_of(bad), SORT)


def test_golden_programs_are_tried_where_a_loop_runs_already() -> None:
    async def load() -> None:
        await asyncio.to_thread(lambda: None)
        judged_in = golden(golden="def f(xs): return 1 / 0")
        from rlenv_plugin_code.stages.run import Run

        Run(isolation="process", min_isolation="process", check_golden=True).validate(judged_in)

    with pytest.raises(TaskError, match="golden fails"):
        asyncio.run(load())


def test_checkers_judge_outputs_in_a_sandbox_of_their_own() -> None:
    source = (
        "def check(stdin, stdout, expected):\n    return int(stdout) == int(expected) and stdin"
        " == 'i'"
    )
    outputs = [("i", "7\n", "7"), ("i", "8", "7"), ("i", "x", "7")]
    runs = Runs(Box("process", min_isolation="process"), Clock(10), 2.0)
    assert asyncio.run(checked(runs, source, outputs)) == [True, False, "error: ValueError"]
    truthy = "def check(stdin, stdout, expected): return 1"
    assert asyncio.run(checked(runs, truthy, outputs[:1])) == [False]
