"""The tests of a task: every shape that is meant, and every mistake named with its remedy."""

from __future__ import annotations

import math
from typing import Any

import pytest
from rlenv.model.values import Task
from rlenv_plugin_code import reading, spec
from rlenv_plugin_code.borrowed import borrowed
from rlenv_plugin_code.borrowed import warnings as warnings_of_names
from rlenv_plugin_code.compare import same
from rlenv_plugin_code.leaks import leaks, warnings
from rlenv_plugin_code.soundness import check_tests
from rlenv_plugin_code.spec import Case, Limits
from rlenv_plugin_code.values import BadValue, value_of

CASE = {"args": [1], "expected": 2}
FUNCTION: dict[str, Any] = {"kind": "function", "entry_point": "f", "cases": [CASE]}
STDIO: dict[str, Any] = {"kind": "stdio", "cases": [{"stdin": "1\n", "stdout": "2\n"}]}
ASSERTS: dict[str, Any] = {
    "kind": "asserts",
    "entry_point": "f",
    "test": "def check(candidate):\n    assert candidate(1) == 2\n",
}
GOLDEN: dict[str, Any] = {
    "kind": "golden",
    "entry_point": "f",
    "golden": "def f(x):\n    return x + 1\n",
    "inputs": [["int", 0, 9]],
}


def read(tests: Any, prompt: str = "p") -> spec.Tests:
    return check_tests(Task(prompt, info={"tests": tests}, id="t/1"))


# -- what is meant -------------------------------------------------------------------------------


def test_function_tests() -> None:
    tests = read(
        {
            **FUNCTION,
            "cases": [
                CASE,
                {"args": [], "kwargs": {"a": 1}, "expected": None, "visible": True},
                {"expected": [1]},
            ],
        }
    )
    assert tests.cases == (
        Case(args=(1,), expected=2),
        Case(visible=True, kwargs={"a": 1}, expected=None),
        Case(expected=[1]),
    )
    assert tests.scored == (tests.cases[0], tests.cases[2])
    assert (tests.kind, tests.entry_point, tests.language, tests.programs) == (
        "function",
        "f",
        "python",
        False,
    )


def test_stdio_tests() -> None:
    tests = read(STDIO)
    assert tests.cases == (Case(stdin="1\n", stdout="2\n"),)
    assert tests.programs
    checked = read(
        {
            "kind": "stdio",
            "cases": [{"stdin": "1"}],
            "checker": "def check(stdin, stdout, expected): return True",
        }
    )
    assert checked.checker.startswith("def check")


def test_the_tests_of_humaneval_are_one_test() -> None:
    tests = read({**ASSERTS, "setup": "import math"})
    assert [case.test for case in tests.scored] == [ASSERTS["test"]]
    assert tests.setup == "import math"


def test_the_tests_of_mbpp_are_a_test_each_and_name_their_function_themselves() -> None:
    lines = [
        "assert set(f((3, 4))) == set((4,))",
        "assert abs(f(2)) <= max(1, 2)",
        "import math\nassert math.isclose(f(1), 2)",
    ]
    tests = read({"kind": "asserts", "test": lines})
    assert [case.test for case in tests.scored] == lines
    assert tests.entry_point == "f"


def test_golden_tests() -> None:
    tests = read(GOLDEN)
    assert (tests.count, tests.inputs, tests.programs) == (20, (["int", 0, 9],), False)
    assert read({**GOLDEN, "count": 5, "cases": [{"args": [3]}]}).cases == (Case(args=(3,)),)
    made = read(
        {k: v for k, v in GOLDEN.items() if k != "inputs"}
        | {"generate": "def generate(rng):\n    return [rng.random()]\n"}
    )
    assert made.generate
    assert (
        read({k: v for k, v in GOLDEN.items() if k != "inputs"} | {"cases": [{"args": [1]}]}).count
        == 0
    )


def test_golden_programs_run_as_a_whole() -> None:
    tests = read(
        {
            "kind": "golden",
            "io": "stdio",
            "golden": "print(int(input()) + 1)",
            "inputs": [["int", 0, 9]],
            "cases": [{"stdin": "7"}],
        }
    )
    assert tests.programs
    assert tests.entry_point is None
    assert tests.cases == (Case(stdin="7"),)


def test_what_holds_for_every_kind() -> None:
    tests = read(
        {
            **FUNCTION,
            "tolerance": {"atol": 1, "rtol": 0.1},
            "unordered": True,
            "types": "loose",
            "time": 2,
            "prefix": "prompt",
            "min_isolation": "gvisor",
            "limits": {
                "memory_mb": 64,
                "cpu": 0.5,
                "source_bytes": 10,
                "imports": ["os"],
                "calls": ["eval"],
            },
        }
    )
    assert (tests.atol, tests.rtol, tests.unordered, tests.loose) == (1.0, 0.1, True, True)
    assert (tests.time, tests.prefix, tests.min_isolation) == (2.0, "prompt", "gvisor")
    assert tests.limits == Limits(
        memory_mb=64, cpu=0.5, source_bytes=10, imports=("os",), calls=("eval",)
    )


def test_types_are_strict_in_python_and_loose_elsewhere_unless_said() -> None:
    assert not read(FUNCTION).loose
    assert read({**STDIO, "language": "shell"}).loose
    assert not read({**STDIO, "language": "shell", "types": "strict"}).loose


def test_the_language_of_tasks_that_name_none_is_the_stages() -> None:
    task = Task("p", info={"tests": STDIO})
    assert reading.tests_of(task, "shell").language == "shell"
    assert reading.tests_of(task).language == "python"


def test_json_text_is_read_too() -> None:
    assert read('{"kind": "stdio", "cases": [{"stdin": "", "stdout": "1"}]}').kind == "stdio"


def test_the_same_task_is_read_once() -> None:
    task = Task("p", info={"tests": FUNCTION})
    assert reading.tests_of(task) is reading.tests_of(task)


# -- values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "value"),
    [
        ({"$tuple": [1, [2], {"$tuple": []}]}, (1, [2], ())),
        ({"$set": [1, {"$tuple": [2]}]}, {1, (2,)}),
        ({"$frozenset": ["a"]}, frozenset({"a"})),
        ({"$dict": [[1, "a"], [{"$tuple": [1]}, {"b": 2}]]}, {1: "a", (1,): {"b": 2}}),
        ({"$dict": [["$tuple", 1]]}, {"$tuple": 1}),
        ({"a": {"$tuple": [1]}, "$b": 2}, {"a": (1,), "$b": 2}),
        ([{"$float": "inf"}, {"$float": "-inf"}], [math.inf, -math.inf]),
        ({"$complex": [1, -2.5]}, 1 - 2.5j),
        ({"$int": "123456789012345678901234567890"}, 123456789012345678901234567890),
        ({"$bytes": "AAE="}, b"\x00\x01"),
        ([1, (2, {3})], [1, (2, {3})]),
        ({1: (2,)}, {1: (2,)}),
        ({}, {}),
    ],
)
def test_json_stands_for_every_value(data: Any, value: Any) -> None:
    assert same(value, value_of(data))


def test_values_of_subclasses_are_made_plain() -> None:
    class Id(int):
        pass

    tests = read({**FUNCTION, "cases": [{"args": [Id(1)], "expected": {Id(2): Id(3)}}]})
    assert type(tests.cases[0].args[0]) is int
    assert same({2: 3}, tests.cases[0].expected)


@pytest.mark.parametrize(
    "data",
    [
        {"$tuple": 1},
        {"$set": [1, 1]},
        {"$set": [[1]]},
        {"$dict": [[1]]},
        {"$dict": {"a": 1}},
        {"$float": 1.5},
        {"$float": "1.5"},
        {"$complex": [1]},
        {"$complex": ["a", 1]},
        {"$int": "1_0"},
        {"$int": 5},
        {"$bytes": "?"},
        {"$bytes": 1},
        {"$list": []},
        [[{"$x": 1}]],
        {"$float": []},
        object(),
        [range(3)],
    ],
)
def test_what_stands_for_nothing_is_a_mistake(data: Any) -> None:
    with pytest.raises(BadValue):
        value_of(data)


# -- hidden cases in the prompt --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tests", "prompt", "found"),
    [
        (
            {
                **FUNCTION,
                "cases": [{"args": [[1, 2], "a"], "expected": [2]}, {"args": [5], "expected": 7}],
            },
            ">>> f([1,2], 'a')\n[2]\nf(6) is 7",
            [0],
        ),
        (
            {**FUNCTION, "cases": [{"args": [1], "kwargs": {"b": 2}, "expected": 3}]},
            "f(1, b=2) == 3",
            [0],
        ),
        (
            {**FUNCTION, "cases": [{**CASE, "visible": True}, {"args": [2], "expected": 3}]},
            "f(1) == 2",
            [],
        ),
        (FUNCTION, "f adds 1; 2 follows 1", []),
        (
            {
                **ASSERTS,
                "test": (
                    "def check(candidate):\n    assert candidate(1) == 2\n    assert candidate(2)"
                    " == 3\n    assert candidate(3)"
                ),
            },
            "f(2) ➞ 3",
            [1],
        ),
        (STDIO, "Input\n1\nOutput\n2\n", [0]),
        (STDIO, "Input 1, output 2", []),
        ({**STDIO, "cases": [{"stdin": "", "stdout": "2"}]}, "2", []),
    ],
)
def test_hidden_cases_that_stand_in_the_prompt_are_found(
    tests: Any, prompt: str, found: list[int]
) -> None:
    assert leaks(prompt, read(tests)) == found


# -- names that only the solution could supply ----------------------------------------------------


@pytest.mark.parametrize(
    ("tests", "prompt", "found"),
    [
        ({"test": "assert f(1) == pd.DataFrame([1]).size"}, "Write f.", ["pd"]),
        ({"test": "import pandas as pd\nassert f(1) == pd.DataFrame([1]).size"}, "Write f.", []),
        ({"test": "assert f(1) == pi", "setup": "from math import pi"}, "Write f.", []),
        ({"test": "assert f(1) == math.pi"}, "Write f.", []),
        ({"test": "assert f(1) == g(1)"}, "Write f and g.", []),
        ({"test": "assert f(1) == g(1)"}, "def g(x):\n    return x\n\ndef f(x): ...", []),
        ({"test": "try:\n    f(1)\nexcept Odd:\n    pass\nassert f(2)"}, "Write f.", ["Odd"]),
    ],
)
def test_names_that_a_test_takes_from_the_solution_unasked_are_found(
    tests: Any, prompt: str, found: list[str]
) -> None:
    task = Task(prompt, info={"tests": {"kind": "asserts", "entry_point": "f", **tests}}, id="t")
    assert borrowed(prompt, reading.tests_of(task)) == found
    assert bool(warnings_of_names([task])) is bool(found)


def test_a_warning_names_the_first_tasks_and_counts_the_rest() -> None:
    tasks = [Task(f"f(1) == 2 {n}", info={"tests": FUNCTION}, id=f"t{n}") for n in range(8)]
    said = warnings([*tasks, Task("no tests")])
    assert len(said) == 6
    assert "'t0'" in said[0]
    assert "mark them visible" in said[0]
    assert said[-1].startswith("3 more tasks")
