"""A journal in Redis, for servers on several machines."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from secrets import token_bytes
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

import msgspec
from rlenv import ConfigError

from . import redis_scripts as scripts
from .age import Age
from .journal import Entry, EpisodeEnd, EpisodeStart, JournaledStep, unavailable

if TYPE_CHECKING:
    from redis.asyncio import Redis

logger = logging.getLogger("rlenv_serve")
CONNECTIONS = 32
WAIT = 3.0  # seconds for an answer, of each try
# more, since a connection may be of before a restart; what is sent again is known by its token
TRIES = 2
EXPIRED = 100  # episodes that one script removes
VERSION = b"2"
PREFIX = "rlenv:"
FIELDS = ("begun", "steps", "stop", "verdict")
NAMES = {
    "begin": scripts.BEGIN,
    "commit": scripts.COMMIT,
    "remove": scripts.REMOVE,
    "expire": scripts.EXPIRE,
    "recent": scripts.RECENT,
    "open": scripts.OPEN,
    "clock": scripts.CLOCK,
}
Fields = tuple[bytes | None, bytes | None, bytes | None, bytes | None]
_pack = msgspec.msgpack.Encoder().encode
_begun = msgspec.msgpack.Decoder(EpisodeStart).decode
_taken = msgspec.msgpack.Decoder(JournaledStep).decode


class RedisJournal:
    """As of ``Journal``; for the processes that reach one Redis.

    Args:
        url: ``redis://…``, ``rediss://…`` or ``unix://…``, as redis-py has it.
        prefix: of all keys.
    """

    shared = True

    def __init__(self, url: str, prefix: str = PREFIX) -> None:
        self._url = url
        self._prefix = prefix
        self._age = Age()
        self._redis: Redis | None = None

    def sibling(self, name: str) -> RedisJournal:
        """As of ``Journal``: keys with another prefix."""
        return RedisJournal(self._url, f"{self._prefix}{name}:")

    async def open(self) -> None:
        """As of ``Journal``."""
        from redis.asyncio import BlockingConnectionPool, Redis
        from redis.asyncio.retry import Retry
        from redis.backoff import ExponentialBackoff

        retry = Retry(ExponentialBackoff(cap=0.5, base=0.05), TRIES)
        pool = BlockingConnectionPool.from_url(
            self._url,
            max_connections=CONNECTIONS,
            timeout=WAIT,
            socket_timeout=WAIT,
            socket_connect_timeout=WAIT,
            retry=retry,
        )
        self._redis = Redis.from_pool(pool)
        self._scripts = {
            name: self._redis.register_script(text.replace(PREFIX, self._prefix))
            for name, text in NAMES.items()
        }
        self._age.at_least(float(cast("bytes", await self._run("clock"))))

    async def begin(self, begun: EpisodeStart, limit: int) -> EpisodeStart | None:
        """As of ``Journal``."""
        given = (begun.id, begun.tenant, begun.key, _pack(begun), limit, self._age.now())
        found = await self._run("begin", *given)
        return None if found is None else _begun(cast("bytes", found))

    async def find(self, id: str) -> Entry | None:  # noqa: A002 - the field's name
        """As of ``Journal``."""
        return _entry(cast("Fields", await self._ask("HMGET", f"{self._prefix}e:{id}", *FIELDS)))

    async def steps(self, id: str) -> Sequence[JournaledStep]:  # noqa: A002 - as above
        """As of ``Journal``."""
        found = cast("list[bytes]", await self._ask("LRANGE", f"{self._prefix}s:{id}", 0, -1))
        return [_taken(each) for each in found]

    async def commit(self, id: str, taken: JournaledStep, ended: EpisodeEnd | None = None) -> bool:  # noqa: A002 - as above
        """As of ``Journal``."""
        end = (ended.stop, ended.verdict, ended.trajectory) if ended else ()
        given = (id, taken.number, _pack(taken), token_bytes(16), self._age.now(), *end)
        return bool(await self._run("commit", *given))

    async def outbox(self, limit: int, after: str = "") -> Sequence[tuple[str, bytes]]:
        """As of ``Journal``."""
        start = f"({after}" if after else "-"
        asked = ("XRANGE", f"{self._prefix}x", start, "+", "COUNT", limit)
        found = cast("list[tuple[bytes, dict[bytes, bytes]]]", await self._ask(*asked))
        return [(name.decode(), held[b"trajectory"]) for name, held in found]

    async def forget_archived(self, names: Sequence[str]) -> None:
        """As of ``Journal``."""
        await self._ask("XDEL", f"{self._prefix}x", *names)

    async def remove(self, id: str) -> None:  # noqa: A002 - as above
        """As of ``Journal``."""
        await self._run("remove", id)

    async def open_of(self, tenant: str) -> Sequence[Entry]:
        """As of ``Journal``."""
        found = cast("list[Fields]", await self._run("open", tenant, *FIELDS))
        return [each for row in found if (each := _entry(row))]

    async def probe(self) -> None:
        """As of ``Journal``."""
        await self._ask("SET", f"{self._prefix}probe", 1)

    async def recent(self, tenant: str | None, limit: int) -> Sequence[Entry]:
        """As of ``Journal``."""
        name = f"{self._prefix}n" if tenant is None else f"{self._prefix}n:{tenant}"
        found = cast("list[Fields]", await self._run("recent", name, limit - 1, *FIELDS))
        return [each for row in found if (each := _entry(row))]

    async def expire(self, keep: float) -> int:
        """As of ``Journal``."""
        count = 0
        while True:
            now, found = cast(
                "tuple[bytes, int]", await self._run("expire", self._age.now(), keep, EXPIRED)
            )
            self._age.at_least(float(now))
            count += found
            if found < EXPIRED:
                return count

    async def close(self) -> None:
        """As of ``Journal``."""
        link = self._redis
        self._redis = None
        if link is not None:
            with suppress(Exception):  # as a connection that breaks raises
                await link.aclose(close_connection_pool=True)

    async def _run(self, name: str, *given: str | bytes | float) -> object:
        return await self._await_answer(self._scripts[name](args=given, client=self._link))

    async def _ask(self, *command: str | int) -> object:
        return await self._await_answer(self._link.execute_command(*command))  # type: ignore[no-untyped-call] # of redis-py

    @property
    def _link(self) -> Redis:
        if self._redis is None:
            raise unavailable("it is closed")
        return self._redis

    async def _await_answer(self, answer: Awaitable[object]) -> object:
        try:
            return await answer
        except Exception as error:  # noqa: BLE001 - a connection that breaks raises more than redis-py names
            raise unavailable(repr(error)) from None


def prepare(url: str) -> None:
    """See that a Redis is there which keeps what it is given.

    Raises:
        ConfigError: when it cannot be used, or redis-py is not installed.
    """
    try:
        import redis
    except ImportError:
        raise ConfigError(
            '--state redis: needs the package redis: pip install "./contrib/rlenv-serve[redis]", in'
            " a clone"
        ) from None
    try:
        with redis.Redis.from_url(url, socket_timeout=WAIT, socket_connect_timeout=WAIT) as link:
            link.set("rlenv:version", VERSION, nx=True)
            version = link.get("rlenv:version")
            settings = dict[str, str]()
            with suppress(redis.ResponseError):  # some who host it do not tell
                settings = cast("dict[str, str]", link.config_get("maxmemory-policy", "appendonly"))
    except (redis.RedisError, OSError, ValueError) as error:
        raise ConfigError(f"--state: the Redis at {_place(url)} cannot be used: {error}") from None
    if version != VERSION:
        raise ConfigError(
            f"--state: the Redis at {_place(url)} has a journal of version {version!r:.20}, and"
            f" this server reads version {VERSION!r}; name another database, as in redis://HOST/1"
        )
    if settings.get("maxmemory-policy", "noeviction") != "noeviction":
        raise ConfigError(
            f"--state: the Redis at {_place(url)} removes episodes when its memory is full; set"
            " `maxmemory-policy noeviction`"
        )
    if settings.get("appendonly") == "no":
        logger.warning(
            "the Redis of --state has no append-only file: episodes that are open are lost when it"
            " ends"
        )


def _place(url: str) -> str:
    """Return where it is, without the password."""
    with suppress(ValueError):
        parts = urlsplit(url)
        return f"{parts.hostname or parts.path}:{parts.port or 6379}"
    return "this URL"


def _entry(found: Sequence[bytes | None]) -> Entry | None:
    begun, steps, stop, verdict = found
    if begun is None or steps is None:
        return None
    ended = None if stop is None else EpisodeEnd(stop.decode(), verdict or b"")
    return Entry(_begun(begun), int(steps), ended)
