"""What counts as the same answer; the tables hold one pair a line, the two sides apart by ``;;``.

``same`` and ``different`` hold whichever side is the gold; in ``meets`` and ``misses`` the gold is
on the left.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from rlenv_plugin_math.compare import Decision, Options, decide
from rlenv_plugin_math.parser import parse

TABLES = Path(__file__).parent / "compare_tables"
INLINE = Options(symbolic=False)


def pairs(table: str) -> list[tuple[str, str]]:
    lines = (TABLES / f"{table}.txt").read_text(encoding="utf-8").splitlines()
    return [(gold, given) for gold, _, given in (line.partition(" ;; ") for line in lines)]


def compare(gold: str, given: str, options: Options = INLINE) -> Decision:
    return decide(parse(gold), parse(given), key=b"key", options=options)


@pytest.mark.parametrize(("one", "other"), pairs("same"))
def test_equal_answers_are_equal_whichever_is_the_gold(one: str, other: str) -> None:
    assert compare(one, other).equal
    assert compare(other, one).equal


@pytest.mark.parametrize(("one", "other"), pairs("different"))
def test_different_answers_differ_whichever_is_the_gold(one: str, other: str) -> None:
    assert not compare(one, other).equal
    assert not compare(other, one).equal


@pytest.mark.parametrize(("gold", "given"), pairs("meets"))
def test_an_answer_may_say_more_or_less_than_the_gold_writes(gold: str, given: str) -> None:
    assert compare(gold, given).equal


@pytest.mark.parametrize(("gold", "given"), pairs("misses"))
def test_a_statement_that_is_not_the_answer_earns_nothing(gold: str, given: str) -> None:
    assert not compare(gold, given).equal


def test_the_rung_that_decided_is_named() -> None:
    assert compare("3", "3.0").how == "exact"
    assert compare(r"\sqrt8", r"2\sqrt2").how == "normal form"
    assert compare(r"\sin 2x", r"2\sin x\cos x").how == "numeric"
    assert compare("x + 1", "x + 1").how == "structure"
    assert compare(r"\text{yes}", r"\text{no}").how == "text"


def test_a_tower_too_high_for_any_rung_is_undecided_and_unequal() -> None:
    decision = compare("9^{9^{9^{9}}}", "9^{9^{9^{9}}}+1")
    assert decision == Decision(equal=False, how="undecided", decided=False)


def test_tolerance_can_be_turned_off() -> None:
    assert compare(r"\pi", "3.14159265").equal
    assert not compare(r"\pi", "3.14159265", Options(tolerance="none")).equal


def test_fewer_digits_suffice_when_the_task_says_so() -> None:
    assert not compare(r"\pi", "3.14").equal
    assert compare(r"\pi", "3.14", Options(digits=3)).equal


def test_an_integer_is_never_an_approximation_nor_approximated() -> None:
    assert not compare("3", "3.0000001").equal
    assert not compare("2.9999999", "3").equal


def test_a_task_may_demand_a_relative_or_absolute_tolerance() -> None:
    assert compare("9.81", "9.8", Options(rel_tol=0.01)).equal
    assert not compare("9.81", "9.6", Options(rel_tol=0.01)).equal
    assert compare("100", "100.4", Options(abs_tol=0.5)).equal
    assert not compare("100", "100.6", Options(abs_tol=0.5)).equal


def test_a_percent_sign_may_be_left_out_unless_it_must_be_exact() -> None:
    exact = Options(percent="exact")
    for gold, given in ((r"10\%", "10"), ("10", r"10\%")):
        assert compare(gold, given).equal
        assert not compare(gold, given, exact).equal
    for gold, given in ((r"10\%", "0.1"), ("0.1", r"10\%"), (r"10\%", "10 percent")):
        assert compare(gold, given, exact).equal


def test_a_gold_with_a_unit_can_insist_on_it() -> None:
    strict = Options(require_unit=True)
    assert not compare(r"5 \text{ cm}", "5", strict).equal
    assert compare(r"5 \text{ cm}", r"50 \text{ mm}", strict).equal
    assert compare("5", r"5 \text{ cm}", strict).equal
