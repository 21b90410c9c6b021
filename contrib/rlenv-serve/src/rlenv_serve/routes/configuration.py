"""Tasks with what models reach on them, over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Annotated, Any

import msgspec
import sqlalchemy as sa
from msgspec import Meta

from rlenv_serve.catalog import Served
from rlenv_serve.configuration.store import BASELINES, TASKS, measure
from rlenv_serve.http.problems import Problem, invalid
from rlenv_serve.server.endpoint import Call, Endpoint
from rlenv_serve.state.database import storable

PAGE = 500  # tasks of one answer
Rewards = Annotated[list[Annotated[float, Meta(ge=0, le=1)] | None], Meta(min_length=1)]
QUERY = {
    "split": "only tasks of it",
    "without": "only tasks that this model was not measured on, as they and the verifier are now",
    "after": "only tasks after the one with this id",
}


class Baselines(msgspec.Struct, forbid_unknown_fields=True):
    """The rewards of a model's attempts at tasks.

    Args:
        environment: its name on the server.
        model: any name of up to 200 characters that can be printed.
        results: rewards of all attempts at each task, by its id; null is unscored.
        fingerprint: of the verifier that judged them; by default the one that is served; another
            one is 409.
        tasks_sha256: of the tasks, likewise.
    """

    environment: str
    model: Annotated[str, Meta(pattern=r"^[^\x00-\x1f\x7f]{1,200}(?![\s\S])")]
    results: Annotated[dict[str, Rewards], Meta(min_length=1)]
    fingerprint: str = ""
    tasks_sha256: str = ""


async def put(call: Call) -> object:
    """Keep what a model reaches on tasks, all or nothing, in place of what it reached with this
    verifier before; for operators.
    """
    if not call.tenant.operator:
        raise Problem(
            403,
            "operator_only",
            "this needs the key of an operator: `rlenv serve --new-key NAME --operator --keys FILE`"
            " makes one; on a server without keys, start it with --operator",
        )
    given = call.read(Baselines)
    store = call.server.archive.store
    served = call.server.catalog.lookup(given.environment)
    now = served.env.fingerprint, served.env.tasks.sha256
    if (given.fingerprint or now[0], given.tasks_sha256 or now[1]) != now:
        raise Problem(
            409,
            "other_version",
            f"{served.name} has the fingerprint {now[0]} and the tasks_sha256 {now[1]} now: measure"
            " with these",
        )
    await store.run(partial(measure, store, served, given.model, given.results))
    return {"kept": len(given.results)}


async def tasks(call: Call) -> object:
    """The next tasks of an environment with their baselines, which are stale where the task or the
    verifier has changed since.
    """
    store = call.server.archive.store
    query = call.request.query_params
    served = call.server.catalog.lookup(call.path["env"])
    now = served.env.fingerprint
    b = BASELINES.c
    done = (
        await store.rows(
            sa.select(b.digest).where(
                b.environment == served.name,
                b.fingerprint == now,
                b.model == storable(query["without"]),
            )
        )
        if "without" in query
        else []
    )
    page = await asyncio.to_thread(_page, served, query, {each["digest"] for each in done})
    found = {storable(each["task_id"]): (each, digest) for each, digest in page}
    measured = (
        sa.select(TASKS.c.id, *(each for each in b if each is not b.environment))
        .select_from(sa.join(TASKS, BASELINES))
        .order_by(b.model, b.measured)
    )
    for row in await store.rows(
        measured.where(b.environment == served.name, TASKS.c.id.in_(found))
    ):
        task, digest = found[row.pop("id")]
        stale = (row["fingerprint"], row.pop("digest")) != (now, digest)
        task["baselines"].append({**row, "stale": stale})
    return {"environment": served.name, "fingerprint": now, "tasks": [task for task, _ in page]}


def _page(served: Served, query: Mapping[str, str], done: set[str]) -> list[tuple[Any, str]]:
    """The next tasks that were asked for, each with its digest."""
    left = iter(served.env.tasks)
    if "after" in query and not any(task.id == query["after"] for task in left):  # read up to it
        raise invalid(f"after is the id of a task, not {query['after']!r:.80}")
    of_split = (
        (task, served.digest(task)) for task in left if query.get("split", task.split) == task.split
    )
    wanted = islice((each for each in of_split if each[1] not in done), PAGE)
    return [
        ({"task_id": task.id, "split": task.split, "baselines": []}, digest)
        for task, digest in wanted
    ]


ENDPOINTS: Sequence[Endpoint] = (
    Endpoint(
        "GET",
        "/environments/{env}/tasks",
        tasks,
        "Tasks, and what models reach on them",
        tag="tasks",
        errors=(404, 422, 503),
        query=QUERY,
    ),
    Endpoint(
        "PUT",
        "/v1/baselines",
        put,
        "Keep what a model reaches on tasks",
        takes=Baselines,
        tag="tasks",
        errors=(404, 409, 503),
    ),
)
