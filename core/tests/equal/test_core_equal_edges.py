"""core/equal at its edges: each option does what it says and nothing more."""

from __future__ import annotations

from typing import Any

import pytest
from rlenv import Attempt, Task, TaskError
from rlenv.compose.equal import Equal


def score(answer: Any, response: str, **options: Any) -> float:
    return Equal(**options).check(Attempt(Task("p", answer), response)).score


def test_a_long_answer_is_normalized_like_a_short_one() -> None:
    assert score("a" * 100, "A" * 100, case=True) == 1.0


def test_a_letter_may_be_written_with_all_its_marks_apart() -> None:
    assert score("\u1f82", "\u03b1\u0313\u0300\u0345", nfkc=True) == 1.0
    assert score("\u1f82" * 30, "\u03b1\u0313\u0300\u0345" * 30, nfkc=True) == 1.0


def test_an_answer_with_aliases_is_still_right_itself() -> None:
    assert score("USA", "USA", aliases={"USA": ["United States"]}) == 1.0


def test_aliases_of_answers_that_are_the_same_once_normalized_add_up() -> None:
    aliases = {"USA": ["United States"], "usa": ["America"]}

    assert score("Usa", "united states", aliases=aliases, case=True) == 1.0
    assert score("Usa", "america", aliases=aliases, case=True) == 1.0


def test_ignoring_case_does_not_ignore_width_nor_the_other_way_around() -> None:
    assert score("42", "４２", case=True) == 0.0
    assert score("Paris", "paris", nfkc=True) == 0.0


@pytest.mark.parametrize(("answer", "response"), [("h", "ℌ"), ("ΐ", "Ϊ\u0301")])
def test_ignoring_case_and_width_together_also_holds_for_letters_that_need_both(
    answer: str, response: str
) -> None:
    assert score(answer, response, case=True, nfkc=True) == 1.0


@pytest.mark.parametrize(
    ("answer", "response", "equal"),
    [
        (" a", "\ta", True),
        (" a", "a", False),
        ("a ", "a\n", True),
        ("a ", "a", False),
        ("a", "a ", False),
        ("a", "a", True),
        (" a", "XX XXa", False),
        ("a ", "aXX XX", False),
    ],
)
def test_without_strip_the_outer_white_space_counts_as_one_space(
    answer: str, response: str, equal: bool
) -> None:
    assert score(answer, response, strip=False, space=True) == equal


def test_a_fraction_is_not_written_as_a_whole_number() -> None:
    assert score(1.5, "1") == 0.0
    assert score(1.5, "1.5") == 1.0


def test_a_number_of_ten_thousand_bits_is_refused_and_one_bit_less_is_not() -> None:
    largest = (1 << 9_999) - 1
    Equal().validate(Task("p", largest))

    assert score(largest, str(largest)) == 1.0
    with pytest.raises(TaskError):
        Equal().validate(Task("p", 1 << 9_999))


@pytest.mark.parametrize(("answer", "what"), [([], "an empty list"), ({}, "dict"), (True, "bool")])
def test_an_answer_that_cannot_be_compared_is_named_by_its_kind(answer: Any, what: str) -> None:
    with pytest.raises(TaskError, match=f"the answer is {what};"):
        Equal().validate(Task("p", answer))
