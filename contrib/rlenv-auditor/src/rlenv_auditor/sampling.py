"""Which tasks an audit asks about: so many, or as many as its budget can pay for."""

from __future__ import annotations

import random
import time

from rlenv.model.errors import ConfigError
from rlenv.model.values import Task

from .target.process import Target

__all__ = ["sampled"]

CALLS = 420  # responses that the probes of the profile ci ask about one task, about
STEPS = (400, 200, 100, 40, 30, 20, 15, 10, 6, 4)
TRIED = ("42", "The answer is 42.", "")


def sampled(target: Target, most: int, seed: int, budget: float | None) -> list[Task]:
    """A sample of a target's tasks, the same for the same seed, in the order of the file.

    A smaller sample is part of a larger one, so that audits of other sizes can be compared.

    Args:
        most: how many.
        budget: seconds for all probes, where fewer may be taken because one reward takes long;
            None: exactly ``most``.

    Raises:
        ConfigError: no task is asked for.
    """
    if most < 1:
        raise ConfigError(f"--tasks {most}: one at least")
    order = list(range(len(target.tasks)))
    if len(order) > 4:
        random.Random(seed).shuffle(order)  # noqa: S311 - no secret
    count = min(most, len(order))
    if budget is not None and count > STEPS[-1] and not target.sides:
        until = time.monotonic() + budget / 10
        tasks = [target.tasks[index] for index in order[:2]]
        room = budget / (CALLS * _seconds(target, tasks, until))
        count = min(count, next((step for step in STEPS if step <= room), STEPS[-1]))
    return [target.tasks[index] for index in sorted(order[:count])]


def _seconds(target: Target, tasks: list[Task], until: float) -> float:
    """Of one response, after the first, which loads what it needs."""
    target.some([(tasks[0], TRIED[0])], "many", until)
    pairs = [(task, text) for task in tasks for text in TRIED]
    start = time.monotonic()
    replies = target.some(pairs, "many", until)
    return max(1e-6, (time.monotonic() - start) / max(1, len(replies)))
