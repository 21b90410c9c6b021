"""cuda/limits: reports and launches against the limits of a task, without a sandbox."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from attrs import evolve
from rlenv import Task, VerifierFault
from rlenv.compose.stages import Attempt
from rlenv.model.errors import TaskError
from rlenv.model.values import Outcome
from rlenv_plugin_cuda.artifacts import Launch, Program, Report, Resources, Runs, Trial
from rlenv_plugin_cuda.building import toolchain
from rlenv_plugin_cuda.cases import cases_of
from rlenv_plugin_cuda.reading import kernel_of
from rlenv_plugin_cuda.stages.limits import Limits

KERNEL = Resources("k", registers=32, shared=1024, stack=0, spill_stores=0, spill_loads=0)
LAUNCH = Launch("k", ("f4[1]",), shared=512, threads=256)


def task_of(**limits: Any) -> Task:
    kernel = {
        "inputs": [["a", "f4", ["n"]]],
        "outputs": [["o", "f4", ["n"]]],
        "golden": "return [a + a]",
        "hidden": [{"n": 64}, {"n": 900}],
        "limits": limits,
    }
    return Task("o = a + a", id="twice", info={"kernel": kernel})


def judged(
    limits: dict[str, Any],
    report: Report | None = None,
    launches: tuple[Launch, ...] = (LAUNCH,),
    **options: Any,
) -> Outcome:
    attempt = Attempt(task_of(**limits), "```python\nx = 1\n```")
    attempt.put(Program("numba", "x = 1\n", 2))
    attempt.put(report or Report("sm_90", "numba+ptxas", (KERNEL,)))
    cases = cases_of(kernel_of(attempt.task), attempt.key())
    trials = [Trial(place, (b"",), launched=launches) for place in range(len(cases))]
    attempt.put(Runs("interpreter", trials))
    return asyncio.run(Limits(**options).check(attempt))


def test_what_keeps_all_limits_earns_one_and_says_what_it_takes() -> None:
    outcome = judged(
        {"registers": 32, "shared": 1536, "stack": 0, "spills": 0, "threads_per_block": 256}
    )

    assert outcome.score == 1.0
    assert outcome.data["used"] == {
        "registers": 32,
        "shared": 1536,
        "stack": 0,
        "spills": 0,
        "threads_per_block": 256,
    }


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"registers": 31}, "32 registers a thread; 31 are allowed"),
        ({"shared": 1535}, "1536 bytes of shared memory a block; 1535 are allowed"),
        ({"shared": 0}, "1536 bytes of shared memory a block; 0 are allowed"),
        ({"threads_per_block": 255}, "256 threads a block; 255 are allowed"),
    ],
)
def test_one_more_than_is_allowed_earns_nothing(limits: dict[str, int], said: str) -> None:
    outcome = judged(limits)

    assert (outcome.score, outcome.detail) == (0.0, said)


def test_spills_are_stores_and_loads_and_stack_is_the_worst_kernels() -> None:
    spilled = evolve(KERNEL, kernel="s", stack=64, spill_stores=8, spill_loads=12)
    report = Report("sm_90", "x", (KERNEL, spilled))

    assert judged({"spills": 19}, report).detail == "20 bytes a thread are spilled; 19 are allowed"
    assert judged({"stack": 63}, report).detail == "64 bytes of stack a thread; 63 are allowed"
    assert judged({"stack": 64, "spills": 20}, report).score == 1.0


def test_a_kernel_that_was_launched_and_never_compiled_breaks_every_limit() -> None:
    launches = (LAUNCH, Launch("hidden", threads=32))
    outcome = judged({"shared": 4096, "registers": 64}, launches=launches)

    assert (outcome.score, outcome.detail) == (0.0, "hidden is launched and was never compiled")


def test_without_a_launch_there_is_nothing_to_pay_for() -> None:
    assert judged({"threads_per_block": 64}, launches=()).score == 0.0


def test_a_task_without_limits_says_so() -> None:
    assert judged({}).detail == "the task sets no limits"


def test_limits_of_launches_need_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "missing", lambda _: "no compiler for numba kernels: …")
    report = Report("sm_90", "")

    assert judged({"threads_per_block": 256}, report).score == 1.0
    assert judged({"threads_per_block": 255}, report).score == 0.0


def test_without_a_compiler_it_is_unscored_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = f"no compiler for numba kernels: ptxas not found; {toolchain.REMEDY}"
    monkeypatch.setattr(toolchain, "missing", lambda _: lacking)
    with pytest.raises(VerifierFault) as caught:
        judged({"registers": 32}, Report("sm_90", ""))

    assert caught.value.fault.kind == "unavailable"
    assert "pip install nvidia-cuda-nvcc" in caught.value.fault.message
    assert "limits were not checked" in caught.value.fault.message


def test_without_a_compiler_that_is_required_a_task_does_not_load(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(toolchain, "missing", lambda _: f"no compiler; {toolchain.REMEDY}")

    with pytest.raises(TaskError, match=r"task 'twice': no compiler; pip install"):
        Limits(compiler="required").validate(task_of(registers=32))
    Limits().validate(task_of(registers=32))
    assert "responses are unscored" in Limits().survey([task_of(registers=32)])[0]
    assert Limits().survey([task_of(threads_per_block=32)]) == []


def test_occupancy_is_that_of_the_worst_launch_of_the_largest_case() -> None:
    launches = (LAUNCH, Launch("k", threads=32))
    outcome = judged({"registers": 64}, launches=launches, score="occupancy")

    assert outcome.score == 0.5
    assert outcome.data["limiter"] == "blocks"
    assert judged({}, score="occupancy").score == 1.0
    assert judged({"registers": 31}, score="occupancy").score == 0.0


def test_occupancy_pays_nothing_for_what_does_not_run() -> None:
    attempt = Attempt(task_of(), "?")
    attempt.put(Program("numba", "x = 1\n"))
    attempt.put(Report("sm_90", "x", (KERNEL,)))
    count = len(cases_of(kernel_of(attempt.task), attempt.key()))
    trials = [Trial(place, None, "race", launched=(LAUNCH,)) for place in range(count)]
    attempt.put(Runs("interpreter", trials))

    assert asyncio.run(Limits(score="occupancy").check(attempt)).score == 0.0


def test_a_limit_is_a_gate_and_occupancy_is_none() -> None:
    assert Limits().default_gate == 1.0
    assert Limits(score="occupancy").default_gate is None


def test_an_architecture_without_known_occupancy_does_not_load() -> None:
    with pytest.raises(TaskError, match=r"limits\.arch"):
        Limits(score="occupancy").validate(task_of(arch="sm_999"))


def test_what_does_not_compile_keeps_no_limit() -> None:
    report = Report("sm_90", "numba+ptxas", (), "no such function", 1)
    outcome = judged({"registers": 32}, report)

    assert (outcome.score, outcome.detail) == (0.0, "line 2: it does not compile: no such function")
