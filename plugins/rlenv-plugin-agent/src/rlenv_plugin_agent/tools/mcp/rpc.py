"""A client of JSON-RPC over a link: one call at a time.  The server's own requests get an error.

It is not the ``ClientSession`` of the package ``mcp``, which reads whenever the server writes and
validates each result with the server's own schema on the event loop, so that a pattern in it stops
all episodes.  Its transport ends the session of all calls when one connection breaks
(https://github.com/modelcontextprotocol/python-sdk/pull/2273) and bounds no answer.
``tests/trainers/test_with_mcp_client.py`` shows each reason.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import aclosing, suppress
from typing import TypeAlias

from rlenv_plugin_agent.clients.reading import mapping
from rlenv_plugin_agent.errors import EpisodeError
from rlenv_plugin_agent.messages import json_of

from .errors import ServerError
from .http import HttpLink
from .stdio import StdioLink

Link: TypeAlias = StdioLink | HttpLink
Table: TypeAlias = Mapping[str, object]
VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  # newest first
OTHERS = 1_000  # messages that may come before an answer
STRIKES = 3  # calls in a row without an answer, after which the server is given up
UNKNOWN = -32601  # JSON-RPC: there is no such method


class Rpc:
    """Asks one server for one episode.

    Args:
        name: of the server, for messages.
        link: closed when the server is given up.
    """

    def __init__(self, name: str, link: Link) -> None:
        self.name = name
        self.link = link
        self._lock = asyncio.Lock()
        self._ids = self._strikes = 0
        self._lost = ""
        self._was_called = False

    async def greet(self) -> None:
        """Shake hands.  We offer a server nothing: no sampling, no elicitation, no roots.

        Raises:
            ServerError: it does not answer, or speaks no version that we know.
        """
        us = {"name": "rlenv", "version": "1"}
        given = {"protocolVersion": VERSIONS[0], "capabilities": {}, "clientInfo": us}
        version = (await self.request("initialize", given)).get("protocolVersion")
        if version not in VERSIONS:
            raise ServerError(f"it speaks MCP {version!r:.40}, not {', '.join(VERSIONS)}")
        self.link.set_version(str(version))
        await self.link.tell(_body(method="notifications/initialized"))

    async def call(self, tool: str, arguments: Table) -> Table:
        """Call a tool, and return its result.

        A server that ended before the first call, in a sandbox where nothing but calls reaches it,
        has failed by itself, and the episode ends unscored.  After that a policy may have brought
        the end about: it is told, and the episode goes on.

        Args:
            tool: its name, as the server lists it.
            arguments: as the policy wrote them.

        Raises:
            ServerError: the server gave no result.
            EpisodeError: the server failed, by no act of the policy.
        """
        async with self._lock:
            before = self._was_called
            self._was_called = True
            try:
                return await self.request("tools/call", {"name": tool, "arguments": arguments})
            except ServerError as error:
                if error.unread and not before and self.link.sealed:
                    raise EpisodeError(f"MCP server {self.name}: {error}") from error
                raise

    async def request(self, method: str, params: Table) -> Table:
        """Send a request, and return its result.

        Args:
            method: of MCP, as tools/list.
            params: of the method.

        Raises:
            ServerError: the server gave no result.
        """
        if self._lost:
            raise ServerError(self._lost)
        self._ids += 1
        try:
            answer = await self._answer(_body(id=self._ids, method=method, params=params))
        except TimeoutError:
            await self._late()
            raise ServerError("it did not answer in time") from None
        except ServerError as error:
            self._lost = str(error) if error.lost else ""
            raise
        self._strikes = 0
        result = answer.get("result")
        if isinstance(result, dict):
            return result
        refusal = answer.get("error")
        told = refusal.get("message") if isinstance(refusal, dict) else "its answer has no result"
        raise ServerError(str(told)[:1000])

    async def _answer(self, body: bytes) -> Table:
        """Return what answers the request with the last id."""
        async with aclosing(self.link.ask(body)) as messages:
            others = 0
            async for raw in messages:
                if not raw:
                    raise ServerError("its answer is too long")
                message = mapping(json_of(raw))
                if "method" in message:
                    await self._refuse(message)
                elif message.get("id") == self._ids:
                    return message
                others += 1
                if others > OTHERS:
                    await self._give_up(f"it sent {OTHERS:,} messages and no answer")
                    break
        raise ServerError(self._lost or "it sent no answer", lost=bool(self._lost))

    async def _refuse(self, message: Table) -> None:
        """Answer a request of the server's own; notifications are dropped."""
        name = message.get("id")
        asked = message["method"]
        if type(name) not in (int, str):
            return
        error = {"code": UNKNOWN, "message": f"{asked!s:.60}: this client does not do that"}
        told: Table = {"result": {}} if asked == "ping" else {"error": error}
        await self.link.tell(_body(id=name, **told))

    async def _late(self) -> None:
        self._strikes += 1
        if self._strikes >= STRIKES:
            await self._give_up(f"it did not answer {STRIKES} calls in a row")
            return
        with suppress(ServerError, TimeoutError):
            await self.link.tell(
                _body(method="notifications/cancelled", params={"requestId": self._ids})
            )

    async def _give_up(self, why: str) -> None:
        self._lost = why
        await self.link.close()


def _body(**parts: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **parts}).encode()
