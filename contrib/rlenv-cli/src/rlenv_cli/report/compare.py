"""Two runs side by side: which rows belong together, and what became of each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import define, field, frozen
from rlenv.model.errors import InputError

from rlenv_cli.console import visible
from rlenv_cli.scores.stats import Cluster, mean_variance, student_t

from .gather import Gathered

CHANGES = ("gained", "lost", "newly unscored", "newly scored", "same", "only in A", "only in B")
EPSILON = 1e-9


@frozen
class Pair:
    """One response in two runs, by its place (from 0) in each table; None where it is absent."""

    task: str | None
    a: int | None
    b: int | None
    change: str


@frozen
class Shift:
    """The mean change of B against A over rows scored in both, with its 95 % bounds."""

    mean: float
    low: float | None
    high: float | None
    rows: int


@define
class TaskChange:
    """One task's rewards in both runs, over rows scored in both."""

    n: int = 0
    a: float = 0.0
    b: float = 0.0

    @property
    def delta(self) -> float:
        return (self.b - self.a) / self.n if self.n else 0.0


@define
class Comparison:
    """What changed from A to B; rows pair as the k-th response to the same task in each."""

    a: Gathered
    b: Gathered
    pairs: list[Pair] = field(factory=list)
    tasks: dict[str, TaskChange] = field(factory=dict)

    @property
    def counts(self) -> dict[str, int]:
        found = dict.fromkeys(CHANGES, 0)
        for pair in self.pairs:
            found[pair.change] += 1
        return found


def compare(a: Gathered, b: Gathered) -> Comparison:
    """Pair the rows of two runs.

    Raises:
        InputError: when they are runs of two environments.
    """
    if a.header.env != b.header.env:
        raise InputError(
            f"{a.shown} is a run of the environment '{visible(a.header.env)}', {b.shown} of "
            f"'{visible(b.header.env)}': only runs of one environment can be compared; "
            "make a report of each instead"
        )
    found = Comparison(a, b)
    for task, i, j in _paired(a.columns.task, b.columns.task):
        pair = Pair(task, i, j, _change(a, b, i, j))
        found.pairs.append(pair)
        _count(found, pair)
    return found


def _paired(
    first: list[str | None], second: list[str | None]
) -> Iterator[tuple[str | None, int | None, int | None]]:
    """Every row of A in order with its partner in B, then what only B has."""
    waiting: dict[str | None, list[int]] = {}
    for j in range(len(second) - 1, -1, -1):
        waiting.setdefault(second[j], []).append(j)
    for i, task in enumerate(first):
        left = waiting.get(task)
        yield task, i, left.pop() if left else None
    rest = sorted(j for places in waiting.values() for j in places)
    yield from ((second[j], None, j) for j in rest)


def _change(a: Gathered, b: Gathered, i: int | None, j: int | None) -> str:
    if i is None or j is None:
        return "only in B" if i is None else "only in A"
    x = a.columns.reward[i]
    y = b.columns.reward[j]
    if x is None or y is None:
        if x is y:
            return "same"
        return "newly scored" if x is None else "newly unscored"
    if abs(y - x) <= EPSILON:
        return "same"
    return "gained" if y > x else "lost"


def _count(found: Comparison, pair: Pair) -> None:
    if pair.a is None or pair.b is None or pair.task is None:
        return
    x = found.a.columns.reward[pair.a]
    y = found.b.columns.reward[pair.b]
    if x is not None and y is not None:
        sums = found.tasks.setdefault(pair.task, TaskChange())
        sums.n = sums.n + 1
        sums.a = sums.a + x
        sums.b = sums.b + y


def shift(tasks: Mapping[str, TaskChange]) -> Shift | None:
    """The paired difference of the mean rewards, tasks taken as independent; None without a
    pair.
    """
    clusters = [Cluster(t.n, t.b - t.a, 0.0) for t in tasks.values()]
    n = sum(c.n for c in clusters)
    if not n:
        return None
    mean = math.fsum(c.total for c in clusters) / n
    if len(clusters) == 1:
        return Shift(mean, None, None, n)
    half = student_t(len(clusters) - 1) * math.sqrt(mean_variance(clusters))
    return Shift(mean, max(-1.0, mean - half), min(1.0, mean + half), n)


def most_changed(found: Comparison, sign: int, count: int = 8) -> list[tuple[str, TaskChange]]:
    """The tasks that gained (``sign`` 1) or lost (-1) most, the largest change first."""
    moved = [(task, t) for task, t in found.tasks.items() if t.delta * sign > EPSILON]
    return sorted(moved, key=lambda item: (-abs(item[1].delta), item[0]))[:count]


def notes(found: Comparison) -> list[str]:
    """What makes the two runs hard to compare."""
    a = found.a.header
    b = found.b.header
    said = []
    if a.fingerprint != b.fingerprint:
        said.append(
            "The verifiers differ (another fingerprint): options, versions or stages changed."
        )
    if a.tasks_sha256 != b.tasks_sha256:
        said.append("The files of tasks differ; rows are paired by the task's id all the same.")
    if a.responses_sha256 != b.responses_sha256:
        said.append("The responses differ: the k-th response to a task is paired with the k-th.")
    elif a == b:
        said.append("Same verifier, same tasks, same responses: any change comes from chance.")
    return said


def table(found: Comparison) -> dict[str, Any]:
    """The columns of the page's table of pairs."""
    a = found.a.columns
    b = found.b.columns
    return {
        "a": [-1 if p.a is None else p.a for p in found.pairs],
        "b": [-1 if p.b is None else p.b for p in found.pairs],
        "change": [CHANGES.index(p.change) for p in found.pairs],
        "changes": list(CHANGES),
        "rewardA": [None if p.a is None else a.reward[p.a] for p in found.pairs],
        "rewardB": [None if p.b is None else b.reward[p.b] for p in found.pairs],
        "secondsA": [None if p.a is None else a.seconds[p.a] for p in found.pairs],
        "secondsB": [None if p.b is None else b.seconds[p.b] for p in found.pairs],
        "preview": [_preview(found, p) for p in found.pairs],
    }


def _preview(found: Comparison, pair: Pair) -> str:
    run, place = (found.b, pair.b) if pair.b is not None else (found.a, pair.a)
    return run.columns.preview[place or 0]
