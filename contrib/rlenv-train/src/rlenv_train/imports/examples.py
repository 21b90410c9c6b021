"""Responses that are certainly right or wrong, for the stages that run other frameworks' functions,
and such functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rlenv import Examples, Task

if TYPE_CHECKING:
    from inspect_ai.scorer import Scorer
    from verifiers import Rubric

__all__ = ["EXAMPLES", "trl_exact", "verifiers_exact", "verl_exact"]

SUM = Task("What is 17 + 25? Answer with the number only.", answer="42", id="sum")
CITY = Task("What is the capital of France? Answer with its name only.", answer="Paris", id="city")
RIGHT = ((SUM, "42"), (CITY, "Paris"))
WRONG = ((SUM, "43"), (SUM, "42 or 43"), (CITY, "London"), (CITY, ""))


def trl_exact(completions: Sequence[str], answer: Sequence[str], **_: object) -> list[float]:
    """Return 1 for each completion that is the answer, as a reward function of TRL."""
    pairs = zip(completions, answer, strict=True)
    return [float(text.strip() == wanted) for text, wanted in pairs]


def verl_exact(
    data_source: str,  # noqa: ARG001 - verl passes it
    solution_str: str,
    ground_truth: str,
    extra_info: Mapping[str, object] | None = None,  # noqa: ARG001 - likewise
) -> float:
    """Return 1 for a solution that is the ground truth, as a reward function of verl."""
    return float(solution_str.strip() == ground_truth)


def verifiers_exact() -> Rubric:
    """Return a rubric of verifiers with one function."""
    from verifiers import Rubric

    def exact(completion: Sequence[Mapping[str, str]], answer: str) -> float:
        return float(completion[-1]["content"].strip() == answer)

    return Rubric(funcs=[exact])


def inspect_exact() -> Scorer:
    """Return Inspect's scorer of exact matches."""
    from inspect_ai.scorer import match

    return match(location="exact", ignore_case=False)


EXAMPLES = {
    "trl": Examples(RIGHT, WRONG, {"function": trl_exact}),
    "verl": Examples(RIGHT, WRONG, {"function": verl_exact}),
    "verifiers": Examples(RIGHT, WRONG, {"function": verifiers_exact, "needs_answer": True}),
    "inspect": Examples(RIGHT, WRONG, {"scorer": inspect_exact, "needs_answer": True}),
    "reasoning-gym": Examples(
        [(Task("Count the legs of 2 dogs.", answer="8", id="legs"), "8")],
        [(Task("Count the legs of 2 dogs.", answer="8", id="legs"), "6")],
        {"dataset": "leg_counting", "needs_answer": True},
    ),
}
