"""Pools begin, end, are shared and are forked without leaving anything behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from rlenv.workers import Done, Failed, Pool, PoolClosed, Program, shared_pool

DEEDS = Program("deeds:Runner", b"")
SCRIPT = str(Path(__file__).parent / "helpers" / "callers.py")


def gone(pid):
    """Whether the process has ended; a zombie has, and one that is reaped while its file is
    read.
    """
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def wait_for(condition, what):
    limit = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < limit, f"waited in vain for {what}"
        time.sleep(0.01)


def pids_in(path):
    wait_for(lambda: path.exists() and len(path.read_text().split()) == 2, "the pids")
    return [int(word) for word in path.read_text().split()]


@pytest.fixture
def caller(tmp_path):
    """A process that uses workers in one of several ways; killed at the end."""
    started: list[subprocess.Popen[bytes]] = []

    def caller(name, *args):
        started.append(
            subprocess.Popen([sys.executable, SCRIPT, name, *args], stdout=subprocess.PIPE)
        )
        return started[-1]

    yield caller
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_pool_leaves_no_descriptor_no_child_and_no_thread(caller):
    out, _ = caller("held_by_a_pool").communicate(timeout=120)  # where no other test leaves any
    before, with_it, after = out.decode().splitlines()

    assert with_it != before
    assert after == before


def test_a_closed_pool_refuses_work_and_fails_what_is_pending():
    pool = Pool(1)
    futures = [pool.submit(Program("deeds:Runner", b"60"), ("spin",)) for _ in range(3)]
    closer = threading.Thread(target=pool.close)
    closer.start()
    assert [future.result(60) for future in futures] == [Failed("pool", "the pool was closed")] * 3
    closer.join()
    with pytest.raises(PoolClosed, match="closed"):
        pool.submit(DEEDS, ("echo",))
    with pytest.raises(RuntimeError, match="closed"):
        list(pool.stream(DEEDS, [("echo",)]))


def test_a_pool_may_be_closed_from_the_callback_of_a_future():
    pool = Pool(1)
    future = pool.submit(DEEDS, ("echo",))
    future.add_done_callback(lambda _: pool.close())
    assert future.result(60) == Done([])
    pool.close()


def test_runners_are_closed_in_peace(tmp_path):
    with Pool(1) as pool:
        pool.submit(Program("deeds:Tidy", os.fsencode(tmp_path / "closed")), None).result(60)
    assert (tmp_path / "closed").exists()


def test_a_cancelled_future_is_dropped():
    with Pool(1) as pool:
        pool.submit(Program("deeds:Runner", b"60"), ("sleep", 0.3))
        future = pool.submit(DEEDS, ("echo",))
        assert future.cancel()
        assert pool.submit(DEEDS, ("echo", 2)).result(60) == Done([2])
        assert future.cancelled()


def test_an_event_loop_can_wait_for_a_result_and_is_not_blocked(pool):
    async def main():
        waiting = asyncio.wrap_future(pool.submit(Program("deeds:Runner", b"60"), ("sleep", 1.0)))
        ticks = 0
        while not waiting.done():
            await asyncio.sleep(0.01)
            ticks += 1
        return ticks, await waiting

    ticks, result = asyncio.run(main())
    assert ticks > 2
    assert result == Done(1.0)


def test_a_killed_worker_takes_its_grandchildren_along(pool, tmp_path):
    for name, options in (("same group", {}), ("stray", {"stray": True})):
        path = tmp_path / name
        assert (
            pool.submit(Program("deeds:grandparent", b"4"), (str(path), options)).result(60).kind
            == "timeout"
        )
        wait_for(lambda path=path: all(gone(pid) for pid in pids_in(path)), "the end of the family")


def test_a_dead_worker_leaves_no_grandchildren(pool, tmp_path):
    path = tmp_path / "pids"
    failed = pool.submit(Program("deeds:grandparent", b"60"), (str(path), {"leave": True})).result(
        60
    )
    assert failed.kind == "crash"
    wait_for(lambda: all(gone(pid) for pid in pids_in(path)), "the end of the family")


@pytest.mark.parametrize("name", ["grandchild", "regex", "nested_spin"])
def test_workers_die_with_a_killed_caller(caller, tmp_path, name):
    path = tmp_path / "pids"
    process = caller("spin", name, str(path))
    pids = pids_in(path)
    assert not any(gone(pid) for pid in pids)
    os.kill(process.pid, signal.SIGKILL)
    wait_for(lambda: all(gone(pid) for pid in pids), "the end of the workers")


def test_workers_die_with_a_caller_killed_while_its_child_lives_on(caller, tmp_path):
    path = tmp_path / "pids"
    child = tmp_path / "child"
    process = caller("fork_and_spin", str(path), str(child))
    pids = pids_in(path)
    wait_for(lambda: child.exists() and child.read_text(), "the child")
    os.kill(process.pid, signal.SIGKILL)
    try:
        wait_for(lambda: all(gone(pid) for pid in pids), "the end of the workers")
    finally:
        os.kill(int(child.read_text()), signal.SIGKILL)


@pytest.mark.parametrize("name", ["exit_without_close", "exit_while_busy", "exit_by_exception"])
def test_a_caller_that_forgets_to_close_ends_in_peace(caller, name):
    process = caller(name)
    out, _ = process.communicate(timeout=60)
    wait_for(lambda: all(gone(int(pid)) for pid in out.split()), "the end of the workers")
    assert process.returncode == (1 if name == "exit_by_exception" else 0)


def test_a_forked_child_starts_anew_and_the_parent_goes_on(caller):
    out, _ = caller("fork").communicate(timeout=60)
    mine, childs, mine_again, status = out.split()
    assert mine == mine_again != childs
    assert status == b"0"


def test_a_stream_ends_in_a_forked_child_and_goes_on_in_the_parent(caller):
    out, _ = caller("forked_stream").communicate(timeout=60)
    assert out.splitlines() == [b"a stream does not survive a fork: start it in the child", b"19"]


@pytest.mark.parametrize("how", ["ignored", "taken"])
def test_a_caller_whose_children_are_reaped_by_others_is_served(caller, how):
    out, _ = caller("children_reaped", how).communicate(timeout=60)
    assert out.split() == [b"crash", b"timeout", b"done"]


@pytest.mark.parametrize(
    "size",
    [pytest.param("1", marks=pytest.mark.slow), "4"],  # seconds of waiting for descriptors
)
def test_a_caller_with_few_descriptors_is_served_by_as_many_workers_as_they_allow(caller, size):
    out, _ = caller("few_descriptors", size).communicate(timeout=60)
    assert out.split() == [b"done", b"crash"]


def test_submits_that_race_with_close_are_refused_or_answered():
    def submit_until_refused():
        with contextlib.suppress(RuntimeError):
            while True:
                futures.append(pool.submit(DEEDS, ("echo",)))
                time.sleep(0.001)

    pool = Pool(1)
    futures = []
    threads = [threading.Thread(target=submit_until_refused) for _ in range(3)]
    for thread in threads:
        thread.start()
    wait_for(lambda: any(future.done() for future in futures), "a first result")
    pool.close()
    for thread in threads:
        thread.join()
    assert {type(future.result(60)) for future in futures} <= {Done, Failed}


def test_importing_workers_is_light(caller):
    out, _ = caller("light").communicate(timeout=60)
    assert set(out.split()) <= {
        b"rlenv",
        b"rlenv.workers",
        b"rlenv.workers.call",
        b"contextvars",
        b"_contextvars",
    }


def test_shared_pools_are_one_and_end_with_the_last_release():
    first = shared_pool(1, 512)
    second = shared_pool(1, 512)
    other = shared_pool(1, 513)
    assert first is second
    assert first is not other
    other.release()
    first.release()
    assert not second.closed
    assert second.submit(DEEDS, ("echo",)).result(60) == Done([])
    second.release()
    assert second.closed
    third = shared_pool(1, 512)
    assert third is not first
    third.release()


def test_nonsense_sizes_are_refused():
    with pytest.raises(ValueError, match="at least 1"):
        Pool(-1)
    with pytest.raises(ValueError, match="at least 0"):
        Pool(1, -5)


def test_an_idle_worker_that_dies_is_replaced(pool):
    pid = pool.submit(DEEDS, ("pid",)).result(60).value
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: gone(pid), "its end")
    assert pool.submit(DEEDS, ("echo", 1)).result(60) == Done([1])


def test_a_worker_has_pools_of_its_own(pool):
    inner = pool.submit(DEEDS, ("nested",)).result(60).value
    wait_for(lambda: gone(inner), "the end of the inner worker")
