"""The methods of OpenEnv's JSON-RPC, which is not MCP: sessions, and the tools of their
episodes.
"""

from __future__ import annotations

from collections.abc import Mapping

from rlenv_serve.catalog import Served
from rlenv_serve.http.keys import Tenant
from rlenv_serve.http.problems import Problem
from rlenv_serve.jsonrpc import INVALID_PARAMS, Method, Params
from rlenv_serve.server import Server
from rlenv_serve.tools import ENDED, action_of_call, check_tool, result, tools_of

from .sessions import OpenEnvSession, OpenEnvSessions


def methods(
    server: Server, tenant: Tenant, served: Served, own: OpenEnvSession | None = None
) -> Mapping[str, Method]:
    """Return the methods that one request may call, by name.

    Args:
        server: for episodes.
        tenant: whose request it is.
        served: the environment.
        own: the session of the WebSocket that brings the request, None over HTTP.
    """

    async def session(params: Params) -> OpenEnvSession:
        given = params.get("session_id")
        if not isinstance(given, str):
            raise Problem(
                422, INVALID_PARAMS, "session_id is needed; openenv/session/create gives one"
            )
        return await OpenEnvSessions.of(server).get(tenant, served, given)

    async def create(_: Params) -> object:
        return {
            "session_id": (
                own or await OpenEnvSessions.of(server).open(tenant, served, attached=False)
            ).id
        }

    async def close(params: Params) -> object:
        closed = await session(params)
        if closed is own or closed.attached:
            raise Problem(409, "invalid_request", "a WebSocket uses this session: close that first")
        await OpenEnvSessions.of(server).close(closed)
        return {"session_id": closed.id, "closed": True}

    async def list_tools(params: Params) -> object:
        """Without a session: the tools that every episode has."""
        asked = own or (await session(params) if "session_id" in params else None)
        return await tools_of(
            server.sessions, tenant, served, asked.episode if asked else None, "inputSchema"
        )

    async def call_tool(params: Params) -> object:
        asked = own or await session(params)
        action = action_of_call(params, server.limits.depth)
        if asked.episode and asked.any_action is not True:
            await check_tool(server.sessions, tenant, asked.episode, params["name"])
        answer = await OpenEnvSessions.of(server).step(asked, action)
        # Official clients return ``data``, where there is any.
        told = result(answer)
        return told if told["isError"] else {**told, "data": answer.text or ENDED}

    return {
        "openenv/session/create": create,
        "openenv/session/close": close,
        "tools/list": list_tools,
        "tools/call": call_tool,
    }
