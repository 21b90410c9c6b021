"""Mistakes in the tests of a task: each is named with its place and its remedy."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv.model.errors import TaskError
from rlenv.model.values import Task
from rlenv_plugin_code import spec
from rlenv_plugin_code.soundness import check_tests

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


def mistake(tests: Any) -> str:
    with pytest.raises(TaskError) as error:
        read(tests)
    assert error.value.task_id == "t/1"
    assert "info.tests" in str(error.value)
    return str(error.value)


def without(tests: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in tests.items() if key not in keys}


@pytest.mark.parametrize(
    ("tests", "parts"),
    [
        (None, ["no tests", "info.tests"]),
        ([], ["expected a table"]),
        ("{", ["JSON"]),
        ({}, [".kind", "function, stdio, asserts, golden"]),
        ({**FUNCTION, "kind": "functions"}, [".kind = 'functions'", "expected one of"]),
        ({**FUNCTION, "language": "pyton"}, [".language", "'pyton'", 'did you mean "python"']),
        ({**FUNCTION, "language": 3}, [".language = 3"]),
        ({**FUNCTION, "language": "c"}, [".language", "functions of c cannot be called", "stdio"]),
        ({**FUNCTION, "cases": []}, [".cases", "no cases"]),
        ({**FUNCTION, "cases": None}, [".cases", "expected a list"]),
        ({**FUNCTION, "cases": {"a": 1}}, [".cases", "expected a list"]),
        (
            {**FUNCTION, "cases": [{**CASE, "visible": True}]},
            [".cases", "every case is visible", "add a hidden one"],
        ),
        (
            {**FUNCTION, "cases": [{**CASE, "visible": 1}]},
            [".cases[0].visible = 1", "true or false"],
        ),
        ({**FUNCTION, "cases": [CASE, 5]}, [".cases[1] = 5", "expected a table"]),
        ({**FUNCTION, "cases": [{"args": [1]}]}, [".cases[0].expected", "missing"]),
        ({**FUNCTION, "cases": [{**CASE, "args": 1}]}, [".cases[0].args = 1", "list of one"]),
        ({**FUNCTION, "cases": [{**CASE, "kwargs": [1]}]}, [".cases[0].kwargs", "by name"]),
        ({**FUNCTION, "cases": [{**CASE, "output": 1}]}, [".cases[0].output", "unknown key"]),
        (
            {**FUNCTION, "cases": [{**CASE, "args": [[{"$tupel": [1]}]]}]},
            [".cases[0].args[0][0]['$tupel']", "unknown tag", "$tuple"],
        ),
        (
            {**FUNCTION, "cases": [{**CASE, "expected": range(3)}]},
            [".cases[0].expected", "type range", "list"],
        ),
        (
            {**FUNCTION, "cases": [{**CASE, "expected": "x" * (9 << 20)}]},
            [".cases[0].expected", "bytes"],
        ),
        ({**FUNCTION, "entry_point": "my f"}, [".entry_point = 'my f'", "name of the function"]),
        ({**FUNCTION, "entry_point": "class"}, [".entry_point = 'class'"]),
        (without(FUNCTION, "entry_point"), [".entry_point", "name of the function"]),
        (
            {**FUNCTION, "golden": "def g(): pass"},
            [".entry_point = 'f'", "golden program does not define"],
        ),
        ({**FUNCTION, "golden": "def f(:"}, [".golden", "no Python", "line 1"]),
        ({**FUNCTION, "golden": 5}, [".golden = 5", "source text"]),
        ({**FUNCTION, "tolerence": {}}, [".tolerence", 'did you mean "tolerance"']),
        ({**FUNCTION, "tolerance": 0.1}, [".tolerance = 0.1", "atol"]),
        ({**FUNCTION, "tolerance": {"abs": 1}}, [".tolerance.abs", "unknown key"]),
        ({**FUNCTION, "tolerance": {"atol": -1}}, [".tolerance.atol = -1", "0 or above"]),
        ({**FUNCTION, "tolerance": {"rtol": 1}}, [".tolerance.rtol = 1", "below 1"]),
        ({**FUNCTION, "tolerance": {"rtol": math.nan}}, [".tolerance.rtol = nan"]),
        ({**FUNCTION, "unordered": "yes"}, [".unordered = 'yes'"]),
        ({**FUNCTION, "types": "lax"}, [".types = 'lax'", "strict or loose"]),
        ({**FUNCTION, "time": 0}, [".time = 0", "above 0"]),
        ({**FUNCTION, "time": True}, [".time = True"]),
        ({**FUNCTION, "time": 10**6}, [".time", "at most 3600"]),
        ({**FUNCTION, "prefix": "both"}, [".prefix = 'both'", "none or prompt"]),
        ({**FUNCTION, "min_isolation": "jial"}, [".min_isolation = 'jial'", "jail"]),
        ({**FUNCTION, "limits": 5}, [".limits = 5"]),
        ({**FUNCTION, "limits": {"memory": 5}}, [".limits.memory", 'did you mean "memory_mb"']),
        ({**FUNCTION, "limits": {"memory_mb": 0}}, [".limits.memory_mb = 0", "1 or above"]),
        (
            {**FUNCTION, "limits": {"memory_mb": 10**9}},
            [".limits.memory_mb", "this machine has", "larger machine"],
        ),
        ({**FUNCTION, "limits": {"processes": 10**9}}, [".limits.processes", "this machine has"]),
        ({**FUNCTION, "limits": {"output_bytes": 10**12}}, [".limits.output_bytes"]),
        ({**FUNCTION, "limits": {"cpu": -1}}, [".limits.cpu = -1"]),
        ({**FUNCTION, "limits": {"imports": "os"}}, [".limits.imports = 'os'", "list of names"]),
        ({**FUNCTION, "limits": {"calls": [1]}}, [".limits.calls", "list of names"]),
        ({**FUNCTION, "checker": "x"}, [".checker", "unknown key"]),
        ({**STDIO, "entry_point": "f"}, [".entry_point", "unknown key"]),
        ({**STDIO, "cases": [{"stdin": "1"}]}, [".cases[0].stdout", "missing"]),
        (
            {**STDIO, "cases": [{"stdin": ["1"], "stdout": ""}]},
            [".cases[0].stdin", "lines are joined"],
        ),
        ({**STDIO, "cases": [{"stdin": "\ud800", "stdout": ""}]}, [".cases[0].stdin", "UTF-8"]),
        (
            {**STDIO, "checker": "def check(a, b): pass"},
            [".checker", "def check(stdin, stdout, expected)"],
        ),
        ({**STDIO, "checker": "check = 1"}, [".checker", "def check"]),
        ({**STDIO, "checker": "def"}, [".checker", "no Python"]),
        (without(ASSERTS, "test"), [".test", "text of the tests"]),
        ({**ASSERTS, "test": []}, [".test", "text of the tests"]),
        ({**ASSERTS, "test": ["", "assert f(1)"]}, [".test", "text of the tests"]),
        ({**ASSERTS, "test": "assert f(1"}, [".test[0]", "no Python"]),
        ({**ASSERTS, "test": "f(1)"}, [".test[0]", "nothing is asserted"]),
        ({**ASSERTS, "test": "assert g(1) == 2"}, [".test[0]", "never calls 'f'"]),
        ({**ASSERTS, "setup": "import"}, [".setup", "no Python"]),
        ({**ASSERTS, "tolerance": {}}, [".tolerance", "unknown key"]),
        (
            {"kind": "asserts", "test": ["assert f(g(1)) == 2"]},
            [".entry_point", "the asserts call f, g"],
        ),
        ({"kind": "asserts", "test": ["assert 1"]}, [".entry_point", "cannot be told"]),
        (without(GOLDEN, "golden"), [".golden", "source of a correct program"]),
        (without(GOLDEN, "entry_point"), [".entry_point", 'io = "stdio"']),
        ({**GOLDEN, "io": "stdio"}, [".entry_point", "remove it"]),
        ({**GOLDEN, "golden": "def g(x): return x"}, ["does not define 'f'"]),
        (without(GOLDEN, "inputs"), ["a golden task has inputs", "generate", "cases"]),
        ({**GOLDEN, "generate": "def generate(rng): return []"}, [".generate", "not both"]),
        (
            {**without(GOLDEN, "inputs"), "generate": "def make(rng): return []"},
            [".generate", "def generate(rng)"],
        ),
        ({**GOLDEN, "inputs": ["int", 0, 9]}, [".inputs[0] = 'int'", "expected [kind, ..]"]),
        ({**GOLDEN, "inputs": [["int", 9, 0]]}, [".inputs[0]", "lo <= hi"]),
        (
            {**GOLDEN, "inputs": [["list", ["in", 0, 9], 0, 3]]},
            [".inputs[0][1]", "expected [kind, ..]"],
        ),
        ({**GOLDEN, "count": 0}, [".count = 0"]),
        ({**GOLDEN, "count": True}, [".count = True"]),
        (
            {**GOLDEN, "cases": [{"args": [1], "expected": 2}]},
            [".cases[0].expected", "unknown key"],
        ),
        (
            {**GOLDEN, "checker": "def check(a, b, c): return True"},
            [".checker", "calls a function"],
        ),
    ],
    ids=lambda value: str(value)[:60],
)
def test_every_mistake_names_its_place_and_what_to_do(tests: Any, parts: list[str]) -> None:
    said = mistake(tests)
    for part in parts:
        assert part in said, said
    assert len(said) < 600


def test_a_language_without_its_tool_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    said = mistake({**STDIO, "language": "cpp"})
    assert "g++" in said
    assert "apt install g++" in said


@settings(max_examples=200, deadline=None)
@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text(max_size=4)
        | st.sampled_from(
            [
                "function",
                "stdio",
                "asserts",
                "golden",
                "f",
                "def f(x): return x",
                "assert f(1) == 1",
            ]
        ),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "kind",
                        "cases",
                        "args",
                        "kwargs",
                        "expected",
                        "stdin",
                        "stdout",
                        "test",
                        "golden",
                        "inputs",
                        "entry_point",
                        "limits",
                        "tolerance",
                        "$tuple",
                        "$dict",
                        "visible",
                        "time",
                        "language",
                    ]
                ),
                inner,
                max_size=6,
            )
        ),
        max_leaves=20,
    )
)
def test_whatever_stands_there_is_read_or_named(data: Any) -> None:
    with contextlib.suppress(TaskError):
        read(data)
