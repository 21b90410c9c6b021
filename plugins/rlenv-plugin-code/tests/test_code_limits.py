"""``code/limits``, and all four steps in order."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from code_runs import closed_sandbox, task_of
from rlenv.compose.composites import Slot
from rlenv.compose.stages import Attempt
from rlenv.environment import Environment
from rlenv.model.errors import ConfigError, TaskError
from rlenv.model.values import Outcome, Task
from rlenv_plugin_code.artifacts import Answer, Answers
from rlenv_plugin_code.stages.compile import Compile
from rlenv_plugin_code.stages.diff import Diff
from rlenv_plugin_code.stages.limits import Limits
from rlenv_plugin_code.stages.run import Run

pytestmark = pytest.mark.usefixtures("closed_sandbox")
__all__ = ["closed_sandbox"]
OPEN: dict[str, Any] = {"isolation": "process", "min_isolation": "process"}
FUNCTION: dict[str, Any] = {"kind": "function", "entry_point": "f"}
TESTS = {**FUNCTION, "cases": [{"args": [1], "expected": 1}]}


def outcome(stage: Any, attempt: Attempt) -> Outcome:
    made = asyncio.run(stage.check(attempt))
    assert isinstance(made, Outcome)
    return made


def limited(
    response: str, tests: dict[str, Any] | None = None, answers: Any = None, **options: Any
) -> Outcome:
    task = task_of(tests) if tests else Task("p")
    stage = Limits(**{**OPEN, **options})
    stage.validate(task)
    made: dict[type, Any] = (
        {} if answers is None else {Answers: Answers("function", tuple(answers))}
    )
    return outcome(stage, Attempt(task, response, artifacts=made))


FORBIDDEN: dict[str, Any] = {
    "imports": ("os", "socket", "ctypes"),
    "calls": ("eval", "sorted", ".sort", "math.factorial"),
}


@pytest.mark.parametrize(
    "response",
    [
        "x = 1",
        "def f(eval): return eval(1)",
        "f = lambda sorted: sorted(1)",
        "import osx",
        "from .os import x",
        "# import os",
        "x = 'import os'",
        "x.os",
        "def sorted(x): return x\nsorted([])",
        "import math\nmath.sqrt(4)",
        "def f():\n    sort = 1\n    return sort",
    ],
)
def test_a_program_that_keeps_them_passes(response: str) -> None:
    found = limited(response, **FORBIDDEN)
    assert found.score == 1.0, found.detail


@pytest.mark.parametrize(
    ("response", "said"),
    [
        ("import os", "line 1: it imports os"),
        ("x = 1\nimport sys, os.path as p", "line 2: it imports os.path"),
        ("from os import path", "imports os"),
        ("from socket import *", "imports socket"),
        ("def f():\n    import os as o", "line 2: it imports os"),
        ("__import__('os').system('x')", "imports os"),
        ("import importlib as i\ni.import_module('socket')", "imports socket"),
        ("from importlib import import_module as m\nm('os.path')", "imports os.path"),
        ("i = __import__\ni('ctypes')", "imports ctypes"),
        ("import sys\nsys.modules['os']", None),
        ("eval('1')", "uses eval"),
        ("list(map(eval, x))", "uses eval"),
        ("e = eval\ng = e\ng('1')", "uses eval"),
        ("import builtins as b\nb.eval('1')", "uses eval"),
        ("from builtins import eval as e\ne('1')", "uses eval"),
        ("__builtins__.eval('1')", "uses eval"),
        ("__builtins__['eval']('1')", "uses eval"),
        ("__builtins__.__dict__['eval']('1')", "uses eval"),
        ("getattr(__builtins__, 'eval')('1')", "uses eval"),
        ("globals()['eval']('1')", "uses eval"),
        ("class A:\n    f = staticmethod(eval)", "uses eval"),
        ("def f(x=eval): pass", "uses eval"),
        ("def f(x):\n    return sorted(x)\ndef g(sorted): pass", "line 2: it uses sorted"),
        ("if 0: sorted = None\nsorted([])", "uses sorted"),
        ("x = [2, 1]\nx.sort()", "line 2: it uses sort"),
        ("f(1)[0].sort", "uses sort"),
        ("from math import factorial as g\ng(3)", "uses math.factorial"),
        ("def f(:", "cannot be read: line 1: SyntaxError"),
        ("(" * 300, "cannot be read"),
        ("", "no program"),
    ],
)
def test_what_is_forbidden_is_found_through_its_disguises(response: str, said: str | None) -> None:
    found = limited(response, **FORBIDDEN)
    if said is None:
        return  # put together when it runs: not told, as the docstring says
    assert found.score == 0.0
    assert said in found.detail


def test_lines_are_the_responses_own() -> None:
    assert "line 4: " in limited("Here:\n```python\nx = 1\nimport os\n```", **FORBIDDEN).detail


def test_a_tasks_own_limits_have_precedence() -> None:
    tests = {**TESTS, "limits": {"imports": ["math"], "calls": [], "source_bytes": 20}}
    assert limited("import os", tests, **FORBIDDEN).score == 1.0
    assert limited("import math", tests, **FORBIDDEN).score == 0.0
    assert "bytes" in limited("x = 1  # " + "x" * 20, tests).detail


def test_what_was_measured_has_limits_too() -> None:
    answers = [Answer("ok", "xx", cpu=0.1, wall=0.2, peak_memory=50 << 20)] * 2
    assert (
        limited("x", answers=answers, cpu_s=0.2, wall_s=0.3, peak_mb=60, output_bytes=2).score
        == 1.0
    )
    broken: list[tuple[dict[str, Any], str]] = [
        ({"cpu_s": 0.05}, "test 1 used too much: 0.1 s of CPU, 0.05 are allowed"),
        ({"wall_s": 0.1}, "0.2 s, 0.1 are allowed"),
        ({"peak_mb": 40}, "50 MiB, 40 are allowed"),
        ({"output_bytes": 1}, "more than 1 bytes of output"),
    ]
    for options, said in broken:
        found = limited("x", answers=answers, **options)
        assert found.score == 0.0
        assert said in found.detail
    for status in ("timeout", "memory", "output"):
        assert limited("x", answers=[Answer("ok"), Answer(status)], cpu_s=9.0).score == 0.0
    tests = {**TESTS, "limits": {"cpu": 0.05}}
    assert limited("x", tests, answers[:1], cpu_s=9.0).score == 0.0


def test_measured_limits_need_a_run_and_are_not_deterministic() -> None:
    assert Limits(**OPEN).needs == ()
    assert Limits(**OPEN).deterministic
    assert Limits(cpu_s=1.0, **OPEN).needs == (Answers,)
    assert not Limits(cpu_s=1.0, **OPEN).deterministic
    with pytest.raises(ConfigError, match="needs Answers, which no earlier stage makes"):
        Environment(
            "e", [Slot("limits", Limits(cpu_s=1.0, **OPEN), gate=None), Slot("x", Diff(**OPEN))]
        )


@pytest.mark.parametrize("names", ["os", [1], [""], [None]])
def test_names_are_a_list_of_texts(names: Any) -> None:
    with pytest.raises(ConfigError, match="list of names"):
        Limits(imports=names, **OPEN)


def test_limits_that_cannot_be_checked_are_refused() -> None:
    with pytest.raises(TaskError, match="Python only"):
        limited(
            "x",
            {"kind": "stdio", "language": "shell", "cases": [{"stdin": "", "stdout": ""}]},
            imports=("os",),
        )
    with pytest.raises(TaskError, match="code/run"):
        limited("x", {**TESTS, "limits": {"cpu": 1}})


def test_four_steps_in_order() -> None:
    tests = {**FUNCTION, "cases": [{"args": [n], "expected": n + 1} for n in range(4)]}
    slots = [
        Slot("compile", Compile(**OPEN), weight=0),
        Slot("run", Run(**OPEN), weight=0),
        Slot("diff", Diff(**OPEN)),
        Slot("limits", Limits(imports=("os",), cpu_s=5.0, **OPEN), weight=0),
    ]
    with Environment("e", slots, [task_of(tests)]) as env:
        task = env.tasks[0]
        assert env.verify(task, "```python\ndef f(x):\n    return x + 1\n```") == 1.0
        assert env.verify(task, "def f(x): return x + 1 if x else 0") == 0.75
        assert env.verify(task, "import os\ndef f(x): return x + 1") == 0.0
        verdict = env.evaluate(task, "def f(x) return")
        assert (verdict.value, verdict.stopped_at) == (0.0, "compile")
        for response in ("", "raise SystemExit", "def f(x): return [", "x" * 300_000):
            assert env.verify(task, response) == 0.0
