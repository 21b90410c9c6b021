"""POST over pooled connections: one pool per event loop, nothing followed, nothing without
bounds.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from attrs import frozen

from .errors import Failure

if TYPE_CHECKING:
    import aiohttp

MAX_REPLY = 4 << 20  # bytes; a verdict has a few hundred


@frozen
class Answer:
    """A server's answer, whole."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Http:
    """``timeout``: seconds for one whole exchange; ``connections``: at most so many per loop."""

    def __init__(self, timeout: float, connections: int, max_reply: int = MAX_REPLY) -> None:
        self._timeout = timeout
        self._connections = connections
        self._max_reply = max_reply
        self._pools: WeakKeyDictionary[
            asyncio.AbstractEventLoop,
            tuple[aiohttp.ClientSession, AsyncGenerator[aiohttp.ClientSession]],
        ] = WeakKeyDictionary()

    async def post(
        self, url: str, body: bytes, headers: Mapping[str, str], freed: Callable[[], None]
    ) -> Answer:
        """Raises Failure when there is no whole answer.

        ``freed`` is called when the server has said its last.
        """
        import aiohttp

        session = await self._session()
        response = None
        try:
            response = await session.post(url, data=body, headers=headers, allow_redirects=False)
            whole = await self._read(response)
            freed()
            return Answer(response.status, response.headers, whole)
        except TimeoutError:
            raise Failure(f"no answer within {self._timeout:g} s", spent=True) from None
        except aiohttp.ClientConnectorError as err:
            kind = type(err.os_error).__name__
            raise Failure(f"no connection ({kind})", rest="now") from None
        except (aiohttp.ClientError, OSError, ValueError) as err:
            raise Failure(f"the connection broke ({type(err).__name__})", spent=True) from None
        finally:
            if response is not None:
                response.release()  # closes the connection where the answer was not read to its end

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise Failure("the answer is compressed, which was not asked for", spent=True)
        if response.content_length is not None and response.content_length <= self._max_reply:
            return await response.read()
        chunks = []
        size = 0
        async for chunk in response.content.iter_any():
            size += len(chunk)
            if size > self._max_reply:
                raise Failure(f"the answer is larger than {self._max_reply} bytes", spent=True)
            chunks.append(chunk)
        return b"".join(chunks)

    async def _session(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        pool = self._pools.get(loop)
        if pool is None or pool[0].closed:
            opened = self._open()
            pool = self._pools[loop] = (await anext(opened), opened)
        return pool[0]

    async def _open(self) -> AsyncGenerator[aiohttp.ClientSession]:
        """A generator, so that a loop that ends (``shutdown_asyncgens``) closes its pool itself."""
        import aiohttp

        session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._connections, ttl_dns_cache=60),
            timeout=aiohttp.ClientTimeout(total=self._timeout),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,  # it would read .netrc, whose passwords are not for a judge
        )
        try:
            yield session
        finally:
            await session.close()

    async def close(self) -> None:
        """Close the pools of all loops."""
        here = asyncio.get_running_loop()
        for loop, (_, opened) in list(self._pools.items()):
            if loop is here:
                await opened.aclose()
            elif loop.is_running():
                ending = asyncio.run_coroutine_threadsafe(_ended(opened), loop)
                with suppress(TimeoutError):
                    await asyncio.wait_for(asyncio.wrap_future(ending), 5)
        self._pools.clear()


async def _ended(opened: AsyncGenerator[aiohttp.ClientSession]) -> None:
    await opened.aclose()
