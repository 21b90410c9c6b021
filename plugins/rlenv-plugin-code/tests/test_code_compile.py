"""``code/compile``: what compiles, what does not and where, in every language."""

from __future__ import annotations

import asyncio
import shutil
from typing import Any

import pytest
from code_runs import closed_sandbox, jailed, task_of
from rlenv.compose.stages import Attempt
from rlenv.model.errors import ConfigError, TaskError
from rlenv.model.values import Outcome, Task
from rlenv_plugin_code.artifacts import Compiled
from rlenv_plugin_code.stages.compile import Compile
from rlenv_plugin_code.stages.diff import Diff
from rlenv_plugin_code.stages.limits import Limits

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
def test_an_executable_that_leaves_no_room_for_its_input_is_refused() -> None:
    source = "```c\nchar big[6 << 20] = {1};\nint main(void) { return big[1]; }\n```"
    small, none = compiled(source, language="c", memory_mb=16)
    assert small.score == 0
    assert "more than 4 MiB" in small.detail
    assert none is None
    assert compiled(source, language="c", memory_mb=64)[0].score == 1


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
