"""OpenEnv's WebSocket: one request a frame, each answered by one, in order."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial

from attrs import frozen
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from rlenv_serve.http.origin import check_origin
from rlenv_serve.http.problems import Problem, invalid, result_or_problem
from rlenv_serve.http.watch import Watch
from rlenv_serve.jsonrpc import respond
from rlenv_serve.server import Server
from rlenv_serve.tools import tools_of

from .actions import (
    LIST_TOOLS,
    action_of,
    check_action,
    first_seen,
    observation,
    problem_of,
    reset_of,
    step_observation,
    tool_of,
)
from .frames import error_frame, frame, read_frame
from .methods import methods
from .sessions import OpenEnvSession, OpenEnvSessions

logger = logging.getLogger("rlenv_serve")
PATH = "/openenv/{env}/ws"
# codes of WebSocket
GOING_AWAY = 1001
REFUSED = 1008


@frozen
class Player:
    """One connection with its session."""

    server: Server
    session: OpenEnvSession

    async def play(self, socket: WebSocket) -> None:
        """Answer frames, one after another, until the client is gone, or has asked for the end."""
        while True:
            with Watch(None, self.server.limits.idle):
                message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            started = time.perf_counter()
            found = await result_or_problem(self._answer(message.get("text")), "a frame")
            if found is None:
                if self.session.own:
                    await OpenEnvSessions.of(self.server).close(self.session)
                await socket.close()
                return
            status = found.status if isinstance(found, Problem) else 200
            await socket.send_text(error_frame(found) if isinstance(found, Problem) else found)
            self.server.metrics.request("openenv", PATH, status, time.perf_counter() - started)

    async def _answer(self, text: str | None) -> str | None:
        """The frame that answers one; None for the end."""
        asked = read_frame(text)
        kind = asked.type
        data = asked.data
        if kind == "close":
            return None
        if kind == "state":
            return frame("state", await OpenEnvSessions.of(self.server).state(self.session))
        if kind == "mcp":
            own = self.session
            return frame(
                "mcp", await respond(data, methods(self.server, own.tenant, own.served, own))
            )
        if kind not in ("reset", "step"):
            raise Problem(
                422,
                "unknown_type",
                f"no frame has the type {kind!r:.80}; there are reset, step, state, mcp, close",
            )
        if not isinstance(data, Mapping):
            raise invalid(f"data of {kind} is an object")
        return frame("observation", await (self._reset if kind == "reset" else self._step)(data))

    async def _reset(self, data: Mapping[str, object]) -> object:
        return first_seen(
            await OpenEnvSessions.of(self.server).reset(
                self.session, reset_of(self.session.served, data)
            )
        )

    async def _step(self, data: Mapping[str, object]) -> object:
        session = self.session
        if data.get("type") == LIST_TOOLS:
            return observation(
                await tools_of(
                    self.server.sessions,
                    session.tenant,
                    session.served,
                    session.episode,
                    "input_schema",
                )
            )
        if session.any_action is False:
            check_action(session.served, data)
        wrong = problem_of(session.served, data)
        if wrong:
            logger.info(
                "%s: an action of OpenEnv is of no known form: %s", session.served.name, wrong
            )
        action = action_of(session.served, data, self.server.limits.depth)
        return step_observation(
            tool_of(data), await OpenEnvSessions.of(self.server).step(session, action), wrong
        )


async def talk(server: Server, socket: WebSocket) -> None:
    """Speak with one client until it, the server or its time ends.

    Args:
        server: of the connection.
        socket: not accepted yet.
    """
    try:
        check_origin(socket.headers, keyless=server.keys.tenants is None)
        tenant = server.keys.tenant(socket.headers)
        served = server.catalog.lookup(socket.path_params["env"])
    except Problem as problem:
        await socket.send_denial_response(problem.response())
        return
    await socket.accept()
    id_ = socket.query_params.get("session_id")
    with suppress(WebSocketDisconnect, RuntimeError, OSError):  # the client is gone
        try:
            session = await (
                OpenEnvSessions.of(server).get(tenant, served, id_, attach=True)
                if id_
                else OpenEnvSessions.of(server).open(tenant, served, attached=True)
            )
        except Problem as problem:
            await socket.send_text(error_frame(problem, "SESSION_ERROR"))
            await socket.close(REFUSED)
            return
        try:
            await Player(server, session).play(socket)
        except TimeoutError:
            await socket.close(GOING_AWAY, "no frame came")
        finally:
            OpenEnvSessions.of(server).detach(session)


def socket_route(server: Server) -> WebSocketRoute:
    """The WebSocket as a route of Starlette."""
    return WebSocketRoute(PATH, partial(talk, server))
