"""The tasks that training draws from: those of one split, ``train`` unless another is named."""

from __future__ import annotations

from collections.abc import Iterable

from rlenv import ConfigError, Task
from rlenv.authoring import suggest

TRAIN = "train"


def of_split(tasks: Iterable[Task], split: str | None, what: str) -> list[Task]:
    """Return the tasks of a split, in their order.

    Args:
        tasks: the tasks to choose from.
        split: the name of the split; None for every task.
        what: who draws the tasks, for the message.

    Raises:
        ConfigError: when there are tasks, but none of this split.
    """
    every = list(tasks)
    if split is None:
        return every
    chosen = [task for task in every if task.split == split]
    if every and not chosen:
        hint = suggest(split, {task.split for task in every}, what="the splits are")
        remedy = "name the split with `split=`, or give `split=None` to draw from all tasks"
        raise ConfigError(f"{what}: no task has the split {split!r}; {hint}; {remedy}")
    return chosen
