"""Tickets of ``/v1/verify``: what was asked is judged once, whoever waits for it."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from rlenv_cli.tickets import judging
from rlenv_serve import Keys, Limits, Server
from rlenv_serve.http.keys import add_key
from rlenv_serve.state.journal import JournaledStep
from rlenv_serve.state.memory import MemoryJournal
from rlenv_serve.verify import tickets
from serving import Answered, Client, running, served, single, until
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


@pytest.fixture
def ask() -> Iterator[Client]:
    with running(Server(served(slow(), single()))) as client:
        yield client


def test_a_ticket_says_how_many_are_done_and_then_the_results(ask: Client) -> None:
    path = ticket(ask, "free", "6", "break")
    until(lambda: ask("GET", path).body["done"] == 2)
    got = ask("GET", path)

    assert (got.status, got.headers["retry-after"], got.headers["location"]) == (202, "1", path)
    assert got.body == {"ticket": path.rpartition("/")[2], "done": 2, "total": 3}
    GATE.set()
    found = done(ask, path)
    assert rewards(found) == [0.0, 1.0, None]
    assert [each["fault"] for each in found.body["results"]] == [None, None, "error"]
    assert [each["id"] for each in found.body["results"]] == [0, 1, 2]
    lines = ask("GET", path, Accept="application/x-ndjson")
    assert lines.headers["content-type"] == "application/x-ndjson"
    assert [json.loads(each) for each in lines.body.splitlines()] == found.body["results"]
    assert sorted(JUDGED) == ["6", "break", "free"]


def test_results_that_come_in_the_time_that_is_waited_need_no_ticket(ask: Client) -> None:
    asked = of("6", environment="single")

    assert rewards(ask("POST", PATH, asked, Prefer="respond-async, wait=30")) == [1.0]
    assert rewards(ask("POST", PATH, asked, Prefer="wait=0")) == [1.0]
    assert ask("POST", PATH, of("6"), Prefer="wait=0; respond-async").status == 202


def test_a_poll_that_waits_is_answered_when_it_is_done(ask: Client) -> None:
    path = ticket(ask, "6")
    got = list[Answered]()
    polls = [
        threading.Thread(target=lambda: got.append(ask("GET", path, Prefer="wait=50")))
        for _ in range(8)
    ]
    for each in polls:
        each.start()
    until(lambda: JUDGED)
    GATE.set()
    for each in polls:
        each.join(LATE)

    assert [rewards(each) for each in got] == [[1.0]] * 8
    assert JUDGED == ["6"]


def test_a_key_has_one_ticket_and_one_answer(ask: Client) -> None:
    path = ticket(ask, "6", Idempotency_Key="k")

    assert ticket(ask, "6", Idempotency_Key="k") == path
    other = ask("POST", PATH, of("7"), Prefer="respond-async", Idempotency_Key="k")
    assert (other.status, other.body["code"]) == (409, "key_reused")
    GATE.set()
    found = done(ask, path)
    assert ask("POST", PATH, of("6"), Idempotency_Key="k").body == found.body
    assert JUDGED == ["6"]


def test_what_makes_no_sense_gets_no_ticket(ask: Client) -> None:
    wrong = {"environment": "slow", "items": [{"task": "zz", "response": "6"}]}

    assert ask("POST", PATH, wrong, Prefer="respond-async").status == 422
    assert ask("POST", PATH, of("6", environment="none"), Prefer="respond-async").status == 404
    assert ask("GET", f"{PATH}/{'0' * 32}").status == 404
    assert ask("DELETE", f"{PATH}/{'0' * 32}").status == 204


def test_a_ticket_is_of_its_tenant_and_of_keys_that_see_the_same(tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    names = [("a", False), ("a", False), ("a", True), ("b", True)]
    keys = [add_key(file, name, answers=False, operator=operator) for name, operator in names]
    with running(Server(served(slow()), keys=Keys.from_file(file))) as ask:
        first, same, boss, other = (Client(ask.port, {"X-API-Key": key}) for key in keys)
        path = ticket(first, "break", Idempotency_Key="k")

        for each in (boss, other):
            assert each("GET", path).status == 404
            assert each("DELETE", path).status == 204
            assert ticket(each, "break", Idempotency_Key="k") != path
        assert ask("GET", path).status == 401
        assert "message" not in done(same, path).body["results"][0]


def test_a_ticket_that_is_deleted_is_ended_and_forgotten() -> None:
    server = Server(served(slow()))
    with running(server) as ask:
        path = ticket(ask, *["6"] * 40, Idempotency_Key="k")
        until(lambda: server.turns.running)
        assert ask("DELETE", path).status == 204
        until(
            lambda: not (server.turns.running or server.turns.waiting or server.tickets.judge.live)
        )
        assert ask("GET", path).status == 404
        assert ticket(ask, "7", Idempotency_Key="k") != path


def test_responses_of_tickets_take_turns_within_the_limit_of_their_tenant() -> None:
    server = Server(served(slow()), limits=Limits(running=3))
    with running(server) as ask:
        paths = [ticket(ask, "6", "6") for _ in range(4)]
        until(lambda: server.turns.queue >= 3)
        assert len(JUDGED) == 3
        GATE.set()
        assert [rewards(done(ask, path)) for path in paths] == [[1.0, 1.0]] * 4


def test_what_is_not_done_at_the_deadline_is_unscored() -> None:
    with running(Server(served(slow()), limits=Limits(deadline=3.0))) as ask:
        found = done(ask, ticket(ask, "free", "6"))

        assert [(each["reward"], each["fault"]) for each in found.body["results"]] == [
            (0.0, None),
            (None, "deadline"),
        ]


def test_tickets_of_a_tenant_are_bounded_and_the_oldest_that_are_done_go_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tickets, "MOST", 3)
    with running(Server(served(slow(), single()))) as ask:
        for n in range(9):
            assert (
                ask("POST", PATH, of(str(n), environment="single"), Idempotency_Key=f"k{n}").status
                == 200
            )
        assert ask("POST", PATH, of("x", environment="single"), Idempotency_Key="k8").status == 409
        assert ask("POST", PATH, of("x", environment="single"), Idempotency_Key="k0").status == 200
        open_ = [ticket(ask, "6", str(n)) for n in range(3)]
        over = ask("POST", PATH, of("6"), Prefer="respond-async")
        assert (over.status, over.body["code"]) == (429, "too_many_requests")
        GATE.set()
        assert [rewards(done(ask, path))[0] for path in open_] == [1.0] * 3
        ticket(ask, "6")


def test_bytes_of_tickets_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tickets, "MOST_BYTES", 5_000)
    server = Server(served(slow(), single()))
    with running(server) as ask:
        for n in range(9):
            assert (
                ask(
                    "POST", PATH, of(f"{n}" * 1_000, environment="single"), Idempotency_Key=f"k{n}"
                ).status
                == 200
            )
        held = asyncio.run(server.tickets.store.journal.recent(None, 99))
        assert 2 <= len([*held]) <= 4
        for _ in range(2):
            ticket(ask, "6" * 4_000)
        assert ask("POST", PATH, of("6"), Prefer="respond-async").status == 429


def test_old_tickets_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(Server(served(slow()))) as ask:
        path = ticket(ask, "free")
        assert rewards(done(ask, path)) == [0.0]
        monkeypatch.setattr(tickets, "KEEP", 0.0)
        other = ticket(ask, "free")
        assert ask("GET", path).status == 404
        assert rewards(done(ask, other)) == [0.0]


def test_a_ticket_is_no_episode(ask: Client) -> None:
    GATE.set()
    path = ticket(ask, "6")
    done(ask, path)

    assert ask("GET", path.replace(PATH, "/episodes")).status == 404
    assert ask("GET", "/trajectories").body["trajectories"] == []
    assert path.rpartition("/")[2] not in json.dumps(ask("GET", "/state").body)


class Between(MemoryJournal):
    """Something happens between the two looks of a poll."""

    happens: Callable[[MemoryJournal, str], Awaitable[None]] | None = None

    async def steps(self, id: str) -> Sequence[JournaledStep]:  # noqa: A002 - the field's name
        if self.happens:
            await self.happens(self, id)
        return await super().steps(id)


async def ends(journal: MemoryJournal, id_: str) -> None:
    GATE.set()
    while not (found := await journal.find(id_)) or not found.ended:
        await asyncio.sleep(0.01)


@pytest.mark.parametrize(("happens", "status"), [(ends, 200), (MemoryJournal.remove, 404)])
def test_a_ticket_that_ends_or_goes_while_it_is_asked_for_is_answered_as_it_is_then(
    happens: Any, status: int
) -> None:
    server = Server(served(slow()))
    server.tickets.store.journal = journal = Between()
    with running(server) as ask:
        path = ticket(ask, "6")
        journal.happens = happens
        assert ask("GET", path).status == status


def test_a_ticket_that_is_deleted_while_another_process_takes_it_is_404(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(judging, "LEFT", -1.0)
    server = Server(served(slow()))
    server.tickets.store.journal = journal = Between()
    with running(server) as ask:
        path = ticket(ask, "6")
        lose(server)
        journal.happens = MemoryJournal.remove
        assert ask("GET", path).status == 404
        assert not server.tickets.judge.live


def test_a_client_that_leaves_the_lines_of_a_ticket_does_not_end_it() -> None:
    server = Server(served(slow()))
    with running(server) as ask:
        left = http.client.HTTPConnection("127.0.0.1", ask.port, timeout=LATE)
        left.request(
            "POST",
            PATH,
            json.dumps(of("free", "6")),
            {"Accept": "application/x-ndjson", "Idempotency-Key": "k"},
        )
        assert json.loads(left.getresponse().readline())["reward"] == 0.0
        left.close()
        assert server.tickets.judge.live
        GATE.set()
        assert rewards(ask("POST", PATH, of("free", "6"), Idempotency_Key="k")) == [0.0, 1.0]
    assert sorted(JUDGED) == ["6", "free"]
