"""core/equal: exact match, but for what its options declare."""

from __future__ import annotations

from typing import Any

import pytest
from growth import assert_linear
from rlenv import Attempt, ConfigError, Environment, Task, TaskError
from rlenv.compose.equal import Equal


def score(answer: Any, response: str, **options: Any) -> float:
    return Equal(**options).check(Attempt(Task("p", answer), response)).score


@pytest.mark.parametrize(
    ("answer", "response", "options"),
    [
        ("Paris", "Paris", {}),
        ("Paris", " Paris\n", {}),
        (" Paris ", "Paris", {}),
        (42, "42", {}),
        (-3, "-3", {}),
        (0.5, "0.5", {}),
        (42.0, "42", {}),
        (42.0, "42.0", {}),
        (["a", 2, ["b"]], "b", {}),
        (["a", 2], "2", {}),
        ("Paris", "PARIS", {"case": True}),
        ("Straße", "STRASSE", {"case": True}),
        ("a b", "a \n\t b", {"space": True}),
        ("42", "４２", {"nfkc": True}),
        ("½", "1⁄2", {"nfkc": True}),
        ("USA", "United States", {"aliases": {"USA": ["United States"]}}),
        (
            "usa",
            "UNITED  STATES",
            {"aliases": {"USA": ["United States"]}, "case": True, "space": True},
        ),
    ],
)
def test_these_are_equal(answer: Any, response: str, options: dict[str, Any]) -> None:
    assert score(answer, response, **options) == 1.0


@pytest.mark.parametrize(
    ("answer", "response", "options"),
    [
        ("Paris", "paris", {}),
        ("Paris", "Paris.", {}),
        ("Paris", "Paris, Lyon", {}),
        ("a b", "a  b", {}),
        ("42", "４２", {}),
        ("42", "42.0", {}),
        ("Paris", " Paris", {"strip": False}),
        ("a b", " a  b", {"strip": False, "space": True}),
        ("ab", "a b", {"space": True}),
        ("United States", "USA", {"aliases": {"USA": ["United States"]}}),
        ("France", "United States", {"aliases": {"USA": ["United States"]}}),
        ("Paris", "", {}),
        ("Paris", "Paris\0", {}),
        ("Paris", "\ud800", {"nfkc": True, "case": True}),
    ],
)
def test_these_are_not(answer: Any, response: str, options: dict[str, Any]) -> None:
    assert score(answer, response, **options) == 0.0


@pytest.mark.parametrize("answer", ["", " ", "\n", "\u200b", "\u00a0\0", ["a", " "], []])
def test_a_blank_answer_is_refused(answer: Any) -> None:
    with pytest.raises(TaskError, match=r"task 't': .*(blank|empty)"):
        Equal().validate(Task("p", answer, id="t"))


@pytest.mark.parametrize(
    "answer",
    [
        None,
        True,
        {"a": 1},
        float("nan"),
        float("inf"),
        pytest.param(10**5000, id="huge"),
        b"x",
        [None],
    ],
)
def test_what_is_no_answer_is_refused(answer: Any) -> None:
    with pytest.raises(TaskError, match="expected a string, a finite number or a list"):
        Equal().validate(Task("p", answer))


@pytest.mark.parametrize("answer", ["a", 3, 0, 0.0, -1.5, ["a", 2], ("a",)])
def test_an_answer_is_accepted(answer: Any) -> None:
    Equal().validate(Task("p", answer))


@pytest.mark.parametrize("aliases", [{"": ["a"]}, {"a": [""]}, {"a": ["b", "\u200b"]}])
def test_a_blank_alias_is_refused(aliases: dict[str, list[str]]) -> None:
    with pytest.raises(ConfigError, match="is blank, so an empty response would match it"):
        Environment.from_dict(
            {"name": "x", "stage": [{"use": "core/equal", "options": {"aliases": aliases}}]}
        )


def test_combining_marks_take_time_in_proportion() -> None:
    def work(marks: str) -> float:
        return score("a", "a" + marks, nfkc=True, case=True, space=True)

    marks = "\u0316\u0300"  # quadratic to normalize
    assert work(marks * 5000) == 0.0
    assert_linear(work, marks)


def test_the_fingerprint_does_not_depend_on_the_order_of_aliases() -> None:
    stage = Equal(aliases={"a": ["b", "c"]})

    assert stage == Equal(aliases={"a": ["b", "c"]})
    assert hash(stage.phase) == hash("diff")


@pytest.mark.parametrize("gold", ["", " \u200b", [], ["a", ""], b"a", True])
def test_a_gold_answer_that_cannot_be_used_is_a_mistake_of_the_task(gold: Any) -> None:
    with Environment("x", Equal()) as env:
        fault = env.evaluate(Task("p", answer=gold), "b").fault

    assert fault is not None
    assert fault.kind == "input"
    assert ".py" not in fault.message
