"""Algebra: a gate zeroes, a group may be permuted, and a composite combines as a reward must."""

from __future__ import annotations

import copy
import random
from collections.abc import Sequence
from typing import Any, ClassVar

from attrs import frozen
from hypothesis import strategies as st
from rlenv.compose.composites import Composite, Pipeline, Slot
from rlenv.compose.stages import Attempt
from rlenv.environment import Environment
from rlenv.model.values import Outcome, Task, Verdict

from rlenv_testing.bench import said
from rlenv_testing.law import case, for_all, for_each, law, require, skip
from rlenv_testing.subject import Subject

STEP = 1e-12  # what the arithmetic of floats may lose


@frozen
class Says:
    """A stage that says one thing; None is a fault."""

    score: float | None
    phase: ClassVar[str] = "diff"
    where: ClassVar[str] = "inline"

    def check(self, _attempt: Attempt) -> Outcome:
        if self.score is None:
            raise ConnectionError("the kit broke this stage on purpose")
        return Outcome(self.score)


@law
def test_gate(subject: Subject) -> None:
    """A wrong response that fails this stage as a gate ends its pipeline with 0, and no later stage
    runs.
    """
    if subject.bench.group_only:
        skip("it judges groups only")
    slots = [*subject.bench.env.root.slots[:-1]]
    last = subject.bench.env.root.slots[-1]
    gate = Slot("gate", last.stage, weight=0.0, gate=subject.bench.gate, timeout=last.timeout)
    with Environment("gated", Pipeline([*slots, gate, Slot("later", Says(1.0))])) as env:

        @for_each(subject, subject.wrong)
        def _(task: Task, response: str) -> None:
            verdict = env.evaluate(task, response)
            if verdict.fault is not None or subject.passes(task, response):
                return
            zero = verdict.value == 0.0 and verdict.results[-1].stage == "gate"
            shown = *case((task, response)), ("value", verdict.value)
            require(zero, "as a gate it lets a wrong response on", *shown)


@law
def test_group(subject: Subject) -> None:
    """Permuting a group permutes its results: no response gains by where it stands."""
    if not hasattr(subject.stage, "check_group"):
        skip("it judges no groups")
    rng = random.Random(subject.effort.seed)  # noqa: S311 - an order, no secret
    env = subject.bench.env
    for task in subject.tasks:
        texts = [text for known, text in (*subject.right, *subject.wrong) if known == task]
        first = _shares(env.evaluate_group(task, texts))
        for _ in range(3):
            order = rng.sample(range(len(texts)), len(texts))
            again = _shares(env.evaluate_group(task, [texts[i] for i in order]))
            subject.counted += 1
            moved = [first[i] for i in order]
            shown = ("responses", texts), ("order", order), ("said", again), ("wanted", moved)
            require(again == moved, "a permuted group gets other results", ("task", task), *shown)


def _shares(verdicts: Sequence[Verdict]) -> list[str]:
    return [
        said(verdict.results[-1]) if verdict.results else str(verdict.fault) for verdict in verdicts
    ]


def composite(subject: Subject) -> Composite:
    if not isinstance(subject.stage, Composite):
        skip("it is no composite")
    found: Composite = subject.stage
    return found


def combined(root: Composite, scores: Sequence[float | None]) -> Verdict:
    """What the composite makes of children that say this."""
    twin = copy.copy(root)
    slots = []
    for slot, score in zip(root.slots, scores, strict=True):
        stub = copy.copy(slot)
        object.__setattr__(stub, "stage", Says(score))
        slots.append(stub)
    twin.slots = tuple(slots)
    return Environment("stubs", twin).evaluate(Task("?"), "")


SCORES = st.one_of(st.sampled_from((0.0, 0.5, 1.0)), st.floats(0, 1))


@law
def test_monotone(subject: Subject) -> None:
    """A child that says more never lowers the total: else the policy is paid for doing worse."""
    root = composite(subject)
    size = len(root.slots)

    several = st.lists(SCORES, min_size=size, max_size=size)

    @for_all(subject, scores=several, at=st.integers(0, size - 1), more=SCORES)
    def _(scores: list[float], at: int, more: float) -> None:
        raised = [max(s, more) if i == at else s for i, s in enumerate(scores)]
        low = combined(root, scores).value
        high = combined(root, raised).value
        holds = low is not None and high is not None and low <= high + STEP
        shown = ("scores", scores), ("raised", raised), ("totals", (low, high))
        require(holds, "a raised score lowers the total", *shown)


@law
def test_hull(subject: Subject) -> None:
    """Children that all say 0 make 0 and children that all say 1 make 1, where nothing shapes the
    sum.
    """
    root = composite(subject)
    shaped = any(slot.penalty or slot.bonus for slot in root.slots) or getattr(root, "base", 1) != 1
    if shaped:
        skip("penalties, bonuses and a base shape its sum")
    for score in (0.0, 1.0):
        subject.counted += 1
        value = combined(root, [score] * len(root.slots)).value
        require(value == score, f"children that all say {score} make {value}")


@law
def test_broken_child(subject: Subject) -> None:
    """A broken child never lowers the total: it leaves it open, or another child decides it."""
    root = composite(subject)
    size = len(root.slots)
    value = combined(root, [None] * size).value
    require(value is None, "children that are all broken make a reward", ("total", value))
    said_or_broken = st.one_of(st.none(), SCORES)

    @for_all(subject, scores=st.lists(said_or_broken, min_size=size, max_size=size))
    def _(scores: list[float | None]) -> None:
        value = combined(root, scores).value
        if value is None:
            return
        whole = [_total(root, scores, fill) for fill in (0.0, 0.5, 1.0)]
        shown = ("children", scores), ("total", value), ("without a break", whole)
        possible = min(whole) - STEP <= value <= max(whole) + STEP
        require(possible, "with a broken child it is worth what no child could make it", *shown)


def _total(root: Composite, scores: Sequence[float | None], fill: float) -> Any:
    return combined(root, [fill if score is None else score for score in scores]).value
