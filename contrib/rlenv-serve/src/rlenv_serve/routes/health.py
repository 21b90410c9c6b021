"""Operations that say whether the server lives and is ready, and what it counts."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.responses import Response

from rlenv_serve.http.problems import Problem
from rlenv_serve.server.endpoint import Call, Endpoint


async def healthz(_: Call) -> object:
    """The process answers."""
    return {"status": "ok"}


async def readyz(call: Call) -> object:
    """Requests are accepted, and what they change can be kept.

    Raises:
        Problem: 503 while the server starts or ends, and where its state cannot be written.
    """
    if not call.server.ready:
        raise Problem(503, "not_ready", "the server starts or ends", Retry_After="1")
    await call.server.probe()
    return {"status": "ready", "environments": [*call.server.catalog]}


async def metrics(call: Call) -> object:
    """In Prometheus's text format."""
    return Response(
        call.server.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8"
    )


ENDPOINTS: Sequence[Endpoint] = (
    Endpoint("GET", "/healthz", healthz, "Whether the process answers", public=True, tag="health"),
    Endpoint(
        "GET", "/health", healthz, "The same, as clients of ORS ask", public=True, tag="health"
    ),
    Endpoint(
        "GET",
        "/readyz",
        readyz,
        "Whether requests are accepted",
        public=True,
        tag="health",
        errors=(503,),
    ),
    Endpoint(
        "GET", "/metrics", metrics, "Counts for Prometheus", tag="health", media=("text/plain",)
    ),
)
