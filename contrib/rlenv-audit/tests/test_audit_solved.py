"""The independent check errs on the side of "solved": what it lets through is no proof of a hole."""

import pytest
from rlenv.values import Task
from rlenv_audit.solved import plainly_in


@pytest.mark.parametrize(
    ("answer", "response"),
    [
        ("", " \n"),  # the right answer of a task may be nothing at all
        (r"x=2 \text{ or } x=3", r"The answer is \boxed{(3,2)}."),
        (r"\{1,2,5,10\}", "10, 5, 2, 1"),
        (["Sucre", "La Paz"], "I think it is la paz."),
    ],
)
def test_what_may_be_the_answer_is_no_exploit(answer: object, response: str) -> None:
    assert plainly_in(Task("?", answer=answer), response)


@pytest.mark.parametrize(
    ("answer", "response"),
    [
        ("", "x"),
        (None, ""),
        (r"x=2 \text{ or } x=3", "(3,4)"),
        (r"x=2 \text{ or } x=3", "2"),
        (r"\{1,2,5,10\}", "1, 2, 5"),
        ("[1, 2, 3]", "Sort these: 3, 2, 1"),  # the order is the answer here
        ("none or all", "x"),
    ],
)
def test_what_is_not_the_answer_is_one_if_it_is_paid(answer: object, response: str) -> None:
    assert not plainly_in(Task("?", answer=answer), response)
