"""A response in a worker that gets little of a processor ends in a score, where its stage has a
budget.
"""

from __future__ import annotations

import multiprocessing
import os
import time

import pytest
from budget_stages import costs, starves
from rlenv import Environment, Slot, Task
from rlenv.workers import guard, process

TASK = Task("p", id="t")


def starved(_pid):
    """As of a worker that never gets a processor."""
    return {"1": time.monotonic()}


@pytest.fixture
def busy(monkeypatch):
    monkeypatch.setattr(process, "seconds_in_queues", starved)


def value(verifier):
    with Environment("e", [Slot("s", verifier, timeout=1.0)], [TASK], memory_mb=998) as env:
        return env.evaluate(TASK, "sleep 2")


def test_a_response_that_waits_for_a_processor_is_scored(busy):
    assert value(costs).value == 1.0


def test_without_a_budget_a_stage_keeps_its_deadline(busy):
    assert value(starves).fault.kind == "timeout"


def test_a_response_that_only_waits_keeps_its_deadline(monkeypatch):
    monkeypatch.setattr(process, "seconds_in_queues", lambda _pid: {"1": 1.0})
    fault = value(costs).fault
    assert (fault.kind, fault.transient) == ("timeout", True)


def spin():
    # or all of them are one group to the scheduler (sched(7), autogroups), and the worker another
    os.setsid()
    while os.getppid() != 1:
        pass


@pytest.mark.slow  # thirty processes share one core with the worker for some ten seconds
def test_a_worker_with_a_thirtieth_of_a_core_ends_its_responses_in_scores():
    core = {min(os.sched_getaffinity(0))}
    spinners = [multiprocessing.Process(target=spin) for _ in range(30)]
    try:
        with Environment("e", [Slot("s", costs, timeout=2.0)], [TASK], memory_mb=997) as env:
            assert env.verify(TASK, "sleep 0") == 1.0
            workers = guard.descendants(os.getpid())
            for spinner in spinners:
                spinner.start()
            for pid in (*workers, *(spinner.pid for spinner in spinners)):
                os.sched_setaffinity(pid, core)
            began = time.monotonic()
            assert env.evaluate(TASK, "spin 0.2").value == 1.0
            assert time.monotonic() - began > 2.0
            assert env.evaluate(TASK, "spin 9").value == 0.0
    finally:
        for spinner in spinners:
            if spinner.pid is not None:
                spinner.kill()
                spinner.join()
