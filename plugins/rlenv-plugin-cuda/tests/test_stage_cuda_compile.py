"""cuda/compile: the rules, and the compilers where they are installed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from rlenv import Task, VerifierFault
from rlenv.compose.stages import Attempt
from rlenv.model.errors import ConfigError, TaskError
from rlenv.model.values import Fault, Outcome
from rlenv_plugin_cuda.artifacts import Program, Report, Resources
from rlenv_plugin_cuda.building import toolchain
from rlenv_plugin_cuda.examples import VADD, fenced
from rlenv_plugin_cuda.stages import compile as stage
from rlenv_plugin_cuda.stages.compile import Compile

KERNEL: Any = VADD.info["kernel"]

SOURCE = """
@cuda.jit
def k(a, b, o):
    i = cuda.grid(1)
    if i < o.size:
        o[i] = a[i] + b[i]

def run(a, b, o):
    k[(o.size + 127) // 128, 128](a, b, o)
"""
LACKING = f"no compiler for numba kernels: ptxas not found; {toolchain.REMEDY}"


def judged(response: str, **options: Any) -> tuple[Outcome, Attempt]:
    attempt = Attempt(VADD, response)
    return asyncio.run(Compile(**options).check(attempt)), attempt


def made_by(monkeypatch: pytest.MonkeyPatch, report: Report | VerifierFault) -> None:
    async def build(*_: object) -> Report:
        if isinstance(report, VerifierFault):
            raise report
        return report

    monkeypatch.setattr(stage, "build", build)


@pytest.mark.parametrize(
    ("source", "line", "word"),
    [
        ("import os\n" + SOURCE, 3, "os"),
        (SOURCE + "    o[0] = 1.0", 12, "kernel"),
        (SOURCE + "    print(o)", 12, "print"),
        (SOURCE.replace("a[i] +", "a.__class__ +"), 8, "__class__"),
        (SOURCE.replace("@cuda.jit", "@cuda.jit(link='x.cu')"), 5, "link"),
        (SOURCE.replace("def run(a, b, o)", "def go(a, b, o)"), 10, "go"),
        ("class A: pass\n" + SOURCE, 3, "class"),
        (SOURCE + "\nrun(1, 2, 3)", 13, ""),
    ],
)
def test_what_the_rules_refuse_is_worth_nothing_and_the_line_is_named(
    source: str, line: int, word: str
) -> None:
    outcome, attempt = judged(fenced(source), compiler="none")

    assert outcome.score == 0.0
    assert word in outcome.detail
    assert outcome.detail.startswith(f"line {line}: "), outcome.detail
    assert attempt.artifacts == {}


def test_what_keeps_the_rules_passes_and_is_handed_on() -> None:
    outcome, attempt = judged(f"Here:\n{fenced(SOURCE)}", compiler="none")

    assert outcome.score == 1.0
    assert outcome.data["compiled"] is False
    assert "not compiled" in outcome.detail
    assert attempt.get(Program).line == 3
    assert attempt.get(Report).compiler == ""


def test_the_report_of_the_compiler_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Resources("k", 12, 0, 8, 4, 4)
    made_by(monkeypatch, Report("sm_90", "numba+ptxas", (kernel,)))
    outcome, attempt = judged(fenced(SOURCE))

    assert outcome.score == 1.0
    assert outcome.data["kernels"] == {"k": {"registers": 12, "shared": 0, "stack": 8, "spills": 8}}
    assert attempt.get(Report).kernels == (kernel,)


def test_what_does_not_compile_names_the_line_of_the_response(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made_by(monkeypatch, Report("sm_90", "numba+ptxas", (), "no such function", 4))
    outcome, attempt = judged(fenced(SOURCE))

    assert outcome.score == 0.0
    assert outcome.detail == "line 5: it does not compile: no such function"
    assert attempt.artifacts == {}


def test_without_a_compiler_it_says_so_or_is_unscored(monkeypatch: pytest.MonkeyPatch) -> None:
    made_by(monkeypatch, VerifierFault(Fault("unavailable", LACKING)))
    outcome, _ = judged(fenced(SOURCE))

    assert outcome.score == 1.0
    assert LACKING in outcome.detail
    with pytest.raises(VerifierFault, match="pip install"):
        judged(fenced(SOURCE), compiler="required")


def test_a_broken_sandbox_is_never_a_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    made_by(monkeypatch, VerifierFault(Fault("crash", "lost", transient=True)))
    with pytest.raises(VerifierFault, match="lost"):
        judged(fenced(SOURCE))


def test_at_load_a_required_compiler_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "missing", lambda _: LACKING)

    with pytest.raises(TaskError, match=r"task 'cuda-vadd': no compiler for numba kernels"):
        Compile(compiler="required").validate(VADD)
    Compile().validate(VADD)
    assert Compile().survey([VADD]) == [f"{LACKING}: kernels are only read"]
    assert Compile(compiler="none").survey([VADD]) == []


def test_at_load_an_architecture_that_the_compiler_does_not_know_is_refused() -> None:
    if toolchain.missing("numba"):
        pytest.skip(toolchain.missing("numba"))
    info = {"kernel": {**KERNEL, "limits": {"arch": "sm_99"}}}
    task = Task(VADD.prompt, info=info, id="future")

    with pytest.raises(TaskError, match=r"task 'future': info\.kernel\.limits\.arch: .*sm_99"):
        Compile().validate(task)
    Compile(compiler="none").validate(task)


def test_a_weaker_sandbox_than_the_minimum_is_a_mistake_of_the_options() -> None:
    with pytest.raises(ConfigError, match="isolation 'process' is of tier 'process'"):
        Compile(isolation="process")
    assert Compile(isolation="process", min_isolation="process").box().isolation == "process"


@pytest.mark.parametrize(
    "response", ["", "I cannot help.", "```python\n```", "```python\nx\0\n```", "\ud800"]
)
def test_what_is_no_program_is_worth_nothing(response: str) -> None:
    assert judged(response, compiler="none")[0].score == 0.0
