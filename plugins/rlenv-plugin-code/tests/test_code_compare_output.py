"""Standard outputs compared: by lines, with tolerance, in any order."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from rlenv_plugin_code.compare import Rules
from rlenv_plugin_code.stdout import MARGIN, decoded, output_difference, same_output


@pytest.mark.parametrize(
    ("expected", "got", "right"),
    [
        ("1\n2\n", "1\n2", True),
        ("1\n2", "1 \n2\t\n\n\n", True),
        ("1\n2\n", "1\r\n2\r\n", True),
        ("", "\n\n", True),
        ("1\n2\n", "1\n", False),
        ("1\n", "1\n2\n", False),
        ("1\n\n2\n", "1\n2\n", False),
        ("1\n2\n", "\n1\n2\n", False),
        (" 1", "1", False),
        ("1  2", "1 2", False),
        ("a", "A", False),
        ("1", "1.0", False),
        ("1", "\u0661", False),
        ("a\x0cb", "a\nb", False),
        ("a\u2028b", "a\nb", False),
        ("a", "a\x00", False),
        ("\u00e9", "e\u0301", False),
    ],
)
def test_outputs_are_compared_by_lines(expected: str, got: str, right: bool) -> None:
    assert same_output(expected, got) is right


@pytest.mark.parametrize(
    ("expected", "got", "right"),
    [
        ("0.5 1.5", "0.5001 1.4999", True),
        ("0.5", "5.001e-1", True),
        ("0.5", ".5001", True),
        ("100 0.5", "100 0.5", True),
        ("1.0", "1", True),
        ("1", "1.0001", True),
        ("x = 0.5", "x   =\t0.5001", True),
        ("0.5", "0.6", False),
        ("1000", "1001", False),
        ("0.5 1.5", "0.5", False),
        ("0.5", "0.5 0.5", False),
        ("0.5", "nan", False),
        ("nan", "nan", True),
        ("nan", "0.5", False),
        ("inf", "1e999", False),
        ("1e308", "1e309", False),
        ("0.5", "1_0e-1", False),
        ("0.5", "\u0660.\u0665", False),
        ("0.5", "0.5f", False),
        ("0.5", "0x.8p0", False),
        ("0.5", "+-0.5", False),
        ("12.0", "1_2.0", False),
        ("0.5", "5e-0000001", False),
        ("0.5", "0." + "5" + "0" * 10**6, False),
        ("0.5\n", "0.5001\nmore", False),
    ],
)
def test_tolerance_reads_plain_numbers_only(expected: str, got: str, right: bool) -> None:
    assert same_output(expected, got, rtol=1e-3) is right


def test_lines_in_any_order() -> None:
    assert same_output("a\nb\nb\n", "b\na\nb", unordered=True)
    assert not same_output("a\nb\nb\n", "a\na\nb", unordered=True)


def test_the_first_line_that_differs_is_told() -> None:
    found = output_difference("1\n2\n3\n", "1\n5\n3\n", Rules())
    assert str(found) == "at line 2: expected '2', got '5'"
    assert (
        str(output_difference("1\n2\n", "1\n", Rules()))
        == "at line 2: expected 2 lines, got 1 lines"
    )


def test_an_output_far_longer_than_expected_is_not_read() -> None:
    assert not same_output("1", "1" + "\n" * (MARGIN + 1))
    assert same_output("1", "1" + "\n" * 1000)


def test_only_strict_utf_8_is_text() -> None:
    assert decoded("é".encode()) == "é"
    for data in (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80"):
        assert decoded(data) is None


@settings(max_examples=100, deadline=None)
@given(st.text(), st.text())
def test_outputs_that_are_the_same_differ_in_blanks_at_line_ends_only(one: str, other: str) -> None:
    assume(one != other)
    if same_output(one, other):
        bare = [[line.rstrip(" \t\r") for line in text.split("\n")] for text in (one, other)]
        assert "\n".join(bare[0]).rstrip("\n") == "\n".join(bare[1]).rstrip("\n")
