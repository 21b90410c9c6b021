"""Lost episodes are ended where no server can go on with them, and only there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from rlenv import Environment
from rlenv_plugin_agent import Harness
from rlenv_serve import Server
from rlenv_serve.http.keys import LOCAL
from rlenv_serve.sessions import Action, presence
from rlenv_serve.sessions.lost import Status, status_of
from rlenv_serve.state import open_journal
from serving import TASKS, add, same, served, sums

LOST = "its environment has changed"


def changed() -> Environment:
    """``sums`` with another fingerprint."""
    harness = Harness("tool-use", tools=[add], turn_limit=7)
    return Environment("sums", same, TASKS, tables={"harness": harness})


@asynccontextmanager
async def serving(folder: Path, env: Environment) -> AsyncIterator[Server]:
    """A server of this environment on the state of the test."""
    server = Server(served(env), journal=open_journal(f"sqlite:{folder}/s.db"))
    with env:
        async with server.running():
            yield server


async def begun(server: Server) -> str:
    """The id of a new episode."""
    found = server.catalog["sums"]
    session = await server.sessions.begin(LOCAL, found, found.task("t3"))
    return session.id


async def status(server: Server, id_: str) -> Status:
    return status_of(await server.sessions.entry(LOCAL, id_), server.sessions.admission)


@pytest.fixture(autouse=True)
def _no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "GRACE", 0.0)


def test_an_episode_stays_open_while_an_old_server_can_go_on_with_it(tmp_path: Path) -> None:
    async def play() -> None:
        async with serving(tmp_path, changed()) as new:
            async with serving(tmp_path, sums()) as old:
                id_ = await begun(old)
                await new.lost.sweep()
                assert (await status(new, id_)).reason == LOST
                assert len(await new.journal.open_of("")) == 1
                answer = await old.sessions.step(LOCAL, id_, Action("say", text="6"))
                assert answer.reward == 1.0
                second = await begun(old)
            await new.lost.sweep()  # the old server has ended
            assert await new.journal.open_of("") == []
            assert await status(new, second) == Status("lost", 0, "lost", LOST)
        async with serving(tmp_path, sums()) as old:
            assert (await status(old, second)).name == "lost"
            assert (await status(old, id_)).name == "done"

    asyncio.run(play())


def test_a_server_that_was_killed_keeps_no_episode_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def play() -> None:
        async with serving(tmp_path, sums()) as old:
            id_ = await begun(old)
            old.lost.presence._own.clear()  # kill -9 says nothing
        async with serving(tmp_path, changed()) as new:
            await new.lost.sweep()
            assert len(await new.journal.open_of("")) == 1
            monkeypatch.setattr(presence, "LEFT", -1.0)
            await new.lost.sweep()
            assert (await status(new, id_)).stop == "lost"

    asyncio.run(play())


def test_signs_of_life_do_not_pile_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "BEAT", 0.0)
    monkeypatch.setattr(presence, "LEFT", -1.0)

    async def play() -> None:
        async with serving(tmp_path, sums()) as server:
            for _ in range(20):
                await server.lost.sweep()  # no episode is lost
            assert len(await server.lost.presence.journal.recent(None, 100)) == 1

    asyncio.run(play())


def test_an_env_toml_that_is_put_back_within_the_hour_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "GRACE", 3600.0)

    async def play() -> None:
        async with serving(tmp_path, sums()) as old:
            id_ = await begun(old)
        async with serving(tmp_path, changed()) as new:
            await new.lost.sweep()
            await new.lost.sweep()
        async with serving(tmp_path, sums()) as again:
            await again.lost.sweep()
            assert (await again.sessions.step(LOCAL, id_, Action("say", text="6"))).reward == 1.0

    asyncio.run(play())
