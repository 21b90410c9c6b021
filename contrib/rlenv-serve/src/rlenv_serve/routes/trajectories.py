"""``/trajectories``: episodes that have ended, over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from starlette.responses import StreamingResponse

from rlenv_serve.http.answers import encode
from rlenv_serve.http.keys import Tenant
from rlenv_serve.http.problems import invalid, not_found
from rlenv_serve.server.endpoint import Call, Endpoint

MOST = 1000
LOOK = 0.5  # seconds between looks for rows, which any process may have kept
QUERY = {"environment": "only of this one", "limit": f"rows, {MOST} at most; 100 by default"}


async def list_newest(call: Call) -> object:
    """The newest trajectories, without their messages."""
    query = call.request.query_params
    limit = query.get("limit", "100")
    if not (limit.isdecimal() and len(limit) < 5 and 0 < int(limit) <= MOST):
        raise invalid(f"limit is an integer in [1, {MOST}], not {limit!r:.40}")
    rows = await call.server.archive.store.newest(
        _scope(call.tenant), query.get("environment", "").lower(), int(limit)
    )
    return {"trajectories": [row.summary() for row in rows]}


async def one(call: Call) -> object:
    """One trajectory; the operator sees the answer and what stages say in private too."""
    found = await call.server.archive.store.find(call.path["id"], _scope(call.tenant))
    if found is None:
        raise not_found(f"there is no trajectory {call.path['id']!r:.80}")
    return found.as_seen_by(call.tenant)


async def watch(call: Call) -> object:
    """Server-sent events: each trajectory when its episode ends; ``Last-Event-ID`` continues after
    one.
    """
    newest = await call.server.archive.store.newest(None, "", 1)
    last = call.header("last-event-id") or str(max((row.number for row in newest), default=0))
    if not (last.isdecimal() and len(last) < 19):
        raise invalid(f"Last-Event-ID is the id of an event, not {last!r:.40}")
    return StreamingResponse(
        _events(call, int(last)),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-cache"},
    )


async def _events(call: Call, number: int) -> AsyncIterator[bytes]:
    store = call.server.archive.store
    while not (call.server.is_ending() or await call.request.is_disconnected()):
        yield b": ping\n\n"
        for row in await store.after(number, _scope(call.tenant)):
            number = row.number
            yield b"id: %d\nevent: trajectory\ndata: %s\n\n" % (number, encode(row.summary()))
        await asyncio.sleep(LOOK)


def _scope(tenant: Tenant) -> str | None:
    """Return the tenant whose rows this one may see: itself, or None, which is all, for an
    operator.
    """
    return None if tenant.operator else tenant.name


ENDPOINTS: Sequence[Endpoint] = (
    Endpoint(
        "GET",
        "/trajectories",
        list_newest,
        "The newest trajectories",
        tag="trajectories",
        errors=(422,),
        query=QUERY,
    ),
    Endpoint(
        "GET",
        "/trajectories/watch",
        watch,
        "Each trajectory when its episode ends, as server-sent events",
        tag="trajectories",
        errors=(422,),
        headers={"Last-Event-ID": "continues after this event"},
        media=("text/event-stream",),
        head=False,
    ),
    Endpoint("GET", "/trajectories/{id}", one, "One trajectory", tag="trajectories", errors=(404,)),
)
