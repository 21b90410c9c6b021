"""cuda/speed: never paid without a measurement, and what a rehearsal is."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from rlenv import Task, VerifierFault
from rlenv.compose.stages import Attempt
from rlenv.model.errors import TaskError
from rlenv.model.values import Fault, Outcome
from rlenv_plugin_cuda.clocks import Measured, Rehearsal
from rlenv_plugin_cuda.examples import VADD, examples
from rlenv_plugin_cuda.stages import speed as stage
from rlenv_plugin_cuda.stages.speed import Speed

KERNEL: Any = VADD.info["kernel"]

RIGHT = examples()["speed"][0].right[0][1]


class Played:
    """A clock that says what it is told."""

    def __init__(self, why: str = "", found: Measured | None = None) -> None:
        self.why = why
        self.found = found
        self.asked: list[dict[str, Any]] = []

    def usable(self) -> str:
        return self.why

    async def measure(self, *given: Any, **more: Any) -> Measured:
        self.asked.append({"cases": given[2], **more})
        assert self.found is not None
        return self.found


def judged(
    response: str, clock: Played, monkeypatch: pytest.MonkeyPatch, **options: Any
) -> Outcome:
    monkeypatch.setattr(stage, "clock", lambda _: clock)
    return asyncio.run(Speed(**options).check(Attempt(VADD, response)))


def test_without_a_gpu_it_is_unscored_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(VerifierFault, match="speed was not measured: no GPU") as caught:
        judged(RIGHT, Played("no GPU: no driver is installed"), monkeypatch)

    assert caught.value.fault.kind == "unavailable"


def test_where_speed_is_not_measured_it_can_be_left_unpaid(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = judged(RIGHT, Played("no GPU"), monkeypatch, unmeasured="unpaid")

    assert (outcome.score, outcome.data) == (0.0, {"measured": False})
    assert outcome.detail == "speed was not measured, and nothing is paid for it: no GPU"
    assert Speed(unmeasured="unpaid").survey([VADD]) == ["no GPU: responses are unpaid"]
    assert judged(RIGHT, Played(found=Measured(0.5)), monkeypatch, unmeasured="unpaid").score == 0.5


def test_a_measurement_that_breaks_is_never_held_against_an_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Played()

    async def breaks(*_: Any, **__: Any) -> Measured:
        raise VerifierFault(Fault("unavailable", "the GPU cannot be used"))

    monkeypatch.setattr(clock, "measure", breaks)
    for unmeasured in ("unscored", "unpaid"):
        with pytest.raises(VerifierFault, match="the GPU cannot be used"):
            judged(RIGHT, clock, monkeypatch, unmeasured=unmeasured)


def test_a_language_that_no_gpu_runs_is_not_measured() -> None:
    task = Task(VADD.prompt, info={"kernel": {**KERNEL, "lang": "triton"}}, id="t")

    with pytest.raises(TaskError, match="triton kernels are not launched on a GPU"):
        Speed(demand=True).validate(task)


def test_a_gpu_that_is_demanded_is_looked_for_at_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "clock", lambda _: Played("no GPU"))

    with pytest.raises(TaskError, match="task 'cuda-vadd': a GPU is demanded and there is none"):
        Speed(demand=True).validate(VADD)
    Speed().validate(VADD)
    assert Speed().survey([VADD]) == ["no GPU: responses are unscored"]


def test_what_is_measured_is_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Played(found=Measured(0.25, "1.8 times the baseline", {"speedup": 1.8}))
    outcome = judged(RIGHT, clock, monkeypatch, cap=10.0)

    assert (outcome.score, outcome.data["speedup"]) == (0.25, 1.8)
    assert clock.asked[0]["cap"] == 10.0
    assert {case.sizes["n"] for case in clock.asked[0]["cases"]} == {300}


def test_what_is_not_right_earns_nothing_however_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Played(found=Measured(1.0, problem="a timed output is not right at 300", line=4))
    outcome = judged(RIGHT, clock, monkeypatch)

    assert (outcome.score, outcome.detail) == (0.0, "line 5: a timed output is not right at …")


def test_host_code_earns_no_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Played(found=Measured(1.0))
    outcome = judged(
        "```python\nimport numpy as np\ndef run(a, b, o):\n    np.add(a, b, o)\n```",
        clock,
        monkeypatch,
    )

    assert outcome.score == 0.0
    assert clock.asked == []


@pytest.mark.parametrize("baseline", [7, "", "   "])
def test_a_baseline_is_a_program(baseline: object) -> None:
    task = Task(VADD.prompt, info={**VADD.info, "baseline": baseline}, id="odd")
    with pytest.raises(TaskError, match=r"task 'odd': info\.baseline: expected a program in numba"):
        Speed().validate(task)


def test_a_rehearsal_says_that_it_measured_nothing() -> None:
    assert Rehearsal().usable() == ""
    assert Speed(clock="rehearsal").survey([VADD]) == []
    outcome = asyncio.run(Speed(clock="rehearsal").check(Attempt(VADD, RIGHT)))

    assert outcome.detail == "rehearsed, not measured"
