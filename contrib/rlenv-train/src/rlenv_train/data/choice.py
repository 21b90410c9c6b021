"""Which responses are chosen: the best of each task, and the pairs that DPO prefers one of."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from heapq import nlargest, nsmallest
from typing import TypeAlias

from attrs import frozen

from .index import Index, Scored

Candidate: TypeAlias = tuple[float, float, int, int, Scored, Scored]
WIDEST = 64  # responses at either end of a group that length matching tries
NARROW = 8  # and where lengths do not count: several, since the best and the worst may be one text


@frozen
class Pair:
    """The better and the worse of two responses, and how many others have their rewards."""

    chosen: Scored
    rejected: Scored
    chosen_ties: int
    rejected_ties: int


@frozen
class Rule:
    """Which pairs of a group are made.

    Pairs are made of the responses with the largest difference of rewards first. With ``ratio``, a
    pair whose longer response has more than ``ratio`` times the characters of the shorter is not
    made, and among pairs of equal difference the one nearest in length is. Then the lowest row of
    the chosen, then of the rejected decides. No response is in two pairs.

    Args:
        most: pairs of one group.
        margin: the least difference of rewards, in [0, 1]; equal rewards never make a pair.
        ratio: the largest ratio of lengths, from 1; None for any. Of a group of more than 64, the
            64 best and the 64 worst are tried.
    """

    most: int = 1
    margin: float = 0.0
    ratio: float | None = None

    def pairs(self, group: Sequence[Scored]) -> list[Pair]:
        """The pairs of one group."""
        made: list[Pair] = []
        left = list(group)
        while len(made) < self.most and (found := min(self._all(left), default=None)):
            chosen, rejected = found[-2:]
            made.append(Pair(chosen, rejected, ties(group, chosen), ties(group, rejected)))
            left = [entry for entry in left if entry not in (chosen, rejected)]
        return made

    def _all(self, group: Sequence[Scored]) -> Iterator[Candidate]:
        """Every pair that may be made, in the order in which they are preferred."""
        ends = NARROW if self.ratio is None else WIDEST
        best = nlargest(ends, group, key=lambda e: (e.reward, -e.row))
        worst = nsmallest(ends, group, key=lambda e: (e.reward, e.row))
        for a in best:
            for b in worst:
                difference = a.reward - b.reward
                lengths = apart(a, b)
                if difference <= 0 or difference < self.margin or a.digest == b.digest:
                    continue
                if self.ratio is None or lengths <= self.ratio:
                    yield -difference, 0.0 if self.ratio is None else lengths, a.row, b.row, a, b


def apart(a: Scored, b: Scored) -> float:
    """How many times the characters of the shorter response the longer one has; an empty one counts
    as one.
    """
    short, long = sorted((max(a.length, 1), max(b.length, 1)))
    return long / short


def ties(group: Sequence[Scored], entry: Scored) -> int:
    """How many others have its reward."""
    return sum(other.reward == entry.reward for other in group) - 1


@frozen
class Selection:
    """What `rlenv select` found.

    Attributes:
        best: task id to its best response, in the order of the file.
        tied: tasks of which another response has the same reward.
        unscored: tasks without any reward.
        nameless: responses that name no task.
    """

    best: Mapping[str, Scored]
    tied: int
    unscored: tuple[str, ...]
    nameless: int

    @property
    def undecided(self) -> int:
        """What could change the mean: tasks without any reward, and responses that name no task."""
        return len(self.unscored) + self.nameless

    @property
    def mean(self) -> float | None:
        """The mean reward of the best responses, each task counted once; None without any."""
        rewards = [entry.reward for entry in self.best.values()]
        return math.fsum(rewards) / len(rewards) if rewards else None


def select(index: Index, tasks: Collection[str] = ()) -> Selection:
    """The best response to each task: of equal rewards the lowest row.

    Args:
        tasks: ids of all tasks, where they are known.
    """
    groups = [(task, group) for task, group in index.tasks.items() if group]
    best = {task: max(group, key=lambda e: (e.reward, -e.row)) for task, group in groups}
    tied = sum(ties(index.tasks[task], entry) > 0 for task, entry in best.items())
    unscored = tuple(task for task in dict.fromkeys([*index.tasks, *tasks]) if task not in best)
    return Selection(best, tied, unscored, index.nameless)
