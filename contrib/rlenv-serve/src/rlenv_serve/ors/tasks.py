"""Operations without a session: environments, splits, and tasks as signed references."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version as version_of

import msgspec
from rlenv import Task

from rlenv_serve.catalog import Served
from rlenv_serve.http.problems import invalid, not_found
from rlenv_serve.server.endpoint import Call

TYPES = {"train": "train", "training": "train", "test": "test", "testing": "test"}


class OfSplit(msgspec.Struct):
    """A split, by name."""

    split: str


class OfIndex(OfSplit):
    """One task of a split; from the end where ``index`` is negative."""

    index: int


class OfRange(OfSplit):
    """Some tasks of a split, as a slice of Python's."""

    start: int | None = None
    stop: int | None = None


async def version(_: Call) -> object:
    """The version of this server."""
    return {"version": version_of("rlenv-serve"), "build_sha": None}


async def names(call: Call) -> object:
    """The names of the environments; bare paths are of the first."""
    return [*call.server.catalog]


async def splits(call: Call) -> object:
    """The splits that have tasks; a name that ORS has no type for is of type validation."""
    return [
        {"name": name, "type": TYPES.get(name.lower(), "validation")}
        for name in environment(call).splits
    ]


async def tasks(call: Call) -> object:
    """All tasks of a split."""
    return await _specs(call, slice(None))


async def num_tasks(call: Call) -> object:
    """Return how many tasks a split has."""
    return {"num_tasks": len(_split(call)[1])}


async def task(call: Call) -> object:
    """One task of a split."""
    served, found = _split(call)
    return {"task": served.spec(at(found, call.read(OfIndex).index)), "env_name": served.name}


async def task_range(call: Call) -> object:
    """Some tasks of a split."""
    asked = call.read(OfRange)
    return await _specs(call, slice(asked.start, asked.stop))


def environment(call: Call, name: str | None = None) -> Served:
    """Return the environment of a request: of its path, or else ``X-Deployment`` where that names
    one, or else the first.

    Args:
        call: the request.
        name: that its body gives; None where it gives none.

    Raises:
        Problem: 404 when there is none.
    """
    catalog = call.server.catalog
    if name := name or call.path.get("env"):
        return catalog.lookup(name)
    found = catalog.get(call.header("X-Deployment").lower()) or next(iter(catalog.values()), None)
    if found is None:
        raise not_found("this server has no environments")
    return found


def in_split(served: Served, split: str) -> Sequence[Task]:
    """Return the tasks of a split.

    Args:
        served: the environment.
        split: its name.

    Raises:
        Problem: 400 when there is no such split.
    """
    if (found := served.splits.get(split)) is None:
        raise invalid(
            f"Invalid split: {served.name} has {', '.join(served.splits) or 'no tasks'}", 400
        )
    return found


def at(tasks: Sequence[Task], index: int) -> Task:
    """Return the task at an index.

    Args:
        tasks: of a split.
        index: from 0; a negative one counts from the end.

    Raises:
        Problem: 400 for an index that is out of range.
    """
    if not -len(tasks) <= index < len(tasks):
        raise invalid(f"Invalid index: the split has {len(tasks):,} tasks", 400)
    return tasks[index]


def _split(call: Call) -> tuple[Served, Sequence[Task]]:
    served = environment(call)
    return served, in_split(served, call.read(OfSplit).split)


async def _specs(call: Call, range_: slice) -> object:
    made = list[dict[str, object]]()
    (served, found) = _split(call)
    for each in found[range_]:
        await call.server.verifier.pause()
        made.append(served.spec(each))
    return {"tasks": made, "env_name": served.name}
