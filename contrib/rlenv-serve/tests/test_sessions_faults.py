"""``Sessions`` when a journal, an environment or a client fails, and whether anything stays of an
episode.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from counting import (
    COUNT,
    DRAWN,
    TASK,
    Nowhere,
    asleep,
    begin,
    code_of,
    counting,
    make,
    play,
    server,
)
from rlenv import Environment
from rlenv_plugin_agent import Episode
from rlenv_serve.http.keys import LOCAL, Tenant
from rlenv_serve.sessions import Sessions, ending, sessions
from rlenv_serve.sessions.actions import END, Action, call, say
from rlenv_serve.state.journal import EpisodeEnd, JournaledStep, unavailable
from rlenv_serve.state.memory import MemoryJournal


@pytest.fixture(scope="module")
def env() -> Iterator[Environment]:
    with counting() as made:
        yield made


# -- faults ---------------------------------------------------------------------------------------


class Failing(MemoryJournal):
    """Does what it is asked to, and says that it failed, or fails at once."""

    def __init__(self) -> None:
        super().__init__()
        self.after = False
        self.before = False

    async def commit(self, id: str, taken: JournaledStep, ended: EpisodeEnd | None = None) -> bool:  # noqa: A002 - the port's name
        if self.before:
            raise unavailable("it is away")
        kept = await super().commit(id, taken, ended)
        if self.after:
            raise unavailable("it went away before it answered")
        return kept


def test_a_step_that_the_journal_did_not_keep_was_not_taken(env: Environment) -> None:
    async def work() -> None:
        journal = Failing()
        found = make(env, journal)
        id_ = await begin(found)
        journal.before = True
        for _ in range(3):
            assert await code_of(found.step(LOCAL, id_, COUNT)) == (503, "state_unavailable")
        journal.before = False
        assert (await found.step(LOCAL, id_, COUNT)).text == "0"
        journal.after = True
        assert await code_of(found.step(LOCAL, id_, COUNT, key="k")) == (503, "state_unavailable")
        journal.after = False
        assert (await found.step(LOCAL, id_, COUNT, key="k")).text == "1"
        assert (await found.step(LOCAL, id_, COUNT)).text == "2"
        journal.after = True
        assert await code_of(found.step(LOCAL, id_, say("50"))) == (503, "state_unavailable")
        assert (await found.verdict(LOCAL, id_))[1].value == 0.5

    play(work)


def test_a_step_that_is_late_leaves_nothing_and_those_behind_it_are_taken(env: Environment) -> None:
    async def work() -> None:
        found = make(env, MemoryJournal(), deadline=3.0)
        id_ = await begin(found)
        late, next_, last = await asyncio.gather(
            code_of(found.step(LOCAL, id_, call("sleep", {"seconds": 30}))),
            found.step(LOCAL, id_, COUNT),
            found.step(LOCAL, id_, COUNT),
        )
        assert late == (504, "deadline")
        assert [(each.number, each.text) for each in (next_, last)] == [(1, "0"), (2, "1")]

    play(work)


def test_a_step_goes_on_when_its_client_is_gone(env: Environment) -> None:
    async def work() -> None:
        found = make(env, MemoryJournal())
        id_ = await begin(found)
        asked = asyncio.create_task(found.step(LOCAL, id_, call("sleep", {"seconds": 0.2})))
        await asleep(0.2)
        asked.cancel()
        assert (await found.step(LOCAL, id_, COUNT)).text == "1"
        assert (await found.entry(LOCAL, id_)).steps == 2
        assert not found._running

    play(work)


def test_an_episode_that_is_deleted_while_a_step_runs_is_gone(env: Environment) -> None:
    async def work() -> None:
        found = make(env, MemoryJournal())
        id_ = await begin(found)
        asked = asyncio.create_task(
            code_of(found.step(LOCAL, id_, call("sleep", {"seconds": 0.3})))
        )
        await asleep(0.3)
        await found.delete(LOCAL, id_)
        assert await asked == (404, "not_found")
        while found._live or found._running:
            await asyncio.sleep(0.01)

    play(work)


def test_a_server_that_ends_does_not_wait_for_a_step_that_takes_long(
    env: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "LAST", 3.0)

    async def work() -> None:
        journal = MemoryJournal()
        found = make(env, journal)
        short = await begin(found)
        long = await begin(found)
        steps = [
            asyncio.create_task(found.step(LOCAL, id_, call("sleep", {"seconds": seconds})))
            for id_, seconds in ((short, 0.1), (long, 60))
        ]
        await asleep(0.1, 60)
        await asyncio.wait_for(found.close(), 45)
        assert (await steps[0]).text == "awake"
        with pytest.raises(asyncio.CancelledError):
            await steps[1]
        assert [len(await journal.steps(each)) for each in (short, long)] == [1, 0]
        assert not found._live

    play(work)


def test_an_environment_that_hangs_when_it_begins_is_503_and_counts_to_the_limit(
    env: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hangs(*given: object) -> None:
        await asyncio.sleep(60)

    async def work() -> None:
        found = make(env, MemoryJournal(), deadline=3.0, episodes=3)
        with monkeypatch.context() as patched:
            patched.setattr(Episode, "areset", hangs)
            codes = await asyncio.gather(*(code_of(begin(found)) for _ in range(5)))
        assert sorted(codes) == [(429, "too_many_episodes")] * 2 + [(503, "environment_failed")] * 3
        assert len([await begin(found) for _ in range(3)]) == 3

    play(work)


@pytest.mark.parametrize("again", [False, True])
def test_an_episode_that_is_deleted_while_it_begins_is_closed(
    env: Environment, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    reset = Episode.areset
    begins = asyncio.Event()
    goes = asyncio.Event()

    async def slow(episode: Episode, *given: Any) -> object:
        begins.set()
        await goes.wait()
        return await reset(episode, *given)

    async def work() -> None:
        found = make(env, MemoryJournal())
        id_ = await begin(found) if again else ""
        for each in [*found._live.values()]:
            await found._close_session(each)
        monkeypatch.setattr(Episode, "areset", slow)
        made = asyncio.create_task(found.get(LOCAL, id_) if again else begin(found))
        await begins.wait()
        (entry,) = await found._journal.recent(None, 9)
        await found.delete(LOCAL, entry.begun.id)
        goes.set()
        await made
        await asyncio.gather(*found._running)
        assert not found._live

    play(work)


def test_an_environment_that_cannot_begin_now_may_bring_an_episode_back_later(
    env: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hangs(*given: object) -> None:
        await asyncio.sleep(60)

    async def work() -> None:
        async with server(env, tmp_path) as found:
            id_ = await begin(found)
        async with server(env, tmp_path, deadline=3.0) as found:
            with monkeypatch.context() as patched:
                patched.setattr(Episode, "areset", hangs)
                assert await code_of(found.step(LOCAL, id_, COUNT)) == (503, "environment_failed")
            assert (await found.step(LOCAL, id_, COUNT)).text == "0"

    play(work)


def test_an_answer_that_is_too_long_is_an_error_and_no_step(
    env: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "LARGEST", 1000)

    async def work() -> None:
        found = make(env, MemoryJournal())
        id_ = await begin(found)
        assert await code_of(found.step(LOCAL, id_, call("text", {"length": 1000}))) == (
            500,
            "answer_too_large",
        )
        assert (await found.step(LOCAL, id_, call("text", {"length": 500}))).number == 1
        assert (await found.step(LOCAL, id_, COUNT)).text == "1"

    play(work)


def test_a_key_of_another_tenant_begins_another_episode(env: Environment) -> None:
    async def work() -> None:
        found = make(env, MemoryJournal())
        served = found._catalog["counting"]
        ids = {(await found.begin(Tenant(name), served, TASK, key="k")).id for name in "aabb"}
        assert len(ids) == 2

    play(work)


@pytest.mark.parametrize("fault", ["hangs", "raises"])
def test_a_store_of_trajectories_that_fails_costs_no_reward(
    env: Environment, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    async def fails(*given: object) -> None:
        if fault == "raises":
            raise ValueError("no row")
        await asyncio.sleep(60)

    monkeypatch.setattr(Nowhere, "bring", fails)
    monkeypatch.setattr(sessions, "LAST", 0.1)

    async def work() -> None:
        found = make(env, MemoryJournal())
        id_ = await begin(found)
        async with asyncio.timeout(45):
            assert (await found.step(LOCAL, id_, say("50"), key="k")).reward == 0.5
            assert (await found.step(LOCAL, id_, say("50"), key="k")).reward == 0.5
            assert (await found.verdict(LOCAL, id_))[1].value == 0.5
        assert not found._live
        await found.close()

    play(work)


# -- growth ---------------------------------------------------------------------------------------


async def lives(found: Sessions, episodes: int) -> int:
    """Objects after so many episodes that began, ended, and expired."""
    for _ in range(episodes):
        id_ = await begin(found, key=str(next(DRAWN)))
        await found.step(LOCAL, id_, COUNT, key="k")
        await found.step(LOCAL, id_, END if next(DRAWN) % 2 else Action("say", text="1"))
    await found._journal.expire(0.0)
    gc.collect()
    return len(gc.get_objects())


MANY = pytest.mark.slow  # 10,000 episodes are played


@pytest.mark.parametrize(
    ("episodes", "durable"),
    [(100, True), *(pytest.param(2_500, durable, marks=MANY) for durable in (False, True))],
)
def test_episodes_that_ended_and_expired_leave_nothing(
    env: Environment, tmp_path: Path, durable: bool, episodes: int
) -> None:
    async def work(found: Sessions) -> None:
        await lives(found, 50)
        counts = [await lives(found, episodes) for _ in range(4)]
        grown = [after - before for before, after in pairwise(counts)]
        assert min(grown) < episodes // 10, (
            grown
        )  # what stays of each episode would show in every round
        assert [*found._live, *found._running, *found._opening] == []

    async def run() -> None:
        if durable:
            async with server(env, tmp_path) as found:
                await work(found)
        else:
            await work(make(env, MemoryJournal()))

    asyncio.run(run())
