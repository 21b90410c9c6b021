"""The ASGI application: the routes of every protocol, in the order in which they are looked up."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from . import mcp
from .http.problems import Problem
from .openenv import routes as openenv
from .openenv.socket import socket_route
from .ors import routes as ors
from .routes import compat, configuration, episodes, health, page, trajectories, verify
from .server import Server
from .server.endpoint import Call, Endpoint, route
from .server.openapi import document
from .tools import check_names

# Paths that begin with a parameter come last.
PARTS = (health, page, episodes, trajectories, configuration, openenv, mcp, verify, compat, ors)
ENDPOINTS: Sequence[Endpoint] = [each for part in PARTS for each in part.ENDPOINTS]


async def openapi(_: Call) -> object:
    """This document."""
    return document((*ENDPOINTS, DOCUMENT))


# A path of MCP with the id of a task, which may end with a slash.
OF_TASK = re.compile(r"/mcp/[^/]+/[^/]")
DOCUMENT = Endpoint("GET", "/openapi.json", openapi, "The OpenAPI document", public=True)


class Application(Starlette):
    """The server's application, which finds paths without parameters by one look-up: most requests
    have one.

    A path with a slash at its end is the same as without.  Starlette redirects it to the address
    that ``Host`` names, which loses the body with some clients, and TLS behind a proxy.
    """

    exact: Mapping[tuple[object, object], ASGIApp] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        path = scope.get("path", "")
        if len(path) > 1 and path.endswith("/") and not OF_TASK.match(path):
            scope = {**scope, "path": path.rstrip("/") or "/"}
        found = self.exact.get((scope.get("method"), scope.get("path")))
        await (found or super().__call__)(scope, receive, send)


def application(server: Server) -> Starlette:
    """The server as an ASGI application, which opens the server when it starts and closes it when
    it ends.
    """

    for served in server.catalog.values():
        check_names(served)
    made = [route(server, each) for each in (DOCUMENT, *ENDPOINTS)]
    app = Application(
        routes=[socket_route(server), *made],
        lifespan=lambda _: server.running(),
        exception_handlers=dict.fromkeys((404, 405), _missing),
    )
    app.router.redirect_slashes = False
    app.exact = {
        (method, each.path): each.app
        for each in made
        if "{" not in each.path
        for method in each.methods or ()
    }
    return app


async def _missing(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    code = "not_found" if status == 404 else "method_not_allowed"
    told = (
        f"{request.method} {request.url.path[:200]} is no operation of this server; GET"
        " /openapi.json lists them"
    )
    return Problem(status, code, told).response()
