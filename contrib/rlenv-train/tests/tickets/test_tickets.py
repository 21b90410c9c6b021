"""Tickets on a real file of SQLite: verdicts that come later, once, and from whom they should."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from contextlib import closing
from threading import Event

import pytest
import rlenv
from rlenv import (
    ConfigError,
    Environment,
    Outcome,
    ScoreError,
    Task,
    TaskError,
    Trajectory,
    UnknownTask,
)
from rlenv_train.tickets import SqliteStore, Tickets

TASKS = [Task(f"{n}?", answer=str(n), id=str(n)) for n in range(20)]


@rlenv.stage(where="inline")
def right(response, answer):
    if response == "break":
        raise RuntimeError("broken")
    return response == answer


@pytest.fixture
def env():
    with Environment("sums", right, TASKS) as made:
        yield made


@pytest.fixture
def path(tmp_path):
    return tmp_path / "tickets.sqlite"


@pytest.fixture
def tickets(env, path):
    with Tickets(env, path) as made:
        yield made


def held(path):
    """The ids of all tickets in a file, the oldest first."""
    with closing(sqlite3.connect(path)) as db:
        return [row[0] for row in db.execute("SELECT id FROM tickets ORDER BY rowid")]


def wait(ticket):
    status = ticket.wait(60)
    assert status != "waiting"
    return status


def test_a_verdict_comes_and_is_that_of_the_environment(env, tickets, path):
    ticket = tickets.submit("3?", "3")

    assert wait(ticket) == "done"
    assert ticket.verdict == env.evaluate("3?", "3")
    assert tickets.get(ticket.id).verdict == ticket.verdict
    assert held(path) == [ticket.id]


def test_a_task_with_info_and_a_conversation_are_kept_as_they_are(tickets):
    task = Task("q", answer={"n": [1, None]}, info={"level": 2.5, "é": "\ud800"}, id="own")
    messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    for response in (messages, Trajectory(messages)):
        ticket = tickets.submit(task, response)
        assert (wait(ticket), ticket.verdict.value) == ("done", 0.0)


def test_a_fault_is_no_zero(tickets):
    ticket = tickets.submit("3?", "break")

    assert wait(ticket) == "done"
    assert (ticket.verdict.value, ticket.verdict.fault.kind) == (None, "error")


@pytest.mark.parametrize("info", [{"a": (1, 2)}, {"a": {1}}, {1: "a"}, {"a": float("nan")}])
def test_what_json_would_change_is_an_error_at_submit(tickets, path, info):
    with pytest.raises(TaskError, match="as JSON"):
        tickets.submit(Task("q", info=info), "a")
    with pytest.raises(UnknownTask):
        tickets.submit("unknown", "a")
    assert held(path) == []


def test_a_ticket_survives_a_restart(env, path):
    with Tickets(env, path, judges=0) as first:
        ids = [first.submit("3?", text).id for text in ("3", "4")]
        assert first.get(ids[0]).wait(0) == "waiting"
    with Tickets(env, path) as second:
        found = [second.get(each) for each in ids]
        assert [(wait(t), t.verdict.value) for t in found] == [("done", 1.0), ("done", 0.0)]


def test_another_environment_is_said_and_never_judges(env, path):
    with Tickets(env, path, judges=0) as first:
        waiting = first.submit("3?", "3").id
    with Tickets(env, path) as first:
        done = first.submit("4?", "4")
        assert wait(done) == wait(first.get(waiting)) == "done"
    with Tickets(env, path, judges=0) as first:
        waiting = first.submit("3?", "3").id
    with (
        Environment("sums", [right], TASKS, pass_mark=0.5) as other,
        Tickets(other, path) as second,
    ):
        assert second.get(waiting).wait(1) == "changed"
        assert second.get(waiting).verdict is None
        assert second.get(done.id).verdict.fingerprint == env.fingerprint
    with Tickets(env, path) as again:
        assert wait(again.get(waiting)) == "done"


def test_a_cancelled_ticket_has_no_verdict_and_a_done_one_cannot_be_cancelled(env, path):
    with Tickets(env, path, judges=0) as tickets:
        ticket = tickets.submit("3?", "3")
        assert ticket.cancel()
        assert not ticket.cancel()
        assert (ticket.poll(), ticket.verdict) == ("cancelled", None)
    with Tickets(env, path) as tickets:
        other = tickets.submit("3?", "3")
        assert wait(other) == "done"
        assert not other.cancel()
        assert tickets.get(ticket.id).poll() == "cancelled"


def test_callbacks_come_once_whoever_ends_the_ticket(env, path, caplog):
    calls = []
    with Tickets(env, path, judges=0) as here, Tickets(env, path) as there:
        ticket = here.submit("3?", "3")
        ticket.on_done(lambda _: 1 / 0)
        ticket.on_done(lambda t: calls.append((t.id, t.verdict.value)))
        assert wait(there.get(ticket.id)) == "done"
        deadline = time.monotonic() + 30
        while not calls and time.monotonic() < deadline:
            time.sleep(0.01)
        ticket.on_done(lambda t: calls.append("late"))
        while len(calls) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)

    assert calls == [(ticket.id, 1.0), "late"]
    assert "a callback" in caplog.text


def test_an_outcome_from_outside_comes_once_and_is_checked(env, path):
    with Tickets(env, path) as tickets:
        ticket = tickets.submit("3?", "an email to the customer", outside=True)
        for wrong in (1e9, float("nan"), -1, True, "1.0", None):
            with pytest.raises(ScoreError):
                tickets.resolve(ticket.id, wrong)
        assert ticket.poll() == "waiting"
        assert tickets.resolve(ticket.id, Outcome(0.75, "they answered", {"days": 3}))
        assert not tickets.resolve(ticket.id, 0.0)
        assert (wait(ticket), ticket.verdict.value) == ("done", 0.75)
        assert ticket.verdict.results[0].outcome.data == {"days": 3}
        with pytest.raises(ConfigError, match="no ticket"):
            tickets.resolve("unknown", 1.0)
    with Tickets(env, path, judges=0) as tickets:
        judged = tickets.submit("3?", "3")
        with pytest.raises(ConfigError, match="outside=True"):
            tickets.resolve(judged.id, 1.0)


def test_one_judges_at_a_time_and_the_next_when_it_closes(env, path):
    with Tickets(env, path) as first:
        assert wait(first.submit("3?", "3")) == "done"  # it judges
        with Tickets(env, path) as second, closing(SqliteStore(path)) as third:
            assert not third.may_judge()
            assert wait(second.submit("3?", "4")) == "done"  # by the first
            first.close()
            assert wait(second.submit("3?", "3")) == "done"
            assert not third.may_judge()


def test_a_fork_of_the_judge_that_outlives_it_does_not_keep_the_lock(path):
    store = SqliteStore(path)
    assert store.may_judge()
    assert store.may_judge()
    reading, writing = os.pipe()
    if not (child := os.fork()):
        os.close(writing)
        os.read(reading, 1)  # until the test ends
        os._exit(0)
    store.close()
    other = SqliteStore(path)
    assert other.may_judge()
    other.close()
    os.close(writing)
    os.waitpid(child, 0)
    os.close(reading)


def test_many_callbacks_come_once_and_do_not_slow_others(env, path):
    calls = []
    with Tickets(env, path) as tickets:
        waiting = [tickets.submit("3?", "x", outside=True) for _ in range(500)]
        for ticket in waiting:
            ticket.on_done(lambda t: calls.append(t.id))
        assert wait(tickets.submit("3?", "3")) == "done"
        for ticket in waiting:
            tickets.resolve(ticket.id, 1.0)
        deadline = time.monotonic() + 60
        while len(calls) < len(waiting) and time.monotonic() < deadline:
            time.sleep(0.05)
    assert sorted(calls) == sorted(ticket.id for ticket in waiting)


def test_a_row_of_other_types_hides_no_other_ticket(env, path):
    with Tickets(env, path, judges=0) as tickets:
        odd, stuck, sound = (tickets.submit("3?", text) for text in "333")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE tickets SET asked = CAST(x'ff' AS TEXT) WHERE id = ?", (odd.id,))
        db.execute("UPDATE tickets SET state = x'00', verdict = 7 WHERE id = ?", (stuck.id,))
    with Tickets(env, path) as tickets:
        assert wait(tickets.get(sound.id)) == "done"
        assert wait(tickets.get(odd.id)) == "done"
        assert tickets.get(odd.id).verdict.value is None
        assert tickets.get(stuck.id).poll() == "waiting"
        assert not tickets.get(stuck.id).cancel()


def test_a_verdict_that_cannot_be_stored_now_is_stored_later_and_judged_once(env, path, caplog):
    calls = []
    go = Event()

    @rlenv.stage(where="inline")
    def slow(response):
        calls.append(response)
        go.wait(30)
        return 1.0

    store = SqliteStore(path)
    with Environment("slow", slow, [Task("q", id="q")]) as env, Tickets(env, store) as tickets:
        ticket = tickets.submit("q", "a")
        deadline = time.monotonic() + 30
        while not calls and time.monotonic() < deadline:
            time.sleep(0.01)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            store._db.execute("PRAGMA busy_timeout = 10")
            other.execute("BEGIN IMMEDIATE")
            go.set()
            while "cannot be used" not in caplog.text and time.monotonic() < deadline:
                time.sleep(0.01)
            assert tickets.get(ticket.id).poll() == "waiting"
            other.execute("ROLLBACK")
        assert (wait(ticket), ticket.verdict.value) == ("done", 1.0)
    store.close()
    assert calls == ["a"]
    assert caplog.text.count("cannot be used") == 1


def test_a_full_disk_is_an_error_at_submit(env, path):
    store = SqliteStore(path)
    with Tickets(env, store) as tickets:
        store._db.execute("PRAGMA max_page_count = 1")
        with pytest.raises(sqlite3.OperationalError, match="full"):
            tickets.submit("3?", "x" * 100_000)
        store._db.execute("PRAGMA max_page_count = 100000")
        assert wait(tickets.submit("3?", "3")) == "done"
    store.close()


TYPED = "CREATE TABLE tickets (id)"


def hostile(path, **changes):
    with closing(sqlite3.connect(path)) as db, db:
        for column, value in changes.items():
            db.execute(f"UPDATE tickets SET {column} = ?", (value,))


class Bomb:
    def __reduce__(self):
        return os.abort, ()


@pytest.mark.parametrize(
    "verdict",
    [
        "{}",
        "",
        b"\x80\x05cos\nabort\n.",
        1.0,
        None,
        '{"value": 1e9}',
        "[" * 100_000,
        json.dumps(
            {
                "value": 1e9,
                "raw": None,
                "stopped_at": None,
                "fingerprint": "x",
                "fault": None,
                "results": [],
            }
        ),
    ],
    ids=range(8),
)
def test_a_stored_verdict_that_is_none_is_unscored(env, path, verdict):
    with Tickets(env, path) as tickets:
        ticket = tickets.submit("3?", "3").id
        assert wait(tickets.get(ticket)) == "done"
        hostile(path, verdict=verdict)
        found = tickets.get(ticket).verdict

    assert (found.value, found.fault.kind) == (None, "contract")


@pytest.mark.parametrize(
    "asked",
    [
        "",
        "null",
        "[]",
        "{}",
        "[" * 100_000,
        b"\x80\x05.",
        7,
        '{"response": "3", "prompt": "3?", "cmd": 1}',
        '{"response": 3, "prompt": "q", "info": {}}',
        '{"response": "3", "prompt": 3, "info": {}}',
        '{"response": "3", "prompt": "q", "info": []}',
    ],
    ids=range(11),
)
def test_a_stored_task_that_is_none_is_unscored(env, path, asked):
    with Tickets(env, path, judges=0) as tickets:
        ticket = tickets.submit("3?", "3").id
    hostile(path, asked=asked, state="waiting")
    with Tickets(env, path) as tickets:
        assert wait(tickets.get(ticket)) == "done"
        assert tickets.get(ticket).verdict.value is None


def test_a_file_of_an_earlier_release_is_read(env, path):
    asked = {"prompt": "3?", "answer": "3", "info": {}, "id": "3", "split": "train"}
    verdict = {"value": 0.5, "raw": None, "stopped_at": None, "fingerprint": "x", "fault": None}
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(
            "CREATE TABLE tickets (id TEXT PRIMARY KEY, fingerprint TEXT, asked TEXT, state TEXT,"
            " verdict TEXT)"
        )
        db.execute("CREATE INDEX waiting ON tickets (fingerprint) WHERE state = 'waiting'")
        rows = [
            ("old", env.fingerprint, json.dumps(asked | {"response": "3"}), "waiting", ""),
            ("done", env.fingerprint, "{}", "done", json.dumps(verdict | {"results": []})),
            ("outside", env.fingerprint, "{}", "outside", ""),
            ("cancelled", env.fingerprint, "{}", "cancelled", ""),
        ]
        db.executemany("INSERT INTO tickets VALUES (?, ?, ?, ?, ?)", rows)
    os.chmod(path, 0o600)
    with Tickets(env, path) as tickets:
        assert wait(tickets.get("old")) == "done"
        assert tickets.get("old").verdict.value == 1.0
        assert tickets.get("done").verdict.value == 0.5
        assert tickets.get("cancelled").poll() == "cancelled"
        assert tickets.resolve("outside", 0.25)


def test_a_file_of_something_else_of_others_or_behind_a_link_is_rejected(env, tmp_path):
    with closing(sqlite3.connect(tmp_path / "other")) as db, db:
        db.execute(TYPED)
    (tmp_path / "text").write_text("no database " * 100)
    (tmp_path / "open").touch()
    SqliteStore(tmp_path / "mine").close()
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    os.chmod(tmp_path / "open", 0o666)
    for name in ("other", "text", "open", "link", "no/folder"):
        with pytest.raises(ConfigError, match="tickets: "):
            Tickets(env, tmp_path / name)
    assert oct(os.stat(tmp_path / "mine").st_mode & 0o777) == "0o600"


def test_arguments_that_make_no_sense_are_errors(env, path):
    for wrong in (-1, 1.5, True):
        with pytest.raises(ConfigError):
            Tickets(env, path, judges=wrong)
