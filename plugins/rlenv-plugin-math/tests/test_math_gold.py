"""Gold answers as data sets write them."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from rlenv_plugin_math.gold import golds, plain_number


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("18", "18"),
        (18, "18"),
        (0.5, "0.5"),
        (Decimal("0.50"), "0.50"),
        (Fraction(1, 3), "1/3"),
        (True, "True"),
        ("\\boxed{12}", "12"),
        ("Some work. $x = \\boxed{\\frac{1}{2}}$", "\\frac{1}{2}"),
        ("\\boxed{3} and \\boxed{5}", "3, 5"),
        ("3 + 4 = 7\n#### 7", "7"),
        ("$\\frac{2}{3}$", "\\frac{2}{3}"),
        ("\\(x=4\\)", "x=4"),
        ("$$\nx\n$$", "x"),
        ("$x=1$ and $y=2$", "$x=1$ and $y=2$"),
        ("$18", "$18"),
        ("  7 ", "7"),
    ],
)
def test_the_answer_is_read_out_of_its_wrapping(answer: object, text: str) -> None:
    assert [gold.text for gold in golds(answer)] == [text]


def test_a_list_holds_alternatives() -> None:
    assert [g.text for g in golds(["1/4", "25%", 0.25])] == ["1/4", "25%", "0.25"]
    assert [g.text for g in golds(("a", ["b"]))] == ["a", "b"]


@pytest.mark.parametrize(
    "answer", [None, "", "  ", [], {}, b"18", float("nan"), float("inf"), object(), ["1", None]]
)
def test_what_is_no_answer_is_refused(answer: object) -> None:
    with pytest.raises(ValueError, match=r"gold answer|expected"):
        golds(answer)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("0", "0"),
        ("-0", "0"),
        ("18", "18"),
        ("-18", "-18"),
        ("18.50", "18.5"),
        ("18.00", "18"),
        ("-0.0", "0"),
        ("0.5", "0.5"),
    ],
)
def test_plain_numbers_have_one_form(text: str, canonical: str) -> None:
    assert plain_number(text) == canonical


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-",
        "018",
        "1,000",
        "1e5",
        "½",
        "１８",
        "1.",
        ".5",
        "+5",
        "- 5",
        "--5",
        "x",
        "1_000",
        "٣",
        "00.5",
    ],
)
def test_everything_else_waits_for_the_parser(text: str) -> None:
    assert plain_number(text) is None
