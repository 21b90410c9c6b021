"""Two answers never earn what one earns: whatever the places they are in and the words between
them.
"""

from __future__ import annotations

from itertools import product

import pytest
from rlenv import Task
from rlenv.compose.stages import Attempt
from rlenv_plugin_math.equal import Equal

PLACES = (
    r"\boxed{%s}",
    "#### %s",
    "<answer>%s</answer>",
    "The answer is %s.",
    "**Answer:** %s",
    "Final Answer: The final answer is $%s$.",
    "**%s**",
    "$%s$",
    "%s",
)
JOINERS = (" or ", " or maybe ", ", ", "\n", "\n\n", " / ", "; alternatively ", " and ", " ", ". ")
HEDGES = (" or ", " or maybe ", ", or ", " or possibly ", "; alternatively ", ", alternatively ")
ANSWERS = (
    ("17", "23"),
    (r"\frac{1}{2}", r"\sqrt{5}"),
    ("x=1", "x=6"),
    ("(1,2)", "(3,4)"),
    ("A", "C"),
)


def score(gold: str, response: str) -> float:
    return Equal().check(Attempt(Task("a question", answer=gold), response)).score


@pytest.mark.parametrize(("one", "other"), ANSWERS)
def test_no_response_is_paid_for_two_different_golds(one: str, other: str) -> None:
    both = []
    for first, joiner, second in product(PLACES, JOINERS, PLACES):
        response = first.replace("%s", one) + joiner + second.replace("%s", other)
        if score(one, response) + score(other, response) > 1:
            both.append(response)
    assert not both


@pytest.mark.parametrize(("one", "other"), ANSWERS)
def test_two_answers_joined_by_or_earn_nothing(one: str, other: str) -> None:
    paid = []
    for place, joiner in product(PLACES, HEDGES):
        inside = place.replace("%s", one + joiner + other)
        outside = place.replace("%s", one) + joiner + place.replace("%s", other)
        paid += [r for r in (inside, outside) if score(one, r) + score(other, r) > 0]
    assert not paid


@pytest.mark.parametrize(("one", "other"), ANSWERS)
def test_a_gold_never_hides_behind_another_final_answer(one: str, other: str) -> None:
    paid = []
    for place in PLACES[:6]:
        final = place.replace("%s", other)
        for before in (one, f"It is not {one}.", f"<think>{one}</think>", f"One might say {one}."):
            response = f"{before}\n\n{final}"
            if score(one, response) > 0:
                paid.append(response)
    assert not paid
