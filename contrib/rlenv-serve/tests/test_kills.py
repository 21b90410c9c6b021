"""``kill -9`` under load: no acknowledged step or reward is lost or doubled, with any store."""

from __future__ import annotations

import itertools
import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from journals import add_episodes, begun
from kills import Process, check_trajectories, environment, kill_under_load, two_servers
from serving import Client, until
from stores import state_of, trajectories_of


class Stand(NamedTuple):
    """Two servers on one journal and one store of trajectories."""

    servers: list[Process]
    restart_journal: Callable[..., object]  # after so many seconds
    restart_trajectories: Callable[..., object]
    trajectories: str

    @property
    def ports(self) -> list[int]:
        return [each.port for each in self.servers]


@pytest.fixture
def stand(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stand]:
    """Servers on a journal and a store of trajectories whose kinds are the parameter."""
    journal, store = request.param
    with (
        state_of(journal, tmp_path) as (state, restart_journal),
        trajectories_of(store, tmp_path) as (url, restart_trajectories),
        two_servers(environment(tmp_path), state, url) as servers,
    ):
        yield Stand(servers, restart_journal, restart_trajectories, url)


KILLS = pytest.mark.parametrize(
    "kills",
    [3, pytest.param(25, marks=pytest.mark.slow)],  # slow: each kill is followed by a new start
)


SQLITE = ("sqlite", "sqlite")
REDIS = ("redis", "sqlite")
POSTGRESQL = ("sqlite", "postgresql")
SLOW = pytest.mark.slow  # five starts each; servers on SQLite are killed in the quick one
SERVERS = [
    pytest.param(one, id="-".join(one), marks=[SLOW] * (one != SQLITE))
    for one in (SQLITE, REDIS, POSTGRESQL)
]


@KILLS
@pytest.mark.parametrize("stand", SERVERS, indirect=True)
def test_servers_that_are_killed_lose_nothing(stand: Stand, kills: int) -> None:
    turns = itertools.cycle(stand.servers)
    load, steps = kill_under_load(stand.ports, lambda: next(turns).kill(), kills)

    assert load.retried
    assert steps > 10 * kills
    check_trajectories(load, stand.trajectories)


STORES = [
    pytest.param(REDIS, id="-".join(REDIS), marks=SLOW),
    pytest.param(POSTGRESQL, id="-".join(POSTGRESQL), marks=SLOW),
]


@KILLS
@pytest.mark.parametrize("stand", STORES, indirect=True)
def test_a_store_that_is_killed_loses_nothing(stand: Stand, kills: int) -> None:
    def kill() -> None:
        stand.restart_journal()
        stand.restart_trajectories()

    load, steps = kill_under_load(stand.ports, kill, kills)

    assert steps > 10 * kills
    check_trajectories(load, stand.trajectories)
    assert all(len(each.ready) == 1 for each in stand.servers)  # none ended with it


@pytest.mark.slow  # the store is away for 30 s
@pytest.mark.parametrize("stand", [REDIS, POSTGRESQL], indirect=True, ids="-".join)
def test_a_store_that_is_away_for_30_seconds_loses_nothing(stand: Stand) -> None:
    def outage() -> None:
        stand.restart_journal(30.0)
        stand.restart_trajectories(30.0)

    load, _ = kill_under_load(stand.ports, outage, 1)

    check_trajectories(load, stand.trajectories)
    assert all(len(each.ready) == 1 for each in stand.servers)


@pytest.mark.parametrize("stand", [SQLITE], indirect=True, ids="-".join)
def test_a_disk_that_takes_no_more_is_503_and_the_same_request_is_taken_when_it_does(
    stand: Stand,
) -> None:
    server, other = stand.servers
    ask = Client(server.port)
    path = f"/episodes/{ask('POST', '/episodes', {'task_id': 'a'}).body['episode_id']}"
    assert ask("POST", f"{path}/steps", {"action": "count"}).body["text"] == "0"

    def limit(size: int) -> None:
        hard = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size, hard))

    limit(4096)  # of files: what is written beyond it fails as on a disk that is full
    for _ in range(3):
        full = ask("POST", f"{path}/steps", {"action": "count"}, Idempotency_Key="k")
        assert (full.status, full.body["code"]) == (503, "state_unavailable")
        assert full.headers["retry-after"] == "2"
    assert ask("POST", "/episodes", {"task_id": "a"}).status == 503
    until(lambda: ask("GET", "/readyz").body.get("code") == "state_unavailable")
    assert Client(other.port)("GET", "/readyz").status == 200
    assert [Client(each.port)("GET", path).body["steps"] for each in stand.servers] == [1, 1]
    limit(resource.RLIM_INFINITY)
    until(lambda: ask("GET", "/readyz").status == 200)
    for each in (server, other):
        got = Client(each.port)("POST", f"{path}/steps", {"action": "count"}, Idempotency_Key="k")
        assert (got.status, got.body["step"], got.body["text"]) == (200, 2, "1")


def cpu(pid: int) -> float:
    """Seconds of CPU time of a process."""
    found = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(found[11]) + int(found[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.slow  # four servers start
def test_a_server_with_100000_steps_is_ready_as_soon_as_one_without(tmp_path: Path) -> None:
    env = environment(tmp_path)
    seconds = list[float]()
    for episodes in (0, 1000):
        state = tmp_path / f"{episodes}.db"
        add_episodes(state, episodes, 100)
        with Process(env, f"sqlite:{state}") as server:
            server.kill()
            seconds.append(cpu(server.process.pid))
            if episodes:
                assert Client(server.port)("GET", f"/episodes/{begun(7).id}").body["steps"] == 100
            server.end()

    assert seconds[1] - seconds[0] < 1
