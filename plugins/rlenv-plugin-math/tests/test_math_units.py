"""Units convert exactly, and spellings mean what they say."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv_plugin_math.units import convert, glues, is_currency, lookup, make, stands_alone

NAMES = [
    "m",
    "km",
    "cm",
    "inch",
    "foot",
    "mile",
    "g",
    "kg",
    "second",
    "hour",
    "L",
    "mL",
    "%",
    "$",
    "cent",
    "N",
    "J",
]
units = st.lists(st.tuples(st.sampled_from(NAMES), st.integers(-3, 3)), max_size=4).map(make)


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("km", "km"),
        ("kilometers", "km"),
        ("Kilometres", "km"),
        ("feet", "foot"),
        ("ft", "foot"),
        ("inches", "inch"),
        ("lbs", "pound"),
        ("hours", "hour"),
        ("hrs", "hour"),
        ("h", "hour"),
        ("dollars", "$"),
        ("USD", "$"),
        ("percent", "%"),
        ("degrees", "deg"),
        ("Celsius", "degC"),
        ("mg", "mg"),
        ("Mg", None),
        ("x", None),
        ("apples", None),
        ("", None),
        ("centuries", "century"),
    ],
)
def test_spellings(spelling: str, name: str | None) -> None:
    assert lookup(spelling) == name


@pytest.mark.parametrize(
    ("one", "factor", "other"),
    [
        ((("km", 1),), 1000, (("m", 1),)),
        ((("mile", 1),), 5280, (("foot", 1),)),
        ((("foot", 1),), 12, (("inch", 1),)),
        ((("hour", 1),), 3600, (("second", 1),)),
        ((("cm", 2),), Fraction(1, 10_000), (("m", 2),)),
        ((("hour", -1), ("km", 1)), Fraction(5, 18), (("m", 1), ("second", -1))),
        ((("$", 1),), 100, (("cent", 1),)),
        ((("L", 1),), 1000, (("mL", 1),)),
        ((("gallon", 1),), 16, (("cup", 1),)),
        ((("pound", 1),), 16, (("ounce", 1),)),
        ((("J", 1),), 1, (("N", 1), ("m", 1))),
        ((("mL", 1),), 1, (("cm", 3),)),
        ((("deg", 1),), 60, (("arcminute", 1),)),
        ((("mph", 1),), 1, (("mile", 1), ("hour", -1))),
        ((("mile", 2),), 640, (("acre", 1),)),
    ],
)
def test_conversions_are_exact(
    one: tuple[tuple[str, int], ...], factor: int, other: tuple[tuple[str, int], ...]
) -> None:
    first, dimension = convert(make(one))
    second, same = convert(make(other))
    assert dimension == same
    assert first == factor * second


def test_percent_is_a_hundredth_of_nothing() -> None:
    assert convert((("%", 1),)) == (Fraction(1, 100), ())


def test_a_name_unknown_to_the_table_is_a_dimension_of_its_own() -> None:
    assert convert((("apple", 1),)) == (Fraction(1), (("apple", 1),))


@given(units, units)
def test_converting_a_product_multiplies_the_factors(
    one: tuple[tuple[str, int], ...], other: tuple[tuple[str, int], ...]
) -> None:
    assert convert(make((*one, *other)))[0] == convert(one)[0] * convert(other)[0]
    assert convert(make((*one, *other)))[1] == make((*convert(one)[1], *convert(other)[1]))


def test_money_and_letters() -> None:
    assert is_currency((("cent", 1),))
    assert not is_currency((("cent", 1), ("hour", -1)))
    assert stands_alone("m")
    assert not stands_alone("x")
    assert glues("cm")
    assert not glues("in")
