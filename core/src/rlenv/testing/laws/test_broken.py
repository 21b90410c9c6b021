"""Brokenness: every response gets a verdict, and a verifier that breaks is a fault and never a 0."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from time import monotonic

from attrs import evolve

from rlenv.testing.bench import Pair
from rlenv.testing.bombs import BOMBS, planted
from rlenv.testing.drawn import everything
from rlenv.testing.law import case, for_each, law, require, skip
from rlenv.testing.subject import Subject
from rlenv.testing.trap import Trap
from rlenv.values import Task

ELSEWHERE = ("timeout", "blocked", "contract")  # the laws limits, loop and range speak of these
ALLOWED = "abstained"  # by a stage that says that it may


@law
def test_total(subject: Subject) -> None:
    """Any text gets a verdict, so that no response can buy itself out of its reward by breaking the verifier."""

    def survived(pair: Pair) -> None:
        result = subject.result(*pair)
        fault = result.fault
        sound = fault is None or fault.kind in (*ELSEWHERE, ALLOWED)
        require(sound, "a response broke the verifier", *case(pair, result))

    everything(subject, survived)


@law
def test_broken(subject: Subject) -> None:
    """A verifier that breaks says so: a 0 in its place would teach the policy that a right answer is wrong."""
    if not any(task.answer is not None or task.info for task in subject.tasks):
        skip("its tasks hold nothing that could break")

    @for_each(subject, subject.right)
    def _(task: Task, response: str) -> None:
        answer = None if task.answer is None else Trap()
        trapped = evolve(task, answer=answer, info=dict.fromkeys(task.info, Trap()))
        before = subject.result(task, response).outcome
        after = subject.result(trapped, response, task)
        lowered = (
            before is not None and after.outcome is not None and after.outcome.score < before.score
        )
        what = "its task was broken and it called a right response wrong"
        require(not lowered, what, *case((task, response), after))


@law
def test_unscored(subject: Subject) -> None:
    """No response can make its verdict unscored at will: a policy that finds one is never told that it is wrong."""
    bench = subject.patient
    until = monotonic() + subject.effort.seconds  # at least one response, however long it takes
    for task, response, name in _bombs(subject):
        subject.counted += 1
        result = subject.noted(bench.result(task, response))
        fault = result.fault
        what = f"{name} makes it unscored: score 0 what costs too much to check"
        require(
            fault is None or fault.transient or fault.kind == ALLOWED,
            what,
            *case((task, response), result),
        )
        if monotonic() > until:
            return


def _bombs(subject: Subject) -> Iterator[tuple[Task, str, str]]:
    """(task, response, name): the author's attacks, then every bomb in its first place, in its second, and so on."""
    for attack in subject.attacks:
        for task in subject.tasks[:3]:
            if (text := attack.build(task)) is not None:
                yield task, text, f"the attack {attack.name!r}"
    examples = [response for _, response in subject.right[:2]]
    places = [[(text, name) for text in planted(bomb, examples)] for name, bomb in BOMBS.items()]
    for turn in zip_longest(*places):
        yield from ((subject.tasks[0], *one) for one in turn if one is not None)
