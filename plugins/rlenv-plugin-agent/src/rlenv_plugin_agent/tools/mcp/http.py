"""A server over streamable HTTP: a POST sends each message, and JSON or a stream of events
answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from rlenv_plugin_agent.clients.server import pieces

from .errors import MOST, ServerError

if TYPE_CHECKING:
    import aiohttp

TAKES = {
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
    "Accept-Encoding": "identity",
}
SESSION = "Mcp-Session-Id"
VERSION = "MCP-Protocol-Version"


class HttpLink:
    """A client's session with one endpoint; redirects are errors.

    Args:
        url: of the endpoint.
        token: sent as ``Authorization: Bearer``, unless empty.
        timeout: wall seconds for one answer.
    """

    sealed = False  # others speak to it too

    def __init__(self, url: str, token: str, timeout: float) -> None:
        import aiohttp

        self._url = url
        self._timeout = timeout
        self._headers = TAKES | ({"Authorization": f"Bearer {token}"} if token else {})
        self._session = aiohttp.ClientSession(  # ``trust_env`` would read proxies and .netrc
            timeout=aiohttp.ClientTimeout(),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
        )

    async def tell(self, message: bytes) -> None:
        """Send a message that has no answer, as ``StdioLink`` does."""
        async with self._post(message):
            pass

    async def ask(self, message: bytes) -> AsyncGenerator[bytes, None]:
        """Send a message, and yield the answers, as ``StdioLink`` does; an error is for this
        message alone, unless it is ``lost``.
        """
        async with self._post(message) as response:
            if found := response.headers.get(SESSION):
                self._headers[SESSION] = found
            if response.content_type == "application/json":
                yield b"".join([piece async for piece in _pieces(response.content)])
            elif response.content_type == "text/event-stream":
                async for event in _events(response.content):
                    yield event
        raise ServerError("it closed the stream without an answer")

    @asynccontextmanager
    async def _post(self, message: bytes) -> AsyncIterator[aiohttp.ClientResponse]:
        import aiohttp

        try:
            async with (
                asyncio.timeout(self._timeout),
                self._session.post(
                    self._url, data=message, headers=self._headers, allow_redirects=False
                ) as response,
            ):
                if response.status not in (200, 202):
                    gone = response.status == 404 and SESSION in self._headers
                    raise ServerError(f"it answered with status {response.status}", lost=gone)
                if response.headers.get("Content-Encoding", "identity") != "identity":
                    raise ServerError("its answer is compressed, which was not asked for")
                yield response
        except (aiohttp.ClientError, OSError, ValueError) as error:
            if isinstance(error, TimeoutError):
                raise
            raise ServerError(f"no exchange ({type(error).__name__})") from None

    def set_version(self, version: str) -> None:
        """Every message from now on names the version."""
        self._headers[VERSION] = version

    async def close(self) -> None:
        """End the session, where the server has sessions, and the connections."""
        with suppress(Exception):  # a courtesy; many servers have no sessions
            if SESSION in self._headers:
                await asyncio.wait_for(
                    self._session.delete(self._url, headers=self._headers, allow_redirects=False),
                    2.0,
                )
        await self._session.close()


def _pieces(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """Return what comes, as long as it is no more than ``MOST`` bytes."""
    return pieces(content, MOST, ServerError("its answer is too long"))


async def _events(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """Yield the data of each event."""
    data = list[bytes]()
    rest = b""
    async for piece in _pieces(content):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                data.append(line[5:].strip())
            elif not line.strip():
                if event := b"\n".join(data):
                    yield event
                data = []
