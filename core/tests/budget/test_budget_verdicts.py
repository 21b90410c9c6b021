"""What a response costs beyond its stage's budget is a 0 and never a fault; what comes once is not
charged to it.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import time
from contextlib import contextmanager, suppress
from importlib import import_module

import pytest
from budget_never import never
from budget_stages import (
    BOMB,
    Golf,
    Table,
    Waits,
    costs,
    golf,
    hoards,
    imports,
    leaves_behind,
)
from rlenv import AllOf, Attempt, Environment, Pipeline, Slot, Task, stage
from rlenv.engine.plan import Plan
from rlenv.runtime.budget import Meter

TASK = Task("p", id="t")


def undecided(result, budget):
    data = result.outcome.data
    return (
        result.outcome.score == 0.0
        and result.outcome.detail
        == f"undecided: checking this response takes more than {budget:g} s of CPU time"
        and data["cpu_seconds"] >= data["budget"] == budget
    )


@contextmanager
def load(times):
    """Keep the one core that is left to this thread busy with so many processes, fewer where others
    do it already.
    """
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    spinners = []
    try:
        while len(spinners) < times and share() > 0.2:
            spinners.append(multiprocessing.Process(target=_spin))
            spinners[-1].start()
        yield
    finally:
        os.sched_setaffinity(0, cores)
        for spinner in spinners:
            spinner.kill()
        for spinner in spinners:
            spinner.join()


def share():
    """How much of a core this thread gets."""
    began = time.monotonic()
    cpu = time.thread_time()
    while time.thread_time() - cpu < 0.1:
        pass
    return 0.1 / (time.monotonic() - began)


def _spin():
    while os.getppid() != 1:
        pass


@pytest.fixture(scope="module")
def env():
    # In a cold worker a response has half of the deadline in CPU seconds: 3 s instead of 5.
    with Environment("e", [Slot("costs", costs, timeout=6.0)], [TASK]) as env:
        yield env


SLOW = pytest.mark.slow  # each kills workers, or lets them compute for seconds


@pytest.mark.parametrize(
    "verifier", [golf, pytest.param(Golf(), marks=SLOW)], ids=["function", "class"]
)
def test_the_first_and_only_response_is_undecided_when_it_explodes(verifier):
    with Environment("e", [Slot("golf", verifier, timeout=3.0)], [TASK]) as env:
        verdict = env.evaluate(TASK, BOMB)
        assert (verdict.value, undecided(verdict.results[0], 0.3)) == (0.0, True)
        assert env.verify(TASK, "b") == 1.0


PLACES = [pytest.param(how, marks=SLOW) for how in ("threads", "waited", "running", "grandchild")]


@pytest.mark.parametrize("how", ["spin", *PLACES, "raise"])
def test_cpu_time_counts_wherever_it_is_spent(env, how):
    assert env.evaluate(TASK, f"{how} 0.01").value == (None if how == "raise" else 1.0)
    assert undecided(env.evaluate(TASK, f"{how} 30").results[0], 0.5)


def test_a_stage_that_waits_is_killed_at_its_deadline_in_a_cold_worker_too():
    with Environment("e", [Slot("costs", costs, timeout=1.0)], [TASK], memory_mb=999) as env:
        fault = env.evaluate(TASK, "sleep 3600").fault
        assert (fault.kind, fault.transient) == ("timeout", True)


def test_waiting_costs_nothing_until_the_deadline():
    with Environment("e", [Slot("costs", costs, timeout=4.0)], [TASK]) as env:
        assert env.verify(TASK, "sleep 0.7") == 1.0
        fault = env.evaluate(TASK, "sleep 30").fault
        assert (fault.kind, fault.transient) == ("timeout", True)


def test_a_verdict_near_the_budget_holds_the_seconds(env):
    assert env.verify(TASK, "") == 1.0
    data = env.evaluate(TASK, "spin 0.44").results[0].outcome.data
    assert data["budget"] == 0.5
    assert data["cpu_seconds"] > 0.4
    assert env.evaluate(TASK, "spin 0.1").results[0].outcome.data == {}


@pytest.mark.parametrize("response", ["import", "always import", "import and spin 0.3"])
def test_an_import_is_not_charged_to_the_response(response):
    for warm in (False, True):
        with Environment("e", imports, [TASK]) as env:
            if warm:
                assert env.verify(TASK, "nothing") == 1.0
            assert env.verify(TASK, response) == 1.0


@SLOW
def test_an_import_does_not_buy_a_response_out_of_its_budget():
    with Environment("e", [Slot("imports", imports, timeout=5.0)], [TASK]) as env:
        assert undecided(env.evaluate(TASK, "import and spin 30").results[0], 0.5)


class Begins:
    """As a report: the CPU limits of what has begun."""

    def __init__(self) -> None:
        self.limits: list[float] = []

    def begin(self, seconds, mark=0, cpu=0.0):
        self.limits.append(cpu)


@stage(budget=0.5)
def seeks(response: str) -> float:
    """As a stage with a part that is optional, and looked for at each line of the response."""
    for _ in response:
        with suppress(ImportError):
            import_module("nothing_has_this_name")
    return 1.0


def test_looking_for_a_module_again_and_again_does_not_move_the_deadline():
    report = Begins()
    (leaf,) = Plan(Pipeline([Slot("seeks", seeks)])).leaves
    result = Meter(looped=False).check(leaf, Attempt(TASK, "x" * 9), 10.0, report)
    assert result.outcome.score == 1.0
    # The empty response; the cold check; its first import.
    assert report.limits == [0.0, -5.0, -5.0]


@pytest.mark.parametrize("eager", [True, pytest.param(False, marks=SLOW)])
def test_a_table_that_is_built_once_is_not_charged_to_the_response(eager):
    with Environment("e", Table(eager), [TASK]) as env:
        assert env.verify(TASK, "x") == 1.0


def test_a_stage_that_never_ends_is_broken_and_not_the_response_wrong():
    with Environment("e", never, [TASK], memory_mb=1000) as env:  # workers of its own
        verdict = env.evaluate(TASK, "x")
        assert (verdict.value, verdict.fault.kind) == (None, "timeout")


@pytest.mark.parametrize("first", ["", "hoard"])
def test_a_response_that_takes_all_memory_is_undecided(first):
    slots = [Slot("golf", golf), Slot("costs", costs)]
    with Environment("e", slots, [TASK]) as env:
        env.evaluate(TASK, first)
        one, two = env.evaluate(TASK, "hoard").results
        assert one.outcome.score == 1.0
        said = "undecided: checking this response takes more memory than a worker has"
        assert (two.outcome.score, two.outcome.detail) == (0.0, said)


def test_a_stage_that_takes_all_memory_for_nothing_is_broken():
    with Environment("e", [Slot("golf", golf), Slot("hoards", hoards)], [TASK]) as env:
        verdict = env.evaluate(TASK, "x")
        assert (verdict.value, verdict.fault.kind) == (None, "memory")
        assert [result.stage for result in verdict.results] == ["golf", "hoards"]


def test_every_way_to_evaluate_gives_the_same():
    tree = AllOf(
        [Slot("a", golf, timeout=3.0), Slot("b", Pipeline([Slot("c", golf, timeout=3.0)]))]
    )
    with Environment("e", [Slot("tree", tree)], [TASK]) as env:
        responses = ["b", BOMB, "c"]
        wanted = [1.0, 0.0, 1.0]

        async def gathered():
            return await asyncio.gather(*[env.averify(TASK, text) for text in responses])

        assert [env.verify(TASK, text) for text in responses] == wanted
        assert asyncio.run(gathered()) == wanted
        assert [v.value for v in env.evaluate_group(TASK, responses)] == wanted
        assert [v.value for v in env.evaluate_many([(TASK, text) for text in responses])] == wanted


def test_fifty_neighbors_in_a_batch_keep_their_values():
    responses = [f"b{n}" if n % 2 else "a" for n in range(50)]
    responses[7:7] = responses[31:31] = [BOMB]
    with Environment("e", golf, [TASK]) as env:
        verdicts = list(env.evaluate_many([(TASK, text) for text in responses]))
    assert [v.value for v in verdicts] == [float(text[0] == "b") for text in responses]
    assert sum("cpu_seconds" in v.results[0].outcome.data for v in verdicts) == 2


@pytest.mark.parametrize("left", [pytest.param("thread", marks=SLOW), "child"])
def test_what_a_response_leaves_behind_is_not_charged_to_the_next(left):
    with Environment("e", leaves_behind, [TASK]) as env:
        rows = ["x", left, *["x"] * 4]
        verdicts = list(env.evaluate_many([(TASK, text) for text in rows], workers=1))
        assert [v.value for v in verdicts] == [1.0] * 6
        assert env.verify(TASK, left) == 1.0
        assert [env.verify(TASK, "x") for _ in range(3)] == [1.0] * 3


def test_beside_an_async_stage_only_its_own_cpu_time_counts():
    slots = [Slot("waits", Waits()), Slot("costs", costs)]
    responses = ["spin 0.1"] * 8
    responses[3:3] = ["explode"]
    with Environment("e", slots, [TASK]) as env:
        verdicts = list(env.evaluate_many([(TASK, text) for text in responses], workers=1))
    assert [v.value for v in verdicts] == [0.5 if text == "explode" else 1.0 for text in responses]


@SLOW
def test_a_high_load_changes_nothing():
    # A cold worker gives half the deadline in CPU seconds: with 2 s instead of 8 the test ends
    # three times as soon.
    slot = Slot("golf", Golf(budget=0.1), timeout=2.0)
    with load(5), Environment("e", [slot], [TASK]) as env:
        assert undecided(env.evaluate(TASK, BOMB).results[0], 0.1)
        assert [env.verify(TASK, text) for text in ("b", "a", BOMB)] == [1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("names", "cold"),
    [("abc", True), *(pytest.param("abcde", cold, marks=SLOW) for cold in (True, False))],
)
def test_no_response_uses_up_the_time_of_a_composite_within_the_budgets(names, cold):
    inner = Pipeline([Slot(name, golf) for name in names])
    slots = [Slot("inner", inner, timeout=3.6)]
    with Environment("e", slots, [TASK], memory_mb=1001 + cold) as env:
        if not cold:
            assert env.verify(TASK, "b") == 1.0
        verdict = env.evaluate(TASK, BOMB)
        assert verdict.value == 0.0
        assert [undecided(each, 0.3) for each in verdict.results[0].children] == [True] * len(names)
