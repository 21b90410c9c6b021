"""How rows get to an actor."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from operator import attrgetter

import cloudpickle
from attrs import evolve, fields
from rlenv import Attempt, Task, Trajectory

FIELDS = attrgetter(*(field.name for field in fields(Task)))


def pickled_rows(attempts: Iterable[Attempt]) -> bytes:
    """Attempts by cloudpickle: a tuple for each task, since it calls Python code for each object of
    a class.
    """
    pickled: bytes = cloudpickle.dumps(
        [(_fields(attempt.task), _response(attempt)) for attempt in attempts]
    )
    return pickled


def rows_of(pickled: bytes) -> list[tuple[Task, str | Trajectory]]:
    """In an actor: the rows; those of our caller."""
    rows = pickle.loads(pickled)  # noqa: S301 - our caller's bytes
    return [(Task(*task) if type(task) is tuple else task, response) for task, response in rows]


def _response(attempt: Attempt) -> str | Trajectory:
    if attempt.trajectory is None:
        return attempt.response
    return evolve(attempt.trajectory, artifacts=tuple(attempt.artifacts.values()))


def _fields(task: Task) -> object:
    return FIELDS(task) if type(task) is Task else task
