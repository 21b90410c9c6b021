"""The ASGI application: the routes of every protocol, in the order in which they are looked up."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response

from . import health
from .episodes import routes as episodes
from .http.endpoint import Call, Endpoint, route
from .http.openapi import document
from .http.problems import Problem
from .mcp import routes as mcp
from .openenv import routes as openenv
from .openenv.socket import socket_route
from .ors import routes as ors
from .server import Server
from .tools import check_names
from .trajectories import routes as trajectories
from .verify import routes as verify
from .web import routes as web

# Paths that begin with a parameter come last.
ENDPOINTS: Sequence[Endpoint] = (
    *health.ENDPOINTS,
    *web.ENDPOINTS,
    *episodes.ENDPOINTS,
    *trajectories.ENDPOINTS,
    *openenv.ENDPOINTS,
    *mcp.ENDPOINTS,
    *verify.ENDPOINTS,
    *ors.ENDPOINTS,
)


async def openapi(_: Call) -> object:
    """This document."""
    return document((*ENDPOINTS, DOCUMENT))


DOCUMENT = Endpoint("GET", "/openapi.json", openapi, "The OpenAPI document", public=True)


def application(server: Server) -> Starlette:
    """The server as an ASGI application, which opens the server when it starts and closes it when it ends."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with server.running():
            yield

    handlers = {404: _missing, 405: _missing}
    for served in server.catalog.values():
        check_names(served)
    routes = [socket_route(server), *(route(server, each) for each in (DOCUMENT, *ENDPOINTS))]
    return Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)


async def _missing(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    code = "not_found" if status == 404 else "method_not_allowed"
    told = f"{request.method} {request.url.path[:200]} is no operation of this server; GET /openapi.json lists them"
    return Problem(status, code, told).response()
