"""A value that a response denies, doubts, only reports or supposes is not its answer; honest text
around one is.
"""

from __future__ import annotations

from itertools import product

import pytest
from growth import assert_linear
from rlenv import Task
from rlenv.compose.stages import Attempt
from rlenv_plugin_math.equal import Equal
from rlenv_plugin_math.extract import extract

PLACES = ("\\boxed{%s}", "#### %s", "<answer>%s</answer>", "The answer is %s.", "**Answer:** %s")
VALUES = ("42", "-3", "\\frac{1}{2}", "2.5", "C", "$x^2$")
DENIALS = (
    "The answer is not %s.",
    "However, the correct answer isn't %s.",
    "%s is wrong.",
    "But %s is not the right answer.",
    "%s cannot be correct.",
    "It is not %s.",
    "I do not think the answer is %s.",
    "The wrong answer is %s.",
    "It would be a mistake to say that the answer is %s.",
)
FILLERS = ("", "Six times seven gives this. ", "We checked 3 + 4 = 7 on the way.\n\n")


def score(gold: str, response: str) -> float:
    return Equal().check(Attempt(Task("a question", answer=gold), response)).score


@pytest.mark.parametrize("value", VALUES)
def test_a_denial_of_the_very_value_anywhere_behind_withdraws_it(value: str) -> None:
    paid = []
    for place, filler, denial in product(PLACES, FILLERS, DENIALS):
        response = f"{place % value}\n{filler}{denial % value}"
        if score(value, response) > 0:
            paid.append(response)
    assert paid == []


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("denial", DENIALS)
def test_a_denial_of_another_value_withdraws_nothing(place: str, denial: str) -> None:
    assert score("42", f"{place % '42'}\n{denial % '41'}") == 1.0


@pytest.mark.parametrize("denial", DENIALS)
def test_an_answer_that_is_affirmed_again_stands(denial: str) -> None:
    assert (
        score("42", f"\\boxed{{42}}\n{denial % '42'} Once more from the start: the answer is 42.")
        == 1.0
    )


@pytest.mark.parametrize(
    "response",
    [
        "The answer is 42, not 41.",
        "x is not negative, so 42.",
        "42 is not prime, but the question asks for any number, answer: 42",
        "\\boxed{42}. Note that 42 is not a square.",
        "\\boxed{42}. If we had forgotten the tax, 42 would be wrong.",
        "Many would say 41, but the answer is 42.",
        "A wrong answer would be 41. The answer is 42.",
        "42 students say yes, so the answer is 42.",
        "If she buys 3 more, she would have 42 apples.",
        "The answer is 42. Let me know if you are not sure about a step.",
        "\\boxed{42}. Any answer other than 42 is wrong.",
    ],
)
def test_honest_text_around_an_answer_leaves_it(response: str) -> None:
    assert score("42", response) == 1.0


def test_prose_of_a_language_without_a_pack_states_nothing_and_a_slot_does() -> None:
    assert extract("Het antwoord is 42.").state == "missing"
    assert extract("Svaret är inte 42.").state == "missing"
    for slot in ("\\boxed{42}", "#### 42", "Answer: 42", "<answer>42</answer>"):
        assert score("42", f"Dus het resultaat is 42.\n{slot}") == 1.0
    assert score("42", "\\boxed{42}. Maar het antwoord is niet 42.") == 0.0
    assert score("4", "The Hebrew word שלום has four letters, so the answer is 4.") == 1.0


@pytest.mark.parametrize(
    ("gold", "response", "right"),
    [
        ("12 cm", "12 cm (120 mm)", True),
        ("12 cm", "12 cm (130 mm)", False),
        ("0.5", "0.5 (50%)", True),
        ("0.5", "0.5 (60%)", False),
        ("25\\pi", "$25\\pi \\approx 78.54$ square units", True),
        ("25\\pi m^2", "$25\\pi \\approx 78.54$ cm^2", False),
        ("5", "f(5)", False),
        ("3", "x = 1 or 3; since x > 2, x = 3", True),
        ("1", "x = 1 or 3; since x > 2, x = 3", False),
        ("0.5%", "5‰", True),
        ("5%", "5 per mille", False),
        ("1/6", "one out of six", True),
        ("5/2", "It takes two and a half hours.", True),
    ],
)
def test_a_restatement_or_a_selection_is_one_answer(gold: str, response: str, right: bool) -> None:
    assert score(gold, response) == float(right)


@pytest.mark.parametrize(
    "unit",
    [
        "x = 1 or 3, ",
        "5 is wrong; ",
        "It is not 5, ",
        "\\boxed{5} is not 5. ",
        "the answer is 5, which is wrong, ",
        "if it were 5, it would be 5, ",
        "ab5",
        "答案不是5，",
        "答えは5ではない",
    ],
)
def test_the_cost_of_a_repeated_statement_grows_with_its_length(unit: str) -> None:
    assert_linear(extract, unit, 4_000)
