"""Tickets of several processes on one store: each is judged, whichever process is killed."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from commands import env_file
from kills import Process
from rlenv_cli.tickets import judging
from rlenv_serve import Server
from rlenv_serve.state import open_journal
from serving import Answered, Client, running, served, single, until
from stores import state_of
from ticketing import (
    GATE,
    JUDGED,
    LATE,
    PATH,
    done,
    lose,
    of,
    rewards,
    slow,
    ticket,
)

pytestmark = pytest.mark.usefixtures("closed_gate")


@pytest.fixture(params=["sqlite", "redis"])
def pair(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[tuple[list[Server], list[Client]]]:
    """Two servers on one store."""
    with ExitStack() as stack:
        state, _ = stack.enter_context(state_of(request.param, tmp_path))
        servers = [Server(served(slow()), journal=open_journal(state)) for _ in range(2)]
        yield servers, [stack.enter_context(running(each)) for each in servers]


Pair = tuple[list[Server], list[Client]]


def test_two_servers_judge_once_and_both_have_the_results(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "BEAT", 0.05)
    one, two = pair[1]
    path = ticket(one, "free", "6", Idempotency_Key="k")
    assert ticket(two, "free", "6", Idempotency_Key="k") == path
    until(lambda: two("GET", path).body["done"] == 1)
    got = list[Answered]()
    polls = [
        threading.Thread(target=lambda ask=ask: got.append(ask("GET", path, Prefer="wait=50")))
        for ask in (one, two) * 4
    ]
    for each in polls:
        each.start()
    GATE.set()
    for each in polls:
        each.join(LATE)

    assert [rewards(each) for each in got] == [[0.0, 1.0]] * 8
    assert all(each.body == got[0].body for each in got)
    assert two("POST", PATH, of("free", "6"), Idempotency_Key="k").body == got[0].body
    assert sorted(JUDGED) == ["6", "free"]


def test_any_server_ends_a_ticket(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "BEAT", 0.05)
    servers, (one, two) = pair
    path = ticket(one, "6")
    until(lambda: servers[0].turns.running)
    assert two("DELETE", path).status == 204

    until(lambda: not servers[0].turns.running)
    assert (one("GET", path).status, two("GET", path).status) == (404, 404)


def test_a_ticket_of_a_process_that_is_gone_is_judged_by_another(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "BEAT", 0.05)
    monkeypatch.setattr(judging, "LEFT", 0.5)
    servers, (one, two) = pair
    asked = json.dumps(of("6", "\ud800")).encode()  # a lone surrogate, as a policy may write it
    path = one("POST", PATH, asked, Prefer="respond-async", Idempotency_Key="k").headers["location"]
    until(lambda: len(JUDGED) == 2)
    lose(servers[0])
    assert two("GET", path).status == 202
    until(lambda: two("GET", path).status == 202 and servers[1].tickets.judge.live)
    GATE.set()

    assert rewards(done(one, path)) == [1.0, 0.0]
    assert rewards(two("POST", PATH, asked, Idempotency_Key="k")) == [1.0, 0.0]
    assert sorted(JUDGED) == ["6", "6", "\ufffd", "\ufffd"]


def test_what_is_done_of_a_ticket_does_not_become_less_when_another_takes_it(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "BEAT", 0.05)
    servers, (one, two) = pair
    path = ticket(one, "free", "free", "6")
    until(lambda: one("GET", path).body["done"] == 2)
    lose(servers[0])
    monkeypatch.setattr(judging, "BEAT", 3_600.0)  # its first step alone says how many
    monkeypatch.setattr(judging, "LEFT", -1.0)
    assert [ask("GET", path).body["done"] for ask in (two, one, two)] == [2, 2, 2]
    assert servers[1].tickets.judge.live
    GATE.set()

    assert rewards(done(one, path)) == [0.0, 0.0, 1.0]


def test_a_ticket_that_nobody_can_judge_any_more_is_410(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "LEFT", 0.2)
    state = f"sqlite:{tmp_path / 'journal.db'}"
    with running(Server(served(slow()), journal=open_journal(state))) as ask:
        path = ticket(ask, "6")
    with running(Server(served(single()), journal=open_journal(state))) as ask:
        assert ask("GET", path).status == 202
        until(lambda: (got := ask("GET", path)).status != 202 and got)
        got = ask("GET", path)
        assert (got.status, got.body["code"]) == (410, "ticket_lost")
        assert "send the request again" in got.body["detail"]


def test_answers_of_keys_survive_a_restart(tmp_path: Path) -> None:
    state = f"sqlite:{tmp_path / 'journal.db'}"
    asked = of("free")
    with running(Server(served(slow()), journal=open_journal(state))) as ask:
        first = ask("POST", PATH, asked, Idempotency_Key="k")
    with running(Server(served(slow()), journal=open_journal(state))) as ask:
        assert ask("POST", PATH, asked, Idempotency_Key="k").body == first.body
    assert JUDGED == ["free"]


FILES = {
    "env.toml": """
name = "slow"
[tasks]
path = "tasks.jsonl"
prompt = "prompt"
answer = "answer"
id = "id"
[[stage]]
use = "./judge.py:judge"
timeout = 100.0
""",
    "tasks.jsonl": '{"id": "t3", "prompt": "3 + 3?", "answer": "6"}\n',
    "judge.py": '''
import pathlib
import time

def judge(visible, answer):
    """Whether it is right, when the file is there."""
    folder = pathlib.Path(__file__).parent
    with open(folder / "judged", "a") as file:
        file.write(visible)
    while not (folder / "gate").exists():
        time.sleep(0.02)
    return visible == answer
''',
}


@pytest.mark.slow  # a server of two processes; two servers share a store above
def test_every_process_of_a_server_knows_its_tickets(tmp_path: Path) -> None:
    env = env_file(tmp_path, FILES)
    state = f"sqlite:{tmp_path / 'journal.db'}"
    with Process(env, state, f"{state}-trajectories", "--workers", "2") as server:
        ask = Client(server.port)
        paths = [ticket(ask, "6") for _ in range(4)]
        assert {ask("GET", path).status for path in paths * 8} == {202}
        (tmp_path / "gate").touch()
        assert [rewards(done(ask, path)) for path in paths] == [[1.0]] * 4
        server.end()
    assert (tmp_path / "judged").read_text() == "6666"


@pytest.mark.slow  # it waits ten seconds for a sign of life; the suite of the stores waits less
@pytest.mark.parametrize("store", ["sqlite", "redis"])
def test_a_ticket_is_judged_although_its_server_is_killed(store: str, tmp_path: Path) -> None:
    with (
        state_of(store, tmp_path) as (state, _),
        Process(env_file(tmp_path, FILES), state) as server,
    ):
        ask = Client(server.port)
        path = ticket(ask, "6")
        until((tmp_path / "judged").exists)
        server.kill()
        assert ask("GET", path).status == 202
        (tmp_path / "gate").touch()
        assert rewards(done(ask, path)) == [1.0]
        server.kill()
        assert rewards(ask("GET", path)) == [1.0]
        server.end()
    assert (tmp_path / "judged").read_text() == "66"
