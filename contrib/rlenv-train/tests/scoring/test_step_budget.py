"""The time of a step: what a warning says, and that the number of workers follows from Amdahl's
law.
"""

from __future__ import annotations

import logging
import time

import pytest
import rlenv
from hypothesis import given
from hypothesis import strategies as st
from rlenv import Environment, Outcome, Task
from rlenv_train import ScoringEngine
from rlenv_train.scoring import engine as scoring
from rlenv_train.scoring.budget import advice, workers_needed

TASK = Task("1?", answer="1")


@given(st.floats(0, 100), st.floats(0.01, 1000), st.integers(1, 64), st.floats(0.1, 100))
def test_so_many_workers_keep_to_the_budget_and_one_less_does_not(fixed, spent, workers, budget):
    needed = workers_needed(fixed + spent / workers, spent, workers, budget)

    if needed is None:
        assert fixed >= budget * (1 - 1e-9)
    else:
        assert fixed + spent / needed <= budget * (1 + 1e-6)
        assert needed == 1 or fixed + spent / (needed - 1) > budget * (1 - 1e-6)


def test_more_workers_cure_only_what_runs_in_workers():
    assert workers_needed(10, 16, 2, 3) == 16  # 2 s are not theirs, and 16 s go into the third one
    assert workers_needed(10, 0, 2, 3) is None
    assert workers_needed(10, 4, 0, 3) is None
    assert workers_needed(10, 10, 2, 3) is None  # 5 s are not theirs


def test_the_advice_names_the_stage_and_the_remedy():
    stages = {"format": 0.5, "tests/run": 16.0}
    text = advice(10, stages, ["tests/run"], 2, 3)
    assert (
        "a batch took 10 s, the budget is 3 s; stage tests/run took most, 16 s; 16 workers" in text
    )
    assert "workers=16; now 2" in text
    assert "more workers do not help: submit" in advice(10, stages, [], 0, 3)
    assert advice(10, {}, [], 0, 3)


@pytest.fixture
def clock(monkeypatch):
    """What the engine reads as the time, in seconds."""
    now = [0.0]
    monkeypatch.setattr(scoring, "perf_counter", lambda: now[0])
    return now


@pytest.fixture
def held(clock):
    """A stage that takes as long as the response says."""

    class Held:
        where = "inline"

        def check(self, attempt):
            clock[0] += float(attempt.response)
            return Outcome(1.0)

    return Held()


def test_a_batch_that_takes_too_long_is_counted_and_one_warning_says_why(held, caplog):
    seen = []
    with ScoringEngine(Environment("e", held), step_seconds=2, observers=[seen.append]) as engine:
        for seconds in ("1.5", "2.5", "2.25"):
            assert [v.value for v in engine.evaluate_many([(TASK, seconds)])] == [1.0]
        engine.evaluate_group(TASK, ["1.5", "1"])
        engine.evaluate(TASK, "3")  # no batch
    assert [numbers["verifier_bound"] for numbers in seen] == [0, 1, 1, 1]
    warnings = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    assert len(warnings) == 1
    assert "e: verifier-bound: a batch took 2.5 s, the budget is 2 s; stage held" in warnings[0]


def test_the_time_of_whoever_takes_the_verdicts_does_not_count(held, clock):
    with ScoringEngine(Environment("e", held), step_seconds=2) as engine:
        for _ in engine.evaluate_many([(TASK, "0"), (TASK, "0.5"), (TASK, "1")]):
            clock[0] += 10
        assert engine.metrics()["verifier_bound"] == 0


@pytest.mark.parametrize("workers", [None, 2])
def test_the_advice_is_about_what_runs_in_workers(workers, caplog):
    @rlenv.stage(where="inline")
    def quick(response):
        return 1.0

    def slow(response):
        time.sleep(0.2)
        return 1.0

    with ScoringEngine(
        Environment("e", [quick, slow]), step_seconds=0.01, workers=workers
    ) as engine:
        list(engine.evaluate_many([(TASK, str(n)) for n in range(4)]))
    assert "stage slow took most" in caplog.text
