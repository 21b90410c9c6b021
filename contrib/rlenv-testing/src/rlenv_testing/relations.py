"""Which tasks of the examples have different answers, by the stage's own word."""

from __future__ import annotations

from itertools import combinations
from typing import cast

from rlenv.model.values import Task

from .subject import Subject

MOST = 60  # pairs of tasks looked at


def different(subject: Subject) -> list[tuple[Task, Task]]:
    """Pairs of tasks whose answers differ, neighbors first.

    Two answers that are written differently may mean the same: then each accepts what is right for
    the other.  Where all do so, the stage does not look at the answer, and all are taken as
    different.
    """
    if "different" not in subject.memory:
        written = _written(subject)
        apart = [(one, two) for one, two in written if not _alike(subject, one, two)]
        subject.memory["different"] = apart or written
    return cast("list[tuple[Task, Task]]", subject.memory["different"])


def _written(subject: Subject) -> list[tuple[Task, Task]]:
    tasks = [task for task in subject.tasks if task.answer is not None and rights(subject, task)]
    pairs = sorted(combinations(range(len(tasks)), 2), key=lambda ij: ij[1] - ij[0])[:MOST]
    return [(tasks[i], tasks[j]) for i, j in pairs if _text(tasks[i]) != _text(tasks[j])]


def _text(task: Task) -> str:
    return str(task.answer).strip().casefold()


def _alike(subject: Subject, one: Task, two: Task) -> bool:
    return _accepts(subject, one, two) and _accepts(subject, two, one)


def _accepts(subject: Subject, one: Task, two: Task) -> bool:
    return any(subject.passes(one, response) for response in rights(subject, two))


def rights(subject: Subject, task: Task) -> list[str]:
    """The right responses to a task."""
    return [response for known, response in subject.right if known == task]
