"""The methods of OpenEnv's JSON-RPC, which is not MCP: sessions, and the tools of their episodes."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from rlenv_serve.catalog import Served
from rlenv_serve.http.problems import Problem
from rlenv_serve.jsonrpc import Method, Params, invalid_params
from rlenv_serve.keys import Tenant
from rlenv_serve.server import Server
from rlenv_serve.tools import ENDED, called, listing, result, tools_of

from .sessions import OpenEnvSession


@frozen
class Methods:
    """What one request may call.

    Args:
        server: for episodes.
        tenant: whose request it is.
        served: the environment.
        session: of the WebSocket that brings the request, None over HTTP.
    """

    server: Server
    tenant: Tenant
    served: Served
    session: OpenEnvSession | None = None

    @property
    def named(self) -> Mapping[str, Method]:
        """The methods by name."""
        return {"openenv/session/create": self._create, "openenv/session/close": self._close, "tools/list": self._list, "tools/call": self._call}  # fmt: skip

    async def _create(self, _: Params) -> object:
        made = self.session or await self.server.openenv.open(self.tenant, self.served, attached=False)  # fmt: skip
        return {"session_id": made.id}

    async def _close(self, params: Params) -> object:
        session = await self._named(params)
        if session is self.session or session.attached:
            raise Problem(409, "invalid_request", "a WebSocket uses this session: close that first")
        await self.server.openenv.close(session)
        return {"session_id": session.id, "closed": True}

    async def _list(self, params: Params) -> object:
        """Without a session: the tools that every episode has."""
        asked = self.session is not None or "session_id" in params
        episode = (await self._session(params)).episode if asked else None
        tools = await tools_of(self.server.sessions, self.tenant, self.served, episode)
        return {"tools": listing(tools, "inputSchema")}

    async def _call(self, params: Params) -> object:
        session, action = await self._session(params), called(params)
        async with self.server.turns.of(self.tenant.name):
            answer = await self.server.openenv.step(session, action)
        # Official clients return ``data``, where there is any.
        told = result(answer)
        return told if told["isError"] else {**told, "data": answer.text or ENDED}

    async def _session(self, params: Params) -> OpenEnvSession:
        return self.session or await self._named(params)

    async def _named(self, params: Params) -> OpenEnvSession:
        given = params.get("session_id")
        if not isinstance(given, str):
            raise invalid_params("session_id is needed; openenv/session/create gives one")
        return await self.server.openenv.get(self.tenant, self.served, given)
