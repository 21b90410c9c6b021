"""No hedging: several answers earn no more than one, and talk around an answer never raises it."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from rlenv.model.values import Task

from rlenv_testing.law import case, for_all, law, refuse, require, skip
from rlenv_testing.relations import different, rights
from rlenv_testing.subject import Subject, with_answer

JOINED = (
    "{} or {}",
    "{}, {}",
    "{}\n{}",
    "{}\n\n{}",
    "Either {} or {}.",
    "Answer: {}\nAnswer: {}",
    "{} {}",
)
PROSE = st.text("abcdefghijklmnopqrstuvwxyz ,\n", max_size=60)


@law
def test_hedging(subject: Subject) -> None:
    """One response is not right for two different answers: else a policy learns to list
    candidates.
    """
    if subject.examples.gate_only:
        skip("gate_only: the stage checks a form")
    pairs = different(subject)
    if not pairs:
        skip("its examples have no two tasks with different answers")

    @for_all(subject, hedge=st.sampled_from(pairs).flatmap(lambda pair: hedges(subject, pair)))
    def _(hedge: tuple[Task, Task, str]) -> None:
        one, two, response = hedge
        other = with_answer(one, two)
        both = subject.passes(one, response) and subject.passes(other, response, one)
        found = f"a response passes for {one.answer!r} and for {two.answer!r} as the answer"
        require(not both, found, *case((one, response), subject.result(one, response)))


def hedges(subject: Subject, pair: tuple[Task, Task]) -> st.SearchStrategy[tuple[Task, Task, str]]:
    """Two tasks, and a text that gives the answers of both."""
    texts = [st.sampled_from([*rights(subject, task), str(task.answer)]) for task in pair]
    forms = st.sampled_from(JOINED)
    orders = st.sampled_from(((0, 1), (1, 0)))

    def joined(drawn: Any) -> tuple[Task, Task, str]:
        form, (one, two), *answers = drawn
        return (*pair, form.format(answers[one], answers[two]))

    return st.tuples(forms, orders, *texts).map(joined)


@law
def test_padding(subject: Subject) -> None:
    """Talk before or after a wrong response never makes it right: length is not merit."""
    if subject.examples.gate_only:
        skip("gate_only: a form may be a matter of length")

    wrong_ones = st.sampled_from(subject.wrong)
    lengths = st.sampled_from((1, 1, 30))

    @for_all(subject, pair=wrong_ones, before=PROSE, after=PROSE, times=lengths)
    def _(pair: tuple[Task, str], before: str, after: str, times: int) -> None:
        task, wrong = pair
        response = f"{before * times}\n{wrong}\n{after * times}"
        if str(task.answer).casefold() in (before + after).casefold():
            return
        what = "talk around a wrong response makes it pass"
        refuse(subject, (task, response), what, ("wrong response", wrong))
