"""The best response to each task."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from attrs import frozen

from .index import Index, Scored
from .pairs import best_of, ties


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
    """The best response to each task.

    Args:
        tasks: ids of all tasks, where they are known.
    """
    best = {task: best_of(group) for task, group in index.tasks.items() if group}
    tied = sum(ties(index.tasks[task], entry) > 0 for task, entry in best.items())
    unscored = tuple(task for task in dict.fromkeys([*index.tasks, *tasks]) if task not in best)
    return Selection(best, tied, unscored, index.nameless)
