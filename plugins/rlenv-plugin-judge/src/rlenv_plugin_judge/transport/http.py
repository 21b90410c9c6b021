"""POST over pooled connections: one pool per event loop, nothing followed, nothing without bounds."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from attrs import field, frozen

from .errors import Failure
from .link import Link
from .wire import Answer, Broken, Larger

MAX_REPLY = 4 << 20  # bytes; a verdict has a few hundred
IDLE = 15.0  # seconds; servers close idle connections without a word
_PATIENCE = 5.0  # seconds for a connection to close


@frozen
class Place:
    """Where an address leads."""

    tls: bool
    host: str
    port: int
    start: bytes  # of a request: its first lines


@frozen
class Pool:
    """The connections of one loop: ``free`` ones by place, the last used last, and all that are open."""

    free: dict[Place, list[Link]] = field(factory=dict)
    all: set[Link] = field(factory=set)

    def take(self, place: Place, now: float) -> Link | None:
        """A connection that was used a moment ago and can be used again."""
        free = self.free.get(place)
        while free:
            link = free.pop()
            if link.usable and now - link.idle_since < IDLE:
                return link
            link.abort()
        return None

    def give(self, place: Place, link: Link, most: int) -> None:
        """Keep a connection for the next request, where it can carry one."""
        free = self.free.setdefault(place, [])
        if len(free) < most and link.usable:
            free.append(link)
        else:
            link.abort()


class Http:
    """``timeout``: seconds for one whole exchange; ``connections``: so many are kept per loop and address."""

    def __init__(self, timeout: float, connections: int, max_reply: int = MAX_REPLY) -> None:
        self._timeout = timeout
        self._connections = connections
        self._max_reply = max_reply
        self._tls: ssl.SSLContext | None = None
        self._pools: WeakKeyDictionary[
            asyncio.AbstractEventLoop, tuple[Pool, AsyncGenerator[Pool]]
        ] = WeakKeyDictionary()

    async def post(
        self,
        url: str,
        body: bytes,
        headers: Mapping[str, str],
        freed: Callable[[], None] | None = None,
    ) -> Answer:
        """Raises Failure when there is no whole answer; ``freed`` is called when the server has said its last."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._timeout
        held = self._pools.get(loop)
        pool = held[0] if held is not None else await self._pool(loop)
        place = place_of(url)
        link = pool.take(place, loop.time()) or await self._connect(pool, place, deadline)

        def done() -> None:
            pool.give(place, link, self._connections)
            if freed is not None:
                freed()

        try:
            answer = await link.exchange(_request(place, body, headers), deadline, done)
        except TimeoutError:
            raise self._late() from None
        except Larger:
            text = f"the answer is larger than {self._max_reply} bytes"
            raise Failure(text, spent=True) from None
        except Broken:
            raise Failure("the connection broke, or spoke no HTTP/1.1", spent=True) from None
        if answer.headers.get("content-encoding", "identity").lower() != "identity":
            raise Failure("the answer is compressed, which was not asked for", spent=True)
        return answer

    def free(self, url: str) -> int:
        """Connections to ``url`` that the running loop can use again."""
        held = self._pools.get(asyncio.get_running_loop())
        links = held[0].free.get(place_of(url), []) if held else []
        return sum(link.usable for link in links)

    def _late(self) -> Failure:
        return Failure(f"no answer within {self._timeout:g} s", spent=True)

    async def _connect(self, pool: Pool, place: Place, deadline: float) -> Link:
        loop = asyncio.get_running_loop()
        tls = self._context() if place.tls else None
        try:
            async with asyncio.timeout_at(deadline):
                _, link = await loop.create_connection(
                    lambda: Link(self._max_reply),
                    place.host,
                    place.port,
                    ssl=tls,
                    happy_eyeballs_delay=0.25,
                )
        except TimeoutError:
            raise self._late() from None
        except (OSError, ValueError) as err:
            raise Failure(f"no connection ({type(err).__name__})", rest="now") from None
        pool.all.add(link)
        link.closed.add_done_callback(lambda _: pool.all.discard(link))
        return link

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = ssl.create_default_context()
            self._tls.set_alpn_protocols(["http/1.1"])
        return self._tls

    async def _pool(self, loop: asyncio.AbstractEventLoop) -> Pool:
        opened = _opened()
        pool = await anext(opened)
        self._pools[loop] = (pool, opened)
        return pool

    async def close(self) -> None:
        """Close the connections of all loops."""
        here = asyncio.get_running_loop()
        for loop, (_, opened) in list(self._pools.items()):
            if loop is here:
                await opened.aclose()
            elif loop.is_running():
                ending = asyncio.run_coroutine_threadsafe(_ended(opened), loop)
                with suppress(TimeoutError):
                    await asyncio.wait_for(asyncio.wrap_future(ending), _PATIENCE)
        self._pools.clear()


async def _opened() -> AsyncGenerator[Pool]:
    """A generator, so that a loop that ends (``shutdown_asyncgens``) closes its connections itself."""
    pool = Pool()
    try:
        yield pool
    finally:
        ending = [link.closed for link in pool.all]
        for link in list(pool.all):
            link.abort()
        if ending:
            await asyncio.wait(ending, timeout=_PATIENCE)


async def _ended(opened: AsyncGenerator[Pool]) -> None:
    await opened.aclose()


@lru_cache(256)
def place_of(url: str) -> Place:
    """Where an address that ``chat_url`` approved leads."""
    parts = urlsplit(url)
    tls = parts.scheme == "https"
    start = (
        f"POST {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\n"
        "User-Agent: rlenv-judge\r\nAccept: application/json\r\n"
    )
    port = parts.port or (443 if tls else 80)
    return Place(tls, parts.hostname or "", port, start.encode("ascii"))


def _request(place: Place, body: bytes, headers: Mapping[str, str]) -> bytes:
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
    head = f"{lines}Content-Length: {len(body)}\r\n\r\n"
    return b"".join((place.start, head.encode("ascii"), body))
