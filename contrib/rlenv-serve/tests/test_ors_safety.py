"""What a server of ORS refuses: the defects of the official one, and what a hostile client may
try.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from threading import Event

import pytest
from ors_wire import Ors, begun, echoes, joined, slow_environment, talk
from rlenv import Environment, Task, stage
from rlenv_serve import Keys, Limits, Server
from rlenv_serve.http.keys import add_key
from rlenv_serve.ors import sessions as ors_sessions
from rlenv_serve.ors.sessions import OrsSessions
from rlenv_serve.sessions import sessions
from rlenv_serve.state import open_journal
from serving import SECRET, TASKS, Client, Clock, running, same, served, sums, until


def test_no_answer_leaves_the_server() -> None:
    tasks = [Task("Guess.", answer=SECRET, info={"hint": SECRET}, id="g")]
    with Environment("guess", same, tasks) as env, running(Server(served(env))) as ask:
        told = [
            ask("POST", "/tasks", {"split": "train"}),
            ask("POST", "/task", {"split": "train", "index": 0}),
            ask("POST", "/task_range", {"split": "train"}),
        ]
        session = begun(ask)
        told += [session("GET", path) for path in ("/prompt", "/messages", "/tools", "/task_tools")]
        told.append(session("POST", "/call", {"name": "submit", "input": {"answer": "x"}}))

        assert [each.status for each in told] == [200] * len(told)
        assert SECRET not in str(told)


def test_a_forged_task_is_refused() -> None:
    with sums() as env, talk() as other, running(Server(served(env, other))) as ask:
        spec = ask("POST", "/task", {"split": "train", "index": 3}).body["task"]
        forged = [
            {"question": "q", "answer": "forged"},
            {**spec, "answer": "forged"},
            {**spec, "task_id": "t4"},
            {**spec, "prompt": "What is 1 + 1?"},
            {**spec, "split": "test"},
            {**spec, "mac": "0" * 64},
            {key: value for key, value in spec.items() if key != "mac"},
            ask("POST", "/talk/task", {"split": "dev", "index": 0}).body["task"],
            "t3",
            [],
            0,
        ]

        for each in forged:
            session = Ors(ask)
            refused = session("POST", "/create", {"task_spec": each})
            assert refused.status in (400, 404), each
            assert session("POST", "/create", {"task_spec": spec}).status == 200


def test_a_session_is_its_tenant_s_alone(tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    keys = [add_key(file, name, answers=False, operator=False) for name in ("alice", "bob")]
    with sums() as env, running(Server(served(env), keys=Keys.from_file(file))) as ask:
        alice, bob = (Client(ask.port, {"X-API-Key": key}) for key in keys)
        mine = begun(alice)
        run = mine.call("add", a=1, b=2)
        foreign = Ors(bob)
        chosen = Ors(bob)
        foreign.sid = mine.sid
        chosen.sid = "0" * 64

        for each in (foreign, chosen):
            for method, path, body in (
                ("POST", "/create", {"split": "train", "index": 0}),
                ("POST", "/ping", None),
                ("GET", "/prompt", None),
                ("GET", "/task_tools", None),
                ("POST", "/call", {"name": "add", "input": {"a": 1, "b": 2}}),
                (
                    "POST",
                    "/call",
                    {"name": "add", "input": {"a": 1, "b": 2}, "task_id": run.task_id},
                ),
                ("POST", "/delete", None),
                ("POST", "/delete_session", None),
            ):
                assert each(method, path, body).status == 404, (method, path)
        for method, path in (
            ("GET", "/list_environments"),
            ("POST", "/create_session"),
            ("GET", "/splits"),
        ):
            assert ask(method, path, {}).status == 401
        assert mine.call("submit", answer="0").value["output"]["reward"] == 1.0


@pytest.mark.parametrize("sid", ["", " ", "x", "0" * 64, "é", "../" * 30, "a" * 5000])
def test_an_id_that_was_not_given_is_no_session(sid: str) -> None:
    with sums() as env, running(Server(served(env))) as ask:
        session = Ors(ask)
        session.sid = sid.encode().decode("latin-1")

        assert session.create().status == (404 if sid.strip() else 400)
        assert session("POST", "/ping").status == (404 if sid.strip() else 400)


def test_a_flood_of_sessions_is_bounded_and_costs_nothing() -> None:
    with sums() as env:
        server = Server(served(env), limits=Limits(episodes=3))
        with running(server) as ask:
            made = [Ors(ask) for _ in range(50)]
            found = [each.create() for each in made]
            state = OrsSessions.of(server)

            assert [each.status for each in found] == [200] * 3 + [429] * 47
            assert found[-1].headers["retry-after"] == "5"
            assert (len(state._heard), len(state._opening), len(state._deleted)) == (3, 0, 0)
            assert made[0].call("submit", answer="0").value["output"]["finished"]
            assert len(state._heard) == 2
            assert made[-1].create().status == 200


def test_a_client_that_is_silent_loses_its_session(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "LOOK", 0.05)
    with sums() as env:
        server = Server(served(env), limits=Limits(idle=3000))
        with running(server) as ask:
            silent = begun(ask)
            there = begun(ask)
            for _ in range(5):
                clock.moved += 1000
                assert there("POST", "/ping").status == 200

            until(lambda: len(OrsSessions.of(server)._heard) == 1)

            assert silent("GET", "/prompt").status == 410
            assert there("GET", "/prompt").status == 200


def test_a_client_that_talks_to_another_server_keeps_its_session(
    tmp_path: Path, clock: Clock
) -> None:
    state = f"sqlite:{tmp_path / 'state.db'}"
    limits = Limits(idle=3000)
    with (
        sums() as env,
        running(Server(served(env), limits=limits, journal=open_journal(state))) as first,
        running(Server(served(env), limits=limits, journal=open_journal(state))) as second,
    ):
        session = begun(first)
        session.ask = second
        for _ in range(5):
            clock.moved += 1000
            assert session("POST", "/ping").status == 200
        begun(first)
        run = session.call("add", a=1, b=2)
        session.ask = first
        assert session.call("add", run.task_id, a=1, b=2) == run
        assert session.call("submit", answer="0").value["output"]["reward"] == 1.0
        session.ask = second
        assert session.call("add", a=1, b=2).value["reason"] == "episode_finished"


def test_bodies_that_are_large_deep_or_no_json_are_4xx() -> None:
    with echoes() as env, running(Server(served(env))) as ask:
        session = begun(ask)
        for path in ("/create", "/call", "/score_group", "/tasks"):
            assert session("POST", path, b"x" * 50_000_000).status == 413, path
            for body in (b"[" * 100_000, b'{"name": "\\ud800', b"{-Infinity}", b"NaN"):
                assert session("POST", path, body).status in (400, 422), path
        deep = b'{"name": "echo", "input": {"text": %s}}' % (b"[" * 100_000 + b"]" * 100_000)
        assert session("POST", "/call", deep).status == 400
        assert ask("GET", f"/episodes/{session.sid[:32]}").body["steps"] == 0


def test_an_episode_that_begins_slowly_is_503_until_it_has_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ors_sessions, "SETUP", 0.2)
    with slow_environment(begins := Event()) as env, running(Server(served(env))) as ask:
        session = begun(ask)
        assert session.create().status == 400
        assert session("POST", "/ping").status == 200
        starting = session("GET", "/prompt")
        assert (
            starting.status,
            starting.headers["x-backend-state"],
            starting.headers["retry-after"],
        ) == (503, "starting", "2")
        assert session("POST", "/call", {"name": "submit", "input": {"answer": "6"}}).status == 503
        begins.set()
        while (got := session("GET", "/prompt")).status == 503:
            pass
        assert [each["text"] for each in got.body] == ["What is 0 + 0?\n\nGo on."]
        assert ask("GET", f"/episodes/{session.sid[:32]}").body["steps"] == 0


def test_an_episode_that_cannot_begin_says_so_and_may_be_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ors_sessions, "SETUP", 0.2)
    with slow_environment(begins := Event(), fails=True) as env:
        server = Server(served(env))
        with running(server) as ask:
            session = begun(ask)
            begins.set()
            while (got := session("GET", "/prompt")).headers.get("x-backend-state"):
                pass

            assert (got.status, got.body["code"]) == (503, "environment_failed")
            assert SECRET not in str(got)
            assert session("GET", "/prompt").status == 404
            begins.clear()
            assert session.create().status == 200
            begins.set()


def test_a_session_that_is_deleted_while_it_begins_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ors_sessions, "SETUP", 0.1)
    with slow_environment(begins := Event()) as env:
        server = Server(served(env), limits=Limits(episodes=1))
        with running(server) as ask:
            session = begun(ask)
            assert session("POST", "/delete").status == 200
            assert session("GET", "/prompt").status in (410, 503)
            begins.set()
            while OrsSessions.of(server)._runs or OrsSessions.of(server)._opening:
                asyncio.run(asyncio.sleep(0.05))

            assert session("GET", "/prompt").status == 410
            assert begun(ask).sid


@pytest.mark.parametrize(
    "written", ["NaN", "-Infinity", "Infinity", "1e999", "[" * 100 + "]" * 100, '"x"]', "0x1"]
)
def test_arguments_that_json_has_not_are_the_policy_s_mistake_and_no_failed_request(
    written: str,
) -> None:
    with echoes() as env, running(Server(served(env))) as ask:
        session = begun(ask)
        raw = session(
            "POST", "/call", b'{"name": "spaces", "input": {"count": %s}}' % written.encode()
        )
        if written in ('"x"]', "0x1"):  # no client can send these: they write JSON, or NaN
            assert raw.status == 400
        else:
            assert joined(raw.body).value["reason"] == "input_validation"
        raw = session(
            "POST", "/call", b'{"name": "echo", "input": {"text": "NaN \\"Infinity \\ud800 \\\\"}}'
        )
        assert joined(raw.body).value["output"]["blocks"][0]["text"] == 'NaN "Infinity \ufffd \\'
        assert session("POST", "/create", b'{"split": "train", "index": NaN}').status == 422
        assert (
            ask(
                "POST", f"/episodes/{session.sid[:32]}/steps", b'{"action": "echo", "text": NaN}'
            ).status
            == 400
        )


def test_a_stage_s_private_words_stay_on_the_server() -> None:
    @stage(where="inline")
    def leaks(visible: str) -> float:
        raise RuntimeError(SECRET)

    with Environment("leaks", leaks, TASKS) as env, running(Server(served(env))) as ask:
        session = begun(ask)
        raw = session("POST", "/call", {"name": "submit", "input": {"answer": "x"}}).body

        assert joined(raw).error
        assert SECRET.encode() not in raw
        assert json.dumps(SECRET).encode() not in raw
