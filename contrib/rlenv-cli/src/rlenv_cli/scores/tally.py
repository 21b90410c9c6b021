"""What a summary needs of millions of rows, in memory that grows with the tasks and stages only."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from attrs import define, field, frozen

from .records import FaultRecord, ScoreRow, StageRecord
from .stats import Cluster, Interval, Quantiles, interval, pass_at_k

SLOWEST = 5


@define
class TaskSums:
    """The responses to one task."""

    split: str
    n: int = 0
    total: float = 0.0
    squares: float = 0.0
    passes: int = 0
    low: float = 1.0
    high: float = 0.0
    unscored: int = 0

    def add(self, reward: float | None, passed: bool) -> None:  # noqa: FBT001 - a row's two columns
        if reward is None:
            self.unscored += 1
            return
        self.n += 1
        self.total += reward
        self.squares += reward * reward
        self.passes += passed
        self.low = min(self.low, reward)
        self.high = max(self.high, reward)


@define
class StageSums:
    """One stage over all rows in which it ran."""

    use: str
    phase: str
    n: int = 0
    total: float = 0.0
    gate_failures: int = 0
    faults: int = 0
    seconds: float = 0.0
    times: Quantiles = field(factory=Quantiles)

    @property
    def mean(self) -> float | None:
        return self.total / self.n if self.n else None

    def add(self, stage: StageRecord) -> None:
        score = stage.get("score")
        seconds = stage.get("seconds") or 0.0
        self.seconds += seconds
        self.times.add(seconds)
        if score is None:
            self.faults += 1
            return
        self.n += 1
        self.total += score
        gate = stage.get("gate")
        self.gate_failures += gate is not None and score < gate


@define
class Reason:
    """Why rows have no reward: one kind of fault of one stage ("" for none), with its first
    message.
    """

    kind: str
    stage: str
    message: str
    row: int
    count: int = 0
    transient: int = 0


@frozen
class Signal:
    """Tasks with several scored responses, by what a group-relative trainer can learn from them."""

    tasks: int
    all_zero: int
    all_one: int
    all_equal: int
    varying: int


@define
class Tally:
    """Counters over the rows of a file of scores, in its own format; order does not matter."""

    rows: int = 0
    scored: int = 0
    hidden: int = 0  # rows of which some stage did not read all, since part was hidden reasoning
    total: float = 0.0
    tasks: dict[str | None, TaskSums] = field(factory=dict)  # None: tasks without an id, together
    stages: dict[str, StageSums] = field(factory=dict)
    reasons: dict[tuple[str, str], Reason] = field(factory=dict)
    seconds: float = 0.0
    times: Quantiles = field(factory=Quantiles)
    slowest: list[tuple[float, int, str]] = field(factory=list)

    @property
    def unscored(self) -> int:
        return self.rows - self.scored

    @property
    def mean(self) -> float | None:
        return self.total / self.scored if self.scored else None

    def add(self, row: ScoreRow, split: str | None) -> None:
        """Count one row; ``split`` is its task's, None where the task is unknown."""
        self.rows += 1
        reward = row["reward"]
        fault = row["fault"]
        if reward is not None:
            self.scored += 1
            self.total += reward
        elif fault is not None:
            self._fault(fault, row)
        if split is not None:
            sums = self.tasks.get(row["task"])
            if sums is None:
                sums = self.tasks[row["task"]] = TaskSums(split)
            sums.add(reward, bool(row["passed"]))
        self._time(row, sum(stage.get("seconds") or 0.0 for stage in row["stages"]))
        hidden = False
        for path, stage in walk(row["stages"]):
            self._stage(path, stage)
            hidden = hidden or bool((stage.get("data") or {}).get("hidden"))
        self.hidden += hidden

    def _fault(self, fault: FaultRecord, row: ScoreRow) -> None:
        key = str(fault["kind"]), culprit(row)
        reason = self.reasons.setdefault(key, Reason(*key, str(fault["message"]), row["row"]))
        reason.count += 1
        reason.transient += bool(fault.get("transient"))

    def _time(self, row: ScoreRow, seconds: float) -> None:
        self.seconds += seconds
        self.times.add(seconds)
        entry = (seconds, -row["row"], str(row["task"]))
        if len(self.slowest) < SLOWEST:
            heapq.heappush(self.slowest, entry)
        elif entry > self.slowest[0]:
            heapq.heapreplace(self.slowest, entry)

    def _stage(self, path: str, stage: StageRecord) -> None:
        sums = self.stages.get(path)
        if sums is None:
            sums = self.stages[path] = StageSums(stage.get("use") or "", stage.get("phase") or "")
        sums.add(stage)


def walk(stages: list[StageRecord], above: str = "") -> Iterator[tuple[str, StageRecord]]:
    """Every stage of a row with its path, parents first."""
    for stage in stages:
        name = stage["name"]
        path = name if name.startswith(above) else above + name
        yield path, stage
        yield from walk(stage.get("children") or [], path + "/")


def culprit(row: ScoreRow) -> str:
    """The path of the stage whose fault left a row unscored; "" when the row itself was wrong."""
    fault = row["fault"]
    for path, stage in walk(row["stages"]):
        if fault is not None and stage.get("fault") == fault and not stage.get("children"):
            return path
    return row.get("stopped_at") or ""


def reward_interval(tally: Tally) -> Interval | None:
    """The mean reward over all scored rows."""
    return interval(Cluster(t.n, t.total, t.squares) for t in tally.tasks.values())


def pass_interval(tally: Tally, split: str | None = None) -> Interval | None:
    """The pass rate of one split, or of all rows."""
    kept = (t for t in tally.tasks.values() if split is None or t.split == split)
    return interval(Cluster(t.n, float(t.passes), float(t.passes)) for t in kept)


def splits(tally: Tally) -> dict[str, tuple[int, int, int]]:
    """Per split: scored rows, passes, unscored rows."""
    found: dict[str, tuple[int, int, int]] = {}
    for t in tally.tasks.values():
        n, passes, unscored = found.get(t.split, (0, 0, 0))
        found[t.split] = (n + t.n, passes + t.passes, unscored + t.unscored)
    return found


def signal(tally: Tally) -> Signal | None:
    """Which tasks with several scored responses vary; None where no task has several."""
    groups = [t for t in tally.tasks.values() if t.n > 1]
    if not groups:
        return None
    zero = sum(t.high == 0.0 for t in groups)
    one = sum(t.low == 1.0 for t in groups)
    equal = sum(t.low == t.high for t in groups) - zero - one
    return Signal(len(groups), zero, one, equal, len(groups) - zero - one - equal)


def pass_at(tally: Tally) -> list[tuple[int, float, int]]:
    """``(k, pass@k, tasks)`` for k = 1, 2, 4, ... over the tasks with at least k scored
    responses.
    """
    found = []
    k = 1
    while groups := [t for t in tally.tasks.values() if t.n >= k]:
        found.append(
            (k, sum(pass_at_k(t.n, t.passes, k) for t in groups) / len(groups), len(groups))
        )
        k *= 2
    return found if len(found) > 1 else []
