"""Number words, phrases, and what is a word at all."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv_plugin_math.phrases import phrase
from rlenv_plugin_math.tree import Add, Clock, Div, NamedSet, Num, Ratio, SetOf, Text
from rlenv_plugin_math.words import as_clock, is_product, number, singular

ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
)
TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety"


def spell(value: int) -> str:
    for scale, name in (
        (10**9, "billion"),
        (10**6, "million"),
        (1000, "thousand"),
        (100, "hundred"),
    ):
        if value >= scale:
            rest = f" {spell(value % scale)}" if value % scale else ""
            return f"{spell(value // scale)} {name}{rest}"
    if value < 20:
        return ONES.split()[value]
    return TENS.split()[value // 10] + (f" {ONES.split()[value % 10]}" if value % 10 else "")


@given(st.integers(0, 10**12 - 1))
def test_every_number_in_words_is_read_back(value: int) -> None:
    words = spell(value).split()
    assert number(words) == (Num(Fraction(value)), len(words))


@pytest.mark.parametrize(
    ("words", "value", "used"),
    [
        ("twenty one apples", 21, 2),
        ("one hundred and five", 105, 4),
        ("five and six", 5, 1),
        ("a dozen eggs", 12, 2),
        ("fifteen hundred", 1500, 2),
        ("third", 3, 1),
    ],
)
def test_number_words_stop_where_the_number_ends(words: str, value: int, used: int) -> None:
    assert number(words.split()) == (Num(Fraction(value)), used)


def test_fractions_in_words() -> None:
    half = Div(Num(Fraction(1)), Num(Fraction(2)))
    assert number(["half"]) == (half, 1)
    assert number(["one", "half"]) == (half, 2)
    assert number(["two", "and", "a", "half"]) == (Add((Num(Fraction(2)), half)), 4)
    assert number(["three", "quarters"]) == (Div(Num(Fraction(3)), Num(Fraction(4))), 2)


@pytest.mark.parametrize("words", ["a cat", "hundreds", "apples", "second", "nobody", "and one"])
def test_other_words_are_no_number(words: str) -> None:
    assert number(words.split()) is None


def test_phrases_have_one_meaning() -> None:
    assert phrase("no solutions") == phrase("there is no solution") == Text("no solution")
    assert phrase("all real numbers") == NamedSet("R")
    assert phrase("empty set") == SetOf(())
    assert phrase("no real solution") != phrase("no solution")
    assert phrase("solution") is None


@pytest.mark.parametrize("word", ["xy", "ab", "xyz", "abc", "pqr", "ABC", "x", "AB"])
def test_products_of_variables(word: str) -> None:
    assert is_product(word)


@pytest.mark.parametrize(
    "word",
    ["cat", "no", "is", "apples", "Bob", "tuesday", "ABCD", "DNE", "eggs", "sum", "né"],
)
def test_words(word: str) -> None:
    assert not is_product(word)


@pytest.mark.parametrize(
    ("many", "one"),
    [
        ("apples", "apple"),
        ("boxes", "box"),
        ("children", "child"),
        ("berries", "berry"),
        ("glasses", "glass"),
        ("people", "person"),
        ("ways", "way"),
        ("bus", "bus"),
        ("glass", "glass"),
        ("Cats", "cat"),
    ],
)
def test_singular(many: str, one: str) -> None:
    assert singular(many) == one


def test_a_ratio_may_be_a_time_of_day() -> None:
    def ratio(*parts: int) -> Ratio:
        return Ratio(tuple(Num(Fraction(part)) for part in parts))

    assert as_clock(ratio(15, 45)) == Clock(56_700)
    assert as_clock(ratio(1, 2, 3)) == Clock(3_723)
    assert as_clock(ratio(25, 0)) is None
    assert as_clock(ratio(3, 60)) is None
    assert as_clock(Ratio((Num(Fraction(1, 2)), Num(Fraction(3))))) is None
    assert as_clock(Num(Fraction(3))) is None
