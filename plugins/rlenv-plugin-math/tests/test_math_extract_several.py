"""Several boxes in one response: a list, steps before a result, a mistake taken back, or rivals."""

from __future__ import annotations

import pytest
from rlenv import Attempt, Task
from rlenv_plugin_math.equal import Equal
from rlenv_plugin_math.extract import extract

FILLER = "and after some more of the long and even text "


def read(response: str) -> tuple[str, tuple[str, ...]]:
    extraction = extract(response)
    return extraction.state, extraction.answers


@pytest.mark.parametrize(
    ("left", "right"), [("$", "$"), ("$$", "$$"), ("\\(", "\\)"), ("\\[", "\\]"), ("", "")]
)
def test_boxes_of_one_sentence_are_a_list_and_of_two_sentences_rivals(
    left: str, right: str
) -> None:
    two, three = (f"{left}\\boxed{{{n}}}{right}" for n in (2, 3))

    assert read(f"The values are {two} and {three}.") == ("found", ("2", "3"))
    assert read(f"We get {two}. Also {three}.") == ("ambiguous", ("2", "3"))


def test_boxes_far_apart_are_no_list() -> None:
    assert read(r"\boxed{1}, \boxed{2} " + FILLER * 3 + r"\boxed{3}")[0] == "found"
    assert read(r"\boxed{1}, \boxed{2} " + FILLER * 30 + r"\boxed{3}")[0] == "ambiguous"
    assert read(r"\boxed{1} " + FILLER * 30 + r"\boxed{3}")[0] == "ambiguous"


@pytest.mark.parametrize(
    "response",
    [
        r"The first step gives $\boxed{2}$. Therefore the total is $\boxed{3}$.",
        r"\boxed{2} is a step. THEREFORE the total is $\boxed{3}$.",
        r"Step $\boxed{1}$ is done. We add $\boxed{2}$ to it. So the total is $\boxed{3}$.",
        r"\boxed{2}. So get \boxed{3}",
        r"\boxed{2}so that makes \boxed{3}",
    ],
)
def test_the_box_that_concludes_is_the_answer(response: str) -> None:
    assert read(response) == ("found", ("3",))


@pytest.mark.parametrize(
    "response",
    [
        r"First $\boxed{2}$, then $\boxed{3}$.",
        r"\boxed{2}. So, \boxed{3}",
        r"\(\boxed{2}\). So \(\boxed{3}\)",
        r"Step $\boxed{2}$ is done. So we have it. The next is $\boxed{3}$.",
        "Step $\\boxed{2}$ is done. So we have it:\n\nThe next is $\\boxed{3}$.",
        "\\boxed{2}\n#### 3. So we get it: \\boxed{3}",
        r"\boxed{2} is a step. Therefore the total is \boxed{3}, or \boxed{4}.",
        r"The answer is $\boxed{2}$ here. So we have $\boxed{3}$.",
        r"The FINAL $\boxed{2}$ is here. So we have $\boxed{3}$.",
        r"If \boxed{2} holds, good. So the total is \boxed{3}.",
        r"Step $\boxed{2}$ if x is even. So the total is $\boxed{3}$.",
        r"Step $\boxed{2}$ IF x is even. So the total is $\boxed{3}$.",
        r"Step $\boxed{2}$ unless x is odd. So the total is $\boxed{3}$.",
        r"Step $\boxed{2}$ " + FILLER * 30 + r". So the total is $\boxed{3}$.",
    ],
)
def test_boxes_of_which_none_concludes_are_rivals(response: str) -> None:
    assert read(response)[0] == "ambiguous"


@pytest.mark.parametrize(
    ("response", "state"),
    [
        (r"\boxed{1}. Wait, that is wrong. \boxed{2}", "found"),
        (r"\boxed{1}. Wait, that is wrong. " + FILLER * 40 + r". \boxed{2}", "found"),
        (r"\boxed{1}. " + FILLER * 40 + r"Wait, that is wrong. \boxed{2}", "found"),
        (
            r"\boxed{1}. " + FILLER * 20 + "Wait, wrong. " + FILLER * 20 + r". \boxed{2}",
            "ambiguous",
        ),
        (r"\boxed{1}. Wait, that is wrong, or maybe it is right. \boxed{2}", "ambiguous"),
        (r"\boxed{1}. Wait. \boxed{2}. \boxed{3}", "ambiguous"),
        (r"\boxed{1}. \boxed{2}. Wait, that is wrong. \boxed{3}", "found"),
    ],
)
def test_a_box_is_taken_back_right_behind_it_or_right_before_the_next(
    response: str, state: str
) -> None:
    assert read(response)[0] == state


def test_the_same_box_twice_is_one_answer() -> None:
    assert read(r"\boxed{2}. Check it. \boxed{2}") == ("found", ("2",))
    assert read(r"\boxed{1}. Wait, no. \boxed{2}. Check it. \boxed{2}") == ("found", ("2",))


@pytest.mark.parametrize(
    ("gold", "response", "score"),
    [
        ("1, 2, 3", r"The roots are \boxed{1, 2} and \boxed{3}.", 1.0),
        ("1, 2, 3", r"The roots are \boxed{1}, \boxed{2} and \boxed{3}.", 1.0),
        ("1, 2, 3", r"The roots are \boxed{1, 2} and \boxed{4}.", 0.0),
        ("1, 2, 3", r"The roots are \boxed{1} and \boxed{3}.", 0.0),
        ("0.5", r"It is \boxed{0.5} and \boxed{\frac{1}{2}}.", 1.0),
        ("0.5", r"It is \boxed{0.5} and \boxed{\frac{1}{3}}.", 0.0),
    ],
)
def test_several_boxes_are_right_as_the_list_or_when_each_is(
    gold: str, response: str, score: float
) -> None:
    assert Equal().check(Attempt(Task("roots", gold), response)).score == score


@pytest.mark.parametrize(
    ("response", "state", "how"),
    [
        ("<answer></answer>", "empty", "answer-tag"),
        ("<answer>5</answer>", "found", "answer-tag"),
        ("The answer is:", "empty", "statement"),
        ("The answer is 5.", "found", "statement"),
        (r"\boxed{}", "empty", "boxed"),
        (r"\boxed{5", "missing", "boxed"),
        ("####", "empty", "hash"),
        (r"It is not \boxed{5}.", "ambiguous", "boxed"),
    ],
)
def test_an_extraction_tells_where_it_looked(response: str, state: str, how: str) -> None:
    extraction = extract(response)

    assert (extraction.state, extraction.how) == (state, how)


def test_a_list_may_stand_far_down() -> None:
    text = FILLER * 40 + "it ends.\n\nThe values are $\\boxed{1}$ and $\\boxed{2}$."

    assert read(text) == ("found", ("1", "2"))


def test_what_follows_a_list_does_not_part_it() -> None:
    assert read("The values are $\\boxed{1}$ and $\\boxed{2}$, so that is all.") == (
        "found",
        ("1", "2"),
    )


SUM = "Therefore the sum is $\\boxed{7}$"


@pytest.mark.parametrize(
    ("response", "answers"),
    [
        (f"We get $\\boxed{{3}}$ by adding. {SUM}.", ("7",)),
        (f"We get $\\boxed{{3}}$ by adding. As a guess: {SUM}.", ("3", "7")),
        (f"We get $\\boxed{{3}}$ by adding. GUESSING on: {SUM}.", ("3", "7")),
        (f"We get $\\boxed{{3}}$ by adding. {SUM} is wrong.", ("3", "7")),
        ("We get $\\boxed{3}$ by adding. Therefore \\[\\boxed{7}\\] is wrong.", ("3", "7")),
        ("We get $\\boxed{3}$ by adding. Therefore $$\\boxed{7}$$ is wrong.", ("3", "7")),
        (f"We get $\\boxed{{3}}$ {FILLER * 2}. {SUM}.", ("7",)),
        (f"The final answer is $\\boxed{{3}}$ {FILLER * 2}. {SUM}.", ("3", "7")),
        (f"The first is $\\boxed{{3}}$.\n\nSo much for it\n\n{SUM}", ("7",)),
        ("The first is $\\boxed{3}$.\n\nSo much for it\n\nWe add $\\boxed{7}$", ("3", "7")),
    ],
)
def test_the_last_box_is_the_result_where_only_it_is_announced(
    response: str, answers: tuple[str, ...]
) -> None:
    assert read(response)[1] == answers


def test_of_statements_in_whole_sentences_the_last_that_holds_a_value_counts() -> None:
    first = "The answer is the 12 that we found in the table above."
    second = "The final answer is the one which everybody was looking for here."

    assert read(f"{first} {second}") == ("found", ("the 12 that we found in the table above",))


def test_rivals_tell_by_what_the_answer_was_read() -> None:
    extraction = extract("\\boxed{5} or maybe the answer is 6.")

    assert (extraction.answers, extraction.how) == (("5", "6"), "boxed")
