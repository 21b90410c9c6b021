"""What one item gives: its value, or why there is none."""

from __future__ import annotations

import os
import sys
import time

import pytest
from rlenv.workers import Done, Failed, Pool, Program


def test_a_runner_that_returns_is_done(ask):
    assert ask("echo", 1, "two") == Done([1, "two"])


def deepest_sent(ask) -> int:
    """Lists in each other that a worker can send: each version of Python has its own limit."""
    low = 1
    high = 100_000
    while high - low > 1:
        depth = (low + high) // 2
        if isinstance(ask("endless_result", depth, seconds=30), Done):
            low = depth
        else:
            high = depth
    return low


def test_a_value_that_a_worker_can_send_is_one_that_its_caller_can_read(ask):
    near = deepest_sent(ask)
    depths = range(near - 34, near + 6)
    found = [ask("endless_result", depth, seconds=30) for depth in depths]
    assert {getattr(one, "kind", "done") for one in found} == {"done", "error"}


@pytest.mark.parametrize("deed", ["spin", "sleep", "regex"])
def test_a_runner_that_never_returns_is_killed_at_its_deadline(ask, deed):
    assert ask(deed) == Failed("timeout", "killed at its deadline", 7)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_runner_that_prints_without_end_is_killed_too(ask, stream):
    assert ask("shout", stream).kind == "timeout"


def test_a_runner_that_eats_memory_meets_its_limit(ask):
    failed = ask("eat", seconds=30)
    assert (failed.kind, failed.mark) == ("memory", 7)


@pytest.mark.parametrize(
    ("deed", "how"),
    [
        ("leave", "exited with status 3"),
        ("segfault", "was killed by SIGSEGV"),
        ("suicide", "was killed by SIGKILL"),
        ("hang_up", "closed its pipe"),
    ],
)
def test_a_runner_that_kills_its_worker_crashed(ask, deed, how):
    failed = ask(deed, seconds=30)
    assert (failed.kind, failed.mark) == ("crash", 7)
    assert how in failed.message


def test_a_segfault_names_its_place(ask):
    assert "in string_at" in ask("segfault").message


@pytest.mark.parametrize(
    ("deed", "said"),
    [
        ("wrong", "ValueError: a wrong thing (deeds.py:"),
        ("quit_", "SystemExit: 4 (deeds.py:"),
        ("interrupt", "KeyboardInterrupt"),
        ("unpicklable", "function is not JSON"),
        ("unprintable", "Unprintable"),
        ("unloadable", "Unloadable is not JSON"),
        ("endless_result", "RecursionError"),
    ],
)
def test_a_runner_that_raises_or_returns_nonsense_is_an_error(ask, deed, said):
    failed = ask(deed)
    assert failed.kind == "error"
    assert said in failed.message


def test_a_result_that_takes_forever_to_encode_is_killed(ask):
    assert ask("slow_result").kind == "timeout"


def test_the_runner_reads_nothing_from_stdin(ask):
    assert ask("stdin") == Done("")


def test_the_mark_and_the_partial_result_tell_how_far_it_came(ask):
    assert ask("stages", [1, "x"], "spin") == Failed(
        "timeout", "killed at its deadline", 2, [1, "x"]
    )
    assert ask("stages", [2], "wrong").partial == [2]
    assert ask("stages", [3], "leave").partial == [3]
    assert ask("stages", [4], "eat", seconds=30).partial in ([4], None)
    assert ask("stages", "x" * 200_000, "spin").partial == "x" * 200_000


def test_a_partial_result_is_not_another_items(ask, pool):
    ask("stages", [1], "echo")
    assert ask("spin").partial is None


def test_work_outside_begin_and_end_has_the_grace_of_the_pool():
    with Pool(1, grace_period=2.0) as pool:
        assert pool.submit(Program("deeds:idle", b""), None).result(60).kind == "timeout"


def test_what_was_printed_and_imported_stays_in_the_worker(ask):
    assert ask("main_module") == Done("rlenv.workers.__main__")
    assert ask("path") == Done(sys.path)
    assert ask("pid").value != os.getpid()


def test_the_environment_of_a_worker_is_the_callers(ask, monkeypatch):
    assert ask("environ", "PYTHONPATH") == Done(os.environ.get("PYTHONPATH"))


def test_the_secret_reaches_the_worker_and_no_environment():
    with Pool(1, secret=b"s3cret") as pool:
        deeds = Program("deeds:Runner", b"")
        assert pool.submit(deeds, ("secret",)).result(60) == Done(b"s3cret".hex())
        assert "s3cret" not in pool.submit(deeds, ("cmdline",)).result(60).value


def test_a_payload_that_does_not_pickle_raises_at_once(pool):
    with pytest.raises(AttributeError, match="lambda"):
        pool.submit(Program("deeds:Runner", b""), lambda: None)


def test_a_payload_that_does_not_unpickle_is_an_error(pool):
    from deeds import Unloadable

    failed = pool.submit(Program("deeds:Runner", b""), Unloadable()).result(60)
    assert failed.kind == "error"
    assert "ZeroDivisionError" in failed.message


@pytest.mark.parametrize(
    ("factory", "kind", "said"),
    [
        ("deeds:nothing", "error", "cannot build deeds:nothing: AttributeError"),
        ("no_such_module:f", "error", "ModuleNotFoundError"),
        ("deeds:broken_factory", "error", "ZeroDivisionError"),
        ("deeds:deadly_factory", "crash", "cannot build deeds:deadly_factory: the worker exited"),
    ],
)
def test_a_program_that_cannot_be_built_fails_each_item_and_no_other(
    pool, ask, factory, kind, said
):
    futures = [pool.submit(Program(factory, b""), None) for _ in range(3)]
    for failed in [future.result(60) for future in futures]:
        assert (failed.kind, failed.mark) == (kind, -1)
        assert said in failed.message
    assert ask("echo") == Done([])


@pytest.mark.slow  # a factory that ends after 8 s
def test_an_item_is_not_blamed_for_a_program_that_could_not_be_built_before_it():
    with Pool(2, spares=1) as pool:
        broken = pool.submit(Program("deeds:broken_factory", b"12345678"), None)
        monitor = pool._dispatcher._monitor
        while len(monitor.workers) < 2 or not all(one.building for one in monitor.workers):
            time.sleep(0.001)  # the spare one is taught the program too
        good = pool.submit(Program("deeds:Runner", b""), ("echo",))
        assert good.result(60) == Done([])
        assert broken.result(60).kind == "error"


def test_a_factory_that_hangs_is_killed_after_the_grace():
    with Pool(1, grace_period=2.0) as pool:
        futures = [pool.submit(Program("deeds:endless_factory", b""), None) for _ in range(3)]
        assert [future.result(60).kind for future in futures] == ["timeout"] * 3
        assert pool.submit(Program("deeds:Runner", b""), ("echo",)).result(60) == Done([])


def test_large_payloads_and_results_arrive_whole(ask):
    text = "\ud800\x00" + "x" * 3_000_000
    assert ask("echo", text, seconds=30) == Done([text])


def test_workers_that_cannot_start_are_a_fault_of_the_pool(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with Pool(1) as pool:
        failed = pool.submit(Program("deeds:Runner", b""), ("echo",)).result(60)
        assert failed.kind == "pool"
        assert "exited with status 1" in failed.message
        monkeypatch.undo()
        assert pool.submit(Program("deeds:Runner", b""), ("echo",)).result(60) == Done([])
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with Pool(1) as pool:
        assert pool.submit(Program("deeds:Runner", b""), ("echo",)).result(60).kind == "pool"
