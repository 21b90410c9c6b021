"""Episodes that have ended: kept once, seen by their tenant, and asked about."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import signal
import sys
import tracemalloc
from collections.abc import Generator, Sequence
from functools import partial
from pathlib import Path

import pytest
from attrs import evolve
from click.testing import Result
from commands import rlenv, within
from database import PostgreSQL
from journals import begun, opened, row, taken
from rlenv import ConfigError
from rlenv_serve import Keys, Server
from rlenv_serve.http.keys import add_key
from rlenv_serve.http.problems import Problem
from rlenv_serve.state import open_journal
from rlenv_serve.state.journal import EpisodeEnd, Journal
from rlenv_serve.state.memory import MemoryJournal
from rlenv_serve.trajectories.archive import Archive
from rlenv_serve.trajectories.episode import FinishedEpisode
from rlenv_serve.trajectories.queries import profile, select
from rlenv_serve.trajectories.store import TrajectoryStore
from serving import SECRET, Client, broken, episode, running, served, sums, until
from stores import state_of


def play(ask: Client, answer: str, environment: str = "sums", task: str = "t3") -> str:
    """An episode with one call and this answer."""
    id_ = episode(ask, task, environment)
    if environment == "sums":
        ask("POST", f"/episodes/{id_}/steps", {"action": "add", "a": 3, "b": 3})
    ask("POST", f"/episodes/{id_}/steps", {"action": "submit", "answer": answer})
    return id_


async def end(journal: Journal, number: int) -> None:
    """An episode that has ended, and whose trajectory is in the outbox."""
    each = begun(number)
    await journal.begin(each, 9_999)
    await journal.commit(each.id, taken(1), EpisodeEnd("done", b"{}", row(number).to_json()))


def test_an_episode_that_has_ended_is_a_trajectory(ask: Client) -> None:
    right = play(ask, "6")
    wrong = play(ask, "7")
    rows = ask("GET", "/trajectories?environment=Sums&limit=5").body["trajectories"]

    assert [(each["id"], each["reward"], each["calls"], each["turns"]) for each in rows] == [
        (wrong, 0.0, 1, 2),
        (right, 1.0, 1, 2),
    ]
    whole = ask("GET", f"/trajectories/{right}").body
    assert [each["role"] for each in whole["messages"]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert whole["stages"][0]["score"] == 1.0
    assert ask("GET", "/trajectories/nothing").status == 404
    assert ask("GET", "/trajectories?limit=0").status == 422


def test_a_tenant_sees_its_own_and_nothing_private(tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    alice, bob, root = (
        add_key(file, name, answers=False, operator=name == "root")
        for name in ("alice", "bob", "root")
    )
    with running(Server(served(sums(), broken()), keys=Keys.from_file(file))) as ask:
        first, second, operator = (
            Client(ask.port, {"X-API-Key": key}) for key in (alice, bob, root)
        )
        ids = [play(first, "6"), play(first, "0", "broken", "t0")]

        assert [first("GET", f"/trajectories/{id_}").status for id_ in ids] == [200, 200]
        assert second("GET", f"/trajectories/{ids[0]}").status == 404
        assert second("GET", "/trajectories").body == {"trajectories": []}
        assert SECRET not in json.dumps([first("GET", f"/trajectories/{id_}").body for id_ in ids])
        assert "answer" not in first("GET", f"/trajectories/{ids[0]}").body["task_row"]
        assert operator("GET", f"/trajectories/{ids[0]}").body["task_row"]["answer"] == "6"


def test_who_watches_sees_each_once_and_goes_on_after_a_break(ask: Client) -> None:
    def events(count: int, last: str = "") -> Generator[tuple[str, str], None, None]:
        connection = http.client.HTTPConnection("127.0.0.1", ask.port, timeout=30)
        connection.request(
            "GET", "/trajectories/watch", headers={"Last-Event-ID": last} if last else {}
        )
        stream = connection.getresponse()
        number = ""
        try:
            yield "", stream.readline().decode()
            while count:
                line = stream.readline().decode().strip()
                if line.startswith("id: "):
                    number = line[4:]
                elif line.startswith("data: "):
                    count -= 1
                    yield number, json.loads(line[6:])["id"]
        finally:
            stream.close()
            connection.close()

    watched = events(1)
    next(watched)
    first = play(ask, "6")
    number, seen = next(watched)
    watched.close()
    second = play(ask, "7")

    assert seen == first
    assert [id_ for _, id_ in [*events(1, number)][1:]] == [second]


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgresql"])
def test_a_store_keeps_each_row_once_and_in_order(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    async def use(url: str) -> None:
        store = TrajectoryStore(url)
        await store.open()
        for number in (1, 2, 1, 3):
            await store.append([row(number)])
        await store.append([row(3), row(4), row(2)])
        found = await store.after(0, None)
        assert [each.id for each in found] == ["e1", "e2", "e3", "e4"]
        assert sorted({each.number for each in found}) == [each.number for each in found]
        assert await store.find("e1", "alice") is None
        assert [each.id for each in await store.newest("", "sums", 2)] == ["e4", "e3"]
        await store.append([evolve(row(5), agent="a\0b")])
        assert (await store.newest("", "", 1))[0].agent == "a\ufffdb"
        await store.append([evolve(row(6), task="t\ud800")])
        assert (await store.newest("", "", 1))[0].task == "t?"
        await store.close()

    urls = {"memory": "memory:", "sqlite": f"sqlite:{tmp_path}/t.sqlite"}
    asyncio.run(use(urls.get(kind) or request.getfixturevalue("cluster").url))


@pytest.mark.parametrize("port", ["x", "1:2"])
def test_a_url_that_cannot_be_read_says_what_to_write(port: str) -> None:
    with pytest.raises(ConfigError, match="write memory:, sqlite:PATH or postgresql"):
        TrajectoryStore(f"postgresql://me@host:{port}/x")


def test_postgresql_without_its_driver_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ConfigError, match=r"rlenv-serve\[postgresql\]"):
        TrajectoryStore("postgresql://me@host/x")


def test_no_row_is_lost_or_doubled_when_postgresql_is_killed(cluster: PostgreSQL) -> None:
    async def use() -> None:
        store = TrajectoryStore(cluster.url)
        await store.open()
        journal = MemoryJournal()
        archive = Archive(journal, store)
        kept = list[str]()
        codes = set[tuple[int, str]]()
        for number in range(100, 160):
            if number in (115, 140):
                cluster.kill()
            if number in (120, 145):
                cluster.stop()
                cluster.start()
            try:
                await store.append([row(number)])
                kept.append(f"e{number}")
            except Problem as problem:
                codes.add((problem.status, problem.code))
                await end(journal, number)
        await archive.bring()
        found = [
            each.id
            for each in await store.after(0, None)
            if each.id.startswith("e1") and len(each.id) == 4
        ]
        assert sorted(found) == [f"e{number}" for number in range(100, 160)]
        assert len(kept) < len(found)
        assert codes == {(503, "trajectories_unavailable")}
        await store.close()

    asyncio.run(use())


def test_no_client_is_told_where_a_store_is_or_what_it_says(cluster: PostgreSQL) -> None:
    with running(Server(served(sums()), trajectories=TrajectoryStore(cluster.url))) as ask:
        until(lambda: ask("GET", "/trajectories").status == 200)
        assert ask("GET", "/trajectories/%00").status == 404
        assert ask("GET", "/trajectories?environment=%00").body == {"trajectories": []}
        cluster.stop()
        try:
            got = ask("GET", "/trajectories")
            assert (got.status, got.body["code"]) == (503, "trajectories_unavailable")
            assert not re.search(f"psycopg|server at|{cluster.port}", str(got.body))
        finally:
            cluster.start()


def test_a_store_that_does_not_answer_is_503_and_has_all_when_it_does(
    cluster: PostgreSQL, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rlenv_serve.state.database.WAIT", 2.0)
    with running(Server(served(sums()), trajectories=TrajectoryStore(cluster.url))) as ask:
        until(lambda: ask("GET", "/trajectories").status == 200)
        cluster.pause(signal.SIGSTOP)
        try:
            away = play(ask, "6")  # the episode ends all the same
            assert ask("GET", f"/episodes/{away}/reward").body["reward"] == 1.0
            got = ask("GET", f"/trajectories/{away}")
            assert (got.status, got.body["code"]) == (503, "trajectories_unavailable")
        finally:
            cluster.pause(signal.SIGCONT)
        until(lambda: ask("GET", f"/trajectories/{away}").status == 200)


def test_what_could_not_be_kept_is_kept_later_and_after_a_crash(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def use() -> None:
        journal = MemoryJournal()
        catalog = served(sums())
        server = Server(catalog, journal=journal)
        down = True

        async def append(given: Sequence[FinishedEpisode]) -> None:
            if down:
                raise Problem(503, "trajectories_unavailable", "the database is away")
            await TrajectoryStore.append(server.archive.store, given)

        monkeypatch.setattr(server.archive.store, "append", append)
        async with server.running():
            from rlenv_serve.http.keys import LOCAL
            from rlenv_serve.sessions.actions import say

            session = await server.sessions.begin(
                LOCAL, catalog["sums"], catalog["sums"].task("t3")
            )
            answer = await server.sessions.step(LOCAL, session.id, say("6"))
            assert answer.reward == 1.0
            assert await server.archive.store.after(0, None) == []
            await server.sessions.delete(LOCAL, session.id)  # its client is done with it
            down = False
            await server.archive.bring()
            (found,) = await server.archive.store.after(0, None)
            assert (found.id, found.reward, found.turns) == (session.id, 1.0, 1)
            assert [*await journal.outbox(9)] == []

    asyncio.run(use())


@pytest.mark.parametrize("kind", ["sqlite", "redis"])
def test_what_other_processes_left_is_kept_however_much_it_is(kind: str, tmp_path: Path) -> None:
    async def use(state: str) -> None:
        async with opened(lambda: open_journal(state)) as killed:
            for number in range(1_100):  # their process was killed before it kept their rows
                await end(killed, number)
        stores = [TrajectoryStore(f"sqlite:{tmp_path}/t.sqlite") for _ in range(3)]
        for each in stores:
            await each.open()
        async with (
            opened(lambda: open_journal(state)) as here,
            opened(lambda: open_journal(state)) as there,
        ):
            archives = [
                Archive(here, stores[0]),
                Archive(there, stores[1]),
                Archive(there, stores[2]),
            ]
            await asyncio.gather(*(each.bring() for each in archives * 3))
            assert [*await here.outbox(9)] == []
        assert len({each.id for each in await stores[0].after(0, None, 9_999)}) == 1_100
        for each in stores:
            await each.close()

    with state_of(kind, tmp_path) as (state, _):
        asyncio.run(use(state))


def test_in_memory_the_oldest_rows_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rlenv_serve.trajectories.store.HELD", 3_000_000)

    async def use() -> None:
        store = TrajectoryStore("memory:")
        await store.open()
        for number in range(1_500):
            await store.append([evolve(row(number), rollout="x" * 5_000)])
        found = [each.id for each in await store.after(0, None, 9_999)]
        assert found == [f"e{number}" for number in range(1_500 - len(found), 1_500)]
        assert 50 < len(found) < 600
        await store.close()

    asyncio.run(use())


def test_a_list_of_large_trajectories_takes_little_memory(tmp_path: Path) -> None:
    peaks = list[int]()

    async def use() -> None:
        store = TrajectoryStore(f"sqlite:{tmp_path}/t.sqlite")
        await store.open()
        for number in range(40):
            await store.append([evolve(row(number), rollout="x" * 1_000_000)])
        for found in (partial(store.newest, None, "", 1_000), partial(store.after, 0, None)):
            tracemalloc.reset_peak()
            assert len(await found()) == 40
            peaks.append(tracemalloc.get_traced_memory()[1])
        assert [len(each.rollout) for each in await asyncio.to_thread(lambda: [*store.scan()])] == [
            1_000_000
        ] * 40
        await store.close()

    tracemalloc.start()
    try:
        asyncio.run(use())
    finally:
        tracemalloc.stop()
    assert max(peaks) < 10_000_000


def test_sql_reaches_the_rows_and_no_file(tmp_path: Path) -> None:
    from rlenv import InputError

    (tmp_path / "x.csv").write_text("a\n1\n")
    names, rows = select(
        [row(1), row(2, None)], "select count(*) as n, avg(reward) as mean from trajectories"
    )

    assert (names, rows) == (["n", "mean"], [(2, 1.0)])
    for query in (f"select * from '{tmp_path}/x.csv'", "select * from nothing"):
        with pytest.raises(InputError, match="the query"):
            select([row(1)], query)


def test_a_profile_has_means_by_environment_and_outcome() -> None:
    found = [(0.7, 1), (1.0, 2), (0.69, 4), (None, 8), (0.0, 1)]
    rows = [
        evolve(row(number, reward), turns=turns) for number, (reward, turns) in enumerate(found)
    ]
    other = evolve(row(9, 1.0), environment="a", turns=5)

    names, told = profile([*rows, other], 0.7)

    assert names[:4] == ["environment", "outcome", "episodes", "turns"]
    assert [each[:4] for each in told] == [
        ("a", "pass", 1, 5.0),
        ("sums", "fail", 2, 2.5),
        ("sums", "pass", 2, 1.5),
        ("sums", "unscored", 1, 8.0),
    ]


def test_the_command_asks_a_store(tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path}/t.sqlite"
    with running(Server(served(sums()), trajectories=TrajectoryStore(url))) as ask:
        ids = [play(ask, "6"), play(ask, "7")]

    def told(*arguments: str) -> Result:
        return within("trajectories", *arguments, "--from", url)

    asked = rlenv("trajectories", "select avg(reward) from trajectories", "--from", url)
    assert "0.5" in asked.stdout
    profile = told("profile").stdout
    assert "pass" in profile
    assert "fail" in profile
    compared = told("compare", *ids).stdout
    assert ids[0][:8] in compared
    assert "≠" in compared
    assert told("export", f"{tmp_path}/t.parquet").stdout.startswith("2 rows")
    assert told("compare", ids[0], "nothing").exit_code == 2
    assert told("nonsense").exit_code == 2
    missing = within("trajectories", "profile", "--from", "sqlite:/nowhere/t")
    assert missing.exit_code == 2
    assert "no such file" in missing.stderr
