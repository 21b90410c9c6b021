"""Brokenness: every response gets a verdict, and a verifier that breaks is a fault and never a
0.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from itertools import zip_longest
from time import monotonic

from attrs import evolve
from rlenv.compose.composites import Composite
from rlenv.compose.stages import budget_of
from rlenv.model.values import StageResult, Task

from rlenv_testing.bench import Pair
from rlenv_testing.bombs import BOMBS, planted
from rlenv_testing.drawn import everything
from rlenv_testing.law import broken, case, for_each, law, require, skip
from rlenv_testing.subject import Subject
from rlenv_testing.trap import Trap

ELSEWHERE = ("timeout", "blocked", "contract")  # the laws limits, loop and range cover these
COSTLY = ("timeout", "memory")  # what a budget turns into a 0
ALLOWED = "abstained"  # by a stage that says that it may


@law
def test_total(subject: Subject) -> None:
    """Any text gets a verdict, so that no response can buy itself out of its reward by breaking the
    verifier.
    """

    def survived(pair: Pair) -> None:
        result = subject.result(*pair)
        fault = result.fault
        sound = fault is None or fault.kind in (*ELSEWHERE, ALLOWED)
        require(sound, "a response broke the verifier", *case(pair, result))

    everything(subject, survived)


@law
def test_broken(subject: Subject) -> None:
    """A failing verifier reports a fault: a 0 in its place would be a false negative."""
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
    """No response can make its verdict unscored whenever it wants: a policy that finds one is never
    told that it is wrong.
    """
    bench = subject.hurried
    until = monotonic() + subject.effort.seconds  # at least one response, however long it takes
    for task, response, name in _bombs(subject):
        subject.counted += 1
        result = bench.result(task, response)
        if _killed(result) and bench is not subject.patient:  # its own deadline may be later
            result = subject.patient.result(task, response)
        fault = subject.noted(result).fault
        scored = fault is None or fault.kind == ALLOWED or (fault.transient and not _killed(result))
        if not scored:
            shown = ("remedy", _remedy(subject, result))
            broken(f"{name} makes it unscored", *case((task, response), result), shown)
        if monotonic() > until:
            return
        if result.outcome is not None and "cpu_seconds" in result.outcome.data and subject.right:
            # a fresh worker waits: one that has paid for its imports is quicker
            bench.result(*subject.right[0])


def _killed(result: StageResult) -> bool:
    return result.fault is not None and result.fault.kind == "timeout"


def _remedy(subject: Subject, result: StageResult) -> str:
    """What makes such a response a 0."""
    kind = result.fault.kind if result.fault is not None else ""
    if kind not in (*COSTLY, "crash"):
        return "return 0 for what cannot be read, instead of raising"
    stage = subject.stage
    if budget_of(stage) is not None and kind == "timeout":
        return (
            "it waits instead of computing, which its budget does not count: limit what it"
            " waits for"
        )
    limit = (
        "let rlenv.workers.call(..., seconds=1.0) do the heavy piece, and return 0 where it raises"
        " WorkExceeded"
    )
    check = getattr(stage, "check", None)
    if getattr(stage, "where", "worker") != "worker":
        return f'{limit}; or run the stage in a worker, where = "worker", with budget = 1.0'
    if (
        kind == "crash"
        or check is None
        or isinstance(stage, Composite)
        or inspect.iscoroutinefunction(check)
    ):
        return limit
    return "declare budget = 1.0 on the stage: a response that costs it more CPU seconds gets 0"


def _bombs(subject: Subject) -> Iterator[tuple[Task, str, str]]:
    """(task, response, name): the author's attacks, then every bomb in its first place, in its
    second, and so on.
    """
    for attack in subject.attacks:
        for task in subject.tasks[:3]:
            if (text := attack.build(task)) is not None:
                yield task, text, f"the attack {attack.name!r}"
    examples = [response for _, response in subject.right[:2]]
    places = [[(text, name) for text in planted(bomb, examples)] for name, bomb in BOMBS.items()]
    for turn in zip_longest(*places):
        yield from ((subject.tasks[0], *one) for one in turn if one is not None)
