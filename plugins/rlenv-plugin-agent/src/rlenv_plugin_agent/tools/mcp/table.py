"""``[mcp]``: the servers whose tools a policy may call; started, greeted, and their listings
compared with the pins.
"""

from __future__ import annotations

import asyncio
import os
from asyncio import AbstractEventLoop
from collections.abc import Sequence
from contextlib import AsyncExitStack
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from attrs import frozen
from rlenv import ConfigError
from rlenv.authoring import Unsafe
from rlenv.sandbox import Profile, Session, get

from rlenv_plugin_agent.errors import EpisodeError
from rlenv_plugin_agent.tools.tool import Tool

from .errors import ServerError
from .http import HttpLink
from .listing import listing, pin_of, server_tool
from .rpc import Link, Rpc
from .server import McpServer
from .stdio import StdioLink

CLOCK = 3600.0  # seconds on the clock of a server, which stands still between calls
QUEUE = 64  # calls of one server that may wait for one another
# Whoever leases the places of an episode leases all of them, so that no two episodes wait for one
# another's.
_leasing: WeakKeyDictionary[AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


@frozen
class McpServers:
    """``[mcp]``: servers of the Model Context Protocol.

    Args:
        server: ``[[mcp.server]]``, each with a name of its own.
        hosts: what a ``url`` may lead to, as ``host`` or ``host:port``.
        places: commands that run at one time in this process; an episode waits for places for its
            own.
    """

    server: Sequence[McpServer] = ()
    hosts: Unsafe[Sequence[str]] = ()
    places: int = 8

    def __attrs_post_init__(self) -> None:
        if len({each.name for each in self.server}) < len(self.server):
            raise ConfigError("server: two have one name")
        for each in self.server:
            scheme, host = urlsplit(each.url)[:2]
            if each.url and (scheme not in ("http", "https") or host not in self.hosts):
                raise ConfigError(
                    f"server {each.name!r}: its host {host!r} is not in hosts; add it, as hosts ="
                    f' ["{host}"], or remove the server'
                )
        if sum(bool(each.command) for each in self.server) > self.places:
            raise ConfigError(f"places: {self.places} are too few for the servers of one episode")

    async def open_tools(self, stack: AsyncExitStack) -> Sequence[Tool]:
        """Open the tools of all servers, for one episode; see ``open_tools`` of ``tools.tool``.

        Raises:
            ConfigError: a server is not pinned, or cannot be had as it is configured.
            VerifierFault: a server does not start, or lists other tools than were pinned.
        """
        sessions = dict[str, Session]()
        async with _leasing.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            for server in self.server:
                if server.command:
                    sessions[server.name] = await _lease(server, self.places)
                    stack.push_async_callback(sessions[server.name].close)
        found = [await _tools(each, sessions.get(each.name), stack) for each in self.server]
        return [tool for tools in found for tool in tools]

    def show(self) -> str:
        """Describe the table for ``rlenv show``."""
        told = ((each.name, each.url or " ".join(each.command)) for each in self.server)
        return "\n".join(map(": ".join, told))


async def _lease(server: McpServer, places: int) -> Session:
    profile = Profile(  # a native runtime may start programs
        "native",
        cpu_s=server.cpu_s,
        wall_s=CLOCK,
        memory_mb=server.memory_mb,
        paths=tuple(server.paths),
        output_bytes=4_096,
        min_isolation="process" if server.trust else "container",
    )
    name = "process" if server.trust else server.sandbox
    sandbox = get(name) if name == "remote" else get(name, places=places)
    return await sandbox.open(profile)


async def _tools(server: McpServer, session: Session | None, stack: AsyncExitStack) -> list[Tool]:
    try:
        rpc = Rpc(server.name, await _connect(server, session, stack))
        await rpc.greet()
        told = await listing(rpc)
    except (ServerError, TimeoutError) as error:
        raise EpisodeError(f"MCP server {server.name}: {error}") from error
    pin = pin_of(told)
    if not server.pin:
        raise ConfigError(
            f"MCP server {server.name} is not pinned: it lists"
            f" {', '.join(str(each['name']) for each in told)!a:.300}; if these are what you"
            f' expect, write pin = "{pin}"'
        )
    if pin != server.pin:
        raise EpisodeError(
            f"MCP server {server.name} lists other tools than were pinned; if that is meant, write"
            f' pin = "{pin}"'
        )
    names = {str(each["name"]) for each in told}
    if missing := sorted(set(server.tools) - names):
        raise ConfigError(
            f"MCP server {server.name} has no tool {', '.join(missing)}; it has"
            f" {', '.join(sorted(names)):.300}"
        )
    seconds = min(3600.0, QUEUE * server.timeout)
    return [
        server_tool(rpc, each, server.prefix, seconds)
        for each in told
        if not server.tools or each["name"] in server.tools
    ]


async def _connect(server: McpServer, session: Session | None, stack: AsyncExitStack) -> Link:
    if session is None:
        link = HttpLink(server.url, server.token, server.timeout)
        stack.push_async_callback(link.close)
        return link
    made = StdioLink(session, server.timeout, sealed=not server.trust)
    env = {**os.environ, **server.env} if server.trust else server.env
    await made.start(server.command, env, server.contents)
    return made
