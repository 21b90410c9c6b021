"""Outcomes as stages make them, and the scores that look like numbers and are none."""

from typing import Any

import pytest
from rlenv import Outcome, ScoreError


def test_an_outcome_says_whether_it_passed_why_and_with_what_facts():
    assert Outcome.passed("fine", words=3) == Outcome(1.0, "fine", {"words": 3})
    assert Outcome.failed("poor", words=3) == Outcome(0.0, "poor", {"words": 3})


def test_an_outcome_without_words_has_an_empty_detail_and_no_facts():
    assert Outcome.passed() == Outcome(1.0, "", {})
    assert Outcome.failed() == Outcome(0.0, "", {})


def numeric(name: str, **more: Any) -> Any:
    """A value of a class of this name that float() takes."""
    return type(name, (), {"__float__": lambda _: 1.0, **more})()


def test_a_number_of_another_library_is_a_score():
    assert Outcome(numeric("float32")).score == 1.0


@pytest.mark.parametrize("name", ["bool", "bool_"])
def test_a_truth_value_of_another_library_is_no_score(name):
    with pytest.raises(ScoreError, match=f"not {name}$"):
        Outcome(numeric(name))


def test_a_row_of_numbers_is_no_score_even_if_it_holds_only_one():
    with pytest.raises(ScoreError, match=r"not Row$"):
        Outcome(numeric("Row", __len__=lambda _: 1))


def test_a_score_that_cannot_be_converted_is_refused_with_its_type_and_reason():
    def refuse(_: object) -> float:
        raise ValueError("no number")

    with pytest.raises(ScoreError, match=r"not Odd: no number$"):
        Outcome(numeric("Odd", __float__=refuse))


@pytest.mark.parametrize("steps", [5, [1], [("first", 1.0)], [(0.5, 1.0)]])
def test_steps_that_are_no_pairs_are_refused_in_words(steps):
    with pytest.raises(ScoreError, match=r"^steps are \(turn index, score\) pairs$"):
        Outcome(1.0, steps=steps)
