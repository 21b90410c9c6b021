"""cuda/diff: what kernels wrote against what the golden model says, without a sandbox."""

from __future__ import annotations

from typing import Any

import pytest
from rlenv import Task
from rlenv.compose.stages import Attempt
from rlenv.model.values import Outcome
from rlenv_plugin_cuda.artifacts import Runs, Trial
from rlenv_plugin_cuda.cases import cases_of
from rlenv_plugin_cuda.golden import golden_of
from rlenv_plugin_cuda.numbers import to_bytes
from rlenv_plugin_cuda.reading import kernel_of
from rlenv_plugin_cuda.stages.diff import Diff

TASK = Task(
    "o = a + b",
    id="add",
    info={
        "kernel": {
            "lang": "numba",
            "inputs": [["a", "f4", ["n"]], ["b", "f4", ["n"]]],
            "outputs": [["o", "f4", ["n"]]],
            "golden": "return [a + b]",
            "hidden": [{"n": 257}, {"n": 300}, {"n": 1009}],
            "dists": ["normal", "special"],
        }
    },
)


def wanted(attempt: Attempt) -> list[bytes]:
    kernel = kernel_of(attempt.task)
    golden = golden_of(kernel)
    cases = cases_of(kernel, attempt.key())
    return [to_bytes(golden(case.values, case.sizes).outputs[0], "f4") for case in cases]


def judged(attempt: Attempt, outputs: list[Any], **options: Any) -> Outcome:
    trials = [
        out if isinstance(out, Trial) else Trial(place, (out,)) for place, out in enumerate(outputs)
    ]
    attempt.put(Runs("interpreter", trials))
    return Diff(**options).check(attempt)


def test_right_outputs_earn_one_and_the_backend_is_named() -> None:
    attempt = Attempt(TASK, "x")
    outcome = judged(attempt, wanted(attempt))

    assert outcome.score == 1.0
    assert outcome.data["backend"] == "interpreter"
    data: Any = outcome.data
    assert data["tests_passed"] == data["total_tests"] >= 7
    assert outcome.private == {}


def test_one_wrong_element_in_one_case_earns_nothing() -> None:
    attempt = Attempt(TASK, "x")
    outputs = wanted(attempt)
    outputs[3] = outputs[3][:-4] + b"\x12\x34\x56\x78"
    outcome = judged(attempt, outputs)

    assert outcome.score == 0.0
    assert "case 4: o: under 1% of it is wrong" in outcome.detail
    failures: Any = outcome.private["failures"]
    told: Any = outcome.data["outputs"]
    assert told["o"]["wrong"] < 0.01
    assert failures[0]["case"] == 4


def test_a_fraction_is_the_share_of_shapes() -> None:
    attempt = Attempt(TASK, "x")
    kernel = kernel_of(TASK)
    outputs = wanted(attempt)
    sizes = [case.sizes["n"] for case in cases_of(kernel, attempt.key())]
    outputs[sizes.index(300)] = bytes(4 * 300)

    assert judged(attempt, outputs, score="fraction").score == pytest.approx(2 / 3)
    assert judged(attempt, outputs).score == 0.0


def test_a_kernel_that_breaks_earns_no_fraction_either() -> None:
    attempt = Attempt(TASK, "x")
    outputs: list[Any] = wanted(attempt)
    outputs[-1] = Trial(len(outputs) - 1, None, "race", "o[257] is written twice", line=5)
    outcome = judged(attempt, outputs, score="fraction")

    assert outcome.score == 0.0
    assert "line 5: race: o[…] is written twice" in outcome.detail


@pytest.mark.parametrize("output", [b"", b"\0" * 5, b"\0" * 8000])
def test_outputs_of_another_length_are_wrong(output: bytes) -> None:
    attempt = Attempt(TASK, "x")

    assert judged(attempt, [output] * len(wanted(attempt))).score == 0.0


def test_another_number_of_outputs_is_wrong() -> None:
    attempt = Attempt(TASK, "x")
    trials = [Trial(place, (out, out)) for place, out in enumerate(wanted(attempt))]

    assert "another number of outputs" in judged(attempt, trials).detail


def test_nothing_golden_or_hidden_is_told_to_a_policy() -> None:
    attempt = Attempt(TASK, "x")
    outputs = [bytes(len(out)) for out in wanted(attempt)]  # the error is the golden output itself
    outcome = judged(attempt, outputs)
    public = f"{outcome.detail} {outcome.data}"

    assert outcome.score == 0.0
    assert not [size for size in ("257", "300", "1009") if size in public]
    failures: Any = outcome.private["failures"]
    told: Any = outcome.data["outputs"]
    assert "sizes" in failures[0]
    assert told["o"].keys() == {"wrong", "classes", "relative_error"}


def test_what_was_refused_is_worth_nothing() -> None:
    attempt = Attempt(TASK, "x")
    attempt.put(Runs("none", refused="`os` cannot be imported", line=4))
    outcome = Diff().check(attempt)

    assert outcome.score == 0.0
    assert outcome.detail == "line 4: `os` cannot be imported"


def test_the_same_response_meets_the_same_cases_and_another_one_others() -> None:
    kernel = kernel_of(TASK)
    first, again, other = (cases_of(kernel, Attempt(TASK, text).key()) for text in ("x", "x", "y"))

    assert [case.poison for case in first] == [case.poison for case in again]
    assert [case.seed for case in first] != [case.seed for case in other]
