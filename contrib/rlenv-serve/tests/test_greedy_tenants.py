"""One tenant asks for what costs a server much: others are answered all the same, and keep what is
theirs.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from rlenv import Environment, Task
from rlenv.authoring import suggest
from rlenv_serve import Limits, Server
from rlenv_serve.routes import compat
from rlenv_serve.state.journal import EpisodeEnd, EpisodeStart, JournaledStep
from rlenv_serve.state.memory import MemoryJournal
from serving import TASKS, Client, episode, running, same, served, single, sums


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names that were compared with the ids of tasks, which takes 40 ms where there are
    2,000.
    """
    found = list[str]()

    def count(name: str, *given: object, **named: object) -> str:
        found.append(name)
        return suggest(name, *given, **named)  # type: ignore[arg-type] # as they came

    with monkeypatch.context() as patched:
        patched.setattr("rlenv.model.tasks.suggest", count)
        yield found


def test_tasks_that_there_are_not_are_not_compared_with_all_that_there_are(
    ask: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [{"task": f"unknown-{number}", "response": "6"} for number in range(1000)]
    with counted(monkeypatch) as compared:
        got = ask("POST", "/v1/verify", {"environment": "single", "items": items})
    assert (got.status, compared) == (422, [])
    assert "there is no task 'unknown-0'" in got.body["detail"]


def test_an_unknown_task_of_a_large_environment_is_not_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    many = Environment(
        "many", same, [Task("?", answer="6", id=f"t{number}") for number in range(200)]
    )
    with running(Server(served(many, single()))) as ask, counted(monkeypatch) as compared:
        for body in ({"task_id": "t999", "environment": "many"}, {"task_id": "many/t999"}):
            got = ask("POST", "/episodes", body)
            assert (got.status, compared) == (404, [])
            assert "/environments/many/tasks" in got.body["detail"]
        few = ask("POST", "/episodes", {"task_id": "t33", "environment": "single"})
        assert 'did you mean "t3"' in few.body["detail"]


def test_episodes_whose_tasks_are_gone_cost_no_comparison_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    journal = MemoryJournal()
    limits = Limits(episodes=4)
    with running(Server(served(sums()), journal=journal, limits=limits)) as ask:
        for _ in range(4):
            episode(ask)
    fewer = Environment("sums", same, TASKS[:1], tables=sums().tables)
    with (
        running(Server(served(fewer), journal=journal, limits=limits)) as ask,
        counted(monkeypatch) as compared,
    ):
        assert ask("POST", "/episodes", {"task_id": "t0"}).status == 201
        assert {each["status"] for each in ask("GET", "/episodes").body["episodes"]} == {
            "open",
            "lost",
        }
        assert compared == []


def test_figures_of_many_rollouts_do_not_hold_the_loop(
    ask: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = list[str]()
    reckon = compat._metrics

    def watched(rows: list[dict[str, object]]) -> compat.NemoMetrics:
        threads.append(threading.current_thread().name)
        return reckon(rows)

    monkeypatch.setattr(compat, "_metrics", watched)
    rows = [{"_ng_task_index": 0, "reward": 1.0}]
    got = ask("POST", "/compat/nemo/single/aggregate_metrics", {"verify_responses": rows})
    assert got.body["agent_metrics"]["mean/reward"] == 1.0
    assert threads
    assert "rlenv-serve-test" not in threads
    wrong = [{"_ng_task_index": "x"}]
    assert (
        ask("POST", "/compat/nemo/single/aggregate_metrics", {"verify_responses": wrong}).status
        == 422
    )


# -- what a journal in memory forgets --------------------------------------------------------------


async def ended(journal: MemoryJournal, tenant: str, name: str, size: int) -> None:
    """An episode of this tenant that has ended, with so many bytes."""
    begun = EpisodeStart(name, tenant, "sums", "f", "t0", "d", 0, "", 0.0)
    assert await journal.begin(begun, 1000)
    assert await journal.commit(name, JournaledStep(1, b"a" * size, b""), EpisodeEnd("done", b"{}"))


async def left(journal: MemoryJournal, tenant: str) -> list[str]:
    return [each.begun.id for each in await journal.recent(tenant, 1000)][::-1]


def test_a_tenant_makes_room_for_its_own_episodes_and_not_for_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rlenv_serve.state.memory.HELD", 100_000)

    async def play() -> tuple[list[str], list[str]]:
        journal = MemoryJournal()
        await ended(journal, "small", "s0", 1000)
        for number in range(50):
            await ended(journal, "greedy", f"g{number}", 10_000)
        await ended(journal, "small", "s1", 1000)
        return await left(journal, "small"), await left(journal, "greedy")

    small, greedy = asyncio.run(play())
    assert small == ["s0", "s1"]
    assert greedy == [f"g{number}" for number in range(42, 50)]


def test_the_newest_episode_of_a_tenant_stays_however_large_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rlenv_serve.state.memory.HELD", 5_000)

    async def play(*sizes: int) -> list[str]:
        journal = MemoryJournal()
        for number, size in enumerate(sizes):
            await ended(journal, "one", f"e{number}", size)
        await journal.remove("e0")
        await ended(journal, "one", "last", 10)
        return await left(journal, "one")

    assert asyncio.run(play(10)) == ["last"]
    assert asyncio.run(play(10_000, 20_000)) == ["last"]
