"""Functions in JavaScript over the same frames, and what the files of the far side may hold."""

from __future__ import annotations

import ast
import math
import shutil
from pathlib import Path
from typing import Any

import pytest
from code_runs import closed_sandbox, judged, run, task_of
from rlenv.model.values import Task
from rlenv_plugin_code import guest

pytestmark = pytest.mark.usefixtures("closed_sandbox")
__all__ = ["closed_sandbox"]
node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def javascript(*inputs: Any, **more: Any) -> Task:
    cases = [{"args": [value], "expected": None} for value in inputs]
    return task_of(
        {"kind": "function", "language": "javascript", "entry_point": "f", "cases": cases, **more}
    )


def values(source: str, *inputs: Any) -> list[Any]:
    return [a.value if a.status == "ok" else a.error for a in run(javascript(*inputs), source)]


@node
def test_plain_values_come_and_go() -> None:
    sent = [None, True, 7, -2.5, "ä", [1, [2]], {"a": {"b": [1]}}]
    assert values("function f(x) { return x }", *sent) == sent


@node
def test_what_each_language_alone_has_is_mapped() -> None:
    source = (
        "const f = () => [undefined, -0, 1/0, 10n ** 30n, -5n, 2 ** 60, new Map([[1, 2], [[3],"
        " 4]]), new Set([1, [2]]), new Uint8Array([1, 2]), new Float64Array([0.5]),"
        " Object.create(null)]"
    )
    made = values(source, 0)[0]
    assert made == [
        None, -0.0, math.inf, 10**30, -5, 2.0**60, {1: 2, (3,): 4}, {1, (2,)}, b"\1\2", [0.5], {},
    ]  # fmt: skip
    assert isinstance(made, list)
    assert math.copysign(1, made[1]) == -1
    assert math.isnan(values("const f = () => NaN", 0)[0])
    received = (
        "function f(x) { return [typeof x, x instanceof Set, x instanceof Map, Array.isArray(x),"
        " x instanceof Uint8Array] }"
    )
    kinds = values(received, [1])
    assert kinds == [["object", False, False, True, False]]


@node
@pytest.mark.parametrize(
    "source",
    [
        "function f(x) { return x + 1 }",
        "const f = x => x + 1;",
        "let f = async (x) => x + 1;",
        "class A { static go(x) { return x + 1 } }\nvar f = A.go",
        "module.exports = { f: x => x + 1 }",
        "module.exports = x => x + 1",
        "exports.f = x => x + 1",
        "export function f(x) { return x + 1 }",
        "export default async function f(x) { return x + 1 }",
        "const f = (x) => x + 1;\nexport { f };",
        (
            "'use strict';\nconst fs = require('fs');\nfunction f(x) { console.log('{'); return x"
            " + 1 }"
        ),
    ],
)
def test_a_function_is_found_however_it_is_written(source: str) -> None:
    assert values(source, 1) == [2]


@node
def test_errors_have_names_and_lines() -> None:
    assert values("function f(x) { return x.y.z }", 1) == ["TypeError"]
    assert values("let a = 1\nfunction f(x) {", 1)[0].startswith("SyntaxError")
    assert values("let a = 1\nthrow new RangeError('x')", 1) == [
        "RangeError in line 2, before any call"
    ]
    assert values("function g() {}", 1) == ["ReferenceError"]
    assert values("const f = () => () => 1", 1)[0].endswith("no plain value: function")
    assert values("class P {}\nconst f = () => new P()", 1)[0].endswith("no plain value: object")
    assert values(
        "class the_input_is_1 extends Error {}\nfunction f() { throw new the_input_is_1() }", 1
    ) == ["an exception of its own"]


@node
def test_deep_recursion_and_ends_of_all_kinds() -> None:
    deep = "function f(n) { return n ? 1 + f(n - 1) : 0 }"
    assert values(deep, 10_000, 10**7) == [10_000, "RangeError"]
    assert [a.status for a in run(javascript(1, 2), "function f() { process.exit(0) }")] == [
        "crash",
        "skipped",
    ]
    hang = run(javascript(1), "function f() { while (true) {} }", timeout=1.0)
    assert hang[0].status == "timeout"
    never = run(javascript(1), "function f() { return new Promise(() => {}) }", timeout=1.0)
    assert never[0].status in ("crash", "timeout")


@node
def test_a_golden_program_may_be_javascript_too() -> None:
    source = "function f(xs) { return [...xs].sort((a, b) => a - b) }"
    task = task_of(
        {
            "kind": "golden",
            "language": "javascript",
            "entry_point": "f",
            "golden": source,
            "inputs": [["list", ["int", -9, 9], 0, 5]],
            "count": 4,
        }
    )
    _, answers = judged(task, source)
    assert answers.expected == tuple(answer.value for answer in answers.answers)


def test_the_guests_are_python_of_any_version_that_is_promised_and_import_nothing_of_rlenv() -> (
    None
):
    for path in Path(guest.__file__).parent.glob("rlenv_*.py"):
        tree = ast.parse(path.read_text("utf-8"), feature_version=(3, 8))
        for found in ast.walk(tree):
            if isinstance(found, ast.ImportFrom):
                assert found.level == 0
                assert (found.module or "").partition(".")[0] not in ("rlenv", "rlenv_plugin_code")
