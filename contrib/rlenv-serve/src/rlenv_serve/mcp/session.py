"""A session of MCP: one episode, whose id is the session's."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version

import msgspec
from attrs import frozen

from rlenv_serve.catalog import Served
from rlenv_serve.http.problems import not_found
from rlenv_serve.jsonrpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    Method,
    Params,
    RpcError,
    RpcRequest,
)
from rlenv_serve.keys import Tenant
from rlenv_serve.server import Server
from rlenv_serve.sessions import Session
from rlenv_serve.sessions.actions import END
from rlenv_serve.tools import called, listing, result, tools_of

VERSIONS = ("2025-03-26", "2025-06-18", "2025-11-25")
EPISODE = "rlenv/episode_id"
NAME = 200  # characters of a client's name


class ClientInfo(msgspec.Struct):
    """Who the client says it is."""

    name: str = ""


class Initialize(msgspec.Struct, rename="camel"):
    """What a session begins with; other members are left alone."""

    protocol_version: str = VERSIONS[-1]
    client_info: ClientInfo = msgspec.field(default_factory=ClientInfo)


def initialize_of(request: RpcRequest) -> Initialize:
    """
    Raises:
        RpcError: for a notification, and for parameters of other types.
    """
    if request.id is None:
        raise RpcError(INVALID_REQUEST, "initialize needs an id")
    try:
        return msgspec.convert(request.params or {}, Initialize)
    except msgspec.ValidationError as error:
        raise RpcError(INVALID_PARAMS, str(error)) from None


def greeting(session: Session, asked: Initialize) -> dict[str, object]:
    """What ``initialize`` is answered: its instructions are what the policy is given at the start of the episode."""
    agreed = asked.protocol_version if asked.protocol_version in VERSIONS else VERSIONS[-1]
    told = [str(each.get("content") or "") for each in session.first.messages]
    return {
        "protocolVersion": agreed,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "rlenv", "version": version("rlenv-serve")},
        "instructions": "\n\n".join(told),
        "_meta": {EPISODE: session.id},
    }


@frozen
class McpSession:
    """What one request of a session may do.

    Args:
        server: for episodes.
        tenant: whose request it is.
        served: the environment.
        id: of the episode.
    """

    server: Server
    tenant: Tenant
    served: Served
    id: str

    @property
    def named(self) -> Mapping[str, Method]:
        """The methods by name."""
        return {"ping": self._ping, "tools/list": self._list, "tools/call": self._call}

    async def check(self) -> None:
        """
        Raises:
            Problem: 404 where the tenant has no such session with this environment.
        """
        entry = await self.server.sessions.entry(self.tenant, self.id)
        if entry.begun.environment != self.served.name:
            raise not_found(f"there is no session {self.id!r:.80}")

    async def end(self) -> None:
        """The client is done: the episode is judged as it is, and forgotten where nothing was done in it."""
        sessions = self.server.sessions
        entry = await sessions.entry(self.tenant, self.id)
        if entry.ended is None and not entry.steps:
            await sessions.delete(self.tenant, self.id)
        elif entry.ended is None:
            async with self.server.turns.of(self.tenant.name):
                await sessions.step(self.tenant, self.id, END)

    async def _ping(self, _: Params) -> object:
        return {}

    async def _list(self, _: Params) -> object:
        tools = await tools_of(self.server.sessions, self.tenant, self.served, self.id)
        return {"tools": listing(tools, "inputSchema")}

    async def _call(self, params: Params) -> object:
        action = called(params)
        async with self.server.turns.of(self.tenant.name):
            return result(await self.server.sessions.step(self.tenant, self.id, action))
