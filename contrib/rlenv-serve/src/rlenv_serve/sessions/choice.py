"""The task of a new episode, where a client names it or has a seed pick it."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Sequence

import msgspec
from rlenv import Task

from rlenv_serve.catalog import Served
from rlenv_serve.http.limits import Seed
from rlenv_serve.http.problems import Problem, invalid

from .problems import UNREACHABLE, unreachable
from .session import Session

TRAIN = "train"
DRAWS = 16  # tasks that one choice tries where a persistent world makes them impossible


class TaskChoice(msgspec.Struct):
    """A task, as a client asks for it.

    Args:
        task_id: of the task; without one, ``seed`` picks it.
        seed: of all that is drawn in the episode.  The task is number ``seed`` of its split, from
            0, counted around; without a seed it is any.
        split: of the tasks that the seed picks from; by default ``train``; where there is none of
            that name it has to be named.
    """

    task_id: str | None = None
    seed: Seed | None = None
    split: str | None = None


def tasks_of(served: Served, asked: TaskChoice) -> tuple[Sequence[Task], int]:
    """Return the task that was asked for, and the seed of its episode, which is drawn where there
    is none.

    Where the seed picks the task, the tasks behind it follow, up to DRAWS of them: they are played
    where a persistent world makes those before them impossible.

    Args:
        served: the environment.
        asked: as the client asks for a task.

    Raises:
        Problem: 404 for a task that there is not; 422 for a split that there is not, and where
            there is no split ``train`` and none was asked for: tasks of another one are not drawn
            unasked.
    """
    seed = secrets.randbelow(1 << 31) if asked.seed is None else asked.seed
    split = asked.split
    if asked.task_id is not None:
        return [served.task(asked.task_id)], seed
    if not served.splits:
        raise invalid(f"{served.name} has no tasks to draw from")
    name = TRAIN if split is None else split
    if name not in served.splits:
        remedy = "; name one as split" if split is None else ""
        raise invalid(
            f"no split is named {name!r:.80}; there are {', '.join(served.splits)}{remedy}"
        )
    tasks = served.splits[name]
    draws = range(seed, seed + min(DRAWS, len(tasks)))
    return [tasks[number % len(tasks)] for number in draws], seed


async def begin_first(
    tasks: Sequence[Task], begin: Callable[[Task], Awaitable[Session]]
) -> Session:
    """Begin an episode with the first of the tasks that a persistent world leaves possible.

    Args:
        tasks: as of ``tasks_of``.
        begin: an episode of a task.

    Raises:
        Problem: 503 where all are impossible; as ``begin`` besides.
    """
    for task in tasks:
        try:
            return await begin(task)
        except Problem as problem:
            if problem.code != UNREACHABLE:
                raise
    raise unreachable(len(tasks))
