"""A worker that wears out is replaced, and what it fails meanwhile is asked again in a fresh
one.
"""

from __future__ import annotations

import resource
import sys
import time

import pytest
from rlenv import Environment, Slot, Task
from rlenv.workers import pool
from worn import Leaks, LeaksOnLoop

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="wear is read from /proc")
TASK = Task("a task")


@pytest.fixture
def few_descriptors():
    """256 for this process and the workers that it starts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def verdicts(stage, responses, **settings):
    with Environment("leaks", [Slot("s", stage, timeout=60)], **settings) as env:
        return list(env.evaluate_many([(TASK, response) for response in responses], workers=2))


def pids(found):
    return {verdict.results[0].outcome.private["pid"] for verdict in found}


SLOW = pytest.mark.slow  # hundreds of responses, each of which leaves something


@pytest.mark.parametrize(
    ("stage", "count"), [(Leaks, 2000), pytest.param(LeaksOnLoop, 500, marks=SLOW)]
)
@pytest.mark.usefixtures("few_descriptors")
def test_a_descriptor_lost_with_every_response_costs_no_verdict(stage, count):
    found = verdicts(stage("descriptor"), ["right", "wrong"] * (count // 2))
    assert [verdict.value for verdict in found] == [1.0, 0.0] * (count // 2)
    assert len(pids(found)) > 2


GROWS = [("memory", 120), *(pytest.param(what, 400, marks=SLOW) for what in ("thread", "child"))]


@pytest.mark.parametrize(("what", "count"), GROWS)
def test_what_grows_with_every_response_costs_no_verdict(what, count):
    found = verdicts(Leaks(what), ["right", "wrong"] * (count // 2), memory_mb=512)
    assert [verdict.value for verdict in found] == [1.0, 0.0] * (count // 2)
    assert len(pids(found)) > 2


@pytest.mark.usefixtures("few_descriptors")
@pytest.mark.parametrize(
    "what", ["hook", "late hook", "builtin", "pickle", "descriptor", "many descriptors"]
)
def test_what_a_response_leaves_behind_is_not_the_fault_of_the_next(what):
    with Environment("leaks", [Slot("s", Leaks(), timeout=60)]) as env:
        for _ in range(2):
            assert [env.evaluate(TASK, one).value for one in ("right", "wrong")] == [1.0, 0.0]
            env.evaluate(TASK, what)
            assert [env.evaluate(TASK, one).value for one in ("right", "wrong")] == [1.0, 0.0]
    for before in ([], ["right"] * 20):
        found = verdicts(Leaks(), [*before, what] + ["right", "wrong"] * 20)
        assert [verdict.value for verdict in found][len(before) + 1 :] == [1.0, 0.0] * 20


@pytest.mark.parametrize("what", ["streams", "no streams", "no variables"])
def test_a_response_that_spoils_its_interpreter_costs_those_after_it_nothing(what):
    found = verdicts(Leaks(), ["right", what, "print", "wrong", "print"] * 4)
    assert [verdict.value for verdict in found] == [1.0, 1.0, 1.0, 0.0, 1.0] * 4


def test_what_one_environment_spoils_is_not_the_fault_of_the_next():
    with (
        Environment("one", [Slot("s", Leaks(), timeout=60)], memory_mb=777) as one,
        Environment("other", [Slot("s", Leaks("print"), timeout=60)], memory_mb=777) as other,
    ):
        for _ in range(4):  # any of their common workers
            assert one.verify(TASK, "streams") == 1.0
            assert other.verify(TASK, "right") == 1.0


@pytest.mark.parametrize("stage", [Leaks, LeaksOnLoop])
@pytest.mark.parametrize(("what", "kind"), [("builtin", "contract"), ("nonsense", "crash")])
def test_what_spoils_its_worker_is_a_fault_after_a_second_one_and_costs_no_neighbor(
    stage, what, kind, monkeypatch
):
    started = []
    make = pool.Worker

    def counted(*args):
        started.append(1)
        return make(*args)

    monkeypatch.setattr(pool, "Worker", counted)
    with Environment("spoils", [Slot("s", stage(), timeout=60)], memory_mb=778) as env:
        rows = [(TASK, text) for text in ["right", "wrong"] * 8]
        list(env.evaluate_many(rows, workers=2))  # both are there
        started.clear()
        rows[5:5] = [(TASK, what)]
        found = list(env.evaluate_many(rows, workers=2))
    assert found.pop(5).fault.kind == kind
    assert [verdict.value for verdict in found] == [1.0, 0.0] * 8
    assert len(started) <= 3  # one in place of the first, one for it alone, one in place of that


def test_builtins_that_an_item_adds_or_replaces_for_a_while_are_no_fault():
    responses = ["add", "right", "replace for a while", "wrong"]
    found = verdicts(Leaks(), responses)
    assert [verdict.value for verdict in found] == [1.0, 1.0, 1.0, 0.0]


@pytest.mark.usefixtures("few_descriptors")
def test_a_response_that_takes_all_descriptors_by_itself_is_a_fault_after_a_second_try():
    (first, broken, last) = verdicts(Leaks(), ["right", "many descriptors", "wrong"])
    assert (first.value, broken.value, last.value) == (1.0, None, 0.0)
    assert broken.fault.kind == "error"
    assert "Errno 24" in broken.fault.message


def test_a_worker_that_does_not_grow_stays():
    assert len(pids(verdicts(Leaks(), ["right"] * 3000))) == 2


def test_a_worker_retires_after_its_items(monkeypatch):
    monkeypatch.setattr("rlenv.workers.monitor.ITEMS", 100)
    monkeypatch.setattr("rlenv.workers.monitor.AGE", 0.0)
    seen = set()
    limit = time.monotonic() + 60
    with Environment("leaks", [Slot("s", Leaks(), timeout=60)]) as env:
        while len(seen) < 3:
            assert time.monotonic() < limit
            found = list(env.evaluate_many([(TASK, "slow")] * 100, workers=2))
            assert [verdict.value for verdict in found] == [1.0] * 100
            seen |= pids(found)
