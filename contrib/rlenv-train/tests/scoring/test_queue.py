"""`ScoringEngine.submit`: order, cancellation and a full queue."""

from __future__ import annotations

from concurrent.futures import CancelledError, wait
from contextlib import suppress
from queue import Full
from threading import Event, Thread

import pytest
from rlenv import ConfigError, Environment, Outcome, Task
from rlenv_train import ScoringEngine

TASK = Task("1?", answer="1")


class Gated:
    """Passes what is right, one after the other, once the gate is open; notes the order."""

    where = "inline"

    def __init__(self):
        self.gate = Event()
        self.began = Event()
        self.order = []

    def check(self, attempt):
        self.began.set()
        assert self.gate.wait(20)
        self.order.append(attempt.response)
        return Outcome(float(attempt.response == attempt.task.answer))


@pytest.fixture
def stage():
    stage = Gated()
    yield stage
    stage.gate.set()


def held(stage, **options):
    """An engine whose only thread is at work on "first"."""
    engine = ScoringEngine(Environment("gated", stage), at_once=1, **options)
    first = engine.submit(TASK, "first")
    assert stage.began.wait(20)
    return engine, first


def test_submitted_responses_get_their_verdicts(stage):
    stage.gate.set()
    with ScoringEngine(Environment("gated", stage)) as engine:
        futures = [engine.submit(TASK, str(n % 2)) for n in range(200)]
        assert [f.result().value for f in futures] == [0.0, 1.0] * 100
        assert engine.submit(TASK, "1").result() == engine.env.evaluate(TASK, "1")
        assert engine.metrics()["responses"] == 201


def test_what_makes_no_sense_is_unscored_and_raises_nothing(stage):
    stage.gate.set()
    with ScoringEngine(Environment("gated", stage, [TASK])) as engine:
        for task, response in (("2?", "1"), (7, "1"), (TASK, 5), (None, None)):
            verdict = engine.submit(task, response).result()
            assert verdict.value is None
            assert verdict.fault.kind == "input"


def test_the_highest_priority_starts_first_and_equal_ones_in_order(stage):
    engine, _ = held(stage)
    with engine:
        rest = [
            engine.submit(TASK, name, priority=number)
            for name, number in (("a", 0), ("b", 2), ("c", -1), ("d", 2))
        ]
        assert engine.metrics()["queued"] == 4
        stage.gate.set()
        wait(rest, 20)
    assert stage.order == ["first", "b", "d", "a", "c"]


def test_what_is_cancelled_before_it_starts_never_runs_and_leaves_room(stage):
    engine, first = held(stage, queue=2)
    with engine:
        one = engine.submit(TASK, "one")
        two = engine.submit(TASK, "two")
        assert not first.cancel()
        assert one.cancel()
        assert one.cancel()  # again: room comes back once
        three = engine.submit(TASK, "three", timeout=0)
        with pytest.raises(Full, match="the queue is full"):
            engine.submit(TASK, "four", timeout=0)
        assert engine.metrics()["queued"] == 2
        stage.gate.set()
        wait([two, three], 20)
        with pytest.raises(CancelledError):
            one.result()
    assert stage.order == ["first", "two", "three"]


def test_cancelled_responses_do_not_pile_up(stage):
    engine, _ = held(stage, queue=3)
    with engine:
        kept = [engine.submit(TASK, name, priority=number) for name, number in (("a", 0), ("b", 1))]
        gone = []
        for _ in range(100):
            gone.append(engine.submit(TASK, "x" * 1000, timeout=0))
            assert gone[-1].cancel()
        assert engine._queue._waiting.qsize() <= 7
        assert engine.metrics()["queued"] == 2
        kept.append(engine.submit(TASK, "c", priority=2, timeout=0))
        stage.gate.set()
        assert wait(kept + gone, 20).not_done == set()
    assert stage.order == ["first", "c", "b", "a"]


def test_a_full_queue_makes_the_caller_wait(stage):
    engine, _ = held(stage, queue=1)
    with engine:
        engine.submit(TASK, "one")
        with pytest.raises(Full):
            engine.submit(TASK, "two", timeout=0.01)
        late = []
        thread = Thread(target=lambda: late.append(engine.submit(TASK, "two").result(20)))
        thread.start()
        assert not late
        stage.gate.set()
        thread.join(20)
        assert late[0].value == 0.0


def test_a_priority_that_is_no_number_takes_no_room(stage):
    engine, _ = held(stage, queue=1)
    with engine:
        for wrong in ("high", None, 1j, [1]):
            with pytest.raises(TypeError):
                engine.submit(TASK, "one", priority=wrong)
        one = engine.submit(TASK, "one", timeout=0)
        stage.gate.set()
        assert one.result(20).value == 0.0


def test_close_cancels_what_waits_and_finishes_what_runs(stage):
    engine, first = held(stage)
    waiting = [engine.submit(TASK, str(n)) for n in range(5)]
    stage.gate.set()
    engine.close()
    assert first.result(0).value == 0.0
    assert wait(waiting, 0).not_done == set()
    assert stage.order[0] == "first"
    with pytest.raises(RuntimeError):
        engine.submit(TASK, "1")
    engine.close()


def test_what_is_submitted_while_the_engine_closes_is_cancelled_or_rejected(stage):
    stage.gate.set()
    engine, _ = held(stage)
    shutdown = engine._queue._threads.shutdown
    late = []

    def submit_first(**options):
        with suppress(RuntimeError):
            late.append(engine.submit(TASK, "late"))
        shutdown(**options)

    engine._queue._threads.shutdown = submit_first
    engine.close()
    assert [future.done() for future in late] == [True]


def test_numbers_of_the_queue_are_checked():
    for wrong in ({"queue": 0}, {"at_once": -1}, {"queue": 1.5}, {"queue": True}):
        with pytest.raises(ConfigError, match="an integer, 1 or more"):
            ScoringEngine(Environment("x", lambda response: 1.0), **wrong)
