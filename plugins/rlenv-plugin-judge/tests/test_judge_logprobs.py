"""The expected score, from the log-probabilities of the tokens that write it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv_plugin_judge.protocol.logprobs import expected_of
from rlenv_plugin_judge.protocol.verdict import Field
from rlenv_plugin_judge.transport.request import Reply, Token

NONCE = "3f9a0c5512ab77de4410"
HEAD = f'{{"nonce": "{NONCE}", "'
Spelled = Sequence[tuple[str, dict[str, float]]]


def estimate(
    field: Field, value: Any, spelled: Spelled, tail: str = ', "reason": "score: 9"}'
) -> tuple[dict[str, float], str]:
    """``spelled``: the value's tokens, each with the chances of what may be there, itself among
    them.
    """
    tokens = [Token(HEAD, 0.0), Token(f'{field.name}": ', 0.0)]
    tokens += [_token(text, top) for text, top in spelled] + [Token(tail, 0.0)]
    text = "".join(t.text for t in tokens)
    reply = Reply(text, logprobs=tuple(tokens))
    return expected_of(reply, NONCE, (field,), {field.name: value})


def _token(text: str, top: dict[str, float]) -> Token:
    listed = tuple((t, math.log(p)) for t, p in top.items())
    return Token(text, math.log(top.get(text, 1.0)), listed)


SCORE = Field("score", low=1, high=9)


def test_the_mean_over_digits() -> None:
    found, how = estimate(SCORE, 7.0, [("7", {"7": 0.5, "8": 0.3, "6": 0.2})])
    assert found["score"] == pytest.approx(7.1)
    assert how == "logprobs"


def test_what_is_no_valid_value_is_left_out() -> None:
    top = {"7": 0.5, "0": 0.2, "good": 0.2, "9": 0.1, "NaN": 0.0001, '"': 0.001}
    found, _ = estimate(SCORE, 7.0, [("7", top)])
    assert found["score"] == pytest.approx((0.5 * 7 + 0.1 * 9) / 0.6)


def test_a_token_may_hold_what_comes_before_and_after_the_number() -> None:
    found, how = estimate(
        SCORE, 7.0, [(" 7,", {" 7,": 0.75, " 5,": 0.25, "x": 0.0001})], tail=' "reason": ""}'
    )
    assert found["score"] == pytest.approx(6.5)
    assert how == "logprobs"


def test_two_digits_of_their_own_are_followed() -> None:
    percent = Field("score", low=0, high=99)
    spelled = [("8", {"8": 1.0}), ("5", {"5": 0.5, "0": 0.5})]
    found, how = estimate(percent, 85.0, spelled)
    assert found["score"] == pytest.approx(82.5)
    assert how == "logprobs"


def test_a_first_digit_that_might_have_been_another_is_taken_by_its_middle() -> None:
    percent = Field("score", low=0, high=99)
    spelled = [("8", {"8": 0.8, "7": 0.2}), ("5", {"5": 1.0})]
    found, how = estimate(percent, 85.0, spelled)
    assert found["score"] == pytest.approx(0.8 * 85 + 0.2 * 74.5)
    assert how == "logprobs-approximate"


def test_ten_is_not_one() -> None:
    ten = Field("score", low=1, high=10)
    spelled = [("1", {"1": 0.6, "9": 0.4}), ("0", {"0": 0.9, ",": 0.1})]
    found, _ = estimate(ten, 10.0, spelled)
    assert found["score"] == pytest.approx(0.54 * 10 + 0.06 * 1 + 0.4 * 55 / 10, abs=2.0)
    assert found["score"] > 8


def test_decimals_are_followed_too() -> None:
    unit = Field("score", low=0, high=1)
    spelled = [("0", {"0": 0.9, "1": 0.1}), (".", {".": 1.0}), ("8", {"8": 0.5, "6": 0.5})]
    found, _ = estimate(unit, 0.8, spelled)
    assert found["score"] == pytest.approx(0.9 * 0.7 + 0.1)


def test_truth_values_and_choices_have_chances() -> None:
    ok = Field("score", "bool")
    found, how = estimate(ok, True, [("true", {"true": 0.8, "false": 0.1, " True": 0.1})])
    assert found["score"] == pytest.approx(8 / 9)
    grade = Field("score", "choice", choices=("bad", "fair", "good"))
    found, how = estimate(
        grade,
        "good",
        [('"', {'"': 1.0}), ("go", {"go": 0.7, "b": 0.2, "f": 0.1}), ('od"', {'od"': 1.0})],
    )
    assert found == pytest.approx({"score=good": 0.7, "score=bad": 0.2, "score=fair": 0.1})
    assert how == "logprobs"


def test_a_beginning_of_two_choices_counts_for_none() -> None:
    grade = Field("score", "choice", choices=("good", "great", "bad"))
    top = {"bad": 0.6, "g": 0.2, "goo": 0.2}
    found, _ = estimate(grade, "bad", [('"', {'"': 1.0}), ("bad", top), ('"', {'"': 1.0})])
    assert found == pytest.approx({"score=bad": 0.75, "score=good": 0.25, "score=great": 0.0})


def test_without_usable_log_probabilities_the_verdict_stands() -> None:
    spelled = [("7", {"7": 0.3, "x": 0.7})]
    assert estimate(SCORE, 7.0, spelled) == ({}, "verdict")
    assert expected_of(Reply("{}"), NONCE, (SCORE,), {"score": 7.0}) == ({}, "verdict")
    other = Reply("another text", logprobs=(Token(HEAD + 'score": 7}', 0.0),))
    assert expected_of(other, NONCE, (SCORE,), {"score": 7.0}) == ({}, "verdict")


@given(
    st.dictionaries(st.sampled_from("0123456789x{ "), st.floats(1e-6, 1), max_size=8),
    st.integers(1, 9),
)
def test_an_expectation_is_always_within_the_range(top: dict[str, float], value: int) -> None:
    found, how = estimate(SCORE, float(value), [(str(value), {**top, str(value): 0.7})])
    assert how == "verdict" or 1.0 <= found["score"] <= 9.0
