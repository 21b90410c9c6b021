"""A database that does not answer: who asks is told so, nothing piles up, and the server ends when
it is asked to.
"""

from __future__ import annotations

import asyncio
import gc
import signal
import threading
import weakref
from contextlib import ExitStack
from pathlib import Path

import pytest
import sqlalchemy as sa
from database import PostgreSQL
from kills import Process, environment
from rlenv_serve.http.problems import Problem
from rlenv_serve.state import database
from rlenv_serve.state.database import Database
from rlenv_serve.trajectories.store import TrajectoryStore
from serving import Client, until

LATE = 60.0  # seconds in which whatever is waited for has happened


def play(ask: Client) -> str:
    """The id of an episode that has ended."""
    path = f"/episodes/{ask('POST', '/episodes', {'task_id': 'a'}).body['episode_id']}"
    got = ask("POST", f"{path}/steps", {"action": "submit", "answer": "right"})
    assert got.body["reward"] == 1.0
    return path.rpartition("/")[2]


def ids(url: str) -> list[str]:
    return [row.id for row in TrajectoryStore(url).scan()]


@pytest.mark.slow  # the server waits for seconds for what it asked last
@pytest.mark.parametrize("since", ["while it runs", "before it starts"])
def test_a_server_ends_although_its_database_hangs_and_loses_nothing(
    since: str, cluster: PostgreSQL, tmp_path: Path
) -> None:
    env = environment(tmp_path)
    state = f"sqlite:{tmp_path / 'journal.db'}"
    played = list[str]()
    with ExitStack() as stack:
        stack.callback(cluster.pause, signal.SIGCONT)
        if since == "before it starts":
            cluster.pause(signal.SIGSTOP)
        server = stack.enter_context(Process(env, state, cluster.url))
        if since == "while it runs":
            played.append(play(Client(server.port)))
            until(lambda: played[0] in ids(cluster.url))
            cluster.pause(signal.SIGSTOP)
        played.append(play(Client(server.port)))
        server.process.terminate()
        assert server.process.wait(LATE) == 0
        cluster.pause(signal.SIGCONT)
        server.start()
        until(lambda: {*played} <= {*ids(cluster.url)})
        server.end()
    kept = ids(cluster.url)
    assert [kept.count(each) for each in played] == [1] * len(played)


class Work:
    """What a database is asked for, and how often it did it."""

    def __init__(self) -> None:
        self.done = 0

    def __call__(self, connection: sa.Connection) -> None:
        self.done += 1


def test_while_a_call_is_late_others_are_refused_at_once_and_do_not_pile_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gate = threading.Event()

    async def use() -> None:
        kept = Database("trajectories", "memory:")
        left = asyncio.create_task(kept.run(lambda _: gate.wait()))
        await asyncio.sleep(0.01)
        left.cancel()  # who asked first is gone, as a client may be
        monkeypatch.setattr(database, "WAIT", 0.1)
        with pytest.raises(Problem, match="no answer"):
            await kept.run(Work())
        monkeypatch.setattr(database, "WAIT", 3_600.0)
        refused = [Work() for _ in range(50)]
        for each in refused:
            with pytest.raises(Problem) as caught:
                await kept.run(each)
            assert (caught.value.status, caught.value.code) == (503, "trajectories_unavailable")
        seen = [weakref.ref(each) for each in refused]
        done = sum(each.done for each in refused)
        del refused, each, caught
        assert (done, [each() for each in seen]) == (0, [None] * 50)

        gate.set()
        last = Work()
        while not last.done:
            try:
                await kept.run(last)
            except Problem:
                await asyncio.sleep(0.01)
        await kept.close()

    try:
        asyncio.run(asyncio.wait_for(use(), LATE))
    finally:
        gate.set()


def test_a_database_that_hangs_is_let_go_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "END", 0.1, raising=False)
    gate = threading.Event()
    began = threading.Event()

    def hangs(_: sa.Connection) -> None:
        began.set()
        gate.wait()

    async def use() -> None:
        kept = Database("trajectories", "memory:")
        asked = asyncio.create_task(kept.run(hangs))
        await asyncio.to_thread(began.wait)
        await kept.close()
        assert not asked.done()
        asked.cancel()

    try:
        asyncio.run(asyncio.wait_for(use(), LATE))
    finally:
        gate.set()


def test_what_was_asked_before_the_end_is_done(tmp_path: Path) -> None:
    asked = [Work() for _ in range(20)]

    async def use() -> None:
        kept = Database("trajectories", f"sqlite:{tmp_path / 't.db'}")
        tasks = [asyncio.create_task(kept.run(each)) for each in asked]
        await asyncio.sleep(0)
        await kept.close()
        await asyncio.gather(*tasks)

    asyncio.run(use())

    assert [each.done for each in asked] == [1] * 20
    assert not [*tmp_path.glob("t.db-*")]  # the connection is closed


def test_a_call_that_fails_when_nobody_waits_for_it_any_more_is_no_error_of_the_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(database, "WAIT", 0.05)
    gate = threading.Event()
    told = list[object]()

    def fails(_: sa.Connection) -> None:
        gate.wait()
        raise ValueError

    async def use() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
        kept = Database("trajectories", "memory:")
        with pytest.raises(Problem, match="no answer"):
            await kept.run(fails)
        gate.set()
        await kept.close()
        await asyncio.sleep(0)
        with pytest.raises(Problem):
            await kept.run(Work())  # which forgets the late one
        await asyncio.sleep(0)
        gc.collect()

    try:
        asyncio.run(asyncio.wait_for(use(), LATE))
    finally:
        gate.set()
    assert told == []
