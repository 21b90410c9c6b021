"""The format gate: exactly one box with something in it, outside the thinking."""

from __future__ import annotations

import pytest
from rlenv.compose.stages import Attempt
from rlenv.model.values import Outcome, Task
from rlenv_plugin_math.boxed import Boxed


def outcome(response: str) -> Outcome:
    return Boxed().check(Attempt(Task("a question"), response))


@pytest.mark.parametrize(
    "response",
    [
        "\\boxed{18}",
        "So $\\boxed{\\frac{1}{2}}$.",
        "<think>\\boxed{1}</think>\\boxed{2}",
        "\\boxed{x = \\boxed{2}}",
        "\\fbox{2}",
        "\\boxed 5",
    ],
)
def test_one_full_box_passes(response: str) -> None:
    assert outcome(response).score == 1.0


@pytest.mark.parametrize(
    ("response", "problem"),
    [
        ("", "no box"),
        ("18", "no box"),
        ("\\boxed{}", "empty"),
        ("\\boxed{ \\text{} }", "empty"),
        ("\\boxed{1} \\boxed{1}", "2 boxes"),
        ("\\boxed{1} \\boxed{}", "2 boxes"),
        ("\\boxed{18", "never closed"),
        ("<think>\\boxed{1}</think> 1", "no box"),
        ("<think>\\boxed{1}", "thinking"),
        ("\\boxed{" * 10_000, "never closed"),
    ],
)
def test_anything_else_fails_and_says_why(response: str, problem: str) -> None:
    found = outcome(response)
    assert found.score == 0.0
    assert problem in found.detail
