"""``/v1/verify``."""

from __future__ import annotations

import asyncio
import gc
import http.client
import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from rlenv import Environment, Outcome, stage
from rlenv_serve import Keys, Limits, Server
from rlenv_serve.http.keys import add_key
from serving import SECRET, TASKS, Answered, Client, breaks, running, served, single, until

PATH = "/v1/verify"


def items(*pairs: tuple[str, object]) -> list[dict[str, object]]:
    return [{"task": task, "response": response} for task, response in pairs]


def of(environment: str, *pairs: tuple[str, object]) -> dict[str, object]:
    return {"environment": environment, "items": items(*pairs)}


def test_results_come_in_order_with_rewards_and_stages(ask: Client) -> None:
    got = ask("POST", PATH, of("single", ("t3", "6"), ("t4", "6"), ("t2", "<think>5?</think>4")))

    assert got.status == 200, got
    results = got.body["results"]
    assert [(each["id"], each["reward"], each["passed"]) for each in results] == [
        (0, 1.0, True),
        (1, 0.0, False),
        (2, 1.0, True),
    ]
    assert [each["stages"][0]["stage"] for each in results] == ["same"] * 3
    assert len({each["fingerprint"] for each in results}) == 1
    assert {each["fault"] for each in results} == {None}


def test_ids_of_a_request_come_back(ask: Client) -> None:
    asked = of("single", ("t3", "6"), ("t4", "6"))
    asked["items"][0]["id"] = "mine"  # type: ignore[index]
    asked["items"][1]["id"] = -7  # type: ignore[index]

    assert [each["id"] for each in ask("POST", PATH, asked).body["results"]] == ["mine", -7]
    asked["items"][1]["id"] = "mine"  # type: ignore[index]
    assert (
        ask("POST", PATH, asked).status,
        "'mine'" in ask("POST", PATH, asked).body["detail"],
    ) == (422, True)


def test_messages_are_a_response_too(ask: Client) -> None:
    talk = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "6"}]

    assert ask("POST", PATH, of("single", ("t3", talk))).body["results"][0]["reward"] == 1.0
    assert ask("POST", PATH, of("single", ("t3", []))).body["results"][0]["reward"] == 0.0


def test_lines_come_as_they_are_done(ask: Client) -> None:
    pairs = [("t3", "6" if n % 2 else "7") for n in range(100)]
    got = ask("POST", PATH, of("single", *pairs), Accept="application/x-ndjson")
    lines = [json.loads(line) for line in got.body.splitlines()]

    assert got.headers["content-type"] == "application/x-ndjson"
    assert {each["id"]: each["reward"] for each in lines} == {n: float(n % 2) for n in range(100)}


def test_an_unknown_task_stops_the_whole_request_before_anything_runs(ask: Client) -> None:
    got = ask("POST", PATH, of("single", ("t3", "6"), ("zz", "6"), ("t4", "8"), ("yy", "1")))

    assert (got.status, got.body["code"]) == (422, "invalid")
    assert "items[1]" in got.body["detail"]
    assert "items[3]" in got.body["detail"]
    assert "items[0]" not in got.body["detail"]
    assert b'rlenv_verdicts_total{environment="single"' not in ask("GET", "/metrics").body


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"environment": "none", "items": [{"task": "t3", "response": ""}]}, 404),
        ({"environment": "single", "items": []}, 422),
        ({"environment": "single", "items": [{"task": "t3"}]}, 422),
        ({"environment": "single", "items": [{"task": "t3", "response": 6}]}, 422),
        ({"environment": "single", "items": [{"task": "t3", "response": [6]}]}, 422),
        (
            {"environment": "single", "items": [{"task": "t3", "response": "", "id": "i" * 201}]},
            422,
        ),
        ({"environment": "single", "items": [{"task": "t3", "response": "", "id": 1 << 60}]}, 422),
        ({"environment": "single", "items": [{"task": "t3", "response": "", "id": 1 << 600}]}, 422),
        ({"environment": "single", "items": [{"task": "t3", "response": ""}] * 1025}, 422),
        (b'{"environment": "single", "items": [{"task": "t3", "response": ' + b"[" * 9999, 422),
        (b'{"environment": "single", "items": ' + b'[{"a": ' * 99_999, 422),
        (
            b'{"environment": "single", "items": [{"task": "t3", "response": [{"a": %s}]}]}'
            % (b"[" * 64 + b"]" * 64),
            400,
        ),
        (b"[]", 422),
        (b"", 422),
    ],
)
def test_what_makes_no_sense_is_4xx(ask: Client, body: object, status: int) -> None:
    assert ask("POST", PATH, body).status == status


def test_a_lone_surrogate_is_read_as_a_replacement_character(ask: Client) -> None:
    body = b'{"environment": "single", "items": [{"task": "t3", "response": "6\\ud800"}]}'

    assert ask("POST", PATH, body).body["results"][0]["reward"] == 0.0


def test_a_verifier_that_fails_is_no_zero_and_says_why_to_the_operator_alone(
    tmp_path: Path,
) -> None:
    file = tmp_path / "keys.toml"
    keys = [add_key(file, name, answers=False, operator=name == "boss") for name in ("boss", "me")]
    with running(Server(served(failing()), keys=Keys.from_file(file))) as ask:
        boss, me = (Client(ask.port, {"X-API-Key": key}) for key in keys)
        asked = of("failing", ("t3", "6"), ("t3", "break"), ("t3", "6"))
        mine = me("POST", PATH, asked)
        theirs = boss("POST", PATH, asked)

        assert [each["reward"] for each in mine.body["results"]] == [1.0, None, 1.0]
        assert [each["passed"] for each in mine.body["results"]] == [True, None, True]
        assert [each["fault"] for each in mine.body["results"]] == [None, "error", None]
        assert SECRET not in json.dumps(mine.body)
        assert SECRET in theirs.body["results"][1]["message"]
        assert b'outcome="unscored:error"} 2.0' in boss("GET", "/metrics").body
        assert (
            b'rlenv_stage_seconds_count{environment="failing",stage="breaks"} 6.0'
            in boss("GET", "/metrics").body
        )


def failing() -> Environment:
    return Environment("failing", breaks, TASKS)


def test_a_task_with_its_answer_is_for_tenants_that_may(tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    keys = [add_key(file, name, answers=name == "may", operator=False) for name in ("may", "not")]
    asked = of("single", ("t3", "6"))
    asked["items"].append({"task": {"prompt": "1?", "answer": "1"}, "response": "1"})  # type: ignore[attr-defined]
    with running(Server(served(single()), keys=Keys.from_file(file))) as ask:
        may, may_not = (Client(ask.port, {"X-API-Key": key}) for key in keys)

        assert [each["reward"] for each in may("POST", PATH, asked).body["results"]] == [1.0, 1.0]
        refused = may_not("POST", PATH, asked)
        assert (refused.status, refused.body["code"]) == (403, "answers_forbidden")
        for wrong in ({"prompt": "1?"}, {"prompt": "1?", "answer": "1", "id": "t3"}, {"answer": 1}):
            asked["items"][1]["task"] = wrong  # type: ignore[index]
            assert may("POST", PATH, asked).status == 422


def test_the_same_key_is_answered_the_same_and_another_body_is_409(ask: Client) -> None:
    first = ask("POST", PATH, of("single", ("t3", "6")), Idempotency_Key="k")
    seconds = first.body["results"][0]["stages"][0]["seconds"]

    again = ask("POST", PATH, of("single", ("t3", "6")), Idempotency_Key="k")
    assert again.body["results"][0]["stages"][0]["seconds"] == seconds
    lines = ask(
        "POST", PATH, of("single", ("t3", "6")), Idempotency_Key="k", Accept="application/x-ndjson"
    )
    assert json.loads(lines.body) == first.body["results"][0]
    other = ask("POST", PATH, of("single", ("t3", "7")), Idempotency_Key="k")
    assert (other.status, other.body["code"]) == (409, "key_reused")
    assert ask("POST", PATH, of("single", ("t3", "6")), Idempotency_Key="k" * 201).status == 422


def test_a_key_is_its_tenant_s(tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    keys = [add_key(file, name, answers=False, operator=False) for name in ("a", "b")]
    with running(Server(served(single()), keys=Keys.from_file(file))) as ask:
        one, two = (Client(ask.port, {"X-API-Key": key}) for key in keys)

        assert one("POST", PATH, of("single", ("t3", "6")), Idempotency_Key="k").status == 200
        assert two("POST", PATH, of("single", ("t3", "7")), Idempotency_Key="k").status == 200
        assert ask("POST", PATH, of("single", ("t3", "7")), Idempotency_Key="k").status == 401


@stage(default_timeout=300.0)
def gated(visible: str) -> float:
    """1, as soon as the file exists that the response names; beside it is written how often this
    began.
    """
    gate = Path(visible)
    with gate.with_name(f"{gate.name}-begun").open("a") as begun:
        begun.write("x")
    time.sleep(0.05)  # what a response costs at least: only what keeps a worker is held back
    while not gate.exists():
        time.sleep(0.01)
    return 1.0


class Gates(NamedTuple):
    """A verifier in three workers, which judges a response when its gate is open."""

    env: Environment
    opened: str
    closed: str

    def open(self) -> None:
        Path(self.closed).touch()

    def begun(self) -> int:
        """How many responses have begun to wait at the closed gate."""
        file = Path(f"{self.closed}-begun")
        return file.stat().st_size if file.exists() else 0


@pytest.fixture
def gates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gates]:
    for module in ("rlenv.workers.pool", "rlenv_serve.http.turns"):
        monkeypatch.setattr(f"{module}.usable_cpus", lambda: 3)
    opened = tmp_path / "opened"
    closed = tmp_path / "closed"
    opened.touch()
    with Environment("gated", gated, TASKS) as env:
        begun = env.evaluate_many([(TASKS[0], str(opened))] * 8)
        assert [v.reward for v in begun] == [1.0] * 8  # all workers have started
        yield Gates(env, str(opened), str(closed))
        closed.touch()


def test_what_is_not_done_at_the_deadline_is_unscored_and_the_rest_is_not(gates: Gates) -> None:
    with running(Server(served(gates.env), limits=Limits(deadline=4.0))) as ask:
        pairs = (("t1", gates.opened), ("t2", gates.closed), ("t3", gates.opened))
        got = ask("POST", PATH, of("gated", *pairs))
        found = [(each["reward"], each["fault"]) for each in got.body["results"]]

        assert found == [(1.0, None), (None, "deadline"), (1.0, None)]
        assert ask("POST", PATH, of("gated", pairs[1])).body["results"][0]["reward"] is None


def test_a_worker_that_dies_touches_no_other_response() -> None:
    with Environment("dying", dies, TASKS) as env, running(Server(served(env))) as ask:
        got = ask(
            "POST", PATH, of("dying", *[(f"t{n}", "die" if n == 4 else "x") for n in range(9)])
        )
        found = [(each["reward"], each["fault"]) for each in got.body["results"]]

        assert found == [(None, "crash") if n == 4 else (1.0, None) for n in range(9)]


def dies(visible: str) -> float:
    if visible == "die":
        os._exit(3)
    return 1.0


def test_a_client_that_goes_away_ends_its_request(gates: Gates) -> None:
    server = Server(served(gates.env), limits=Limits(running=2))
    with running(server) as ask:
        for accept in ("application/json", "application/x-ndjson"):
            connection = http.client.HTTPConnection("127.0.0.1", ask.port)
            body = json.dumps(of("gated", *[("t1", gates.closed)] * 500))
            connection.request("POST", PATH, body, {"Accept": accept})
            until(lambda: server.turns.running)
            connection.close()
            until(lambda: (server.turns.running, server.turns.waiting) == ({}, {}))


def test_a_request_with_a_key_goes_on_without_its_client(gates: Gates) -> None:
    with running(Server(served(gates.env))) as ask:
        asked = json.dumps(of("gated", ("t1", gates.closed))).encode()
        connection = http.client.HTTPConnection("127.0.0.1", ask.port)
        connection.request("POST", PATH, asked, {"Idempotency-Key": "k"})
        until(gates.begun)
        connection.close()
        time.sleep(0.2)  # a server that ends such a request has time to do so
        gates.open()

        assert ask("POST", PATH, asked, Idempotency_Key="k").body["results"][0]["reward"] == 1.0
        assert gates.begun() == 1


@stage(where="inline")
def wordy(visible: str) -> Outcome:
    return Outcome(1.0, data={f"fact {n}": n for n in range(50)})


def test_a_large_request_leaves_the_loop_free() -> None:
    server = Server(served(Environment("wordy", wordy, TASKS)))
    worst = [0.0]

    async def play() -> float:
        async def tick() -> None:
            while True:  # CPU time of one turn of the loop: others may have the cores meanwhile
                began = time.thread_time()
                await asyncio.sleep(0)
                worst[0] = max(worst[0], time.thread_time() - began)

        from rlenv_serve.http.keys import LOCAL
        from rlenv_serve.verify.requests import Item, jobs
        from rlenv_serve.verify.run import Run

        found = await jobs(server.catalog["wordy"], [Item("t3", "6" * 1000)] * 1024, LOCAL, 1024)
        run = Run(server.verifier, LOCAL, server.catalog["wordy"], found)
        await run.play()  # the first response of a stage may import
        ticks = asyncio.create_task(tick())
        least = float("inf")
        gc.freeze()  # what other tests left is not searched in a turn of this loop
        for _ in range(
            3
        ):  # a host that takes the core of a virtual machine away counts as CPU time
            await asyncio.sleep(0.01)
            worst[0] = 0.0
            run = Run(server.verifier, LOCAL, server.catalog["wordy"], found)
            await run.play()
            assert len(await run.encode_results()) == 1024
            await asyncio.sleep(0.01)
            least = min(least, worst[0])
        ticks.cancel()
        gc.unfreeze()
        return least

    assert asyncio.run(play()) < 0.010


def test_a_tenant_that_asks_for_much_does_not_slow_another(
    tmp_path: Path, gates: Gates, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three workers a flood gets two, however long it keeps them: another tenant waits for none
    of it.
    """
    monkeypatch.setattr("rlenv_serve.http.turns.RECENT", 3600.0)  # also where a step takes long
    file = tmp_path / "keys.toml"
    answers = list[Answered]()
    keys = [add_key(file, name, answers=False, operator=False) for name in ("much", "little")]
    with running(Server(served(gates.env), keys=Keys.from_file(file))) as ask:
        much, little = (Client(ask.port, {"X-API-Key": key}) for key in keys)
        asked = of("gated", ("t1", gates.opened))
        for each in (much, little):  # the server has learned what a response costs, and of both
            assert each("POST", PATH, asked).body["results"][0]["reward"] == 1.0
        flood = of("gated", *[("t2", gates.closed)] * 70)
        thread = threading.Thread(target=lambda: answers.append(much("POST", PATH, flood)))
        thread.start()
        try:
            until(lambda: gates.begun() >= 2)
            for _ in range(8):
                assert little("POST", PATH, asked).body["results"][0]["reward"] == 1.0
            begun = gates.begun()  # none of which has ended
        finally:
            gates.open()
            thread.join()

    assert begun == 2
    assert [each["reward"] for each in answers[0].body["results"]] == [1.0] * 70


def test_requests_that_wait_are_counted_and_too_many_are_429(gates: Gates) -> None:
    asked = of("gated", ("t1", gates.closed))
    with running(Server(served(gates.env), limits=Limits(running=1, waiting=2))) as ask:
        threads = [threading.Thread(target=ask, args=("POST", PATH, asked)) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            until(lambda: b"rlenv_requests_waiting 2.0" in ask("GET", "/metrics").body)
            over = ask("POST", PATH, asked)
        finally:
            gates.open()
            for thread in threads:
                thread.join()

    assert (over.status, over.body["code"], over.headers["retry-after"]) == (
        429,
        "too_many_requests",
        "1",
    )
