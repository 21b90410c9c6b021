"""The examples: what the author is sure of is so, and each task's answer is its own."""

from __future__ import annotations

from rlenv.model.values import Task

from rlenv_testing.law import case, for_each, law, require, skip, unpaid
from rlenv_testing.relations import different, rights
from rlenv_testing.subject import Subject


@law
def test_right_passes(subject: Subject) -> None:
    """A right response is paid in full: a verifier that refuses it punishes what training is
    for.
    """

    @for_each(subject, subject.right)
    def _(task: Task, response: str) -> None:
        shown = case((task, response), subject.result(task, response))
        require(subject.passes(task, response), "a right response does not pass", *shown)


@law
def test_wrong_fails(subject: Subject) -> None:
    """A wrong response does not pass: what is paid is what is learned."""
    unpaid(subject, subject.wrong, "a wrong response passes")


@law
def test_swap(subject: Subject) -> None:
    """A right response to another task does not pass, so that the verifier is known to look at the
    answer.
    """
    if subject.examples.gate_only:
        skip("gate_only: the stage checks a form")
    pairs = different(subject)
    if not pairs:
        skip("its examples have no two tasks with different answers")
    swapped = [(one, text) for one, two in pairs for text in rights(subject, two)[:2]]
    swapped += [(two, text) for one, two in pairs for text in rights(subject, one)[:2]]
    unpaid(subject, swapped, "the right response to another task passes")
