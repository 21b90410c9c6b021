"""Where the line runs between a decimal that stands for a value and one that does not."""

from __future__ import annotations

import pytest
from rlenv_plugin_math.compare import Options, decide
from rlenv_plugin_math.parser import parse


def equal(gold: str, given: str, **options: float) -> bool:
    wanted = Options(symbolic=False, **options)  # type: ignore[arg-type]
    return decide(parse(gold), parse(given), key=b"key", options=wanted).equal


@pytest.mark.parametrize(
    ("gold", "given", "accepted"),
    [
        (r"\frac{1}{3}", "0.3333333333333332", True),
        (r"\frac{1}{3}", "0.3333333333333334", True),
        (r"\frac{1}{3}", "0.3333333333333331", False),
        (r"\frac{1}{3}", "0.3333333333333335", False),
        (r"\frac{1}{3}", "0.33333333333333331", True),
        (r"\frac{1}{3}", "0.33333333333333335", True),
        (r"\frac{2}{3}", "0.66666666666666669", False),
        (r"\frac{1}{3}", "0.333333333333333333", True),
        (r"\frac{1}{3}", "0.333333333333333335", False),
        (r"\frac{1}{3}", "0.333333333333335", False),
    ],
)
def test_only_what_a_binary_double_prints_may_be_off_in_its_last_digit(
    gold: str, given: str, accepted: bool
) -> None:
    assert equal(gold, given) == accepted


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize(
    ("gold", "given", "accepted"),
    [
        (r"\frac{2}{3}", "0.666667", True),
        (r"\frac{2}{3}", "0.666666", True),
        (r"\frac{2}{3}", "0.666668", False),
        (r"\frac{2}{3}", "0.666665", False),
        (r"\frac{6666669}{10000000}", "0.666666", True),
        (r"\frac{6666661}{10000000}", "0.666666", True),
        (r"\frac{6666659}{10000000}", "0.666666", True),
        (r"\frac{6666654}{10000000}", "0.666666", False),
        (r"\pi", "3.14159", True),
        (r"\pi", "3.14160", False),
        (r"\pi", "3.1415", False),
        (r"\frac{2}{3}", "66666.7 \\times 10^{-5}", True),
        (r"\frac{2}{3}", "6.66667 \\times 10^{-1}", True),
        (r"\frac{2}{3}", "0.00666667 \\times 10^{2}", True),
        (r"\frac{2}{3}", "6.66667 \\times 10^{1}", False),
        (r"\frac{20}{3}", r"6.66667 \times 10^{\frac{1}{2}}", False),
        ("5", "5.000001", False),
        ("5", "4.999999", False),
    ],
)
def test_a_decimal_is_a_value_rounded_or_cut_at_its_last_place(
    sign: str, gold: str, given: str, accepted: bool
) -> None:
    assert equal(sign + gold, sign + given) == accepted


def test_a_gold_that_states_more_digits_than_it_was_given_is_not_met() -> None:
    assert not equal("3.14159265", "3.14159")
    assert equal("3.14159", "3.14159265")


def test_a_large_value_is_measured_to_its_last_place() -> None:
    assert equal(r"10^{20}\pi", "314159265358979323846.264338")
    assert not equal(r"10^{20}\pi", "314159265358979323846.264340")


def test_a_tolerance_ends_where_it_says() -> None:
    assert equal("5", "6", abs_tol=1.0)
    assert not equal("5", "6.25", abs_tol=1.0)
    assert equal("8", "6", rel_tol=0.25)
    assert equal("-8", "-10", rel_tol=0.25)
    assert not equal("8", "10.25", rel_tol=0.25)
    assert equal("8", "10", rel_tol=0.25, abs_tol=1.0)
    assert equal("8", "10", rel_tol=0.125, abs_tol=2.0)


@pytest.mark.parametrize(("gold", "given"), [("x", "5"), ("x", "y"), ("5", "x")])
def test_a_tolerance_is_for_numbers_only(gold: str, given: str) -> None:
    assert not equal(gold, given, abs_tol=100.0, rel_tol=100.0)


@pytest.mark.parametrize(("digits", "accepted"), [(3, True), (4, False)])
def test_a_rounded_decimal_shows_as_many_digits_as_the_task_demands(
    digits: int, accepted: bool
) -> None:
    assert equal(r"\frac{2}{3}", "0.667", digits=digits) == accepted
