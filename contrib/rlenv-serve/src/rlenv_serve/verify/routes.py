"""``/v1/verify``."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from rlenv_serve.http.answers import JSON, Json
from rlenv_serve.http.endpoint import KEY, Call, Endpoint, idempotency_key
from rlenv_serve.http.watch import Watch

from .requests import Item, VerifyAnswer, VerifyRequest, jobs
from .run import Run

LINES = "application/x-ndjson"


class Lines(Response):
    """The results of a run, one line each, as they come.

    Args:
        run: which is played.
        task: that plays it.
        end: end it with its client.
    """

    media_type = LINES

    def __init__(self, run: Run, task: asyncio.Task[None], *, end: bool) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._run, self._task, self._end = run, task, end

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Send them."""
        try:
            async with Watch(receive):
                await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})  # fmt: skip
                async for line in self._run.lines():
                    await send({"type": "http.response.body", "body": line + b"\n", "more_body": True})  # fmt: skip
                await (
                    self._task
                )  # raises what it raised: the client sees that the answer ends early
                await send({"type": "http.response.body", "body": b""})
        finally:
            if self._end:
                self._task.cancel()


async def verify(call: Call) -> object:
    """Judge responses, each alone."""
    asked, server = call.read(VerifyRequest), call.server
    served = server.catalog.named(asked.environment)
    key = idempotency_key(call)
    kept = server.kept.find(call.tenant.name, key, call.raw) if key else None
    if kept is None:
        server.turns.admit(call.tenant.name)
        found = await jobs(served, asked.items, call.tenant, server.limits.items)
        run = Run(server.verifier, call.tenant, served, found)
    else:
        run = kept[0]
    lines = LINES in call.header("accept")
    if not key and not lines:
        await run.play(call.request.receive)
        return await _answer(run)
    task = kept[1] if kept else _started(call, run, key)
    if lines:
        return Lines(run, task, end=not key)
    async with Watch(call.request.receive):
        await asyncio.shield(task)
    return await _answer(run)


async def judged(call: Call, environment: str, items: Sequence[Item]) -> Run:
    """The verdicts of these responses, for a route of another form."""
    server = call.server
    served = server.catalog.named(environment)
    server.turns.admit(call.tenant.name)
    run = Run(server.verifier, call.tenant, served, await jobs(served, items, call.tenant, server.limits.items))  # fmt: skip
    await run.play(call.request.receive)
    return run


def _started(call: Call, run: Run, key: str) -> asyncio.Task[None]:
    def play() -> asyncio.Task[None]:
        return asyncio.create_task(run.play())

    return call.server.kept.add(call.tenant.name, key, call.raw, run, play) if key else play()


async def _answer(run: Run) -> Response:
    return Json(b'{"results":[' + b",".join(await run.encoded()) + b"]}")


ENDPOINTS: Sequence[Endpoint] = (
    Endpoint(
        "POST",
        "/v1/verify",
        verify,
        "Judge responses, each alone",
        VerifyRequest,
        VerifyAnswer,
        tag="verify",
        errors=(404, 409),
        media=(JSON, LINES),
        headers={
            KEY: "a second request with this key is answered as the first was, for an hour",
            "Accept": f"{LINES}: one result a line, each as soon as it is there",
        },
    ),
)
