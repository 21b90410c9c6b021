"""A journal in Redis: what is sent again is kept once, and a Redis that is away, or of something
else, is an error.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
import redis
from counting import COUNT, begin, code_of, counting, make
from journals import ENDED, begun, opened, taken
from rlenv import ConfigError
from rlenv_serve.http.keys import LOCAL
from rlenv_serve.http.problems import Problem
from rlenv_serve.sessions.answers import Answer
from rlenv_serve.state import open_journal
from rlenv_serve.state.redis import RedisJournal
from stores import RedisServer, redis_server

FIRST = begun(1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RedisServer]:
    with redis_server(tmp_path) as server:
        yield server


def test_what_is_sent_again_is_kept_once(
    store: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rlenv_serve.state.redis.token_bytes", lambda _: b"the same")

    async def work() -> None:
        async with opened(lambda: open_journal(store.url)) as journal:
            assert [await journal.begin(FIRST, 1) for _ in range(3)] == [FIRST] * 3
            assert [await journal.commit(FIRST.id, taken(1), ENDED) for _ in range(3)] == [True] * 3
            assert [*await journal.steps(FIRST.id)] == [taken(1)]
            monkeypatch.undo()
            assert not await journal.commit(FIRST.id, taken(1), ENDED)

    asyncio.run(work())


def test_a_connection_of_before_a_restart_is_no_error(store: RedisServer) -> None:
    async def work() -> None:
        async with opened(lambda: open_journal(store.url)) as journal:
            await asyncio.gather(*(journal.begin(begun(n), 99) for n in range(30)))
            store.kill_and_start()
            made = await asyncio.gather(*(journal.commit(begun(n).id, taken(1)) for n in range(30)))
            assert made == [True] * 30

    asyncio.run(work())


async def patient(step: Callable[[], Awaitable[Answer]]) -> Answer:
    """The answer of a client that asks again while the server says 503."""
    for _ in range(30):
        try:
            return await step()
        except Problem as problem:
            if problem.status != 503:
                raise
    return await step()


STOPPED = pytest.param("stopped", marks=pytest.mark.slow)  # each answer is waited for in vain


@pytest.mark.parametrize("gone", ["killed", STOPPED])
def test_while_it_is_away_a_step_is_503_and_after_that_it_is_taken(
    store: RedisServer, gone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rlenv_serve.state.redis.WAIT", 1.0)

    async def work() -> None:
        with counting() as env:
            async with opened(lambda: open_journal(store.url)) as journal:
                sessions = make(env, journal)
                id_ = await begin(sessions)
                await sessions.step(LOCAL, id_, COUNT)
                if gone == "killed":
                    store.kill()
                else:
                    store.process.send_signal(signal.SIGSTOP)
                for _ in range(3):
                    assert await code_of(sessions.step(LOCAL, id_, COUNT, key="k")) == (
                        503,
                        "state_unavailable",
                    )
                assert (await code_of(begin(sessions)))[0] == 503
                if gone == "killed":
                    store.start()
                else:
                    store.process.send_signal(signal.SIGCONT)
                assert (
                    await patient(lambda: sessions.step(LOCAL, id_, COUNT, key="k"))
                ).text == "1"
                assert (await sessions.entry(LOCAL, id_)).steps == 2
                await sessions.close()

    asyncio.run(work())


def test_a_full_redis_is_503_and_nothing_is_lost(store: RedisServer) -> None:
    async def work() -> None:
        async with opened(lambda: open_journal(store.url)) as journal:
            await journal.begin(FIRST, 9)
            with redis.Redis.from_url(store.url) as link:
                link.config_set("maxmemory", "1kb")
                assert await code_of(journal.commit(FIRST.id, taken(1))) == (
                    503,
                    "state_unavailable",
                )
                assert (await journal.find(FIRST.id)) is not None
                link.config_set("maxmemory", "0")
            assert await journal.commit(FIRST.id, taken(1))

    asyncio.run(work())


def test_a_redis_that_cannot_be_used_is_an_error_at_start(store: RedisServer) -> None:
    with redis.Redis.from_url(store.url) as link:
        link.config_set("maxmemory-policy", "allkeys-lru")
        with pytest.raises(ConfigError, match="noeviction"):
            open_journal(store.url)
        link.config_set("maxmemory-policy", "noeviction")
        link.set("rlenv:version", "9")
        with pytest.raises(ConfigError, match="version"):
            open_journal(store.url)
        link.config_set("requirepass", "right")
    secret = store.url.replace("://", "://:wrong-secret@")
    with pytest.raises(ConfigError) as raised:
        open_journal(secret)
    assert "wrong-secret" not in str(raised.value)
    store.kill()
    with pytest.raises(ConfigError, match=r"127\.0\.0\.1"):
        open_journal(secret)
    with pytest.raises(ConfigError):
        open_journal("redis://host:port/0")


def test_nothing_stays_of_episodes_that_expired(store: RedisServer) -> None:
    async def work() -> None:
        async with opened(lambda: open_journal(store.url)) as journal:
            assert isinstance(journal, RedisJournal)
            for n in range(50):
                await journal.begin(begun(n, tenant=str(n % 3), key=str(n)), 99)
                await journal.commit(begun(n).id, taken(1), ENDED if n % 2 else None)
            await asyncio.sleep(0.02)
            assert await journal.expire(0.0) == 50
            with redis.Redis.from_url(store.url) as link:
                names = {b"rlenv:version", b"rlenv:clock", b"rlenv:number", b"rlenv:x"}
                assert {*link.keys()} == names
                assert link.xlen("rlenv:x") == 25
                await journal.forget_archived([name for name, _ in await journal.outbox(99)])
                assert link.xlen("rlenv:x") == 0

    asyncio.run(work())
