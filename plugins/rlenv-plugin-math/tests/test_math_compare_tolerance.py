"""Where the line runs between a decimal that stands for a value and one that does not."""

from __future__ import annotations

from decimal import Context, localcontext
from decimal import Decimal as Whole
from fractions import Fraction

import pytest
from rlenv_plugin_math.compare import Options, decide
from rlenv_plugin_math.compare.same import same
from rlenv_plugin_math.compare.tolerance import Decimal, decimal, number
from rlenv_plugin_math.compare.work import Case
from rlenv_plugin_math.parser import parse
from rlenv_plugin_math.tree import Mul, Neg, Node, Num, Pow


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


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize(
    ("gold", "given"),
    [
        ("3.14159", "3.14160"),
        ("3.14159", "3.14158"),
        ("0.500000", r"\frac{500001}{1000000}"),
        (r"\frac{666667}{1000000}", "0.666666"),
        (r"\frac{666665}{1000000}", "0.666666"),
    ],
)
def test_a_value_one_unit_off_in_the_last_place_is_another(
    sign: str, gold: str, given: str
) -> None:
    assert not equal(sign + gold, sign + given)


def test_two_prints_of_one_double_are_equal() -> None:
    assert equal("0.3333333333333331", "0.3333333333333332")
    assert not equal("0.3333333333333331", "0.3333333333333333")


def test_a_printed_double_as_gold_is_not_met_by_one_digit_less() -> None:
    assert not equal("0.3333333333333331", "0.333333333333333")


def test_a_complex_value_is_no_decimal_however_small_its_imaginary_part() -> None:
    assert not equal(r"\pi + 10^{-9}i", "3.14159")
    assert equal(r"\pi + 10^{-9}", "3.14159")


def test_a_decimal_of_thousands_of_digits_is_still_one() -> None:
    assert equal(r"\frac{1}{3}", "0." + "3" * 3_900)
    assert not equal(r"\frac{1}{3}", "0." + "3" * 3_900 + "1")


def test_the_exact_middle_may_be_rounded_either_way() -> None:
    assert equal(r"\frac{6666665}{10000000}", "0.666667")
    assert equal(r"\frac{6666665}{10000000}", "0.666666")


def test_a_decimal_too_long_to_be_measured_is_not_accepted() -> None:
    assert not equal(r"\pi", "3.14159" + "0" * 2_000)


def test_a_large_value_is_measured_to_its_last_place() -> None:
    assert equal(r"10^{20}\pi", "314159265358979323846.264338")
    assert not equal(r"10^{20}\pi", "314159265358979323846.264340")


@pytest.mark.parametrize("power", [150, 300])
def test_a_decimal_of_hundreds_of_digits_is_measured_to_its_last_place(power: int) -> None:
    with localcontext(Context(prec=power + 7)):
        root = Whole(2).sqrt().scaleb(power)
        above = root.next_plus()
        below = root.next_minus()

    gold = rf"10^{{{power}}}\sqrt{{2}}"
    assert equal(gold, f"{root:f}")
    assert not equal(gold, f"{above.next_plus(Context(prec=power + 7)):f}")
    assert not equal(gold, f"{below.next_minus(Context(prec=power + 7)):f}")


def test_a_constant_is_measured_to_4096_digits_at_most() -> None:
    case = Case(b"key", Options(), same)

    assert str(number(parse(r"\pi"), case, 4096)).startswith("3.14159")
    assert number(parse(r"\pi"), case, 4097) is None


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


def whole(value: int | Fraction) -> Num:
    return Num(Fraction(value), None)


def times_ten_to(exponent: Node, base: int = 10, first: str = "2.5") -> Node:
    return Mul((parse(first), Pow(whole(base), exponent)))


@pytest.mark.parametrize(
    ("node", "read"),
    [
        (parse("0.25"), Decimal(Fraction(1, 4), Fraction(1, 100), 2)),
        (Neg(parse("0.25")), Decimal(Fraction(-1, 4), Fraction(1, 100), 2)),
        (times_ten_to(whole(2)), Decimal(Fraction(250), Fraction(10), 2)),
        (times_ten_to(whole(-2)), Decimal(Fraction(1, 40), Fraction(1, 1000), 2)),
        (times_ten_to(Neg(whole(2))), Decimal(Fraction(1, 40), Fraction(1, 1000), 2)),
        (times_ten_to(whole(0)), Decimal(Fraction(5, 2), Fraction(1, 10), 2)),
    ],
)
def test_a_decimal_may_have_a_sign_and_a_power_of_ten(node: Node, read: Decimal) -> None:
    assert decimal(node) == read


@pytest.mark.parametrize("exponent", [whole(999), whole(-999), Neg(whole(999))])
def test_the_largest_power_of_ten_is_read(exponent: Node) -> None:
    assert decimal(times_ten_to(exponent)) is not None


@pytest.mark.parametrize(
    "node",
    [
        parse("3"),
        parse("x"),
        Neg(parse("3")),
        times_ten_to(whole(1000)),
        times_ten_to(whole(-1000)),
        times_ten_to(whole(Fraction(1, 2))),
        times_ten_to(parse("x")),
        times_ten_to(whole(2), base=11),
        times_ten_to(whole(2), first="3"),
        Mul((parse("2.5"), whole(10))),
        Mul((parse("2.5"), Pow(parse("x"), whole(2)))),
        Mul((parse("2.5"), Pow(whole(10), whole(2)), parse("x"))),
    ],
)
def test_what_states_no_digits_behind_the_point_is_no_decimal(node: Node) -> None:
    assert decimal(node) is None


@pytest.mark.parametrize(
    ("gold", "accepted"), [("123456789", False), (r"\frac{370370369}{3}", True)]
)
def test_an_integer_is_never_approximated(gold: str, accepted: bool) -> None:
    rounded = times_ten_to(whole(8), first="1.23457")
    options = Options(symbolic=False)

    assert decide(parse(gold), rounded, key=b"key", options=options).equal == accepted
