"""Tasks and what models reach on them: one contract over SQLite, in memory and in a file, and
PostgreSQL.
"""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from attrs import evolve
from configurations import keep, outcomes, use
from database import engine_of, postgres
from rlenv import Environment, Task
from rlenv_serve import Served
from rlenv_serve.configuration.store import (
    BASELINES,
    HEAD,
    MADE,
    METADATA,
    SCRIPTS,
    TASKS,
    VERIFIERS,
)
from rlenv_serve.http.problems import Problem
from rlenv_serve.trajectories.store import TrajectoryStore
from serving import SECRET, same, sums
from serving import TASKS as SUMS


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store."""
    urls = {"memory": "memory:", "sqlite": f"sqlite:{tmp_path}/c.sqlite"}
    return urls.get(request.param) or request.getfixturevalue("cluster").empty()


# -- what is kept ------------------------------------------------------------------------------


def test_a_baseline_is_of_one_task_one_verifier_and_one_model(url: str) -> None:
    served = Served("sums", sums())
    other = Served("other", sums())

    async def work(store: TrajectoryStore) -> None:
        await keep(store, served, "small", {"t2": [None], "t1": [1.0, 0.5, None, 0.0]})
        await keep(store, served, "large", {"t1": [1.0]})
        assert await outcomes(store) == [
            ("t1", "large", 1, 1, 0, 1.0),
            ("t1", "small", 4, 1, 1, 0.5),
            ("t2", "small", 1, 0, 1, None),
        ]
        await keep(store, served, "small", {"t1": [0.25]})
        await keep(store, other, "large", {"t1": [0.0]})
        assert await outcomes(store) == [
            ("t1", "large", 1, 0, 0, 0.0),
            ("t1", "large", 1, 1, 0, 1.0),
            ("t1", "small", 1, 0, 0, 0.25),
            ("t2", "small", 1, 0, 1, None),
        ]
        assert len(await store.rows(sa.select(TASKS))) == 3

    use(url, work, served, other)


def test_a_reward_at_the_pass_mark_is_a_pass_and_a_mean_stays_in_range(url: str) -> None:
    served = Served("sums", Environment("sums", same, SUMS, pass_mark=0.5))

    async def work(store: TrajectoryStore) -> None:
        await keep(store, served, "m", {"t1": [0.5, 0.25], "t2": [0.1] * 3, "t3": [1.0] * 9999})
        assert await outcomes(store) == [
            ("t1", "m", 2, 1, 0, 0.375),
            ("t2", "m", 3, 0, 0, pytest.approx(0.1, abs=1e-15)),
            ("t3", "m", 9999, 9999, 0, 1.0),
        ]

    use(url, work, served)


def test_where_one_task_is_unknown_nothing_is_kept(url: str) -> None:
    served = Served("sums", sums())

    async def work(store: TrajectoryStore) -> None:
        with pytest.raises(Problem) as raised:
            await keep(store, served, "small", {"t1": [1.0], "no": [1.0]})
        assert raised.value.status == 404
        assert await store.rows(sa.select(BASELINES)) == await store.rows(sa.select(TASKS)) == []

    use(url, work, served)


@pytest.mark.parametrize(
    "change",
    [
        {"attempts": 0},
        {"passed": -1},
        {"unscored": -1},
        {"passed": 3},
        {"unscored": 3},
        {"reward": 1.5},
        {"reward": -0.5},
        {"reward": float("nan")},
        {"reward": None},
        {"unscored": 2, "passed": 0},
        {"digest": "none"},
        {"fingerprint": "none"},
        {"environment": "none"},
        {"model": None},
        {"measured": None},
        {"attempts": None},
        {"model": "small"},
    ],
    ids=str,
)
def test_the_database_itself_rejects_what_cannot_be(url: str, change: dict[str, object]) -> None:
    served = Served("sums", sums())
    row = {
        "environment": "sums",
        "digest": served.digest(served.task("t1")),
        "fingerprint": served.env.fingerprint,
    }
    good = {
        **row,
        "model": "m",
        "attempts": 2,
        "passed": 1,
        "unscored": 0,
        "reward": 0.5,
        "measured": 1.0,
    }

    async def work(store: TrajectoryStore) -> None:
        await keep(store, served, "small", {"t1": [1.0]})
        await store.run(lambda connection: connection.execute(sa.insert(BASELINES).values(good)))
        with pytest.raises(Problem, match=r"(?i)constraint"):
            await store.run(
                lambda connection: connection.execute(
                    sa.insert(BASELINES).values({**good, "model": "n", **change})
                )
            )
        assert len(await outcomes(store)) == 2

    use(url, work, served)


@pytest.mark.parametrize("table", [TASKS, VERIFIERS], ids=str)
def test_what_a_baseline_is_of_cannot_be_deleted(url: str, table: sa.Table) -> None:
    served = Served("sums", sums())

    async def work(store: TrajectoryStore) -> None:
        await keep(store, served, "small", {"t1": [1.0]})
        with pytest.raises(Problem, match=r"(?i)foreign key"):
            await store.run(lambda connection: connection.execute(sa.delete(table)))
        await store.run(lambda connection: connection.execute(sa.delete(BASELINES)))
        await store.run(lambda connection: connection.execute(sa.delete(table)))

    use(url, work, served)


def test_ground_truth_is_not_in_the_store(tmp_path: Path) -> None:
    task = Task("What is it?", answer=SECRET, info={"hint": SECRET}, id="t1")
    served = Served("sums", Environment("sums", same, [task]))

    async def work(store: TrajectoryStore) -> None:
        await keep(store, served, "small", {"t1": [1.0]})

    use(f"sqlite:{tmp_path}/c.sqlite", work, served)
    held = b"".join(each.read_bytes() for each in tmp_path.iterdir())
    assert b"t1" in held
    assert SECRET.encode() not in held
    assert b"What is it?" not in held


@pytest.mark.parametrize(
    "change",
    [{"id": "t2"}, {"prompt": "?"}, {"answer": "3"}, {"info": {"a": 1}}, {"split": "test"}],
    ids=str,
)
def test_the_digest_of_a_task_changes_with_each_part_and_needs_the_key(
    change: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    task = SUMS[1]
    served = Served("sums", sums())
    digest = served.digest(task)

    assert served.digest(evolve(task, **change)) != digest
    assert Served("sums", sums()).digest(task) == digest
    assert Served("other", sums()).digest(task) != digest
    monkeypatch.setenv("RLENV_SECRET", "f" * 64)
    assert Served("sums", sums()).digest(task) != digest


def test_hostile_names_are_kept_as_they_are(url: str) -> None:
    names = ["'; DROP TABLE tasks; --", "a b", "模型", "%s", "x" * 200, "\U0001f600", ":name", "\\"]
    tasks = [Task(f"{n}?", answer="1", id=name) for n, name in enumerate(names)]
    served = Served("sums", Environment("sums", same, tasks))

    async def work(store: TrajectoryStore) -> None:
        for name in names:
            await keep(store, served, name, {each: [1.0] for each in names})
        assert {row[:2] for row in await outcomes(store)} == {(a, b) for a in names for b in names}

    use(url, work, served)


def test_ids_that_databases_do_not_take_are_kept_apart_by_their_digests(url: str) -> None:
    ids = ["\0", "\ufffd", "a\ud800", "a?", "\x01" * 5000, "x" * 5000]
    tasks = [Task("1?", answer="1", id=id_, split=f"s{id_}") for id_ in ids]
    served = Served("sums", Environment("sums", same, tasks))

    async def work(store: TrajectoryStore) -> None:
        await keep(store, served, "m", {id_: [n / 8] for n, id_ in enumerate(ids)})
        kept = {row["digest"]: row["reward"] for row in await store.rows(sa.select(BASELINES))}
        assert kept == {served.digest(task): n / 8 for n, task in enumerate(tasks)}

    use(url, work, served)


# -- tables ------------------------------------------------------------------------------------


def config_of(connection: sa.Connection) -> Config:
    made = Config(attributes={"connection": connection})
    made.set_main_option("script_location", SCRIPTS)
    return made


def test_a_store_of_verifiers_alone_gets_the_tables_and_keeps_its_rows(database_url: str) -> None:
    row = {
        "environment": "old",
        "fingerprint": "f",
        "stages": "s",
        "pass_mark": 1.0,
        "first_started": 1.0,
        "last_started": 2.0,
    }
    with engine_of(database_url).begin() as connection:
        command.upgrade(config_of(connection), "0001")
        connection.execute(sa.insert(VERIFIERS).values(row))
        assert {"tasks", "baselines"}.isdisjoint(sa.inspect(connection).get_table_names())
    served = Served("sums", sums())

    async def work(store: TrajectoryStore) -> None:
        await keep(store, served, "small", {"t1": [1.0]})
        (found,) = await store.rows(sa.select(VERIFIERS).where(VERIFIERS.c.environment == "old"))
        assert found == row

    use(database_url, work, served)
    with engine_of(database_url).begin() as connection:
        assert connection.execute(sa.select(MADE.c.version_num)).scalars().all() == [HEAD]
        command.downgrade(config_of(connection), "0001")
        assert connection.execute(sa.select(VERIFIERS.c.environment)).scalars().all() == [
            "old",
            "sums",
        ]
        assert {"tasks", "baselines"}.isdisjoint(sa.inspect(connection).get_table_names())


def test_tables_in_memory_have_the_constraints_that_the_revisions_make(tmp_path: Path) -> None:
    def constraints(connection: sa.Connection) -> object:
        look = sa.inspect(connection)
        return {
            name: (
                look.get_pk_constraint(name)["constrained_columns"],
                sorted(
                    (each["constrained_columns"], each["referred_table"], each["referred_columns"])
                    for each in look.get_foreign_keys(name)
                ),
                sorted(
                    (str(each["name"]), " ".join(each["sqltext"].split()))
                    for each in look.get_check_constraints(name)
                ),
                [(each["name"], each["nullable"]) for each in look.get_columns(name)],
            )
            for name in METADATA.tables
        }

    async def work(store: TrajectoryStore) -> None:
        found.append(await store.run(constraints))

    found = list[object]()
    for url in ("memory:", f"sqlite:{tmp_path}/c.sqlite"):
        use(url, work)
    assert found[0] == found[1]
    assert "baselines" in str(found[0])


# -- several at once, and stores that fail -------------------------------------------------------


def test_servers_that_measure_the_same_at_once_lose_nothing_and_do_not_lock_up(
    database_url: str,
) -> None:
    served = Served("sums", sums())
    ids = [str(task.id) for task in SUMS]

    async def work(_: TrajectoryStore) -> None:
        stores = [TrajectoryStore(database_url) for _ in range(4)]
        given = [{id_: [1.0] for id_ in order} for order in (ids, ids[::-1])]
        await asyncio.gather(
            *(
                keep(each, served, f"m{n}", given[(n + k) % 2])
                for n in range(10)
                for k, each in enumerate(stores)
            )
        )
        assert len(await outcomes(stores[0])) == 10 * len(ids)
        for each in stores:
            await each.close()

    use(database_url, work, served)


@pytest.mark.slow  # a cluster of its own; trajectories are written through the same class
def test_no_baseline_is_lost_when_postgresql_is_killed() -> None:
    served = Served("sums", sums())

    async def work(store: TrajectoryStore) -> None:
        acknowledged = list[str]()
        codes = set[tuple[int, str]]()
        for number in range(40):
            if number in (10, 25):
                database.kill()
            if number in (15, 30):
                database.stop()
                database.start()
            try:
                await keep(store, served, f"m{number}", {"t1": [1.0], "t2": [0.0]})
                acknowledged.append(f"m{number}")
            except Problem as problem:
                codes.add((problem.status, problem.code))
        rows = await outcomes(store)
        assert codes == {(503, "trajectories_unavailable")}
        assert len(acknowledged) >= 28
        assert {*acknowledged} <= {row[1] for row in rows}
        assert len(rows) % 2 == 0  # each whole, or not at all

    with postgres() as database:
        use(database.url, work, served)


def test_a_locked_or_read_only_file_is_503_and_what_was_acknowledged_stays(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    served = Served("sums", sums())

    async def pragma(store: TrajectoryStore, text: str) -> None:
        await store.run(lambda connection: connection.exec_driver_sql(f"PRAGMA {text}"))

    async def fails(store: TrajectoryStore) -> None:
        with pytest.raises(Problem) as raised:
            await keep(store, served, "during", {"t1": [1.0]})
        assert (raised.value.status, raised.value.code) == (503, "trajectories_unavailable")

    async def work(store: TrajectoryStore) -> None:
        await keep(store, served, "before", {"t1": [1.0]})
        await pragma(store, "query_only = ON")
        await fails(store)
        await pragma(store, "query_only = OFF")
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            await pragma(store, "busy_timeout = 1")
            await fails(store)
            assert [row[1] for row in await outcomes(store)] == ["before"]
        await keep(store, served, "after", {"t1": [1.0]})
        assert [row[1] for row in await outcomes(store)] == ["after", "before"]

    use(f"sqlite:{path}", work, served)
