"""What a look at the source of a stage finds: calls that run code, in it and in what it uses of its
module.
"""

from __future__ import annotations

import functools
import pickle
import runpy
from pickle import loads as unpickled
from typing import Any

import pytest
from rlenv import AllOf, Attempt, Outcome, Slot
from rlenv.compose.functions import function_stage
from rlenv_testing.executing import executing


def helper(text: str) -> float:
    return float(eval(text))


def directly(response: str) -> float:
    names: dict[str, Any] = {}
    exec(response, names)
    return float(names["score"])


def by_a_helper(response: str) -> float:
    return helper(response)


def by_another_name(response: str) -> float:
    return float(unpickled(response.encode()) == 1)


def by_a_module(response: str) -> float:
    return float(runpy.run_path(response)["score"] + len(pickle.loads(b"N.") or ""))


def innocent(response: str) -> float:
    """It says exec(response) and eval, and calls neither."""
    evaluated = "exec(response)"
    return float(response == evaluated)


class Stage:
    phase = "diff"

    def check(self, attempt: Attempt) -> Outcome:
        return Outcome(self._score(attempt.response))

    def _score(self, text: str) -> float:
        return by_a_helper(text)


@pytest.mark.parametrize(
    ("stage", "calls"),
    [
        (function_stage(directly), ["exec"]),
        (function_stage(by_a_helper), ["eval"]),
        (function_stage(by_another_name), ["pickle.loads"]),
        (function_stage(by_a_module), ["runpy.run_path", "pickle.loads"]),
        (function_stage(functools.partial(directly)), ["exec"]),
        (Stage(), ["eval"]),
    ],
)
def test_a_call_that_runs_code_is_found(stage: object, calls: list[str]) -> None:
    (said,) = executing(stage)

    for call in calls:
        assert f"{call} (test_kit_executing.py:" in said
    assert "code/run" in said


def test_what_runs_no_code_is_not_warned_of() -> None:
    assert list(executing(function_stage(innocent))) == []
    assert list(executing(Slot)) == []


def test_the_stages_of_a_composite_are_looked_at() -> None:
    inner = AllOf([Slot("a", Stage()), Slot("b", function_stage(innocent))])
    assert len(list(executing(AllOf([Slot("in", inner)])))) == 1
