"""Requests and answers of ``/v1/verify``."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta
from rlenv import Task, Trajectory

from rlenv_serve.catalog import Served
from rlenv_serve.http.keys import Tenant
from rlenv_serve.http.problems import Problem, invalid

SHOWN = 20  # wrong items that an error names
ID_LENGTH = 200

Id: TypeAlias = (
    Annotated[str, Meta(max_length=ID_LENGTH)] | Annotated[int, Meta(ge=-(1 << 53), le=1 << 53)]
)
Messages: TypeAlias = list[dict[str, object]]


class NewTask(msgspec.Struct, forbid_unknown_fields=True):
    """A task that the request brings, with its answer; for tenants whose key has ``answers =
    true``.
    """

    prompt: str
    answer: object = None
    info: dict[str, object] = {}


class Item(msgspec.Struct, forbid_unknown_fields=True):
    """One response to one task.

    Args:
        task: the id of a task of the environment, or a task.
        response: a text, or the messages of a conversation; null is an empty text, which servers of
            models give where a policy wrote nothing besides its thoughts.
        id: comes back with the result; by default the position in the request, from 0.
    """

    task: str | NewTask
    response: str | Messages | None
    id: Id | None = None


class VerifyRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Responses to be judged, each alone."""

    environment: str
    items: Annotated[list[Item], Meta(min_length=1)]


class VerifyResult(msgspec.Struct, omit_defaults=True):
    """A verdict: ``reward`` and ``passed`` are null where there is none, and ``fault`` is the kind
    of what broke.

    ``message`` is what broke in words, for the operator alone.
    """

    id: str | int
    reward: float | None
    passed: bool | None
    fault: str | None
    stages: Sequence[Mapping[str, object]]
    fingerprint: str
    message: str = ""


class VerifyAnswer(msgspec.Struct):
    """The results, in the order of the items."""

    results: list[VerifyResult]


class Ticket(msgspec.Struct):
    """A request that is not done: how many of its responses are."""

    ticket: str
    done: int
    total: int


class Job(msgspec.Struct):
    """A response and its task, found."""

    id: str | int
    task: Task
    response: str | Trajectory


async def jobs(served: Served, items: Sequence[Item], tenant: Tenant, most: int) -> list[Job]:
    """Find the tasks of all items, before anything runs.

    Args:
        served: the environment.
        items: of the request.
        tenant: whose request it is.
        most: items of one request.

    Raises:
        Problem: 422 with all wrong items; 403 for a task with its answer from a tenant that may not
            bring one.
    """
    if len(items) > most:
        raise invalid(f"a request has at most {most:,} items, not {len(items):,}: send several")
    found = list[Job]()
    wrong = list[str]()
    for index, item in enumerate(items):
        if task := _task(served, item.task, tenant):
            found.append(Job(index if item.id is None else item.id, task, _response(item.response)))
        else:
            wrong.append(f"items[{index}]: there is no task {item.task!r:.80}")
    if not wrong and None in [job.task.id for job in found]:
        wrong = await asyncio.to_thread(_unfit, served, found)
    if not wrong and len({job.id for job in found}) < len(found):
        twice = Counter(job.id for job in found).most_common(1)[0][0]
        wrong = [f"items: two have the id {twice!r:.80}; leave ids out, or draw each once"]
    if wrong:
        more = [f"and {len(wrong) - SHOWN:,} more"] if len(wrong) > SHOWN else []
        raise invalid("; ".join([*wrong[:SHOWN], *more]))
    return found


def _response(given: str | Messages | None) -> str | Trajectory:
    if given is None:
        return ""
    return given if isinstance(given, str) else Trajectory(given)


def _task(served: Served, given: str | NewTask, tenant: Tenant) -> Task | None:
    if isinstance(given, NewTask):
        if not tenant.answers:
            raise Problem(
                403,
                "answers_forbidden",
                "this key may not bring tasks: name a task of the environment by its id, or ask the"
                " operator for a key with answers = true",
            )
        return Task(given.prompt, given.answer, given.info)
    return served.env.tasks.get(given)


def _unfit(served: Served, found: Iterable[Job]) -> list[str]:
    """Return why the stages cannot work with tasks of the request, as where an environment reads
    its own.
    """
    checked = (
        (index, served.env._plan.check_task(job.task))
        for index, job in enumerate(found)
        if job.task.id is None
    )
    return [f"items[{index}].task: {why}" for index, why in checked if why]
