"""Runners that do what no runner should."""

from __future__ import annotations

import pytest
from rlenv.workers import Done, Failed, Pool, Program

DEEDS = Program("deeds:Runner", b"")


@pytest.mark.parametrize("length", [8, 1 << 40])
def test_nonsense_on_the_socket_costs_no_other_item(pool, length, monkeypatch):
    monkeypatch.setattr("rlenv.workers.monitor.LOST", 0.3)
    payloads = [("echo", n) for n in range(50)] + [("garbage", length)]
    results = dict(pool.stream(DEEDS, payloads))
    assert [results[n] for n in range(50)] == [Done([n]) for n in range(50)]
    assert isinstance(results[50], Failed) or results[50] == Done(None)


def test_a_record_that_never_ends_is_noticed(monkeypatch):
    monkeypatch.setattr("rlenv.workers.monitor.LOST", 0.3)
    with Pool(1) as pool:
        results = dict(pool.stream(DEEDS, [("garbage", 1 << 20), ("echo", 1)]))
    assert results[0].kind == "pool"
    assert results[1] == Done([1])


@pytest.mark.parametrize("deed", ["fork_and_return", "fork_and_raise"])
def test_a_runner_that_forks_and_comes_back_twice_answers_once(ask, deed):
    for _ in range(3):
        assert ask(deed) == Done(True)
        assert ask("echo", 1) == Done([1])


def test_a_deadline_that_is_no_number_has_passed(ask):
    assert ask("endless_nan", seconds=60) == Failed("timeout", "killed at its deadline", 3)


def test_the_first_item_of_a_fresh_pool_may_be_the_deadly_one():
    for deed, kind in (("stubborn", "timeout"), ("block", "timeout"), ("segfault", "crash")):
        with Pool(1) as pool:
            program = Program("async_deeds:Runner", b"")
            assert pool.submit(program, (deed,)).result(60).kind == kind
            assert pool.submit(program, ("echo", 1)).result(60) == Done([1])


def test_a_program_that_is_slow_to_build_is_served():
    for blob in (b"1", b"2"):
        with Pool(1) as pool:
            slow = Program("deeds:slow_factory", blob)
            assert pool.submit(DEEDS, ("echo", 1)).result(60) == Done([1])
            assert pool.submit(slow, 3).result(60) == Done(3)
            results = dict(pool.stream(slow, range(20)))
            assert results == {n: Done(n) for n in range(20)}
            assert pool.submit(DEEDS, ("echo", 2)).result(60) == Done([2])


def test_a_forgotten_program_is_closed_and_may_come_back(tmp_path):
    program = Program("deeds:Tidy", bytes(tmp_path / "closed"))
    with Pool(1) as pool:
        assert pool.submit(program, None).result(60) == Done(None)
        pool.forget(program)
        pool.forget(program)
        assert pool.submit(DEEDS, ("echo", 1)).result(60) == Done([1])
        assert pool.submit(program, None).result(60) == Done(None)
        assert (tmp_path / "closed").exists()


def test_a_program_may_be_forgotten_in_the_middle_of_its_stream(pool):
    program = Program("deeds:trivial", b"shared by two")
    stream = pool.stream(program, ((str(n), "") for n in range(3000)), window=20)
    for turn, _ in enumerate(stream):
        if turn % 300 == 0:
            pool.forget(program)
    assert turn == 2999


def test_a_broken_program_gets_another_chance(tmp_path, monkeypatch):
    monkeypatch.setattr("rlenv.workers.monitor.FORGIVEN", 0.0)
    monkeypatch.syspath_prepend(str(tmp_path))
    program = Program("mended_meanwhile:make", b"")
    with Pool(1) as pool:
        assert "ModuleNotFoundError" in pool.submit(program, 1).result(60).message
        (tmp_path / "mended_meanwhile.py").write_text(
            "def make(blob): return lambda p, report: p\n"
        )
        assert pool.submit(program, 1).result(60) == Done(1)


@pytest.mark.parametrize("megabytes", [8, 200])
def test_standard_error_is_taken_as_fast_as_it_comes(ask, megabytes):
    assert ask("log", megabytes, seconds=60) == Done(megabytes)


@pytest.mark.slow  # writes all the time to its deadline, 15 s
def test_who_never_stops_writing_to_standard_error_holds_up_nobody_else():
    with Pool(2) as pool:
        endless = pool.submit(Program("deeds:Runner", b"15"), ("shout", "stderr"))
        assert len(list(pool.stream(DEEDS, [("echo", n) for n in range(3000)]))) == 3000
        assert not endless.done()
        assert endless.result(60).kind == "timeout"


def test_who_closes_all_descriptors_costs_one_worker_and_no_other_item():
    with Pool(1) as pool:
        pids = set()
        results = dict(
            pool.stream(
                DEEDS, [("pid",), ("close_all",), *[("echo", n) for n in range(20)], ("pid",)]
            )
        )
        failed = results.pop(1)
        assert (failed.kind, failed.message) == ("crash", "the worker exited with status 1")
        assert all(isinstance(result, Done) for result in results.values())
        pids = {results[0].value, results[22].value, pool.submit(DEEDS, ("pid",)).result(60).value}
        assert len(pids) <= 2


def test_a_crash_says_how_long_the_work_took(ask):
    assert 0.2 <= ask("doze_and_die", 0.2).seconds < 60
