"""The file of the cache: what anybody else wrote gives no reward, and no trouble with it costs a
verdict.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sqlite3
import stat
from contextlib import closing, suppress
from hashlib import sha256

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rlenv import ConfigError, Environment
from rlenv_train import ScoringEngine
from rlenv_train.scoring import cache as caching
from scoring_runs import TASK, change, run, scored, stored


def test_the_file_holds_json_that_its_owner_alone_may_read(path):
    run(path, ["1"])
    ((key, value),) = stored(path)

    assert json.loads(value[32:])["value"] == 1.0
    assert len(key) == 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(p.name for p in path.parent.iterdir()) == [path.name]


def forged(value, **more):
    record = {
        "value": value,
        "raw": None,
        "stopped_at": None,
        "fingerprint": "",
        "fault": None,
        "results": [],
    }
    return json.dumps(record | more).encode()


NO_ENTRIES = [
    b"",
    b"x",
    7,
    "text",
    None,
    1.0,
    forged(1.0),
    bytes(32) + forged(1.0),
    b"\x80\x04." * 20,
]
NO_VERDICTS = [
    forged(1e9),
    forged(-0.5),
    b'{"value": NaN}',
    b"[" * 100_000,
    b"1" * 10_000,
    b'"\xff"',
    forged(1.0),
    forged(None),
    forged(1.0, results=[{"stage": "e"}]),
]


@pytest.mark.parametrize("value", NO_ENTRIES, ids=range(len(NO_ENTRIES)))
def test_what_somebody_else_wrote_is_not_there(path, value):
    wrong, _ = run(path, ["0"])
    change(path, ("UPDATE verdicts SET value = ?", (value,)))
    again, numbers = run(path, ["0"])

    assert again == wrong
    assert numbers["cached"] == 0


@pytest.mark.parametrize("text", NO_VERDICTS, ids=range(len(NO_VERDICTS)))
def test_what_has_the_secret_and_is_no_verdict_of_this_environment_is_not_there(path, text):
    run(path, ["0"])
    ((key, _),) = stored(path)
    cache = caching.VerdictCache(path)
    value = cache._mac(key, text) + text
    cache.close()
    change(path, ("UPDATE verdicts SET value = ?", (value,)))
    assert [v.value for v in run(path, ["0"])[0]] == [0.0]


def test_a_verdict_is_good_for_its_own_key_alone(path):
    run(path, ["0", "1"])
    rows = stored(path)
    change(
        path,
        *(
            ("UPDATE verdicts SET value = ? WHERE key = ?", (rows[1 - n][1], rows[n][0]))
            for n in (0, 1)
        ),
    )
    verdicts, numbers = run(path, ["0", "1"])

    assert [v.value for v in verdicts] == [0.0, 1.0]
    assert numbers["cached"] == 0


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_damage_is_an_error_or_a_miss_and_never_another_reward(damaged, data):
    original, path, alone = damaged
    content = bytearray(original)
    for _ in range(data.draw(st.integers(1, 20))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(0, len(content)) | st.just(len(content)))])
    path.chmod(0o600)
    with suppress(ConfigError):
        assert run(path, [str(n) for n in range(20)])[0] == alone


def test_damage_in_the_text_of_an_error_is_an_error_of_the_file(path, damaged):
    """SQLite quotes the damaged name, which is then no text."""
    path.write_bytes(damaged[0].replace(b"TABLE verdicts (", b"TABL\xa8 verdicts ("))
    path.chmod(0o600)
    with pytest.raises(ConfigError, match=r"cannot be read: .*; name another file"):
        run(path, ["1"])


def test_damage_that_is_met_during_a_run_costs_no_verdict(path, damaged, monkeypatch):
    class Connection:
        def execute(self, *_):
            return b"\xa8".decode()

    with ScoringEngine(Environment("e", scored), cache=path) as engine:
        reader = engine._file._reader
        engine._file._reader = Connection()
        assert engine.verify(TASK, "1") == 1.0
        engine._file._reader = reader
        assert engine.metrics()["cache_errors"] == 1


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    path = tmp_path_factory.mktemp("damaged") / "verdicts.sqlite"
    alone, _ = run(path, [str(n) for n in range(20)])
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.read_bytes(), path, alone


TRIGGER = "CREATE TRIGGER t AFTER INSERT ON verdicts BEGIN SELECT 1; END"


def test_a_file_of_something_else_is_an_error_and_stays_as_it_is(path):
    for make in (
        lambda: path.write_text("a text, long enough to be no database" * 50),
        lambda: change(path, "CREATE TABLE mine (x)"),
        lambda: change(path, caching.SCHEMA, TRIGGER),
        lambda: change(path, "CREATE VIEW verdicts AS SELECT x'00' AS key, x'00' AS value"),
        path.touch,
    ):
        make()
        path.chmod(0o600)
        before = sha256(path.read_bytes()).digest()
        with pytest.raises(ConfigError, match=r"not a (database|cache of verdicts); name another"):
            run(path, ["1"])
        assert sha256(path.read_bytes()).digest() == before
        path.unlink()


def test_a_file_that_others_may_write_or_that_is_elsewhere_is_not_read(path, tmp_path):
    run(path, ["1"])
    path.chmod(0o620)
    with pytest.raises(ConfigError, match=r"others may write .*: chmod go-w"):
        run(path, ["1"])
    path.chmod(0o600)
    link = tmp_path / "link.sqlite"
    link.symlink_to(path)
    with pytest.raises(ConfigError, match="not a regular file"):
        run(link, ["1"])
    link.unlink()
    link.symlink_to(tmp_path / "nowhere")
    for wrong in (link, tmp_path):
        with pytest.raises(ConfigError, match="not a regular file"):
            run(wrong, ["1"])
    with pytest.raises(ConfigError, match="No such file"):
        run(tmp_path / "missing" / "x", ["1"])


def test_a_file_of_another_user_is_not_read(path, monkeypatch):
    run(path, ["1"])
    monkeypatch.setattr(os, "geteuid", lambda: os.stat(path).st_uid + 1)
    with pytest.raises(ConfigError, match="belongs to another user"):
        run(path, ["1"])


def test_a_file_whose_owner_changes_during_a_run_is_written_no_more(path, caplog):
    with ScoringEngine(Environment("e", scored), cache=path) as engine:
        path.chmod(0o622)
        assert engine.verify(TASK, "1") == 1.0
    assert engine.metrics()["cache_errors"] == 1
    assert "others may write" in caplog.text
    assert stored(path) == []


def test_a_locked_file_costs_no_verdict(path, monkeypatch, caplog):
    monkeypatch.setattr(caching, "WAIT", 0.1)
    run(path, ["1"])
    lock = sqlite3.connect(path, isolation_level=None)
    lock.execute("PRAGMA locking_mode = EXCLUSIVE")
    lock.execute("BEGIN EXCLUSIVE")
    try:
        verdicts, _ = run(path, ["1", "half"])
    finally:
        lock.close()
    assert [v.value for v in verdicts] == [1.0, 0.5]
    assert "locked" in caplog.text
    assert run(path, ["1", "half"])[1]["verified"] <= 1


def test_a_full_disk_costs_no_verdict(path, monkeypatch):
    """SQLite says the same of a file that may have no more pages."""
    run(path, ["1"])
    monkeypatch.setattr(caching, "PAGES", 1)
    with ScoringEngine(Environment("e", scored), cache=path) as engine:
        rows = [(TASK, "x" * 4000 + str(n)) for n in range(20)]
        assert [v.value for v in engine.evaluate_many(rows)] == [0.0] * 20
        engine.close()
        assert engine.metrics()["cache_errors"] >= 1
    monkeypatch.undo()
    assert run(path, ["1"])[1]["cached"] == 1
    assert len(stored(path)) == 1


def test_the_oldest_entries_make_room(path, monkeypatch):
    monkeypatch.setattr(caching, "ENTRIES", 3)
    for n in range(6):
        run(path, [str(n)])
    assert len(stored(path)) == 3
    assert run(path, ["3", "4", "5"])[1]["cached"] == 3


def test_a_large_verdict_is_not_stored(path, monkeypatch):
    monkeypatch.setattr(caching, "LARGEST", 1000)
    for _ in range(2):
        assert run(path, ["1", "x" * 2000])[1]["cached"] in (0, 1)
    assert run(path, ["1", "x" * 2000])[1]["cached"] == 1


def scoring(path, start, found):
    start.wait(20)
    with ScoringEngine(Environment("e", scored), cache=path) as engine:
        rows = [(TASK, str(n)) for n in range(300)]
        values = [v.value for v in engine.evaluate_many(rows)]
        found.put((sum(values), engine.metrics()["cache_errors"]))


def test_several_processes_make_and_share_a_file(path):
    spawn = multiprocessing.get_context("spawn")
    start = spawn.Event()
    found = spawn.Queue()
    processes = [spawn.Process(target=scoring, args=(path, start, found)) for _ in range(2)]
    for process in processes:
        process.start()
    start.set()
    assert [found.get(timeout=60) for _ in processes] == [(1.0, 0)] * 2
    for process in processes:
        process.join(20)
    assert run(path, [str(n) for n in range(300)])[1]["cached"] == 300


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_leaves_the_file_alone(path):
    with ScoringEngine(Environment("e", scored), cache=path) as engine:
        engine.verify(TASK, "1")
        if (child := os.fork()) == 0:
            numbers = engine.verify(TASK, "1"), engine.metrics()["cached"]
            engine.close()
            os._exit(7 if numbers == (1.0, 0) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert engine.verify(TASK, "half") == 0.5
    assert run(path, ["1", "half"])[1]["cached"] == 2
