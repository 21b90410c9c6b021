"""Sandboxes over HTTP: the application of rlenv-plugin-sandbox, behind this server's keys and
turns.

A session belongs to the process that opened it, so servers of several processes serve none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from rlenv.sandbox import get
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import Receive, Scope, Send

from rlenv_serve.http.origin import check_origin
from rlenv_serve.http.problems import Problem
from rlenv_serve.http.turns import Turns
from rlenv_serve.server import Server

PATH = "/sandbox/v1"
SERVED = "jail"  # isolates enough for whoever has the right
SEVERAL = (
    "a session belongs to one process of the server: start it with --workers 1, or run `rlenv"
    " sandbox`"
)


class _Turn:
    """The right of a tenant to hold a place: one of its programs, and one of its requests that
    run.
    """

    def __init__(self, turns: Turns, tenant: str, programs: int) -> None:
        self._turns = turns
        self._tenant = tenant
        self._programs = asyncio.Semaphore(programs)

    async def acquire(self) -> None:
        await self._programs.acquire()
        try:
            await self._turns.take(self._tenant)
        except BaseException:
            self._programs.release()
            raise

    def release(self) -> None:
        self._turns.give(self._tenant)
        self._programs.release()


class _Several:
    """Answers every request with ``SEVERAL``."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        said = {"error": "config", "problems": [SEVERAL]}
        await JSONResponse(said, 501)(scope, receive, send)


def routes(server: Server, *, alone: bool) -> list[BaseRoute]:
    """The paths of the sandboxes.

    Args:
        server: whose keys and turns count.
        alone: this is the only process of the server.
    """
    app = _application(server) if alone else _Several()
    return [Route(PATH, endpoint=app), Mount(PATH, app=app)]


def _application(server: Server) -> Any:
    remote = import_module("rlenv_plugin_sandbox.remote.app")
    tenants = import_module("rlenv_plugin_sandbox.remote.tenants")
    default_places = import_module("rlenv_plugin_sandbox.pool").default_places
    known: dict[str, Any] = {}

    def admit(headers: Mapping[str, str]) -> Any:
        try:
            check_origin(headers, keyless=server.keys.tenants is None)
            tenant = server.keys.tenant(headers)
        except Problem as problem:
            raise tenants.RejectedError(problem.status, problem.detail) from None
        if not tenant.programs:
            raise tenants.RejectedError(
                403,
                "this key may not run programs: add `programs = true` to it in the file of keys, or"
                " make one with `rlenv serve --new-key NAME --programs --keys FILE`",
            )
        if tenant.name not in known:
            programs = max(1, default_places() - 1)
            turn = _Turn(server.turns, tenant.name, programs)
            known[tenant.name] = tenants.Tenant(programs, alone=turn)
        return known[tenant.name]

    def is_ending() -> bool:
        return server.is_ending()  # it is set when the server runs

    return remote.SandboxApp(get(SERVED), SERVED, admit, is_ending=is_ending)
