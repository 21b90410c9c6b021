"""The tests of a task: every shape that is meant, and every mistake named with its remedy."""

from __future__ import annotations

import contextlib
import math
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv.errors import TaskError
from rlenv.values import Task
from rlenv_plugin_code import spec
from rlenv_plugin_code.compare import same
from rlenv_plugin_code.draw import BadSchema, as_text, check_schema, draw, inputs
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


def mistake(tests: Any) -> str:
    with pytest.raises(TaskError) as error:
        read(tests)
    assert error.value.task_id == "t/1"
    assert "info.tests" in str(error.value)
    return str(error.value)


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
    assert spec.tests_of(task, "shell").language == "shell"
    assert spec.tests_of(task).language == "python"


def test_json_text_is_read_too() -> None:
    assert read('{"kind": "stdio", "cases": [{"stdin": "", "stdout": "1"}]}').kind == "stdio"


def test_the_same_task_is_read_once() -> None:
    task = Task("p", info={"tests": FUNCTION})
    assert spec.tests_of(task) is spec.tests_of(task)


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
    [{"$tuple": 1}, {"$set": [1, 1]}, {"$set": [[1]]}, {"$dict": [[1]]}, {"$dict": {"a": 1}}, {"$float": 1.5}, {"$float": "1.5"}, {"$complex": [1]}, {"$complex": ["a", 1]}, {"$int": "1_0"}, {"$int": 5}, {"$bytes": "?"}, {"$bytes": 1}, {"$list": []}, [[{"$x": 1}]], {"$float": []}, object(), [range(3)]],
)  # fmt: skip
def test_what_stands_for_nothing_is_a_mistake(data: Any) -> None:
    with pytest.raises(BadValue):
        value_of(data)


# -- mistakes --------------------------------------------------------------------------------------


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
        ({**FUNCTION, "cases": [{**CASE, "visible": True}]}, [".cases", "every case is visible", "add a hidden one"]),
        ({**FUNCTION, "cases": [{**CASE, "visible": 1}]}, [".cases[0].visible = 1", "true or false"]),
        ({**FUNCTION, "cases": [CASE, 5]}, [".cases[1] = 5", "expected a table"]),
        ({**FUNCTION, "cases": [{"args": [1]}]}, [".cases[0].expected", "missing"]),
        ({**FUNCTION, "cases": [{**CASE, "args": 1}]}, [".cases[0].args = 1", "list of one"]),
        ({**FUNCTION, "cases": [{**CASE, "kwargs": [1]}]}, [".cases[0].kwargs", "by name"]),
        ({**FUNCTION, "cases": [{**CASE, "output": 1}]}, [".cases[0].output", "unknown key"]),
        ({**FUNCTION, "cases": [{**CASE, "args": [[{"$tupel": [1]}]]}]}, [".cases[0].args[0][0]['$tupel']", "unknown tag", "$tuple"]),
        ({**FUNCTION, "cases": [{**CASE, "expected": range(3)}]}, [".cases[0].expected", "type range", "list"]),
        ({**FUNCTION, "cases": [{**CASE, "expected": "x" * (9 << 20)}]}, [".cases[0].expected", "bytes"]),
        ({**FUNCTION, "entry_point": "my f"}, [".entry_point = 'my f'", "name of the function"]),
        ({**FUNCTION, "entry_point": "class"}, [".entry_point = 'class'"]),
        (without(FUNCTION, "entry_point"), [".entry_point", "name of the function"]),
        ({**FUNCTION, "golden": "def g(): pass"}, [".entry_point = 'f'", "golden program does not define"]),
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
        ({**FUNCTION, "limits": {"memory_mb": 10**9}}, [".limits.memory_mb", "this machine has", "larger machine"]),
        ({**FUNCTION, "limits": {"processes": 10**9}}, [".limits.processes", "this machine has"]),
        ({**FUNCTION, "limits": {"output_bytes": 10**12}}, [".limits.output_bytes"]),
        ({**FUNCTION, "limits": {"cpu": -1}}, [".limits.cpu = -1"]),
        ({**FUNCTION, "limits": {"imports": "os"}}, [".limits.imports = 'os'", "list of names"]),
        ({**FUNCTION, "limits": {"calls": [1]}}, [".limits.calls", "list of names"]),
        ({**FUNCTION, "checker": "x"}, [".checker", "unknown key"]),
        ({**STDIO, "entry_point": "f"}, [".entry_point", "unknown key"]),
        ({**STDIO, "cases": [{"stdin": "1"}]}, [".cases[0].stdout", "missing"]),
        ({**STDIO, "cases": [{"stdin": ["1"], "stdout": ""}]}, [".cases[0].stdin", "lines are joined"]),
        ({**STDIO, "cases": [{"stdin": "\ud800", "stdout": ""}]}, [".cases[0].stdin", "UTF-8"]),
        ({**STDIO, "checker": "def check(a, b): pass"}, [".checker", "def check(stdin, stdout, expected)"]),
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
        ({"kind": "asserts", "test": ["assert f(g(1)) == 2"]}, [".entry_point", "the asserts call f, g"]),
        ({"kind": "asserts", "test": ["assert 1"]}, [".entry_point", "cannot be told"]),
        (without(GOLDEN, "golden"), [".golden", "source of a correct program"]),
        (without(GOLDEN, "entry_point"), [".entry_point", 'io = "stdio"']),
        ({**GOLDEN, "io": "stdio"}, [".entry_point", "remove it"]),
        ({**GOLDEN, "golden": "def g(x): return x"}, ["does not define 'f'"]),
        (without(GOLDEN, "inputs"), ["a golden task has inputs", "generate", "cases"]),
        ({**GOLDEN, "generate": "def generate(rng): return []"}, [".generate", "not both"]),
        ({**without(GOLDEN, "inputs"), "generate": "def make(rng): return []"}, [".generate", "def generate(rng)"]),
        ({**GOLDEN, "inputs": ["int", 0, 9]}, [".inputs[0] = 'int'", "expected [kind, ..]"]),
        ({**GOLDEN, "inputs": [["int", 9, 0]]}, [".inputs[0]", "lo <= hi"]),
        ({**GOLDEN, "inputs": [["list", ["in", 0, 9], 0, 3]]}, [".inputs[0][1]", "expected [kind, ..]"]),
        ({**GOLDEN, "count": 0}, [".count = 0"]),
        ({**GOLDEN, "count": True}, [".count = True"]),
        ({**GOLDEN, "cases": [{"args": [1], "expected": 2}]}, [".cases[0].expected", "unknown key"]),
        ({**GOLDEN, "checker": "def check(a, b, c): return True"}, [".checker", "calls a function"]),
    ],
    ids=lambda value: str(value)[:60],
)  # fmt: skip
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
@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.sampled_from(["function", "stdio", "asserts", "golden", "f", "def f(x): return x", "assert f(1) == 1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["kind", "cases", "args", "kwargs", "expected", "stdin", "stdout", "test", "golden", "inputs", "entry_point", "limits", "tolerance", "$tuple", "$dict", "visible", "time", "language"]), inner, max_size=6),
    max_leaves=20,
))  # fmt: skip
def test_whatever_stands_there_is_read_or_named(data: Any) -> None:
    with contextlib.suppress(TaskError):
        read(data)


# -- drawing ---------------------------------------------------------------------------------------

SCHEMAS: list[Any] = [
    ["int", -3, 10**20],
    ["float", -1.5, 2],
    ["bool"],
    ["str", "abc", 0, 5],
    ["str", "", 0, 0],
    ["list", ["list", ["int", 0, 9], 0, 3], 2, 4],
    ["tuple", ["int", 0, 1], ["str", "x", 1, 1]],
    ["tuple"],
    ["set", ["tuple", ["int", 0, 9]], 0, 4],
    ["dict", ["str", "ab", 1, 2], ["float", 0, 1], 0, 4],
    ["choice", [1, "a", None, [2]]],
]


def fits(value: Any, schema: Any) -> bool:
    kind, *rest = schema
    if kind in ("int", "float"):
        return type(value).__name__ == kind and bool(rest[0] <= value <= rest[1])
    if kind == "bool":
        return type(value) is bool
    if kind == "str":
        return (
            type(value) is str and rest[1] <= len(value) <= rest[2] and set(value) <= set(rest[0])
        )
    if kind == "choice":
        return value in rest[0]
    if kind == "tuple":
        return type(value) is tuple and all(map(fits, value, rest))
    if kind == "dict":
        return (
            all(fits(k, rest[0]) and fits(v, rest[1]) for k, v in value.items())
            and len(value) <= rest[3]
        )
    least = rest[1] if kind == "list" else 0
    return (
        type(value).__name__ == kind
        and least <= len(value) <= rest[2]
        and all(fits(v, rest[0]) for v in value)
    )


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(SCHEMAS), st.integers(0, 2**64))
def test_what_is_drawn_fits_its_schema(schema: Any, seed: int) -> None:
    check_schema(schema)
    assert fits(draw(schema, Random(seed)), schema)


def test_a_key_draws_the_same_always_and_another_key_something_else() -> None:
    key, other = b"k" * 32, b"l" * 32
    assert inputs(SCHEMAS, 10, key) == inputs(SCHEMAS, 10, key)
    assert inputs(SCHEMAS, 10, key) != inputs(SCHEMAS, 10, other)
    assert inputs(SCHEMAS, 5, key) == inputs(SCHEMAS, 10, key)[:5]
    assert len({repr(one) for one in inputs(SCHEMAS, 10, key)}) == 10


def test_bounds_come_up() -> None:
    seen = {args[0] for args in inputs([["int", -(10**9), 10**9]], 100, b"k")}
    assert {-(10**9), 10**9, 0} <= seen


@pytest.mark.parametrize(
    "schema",
    [[], "int", ["nope"], ["int"], ["int", 1], ["int", 1.0, 2], ["int", True, 2], ["int", 2, 1], ["float", 0, math.inf], ["float", math.nan, 1], ["bool", 1], ["str", 1, 0, 1], ["str", "", 0, 1], ["str", "a", -1, 1], ["list", ["int", 0, 1], 0, 10**7], ["list", ["list", ["int", 0, 1], 0, 10**4], 0, 10**4], ["list", 5, 0, 1], ["set", ["list", ["int", 0, 1], 0, 1], 0, 1], ["dict", ["set", ["int", 0, 1], 0, 1], ["int", 0, 1], 0, 1], ["tuple", 1], ["choice", []], ["choice", 1], ["choice"]],
    ids=repr,
)  # fmt: skip
def test_a_schema_that_cannot_be_drawn_from_is_refused(schema: Any) -> None:
    with pytest.raises(BadSchema):
        check_schema(schema)


def test_a_schema_that_nests_without_end_is_refused() -> None:
    schema: list[Any] = ["tuple"]
    schema.append(schema)
    with pytest.raises(BadSchema, match="deep"):
        check_schema(schema)


def test_arguments_as_a_program_reads_them() -> None:
    assert as_text((3, [1, 2], "a b", [[1, 2], [3]], (1.5, "x"))) == "3\n1 2\na b\n1 2\n3\n1.5 x\n"


# -- hidden cases in the prompt --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tests", "prompt", "found"),
    [
        ({**FUNCTION, "cases": [{"args": [[1, 2], "a"], "expected": [2]}, {"args": [5], "expected": 7}]}, ">>> f([1,2], 'a')\n[2]\nf(6) is 7", [0]),
        ({**FUNCTION, "cases": [{"args": [1], "kwargs": {"b": 2}, "expected": 3}]}, "f(1, b=2) == 3", [0]),
        ({**FUNCTION, "cases": [{**CASE, "visible": True}, {"args": [2], "expected": 3}]}, "f(1) == 2", []),
        (FUNCTION, "f adds 1; 2 follows 1", []),
        ({**ASSERTS, "test": "def check(candidate):\n    assert candidate(1) == 2\n    assert candidate(2) == 3\n    assert candidate(3)"}, "f(2) ➞ 3", [1]),
        (STDIO, "Input\n1\nOutput\n2\n", [0]),
        (STDIO, "Input 1, output 2", []),
        ({**STDIO, "cases": [{"stdin": "", "stdout": "2"}]}, "2", []),
    ],
)  # fmt: skip
def test_hidden_cases_that_stand_in_the_prompt_are_found(
    tests: Any, prompt: str, found: list[int]
) -> None:
    assert leaks(prompt, read(tests)) == found


def test_a_warning_names_the_first_tasks_and_counts_the_rest() -> None:
    tasks = [Task(f"f(1) == 2 {n}", info={"tests": FUNCTION}, id=f"t{n}") for n in range(8)]
    said = warnings([*tasks, Task("no tests")])
    assert len(said) == 6
    assert "'t0'" in said[0]
    assert "mark them visible" in said[0]
    assert said[-1].startswith("3 more tasks")
