"""``code/compile``, ``code/diff`` and ``code/limits``, one by one and in an environment."""

from __future__ import annotations

import asyncio
import shutil
from typing import Any

import pytest
from code_runs import closed_sandbox, jailed, task_of
from rlenv.composites import Slot
from rlenv.environment import Environment
from rlenv.errors import ConfigError, TaskError
from rlenv.stage import Attempt
from rlenv.values import Outcome, Task
from rlenv_plugin_code.artifacts import Answer, Answers, Compiled
from rlenv_plugin_code.stages.compile import Compile
from rlenv_plugin_code.stages.diff import Diff
from rlenv_plugin_code.stages.limits import Limits
from rlenv_plugin_code.stages.run import Run

pytestmark = pytest.mark.usefixtures("closed_sandbox")
__all__ = ["closed_sandbox"]
OPEN: dict[str, Any] = {"isolation": "process", "min_isolation": "process"}
FUNCTION: dict[str, Any] = {"kind": "function", "entry_point": "f"}


def outcome(stage: Any, attempt: Attempt) -> Outcome:
    made = asyncio.run(stage.check(attempt))
    assert isinstance(made, Outcome)
    return made


def compiled(
    response: str, task: Task | None = None, **options: Any
) -> tuple[Outcome, Compiled | None]:
    attempt = Attempt(task or Task("p"), response)
    found = outcome(Compile(**{**OPEN, **options}), attempt)
    return found, attempt.find(Compiled)


def needs(tool: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(tool) is None, reason=f"there is no {tool} here")


# -- compile ---------------------------------------------------------------------------------------


def test_a_program_that_compiles_is_handed_on() -> None:
    found, made = compiled("Here:\n```python\nx = 1\n```\n")
    assert (found.score, found.data) == (1.0, {"language": "python", "isolation": "process"})
    assert made is not None
    assert (made.program.source, made.program.first_line) == ("x = 1\n", 3)


def test_nothing_of_it_runs() -> None:
    found, _ = compiled("import os\nos._exit(3)\n1 / 0\nwhile True: pass\n")
    assert found.score == 1.0


@pytest.mark.parametrize(
    ("response", "said"),
    [
        ("Here:\n```python\nx = 1\ndef f(:\n```\n", "line 4: SyntaxError: invalid syntax"),
        ("return 1", "line 1: SyntaxError: 'return' outside function"),
        ("def f():\nreturn 1", "line 2: IndentationError"),
        ("x = 1\n\x00", "null bytes"),
        ("", "no program"),
        (" \n", "no program"),
        ("<think>\nx = 1", "no program"),
        ("x = '\ud800'", "surrogate"),
        ("x = 1\n" * 50_000, "300000 bytes, 262144 are allowed"),
        ("(" * 5000, "too many nested parentheses"),
        ("-" * 100_000 + "1", "MemoryError"),
        ("+".join("1" * 100_000), "RecursionError"),
        ("".join(" " * n + "if 1:\n" for n in range(150)), "too many levels of indentation"),
        ("x = " + "[" * 199 + "]" * 150, "SyntaxError"),
    ],
    ids=lambda value: repr(value[:30]),
)
def test_what_does_not_compile_is_worth_nothing_and_says_where(response: str, said: str) -> None:
    found, made = compiled(response)
    assert found.score == 0.0
    assert said in found.detail
    assert made is None
    assert len(found.detail) < 300


def test_a_compiler_that_hangs_is_the_responses_own() -> None:
    bomb = (
        "x = 1"
        + "".join(f"\ntry:\n  x{i} = 1" for i in range(3))
        + "\n"
        + "f(" * 90
        + "1"
        + ")" * 90
    )
    found, _ = compiled(bomb, budget=3.0)
    assert found.score == 0.0


@needs("gcc")
def test_a_native_program_gets_an_executable_once() -> None:
    response = '```c\n#include <stdio.h>\nint main(void) { puts("hi"); return 0; }\n```'
    found, made = compiled(response, language="c")
    assert found.score == 1.0, found.detail
    assert made is not None
    assert made.binary is not None
    assert made.binary[:4] == b"\x7fELF"
    _, again = compiled(response, language="c")
    assert again is not None
    assert again.binary is made.binary


@needs("g++")
def test_the_line_of_a_native_error_is_the_responses() -> None:
    found, made = compiled("So:\n\n```cpp\nint main() {\n  return y;\n}\n```", language="cpp")
    assert (found.score, made) == (0.0, None)
    assert "line 5: " in found.detail
    assert "not declared" in found.detail


@needs("gcc")
def test_a_compilers_output_has_a_limit() -> None:
    found, _ = compiled("char x[1 << 26] = {1};\nint main(void) { return x[5]; }", language="c")
    assert found.score == 0.0
    assert "executable" in found.detail or "limit" in found.detail


@needs("node")
def test_javascript_is_checked() -> None:
    assert compiled("let x = 1;", language="javascript")[0].score == 1.0
    found, _ = compiled("let x = 1;\nlet y = ;", language="javascript")
    assert "line 2: " in found.detail


@needs("bash")
def test_shell_is_checked() -> None:
    assert compiled("echo hi", language="shell")[0].score == 1.0
    assert "line 2: " in compiled("echo hi\nif fi", language="shell")[0].detail


def test_in_the_jail_it_is_the_same() -> None:
    jailed()
    found, _ = compiled("x = 1", isolation="jail", min_isolation="jail")
    assert found.data["isolation"] == "jail"
    if shutil.which("gcc"):
        _, made = compiled(
            "int main(void) { return 7; }", language="c", isolation="jail", min_isolation="jail"
        )
        assert made is not None
        assert made.binary


def test_a_tasks_own_language_limits_and_prefix_have_precedence() -> None:
    tests = {
        **FUNCTION,
        "cases": [{"args": [1], "expected": 2}],
        "prefix": "prompt",
        "limits": {"source_bytes": 60},
    }
    task = task_of(tests, 'def f(x):\n    """Add one."""\n')
    found, made = compiled("    return x + 1\n", task)
    assert found.data["language"] == "python"
    assert made is not None
    assert made.program.source.startswith("def f(x):")
    assert "bytes" in compiled("    return x + 1  # " + "x" * 60, task)[0].detail


@pytest.mark.parametrize("options", [{"language": "rust"}, {"isolation": "process"}])
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        Compile(**options)


def test_a_compiler_that_is_missing_is_named_when_tasks_load(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(TaskError, match="apt install g"):
        Compile(language="cpp", **OPEN).validate(Task("p", id="t"))


def test_a_task_that_asks_for_more_isolation_than_there_is_is_refused() -> None:
    task = task_of({**FUNCTION, "cases": [{"args": [1], "expected": 2}], "min_isolation": "jail"})
    for stage in (Compile(**OPEN), Diff(**OPEN), Limits(**OPEN)):
        with pytest.raises(TaskError, match=r"min_isolation = 'jail'.*choose another"):
            stage.validate(task)


# -- diff ------------------------------------------------------------------------------------------


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
    assert found.private["failures"][0]["difference"] == "expected 'secret', got 'wrong'"


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
    assert "line 2" in diff(tests, "1 2\n").private["failures"][0]["difference"]


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


CHECKER = "def check(stdin, stdout, expected):\n    return sorted(stdout.split()) == stdin.split() or 1 / (stdout != 'boom')\n"


def test_a_checker_decides_on_outputs() -> None:
    tests = {
        "kind": "stdio",
        "checker": CHECKER,
        "cases": [{"stdin": text} for text in ("1 2", "1 2", "1", "1")],
    }
    found = diff(tests, "2 1", "3 1", "boom", Answer("timeout"))
    assert found.data["tests_passed"] == 1
    said = [failure["difference"] for failure in found.private["failures"]]
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
        "checker": "def check(stdin, stdout, expected):\n    return stdin.strip() == stdout.strip() == expected.strip()\n",
    }
    assert diff(tests, "1", "2\n", expected=("1\n", "2\n"), inputs=("1\n", "2\n")).score == 1.0
    assert diff(tests, "1", "2\n", expected=("1\n", "2\n"), inputs=("1\n", "3\n")).score == 0.5


def test_an_environment_warns_of_hidden_cases_in_its_prompts() -> None:
    task = task_of(cases(2), "f(1) == 2. Write f.")
    slots = [Slot("run", Run(**OPEN)), Slot("diff", Diff(**OPEN))]
    with Environment("e", slots, [task]) as env:
        assert any("hidden cases" in warning and "the task" in warning for warning in env.warnings)


# -- limits ----------------------------------------------------------------------------------------


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
    ["x = 1", "def f(eval): return eval(1)", "f = lambda sorted: sorted(1)", "import osx", "from .os import x", "# import os", "x = 'import os'", "x.os", "def sorted(x): return x\nsorted([])", "import math\nmath.sqrt(4)", "def f():\n    sort = 1\n    return sort"],
)  # fmt: skip
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
    tests = {**cases(1), "limits": {"imports": ["math"], "calls": [], "source_bytes": 20}}
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
    tests = {**cases(1), "limits": {"cpu": 0.05}}
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


def test_limits_that_cannot_be_checked_are_refused() -> None:
    with pytest.raises(TaskError, match="Python only"):
        limited(
            "x",
            {"kind": "stdio", "language": "shell", "cases": [{"stdin": "", "stdout": ""}]},
            imports=("os",),
        )
    with pytest.raises(TaskError, match="code/run"):
        limited("x", {**cases(1), "limits": {"cpu": 1}})


# -- together --------------------------------------------------------------------------------------


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
