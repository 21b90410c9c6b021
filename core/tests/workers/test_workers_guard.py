"""What a worker started ends with it, whoever its parent is by then, and whatever became of the
guard.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
import strays
from rlenv.workers import Done, Failed, Pool, Program

PROGRAM = Program("strays:runner", b"60")


@pytest.fixture
def mark():
    """A value of STRAY that no other test has; what carries it at the end is killed."""
    mark = uuid.uuid4().hex
    yield mark
    for pid in strays.marked(mark):
        os.kill(pid, signal.SIGKILL)


def wait_for(condition, what):
    limit = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < limit, f"waited in vain for {what}"
        time.sleep(0.01)


@pytest.mark.parametrize("stray", ["daemon", "child", "bomb", "spray", "fleeing"])
def test_what_a_worker_started_ends_when_the_pool_is_closed(stray, mark):
    with Pool(1) as pool:
        assert pool.submit(PROGRAM, (stray, "stay", mark)).result(60) == Done(True)
        wait_for(lambda: strays.marked(mark), "the stray")
    assert strays.marked(mark) == []


HANGS = pytest.param("hang", "timeout", marks=pytest.mark.slow)  # each to a deadline of 3 s


@pytest.mark.parametrize("stray", ["daemon", "child", "bomb", "spray", "fleeing"])
@pytest.mark.parametrize(("end", "kind"), [("leave", "crash"), HANGS])
def test_what_a_worker_started_ends_with_it(stray, end, kind, mark):
    with Pool(1) as pool:
        program = Program("strays:runner", b"60" if end == "leave" else b"3")
        assert pool.submit(program, (stray, end, mark)).result(60).kind == kind
        assert strays.marked(mark) == []


@pytest.mark.parametrize("stray", ["daemon", "child", "spray"])
def test_a_worker_that_stops_its_guard_is_ended_with_all_it_started(stray, mark):
    with Pool(1) as pool:
        failed = pool.submit(PROGRAM, (stray, "stop_guard", mark)).result(60)
        assert isinstance(failed, Failed)
        assert (failed.kind, failed.message) == ("crash", "the worker ended its guard")
        assert strays.marked(mark) == []


def test_a_worker_that_kills_its_guard_is_ended_with_its_children(mark):
    with Pool(1) as pool:
        failed = pool.submit(PROGRAM, ("child", "kill_guard", mark)).result(60)
        assert isinstance(failed, Failed)
        assert (failed.kind, failed.message) == ("crash", "the worker ended its guard")
        wait_for(lambda: not strays.marked(mark), "the end of the child")


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="pidfd_open(2) is of Linux")
def test_a_worker_that_leaves_its_session_and_kills_its_guard_is_ended_too(tmp_path):
    file = tmp_path / "pid"
    with Pool(1) as pool:
        failed = pool.submit(PROGRAM, ("nothing", "escape", str(file))).result(60)
        assert isinstance(failed, Failed)
        assert (failed.kind, failed.message) == ("crash", "the worker ended its guard")
        wait_for(lambda: not _runs(file), "the end of the worker")


def _runs(file):
    try:
        return Path(f"/proc/{file.read_text()}/stat").read_text().rpartition(")")[2][1] != "Z"
    except OSError:
        return False


def test_a_worker_is_told_apart_from_its_guard_by_signals_to_its_group(mark):
    with Pool(1) as pool:
        failed = pool.submit(PROGRAM, ("daemon", "kill_group", mark)).result(60)
        assert failed.message == "the worker was killed by SIGKILL"
        assert strays.marked(mark) == []


@pytest.mark.parametrize("end", ["hang", "stay"])
def test_what_a_worker_started_ends_with_a_killed_caller(end, mark):
    script = str(Path(strays.__file__))
    process = subprocess.Popen([sys.executable, script, end, mark], stdin=subprocess.PIPE)
    try:
        wait_for(lambda: strays.marked(mark), "the stray")
        assert process.poll() is None
    finally:
        process.kill()
        process.communicate()
    wait_for(lambda: not strays.marked(mark), "its end")


def test_the_caller_adopts_no_orphan(mark):
    with Pool(1) as pool:
        pool.submit(PROGRAM, ("daemon", "stay", mark)).result(60)
        wait_for(lambda: strays.marked(mark), "the stray")
        found = ctypes.c_int(-1)
        assert ctypes.CDLL(None).prctl(37, ctypes.byref(found), 0, 0, 0) == 0  # is it a subreaper?
        assert found.value == 0
