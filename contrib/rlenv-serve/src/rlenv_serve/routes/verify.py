"""``/v1/verify``."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence

from starlette.responses import Response, StreamingResponse

from rlenv_serve.http.answers import JSON, Json, encode
from rlenv_serve.http.watch import Watch
from rlenv_serve.server.endpoint import KEY, Call, Endpoint, idempotency_key
from rlenv_serve.verify.requests import Item, Ticket, VerifyAnswer, VerifyRequest
from rlenv_serve.verify.run import Run, made_run

LINES = "application/x-ndjson"
PREFER = "Prefer"
WAIT = re.compile(r"(?i)(?:^|[,\s])wait\s*=\s*\"?(\d{1,9})")
LONGEST = 60.0  # seconds


async def verify(call: Call) -> object:
    """Judge responses, each alone.  With ``Prefer: respond-async`` the answer is 202 and a ticket,
    and ``Location`` has the results.
    """
    asked = call.read(VerifyRequest)
    server = call.server
    key = idempotency_key(call)
    later = "respond-async" in call.header(PREFER).lower()
    lines = LINES in call.header("accept")
    if key or later:
        ticket = await server.tickets.begin(call.tenant, asked, call.raw, key)
        live = server.tickets.running(ticket)
        if lines and live and not later:
            return StreamingResponse(_lines(live[0], asyncio.shield(live[1])), media_type=LINES)
        return await _ticket_response(call, ticket, _wait(call) if later else float("inf"))
    run = await made_run(server.verifier, call.tenant, asked.environment, asked.items)
    if lines:
        return StreamingResponse(_lines(run, asyncio.create_task(run.play())), media_type=LINES)
    await run.play(call.request.receive)
    return _results(b",".join(await run.encode_results()))


async def ticket(call: Call) -> object:
    """The results of a ticket, or 202 while it is not done.  ``Prefer: wait=N`` waits for up to N
    seconds.
    """
    return await _ticket_response(call, call.path["ticket"], _wait(call))


async def cancel(call: Call) -> object:
    """End a ticket and forget its results."""
    await call.server.tickets.cancel(call.tenant, call.path["ticket"])
    return Response(status_code=204)


async def judge_items(call: Call, environment: str, items: Sequence[Item]) -> Run:
    """Return the verdicts of these responses, for a route of another form.

    Args:
        call: the request.
        environment: its name.
        items: the responses.
    """
    run = await made_run(call.server.verifier, call.tenant, environment, items)
    await run.play(call.request.receive)
    return run


async def _lines(run: Run, task: asyncio.Future[None]) -> AsyncIterator[bytes]:
    """The results of a run as they come, one line each; the task ends with its client."""
    try:
        async for line in run.lines():
            yield line + b"\n"
        await task  # raises what it raised: the client sees that the answer ends early
    finally:
        task.cancel()


async def _ticket_response(call: Call, id: str, seconds: float) -> Response:  # noqa: A002 - of a ticket
    with Watch(call.request.receive):
        status = await call.server.tickets.wait(call.tenant, id, seconds)
    if status.results is None:
        headers = {"Location": f"/v1/verify/{id}", "Retry-After": "1"}
        return Response(encode(Ticket(id, status.done, status.total)), 202, headers, JSON)
    if LINES in call.header("accept"):
        return Response(status.results + b"\n", media_type=LINES)
    return _results(status.results.replace(b"\n", b","))


def _results(joined: bytes) -> Response:
    return Json(b'{"results":[' + joined + b"]}")


def _wait(call: Call) -> float:
    """Seconds, as RFC 7240 has them in ``Prefer: wait=N``."""
    return min(float(found[1]), LONGEST) if (found := WAIT.search(call.header(PREFER))) else 0.0


TAG = "verify"
ACCEPT = {"Accept": f"{LINES}: one result a line, each as soon as it is there"}
TAKEN = {KEY: "a second request with this key is answered as the first was, for an hour"}
LATER = {PREFER: "respond-async: 202 with a ticket; wait=N: the answer may take up to N seconds"}
WAITED = {PREFER: "wait=N: the answer may take up to N seconds"}
ENDPOINTS: Sequence[Endpoint] = (
    Endpoint(
        method="POST",
        path="/v1/verify",
        handler=verify,
        summary="Judge responses, each alone",
        takes=VerifyRequest,
        gives=VerifyAnswer,
        accepted=Ticket,
        tag=TAG,
        errors=(404, 409, 410, 503),
        media=(JSON, LINES),
        headers=TAKEN | LATER | ACCEPT,
    ),
    Endpoint(
        method="GET",
        path="/v1/verify/{ticket}",
        handler=ticket,
        summary="The results of a ticket",
        takes=None,
        gives=VerifyAnswer,
        accepted=Ticket,
        tag=TAG,
        errors=(404, 410, 503),
        media=(JSON, LINES),
        headers=WAITED | ACCEPT,
    ),
    Endpoint(
        "DELETE", "/v1/verify/{ticket}", cancel, "End a ticket", status=204, tag=TAG, errors=(503,)
    ),
)
