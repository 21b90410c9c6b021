"""What is said of a stated answer beside a gold one: equal or not, and by which way."""

from __future__ import annotations

import pytest
from rlenv_plugin_math.compare import Options
from rlenv_plugin_math.extract import extract
from rlenv_plugin_math.gold import golds
from rlenv_plugin_math.match import Match, match


def matched(gold: str, response: str, *, as_text: bool = False, abs_tol: float = 0.0) -> Match:
    (wanted,) = golds(gold)
    options = Options(symbolic=False, abs_tol=abs_tol)
    return match(wanted, extract(response), b"key", options, as_text=as_text)


@pytest.mark.parametrize(
    ("gold", "response", "equal", "how"),
    [
        ("5", r"\boxed{5}", True, "text"),
        ("5", r"\boxed{5.0}", True, "exact"),
        ("5", r"\boxed{6}", False, "exact"),
        ("5", r"\boxed{05}", True, "exact"),
        ("(1, 2)", r"\boxed{( 1 , 2 )}", True, "structure"),
        ("1/4", r"\boxed{1/4, or 25\%}", True, "each"),
        ("1, 2", r"The roots are \boxed{1} and \boxed{2}.", True, "list"),
        ("1, 2", r"The roots are \boxed{1} and \boxed{3}.", False, "list"),
        ("1, 2", r"We get \boxed{1}. Also \boxed{3}.", False, "ambiguous"),
        ("1, 2", r"The roots are \boxed{1} and \boxed{is it 2?}.", False, "list"),
        (r"1-\cos(x)^2, x+x", r"They are \boxed{\sin(x)^2} and \boxed{2x}.", True, "list"),
        ("5", r"We get \boxed{5}. Also \boxed{5.0}.", True, "text"),
        ("5", r"\boxed{it is large}", False, "words"),
        ("5", r"\boxed{is it 5?}", False, "hedged"),
        ("5", r"\boxed{5 + + * /}", False, "unparsed"),
        ("maybe", r"\boxed{Maybe}", True, "structure"),
        ("Thursday", r"\boxed{thursday}", True, "structure"),
        ("Thursday", r"The day is Thursday.", True, "structure"),
        ("Thursday", r"\boxed{The day is Thursday}", True, "structure"),
        ("Thursday", r"\boxed{The day is Friday}", False, "text"),
        ("Thursday", r"\boxed{Thursday?}", True, "structure"),
        ("Room 12", r"\boxed{room 12}", True, "structure"),
        ("Room 12", r"\boxed{12}", False, "text"),
    ],
)
def test_a_match_tells_its_way(gold: str, response: str, equal: bool, how: str) -> None:
    assert matched(gold, response) == Match(equal=equal, how=how)


@pytest.mark.parametrize(("response", "equal"), [(r"\boxed{A  b}", True), (r"\boxed{a c}", False)])
def test_texts_are_compared_without_case_and_spacing(response: str, equal: bool) -> None:
    assert matched("a b", response, as_text=True) == Match(equal=equal, how="text")


def boxes(count: int) -> str:
    return "The roots are " + ", ".join(rf"\boxed{{{n}}}" for n in range(count)) + "."


@pytest.mark.parametrize(("count", "equal"), [(64, True), (65, False)])
def test_as_many_boxes_as_may_be_one_list(count: int, equal: bool) -> None:
    assert matched(", ".join(map(str, range(count))), boxes(count)).equal is equal


def test_several_decimals_are_each_as_close_as_one_has_to_be() -> None:
    assert matched("1/3", r"It is \boxed{0.333333} and \boxed{0.3333333}.").equal
    assert not matched("1/3", r"It is \boxed{0.333333} and \boxed{0.3334}.").equal


def test_a_comparison_that_breaks_is_logged_and_undecided(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr("rlenv_plugin_math.match.decide", broken)

    assert matched("5", r"\boxed{6}") == Match(equal=False, how="undecided", decided=False)
    assert caplog.messages == ["math/equal could not compare an answer: ZeroDivisionError"]


@pytest.mark.parametrize(
    ("gold", "response", "how"),
    [
        ("5", r"\boxed{5.01 or 4.99}", "each"),
        ("1, 2", r"The roots are \boxed{1.01} and \boxed{1.99}.", "list"),
    ],
)
def test_a_tolerance_holds_for_every_one_of_several_values(
    gold: str, response: str, how: str
) -> None:
    assert matched(gold, response, abs_tol=0.1) == Match(True, how)
    assert not matched(gold, response).equal


def test_what_cannot_be_decided_is_told() -> None:
    found = matched("5", r"\boxed{\prod_{n=1}^{10000} \sin(n)}")

    assert found == Match(equal=False, how="undecided", decided=False)


def test_an_expression_may_be_given_twice() -> None:
    response = r"We get $\boxed{1-\cos(x)^2}$. Also $\boxed{\frac{1-\cos(2x)}{2}}$."

    assert matched(r"\sin(x)^2", response) == Match(True, "numeric")


def test_an_expression_may_be_given_in_several_forms() -> None:
    response = r"\boxed{1-\cos(x)^2 \text{ or } \frac{1-\cos(2x)}{2}}"

    assert matched(r"\sin(x)^2", response) == Match(True, "each")


@pytest.mark.parametrize(("count", "equal"), [(8, True), (9, False)])
def test_a_value_is_looked_at_in_eight_notations_at_most(count: int, equal: bool) -> None:
    notations = " or ".join(f"{n}/{4 * n}" for n in range(1, count + 1))

    assert matched("0.25", f"\\boxed{{{notations}}}").equal == equal


@pytest.mark.parametrize(("count", "equal"), [(8, True), (9, False)])
def test_eight_boxes_of_one_value_are_looked_at_one_by_one(count: int, equal: bool) -> None:
    boxes = "Also ".join(rf"\boxed{{{n}/{4 * n}}}. " for n in range(1, count + 1))

    assert matched("0.25", boxes).equal == equal
