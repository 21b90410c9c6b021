"""``call``: one heavy piece of work, with a budget of CPU seconds, and what its callers are
told.
"""

from __future__ import annotations

import asyncio
import threading

import pytest
from rlenv.model.errors import VerifierFault, WorkExceeded
from rlenv.workers import call


def test_the_value_comes_back():
    assert call("deeds:add", 1, 2) == 3
    assert call("operator:add", "a", "b") == "ab"


@pytest.mark.parametrize("target", ["deeds:crunch", "deeds:backtrack"])
def test_work_beyond_its_cpu_budget_is_killed(target):
    args = (600,) if target == "deeds:crunch" else ()
    with pytest.raises(WorkExceeded, match="timeout") as caught:
        call(target, *args, seconds=0.3)
    assert caught.value.kind == "timeout"


def test_waiting_costs_no_budget_until_the_wall_backstop():
    assert call("deeds:doze", 0.3, seconds=0.1) == 0.3
    with pytest.raises(WorkExceeded, match="timeout"):
        call("deeds:doze", 60, seconds=0.05)


def test_memory_is_limited():
    with pytest.raises(WorkExceeded, match="memory"):
        call("deeds:hoard", seconds=30, memory_mb=128)


def test_a_crash_is_tried_twice(tmp_path):
    with pytest.raises(WorkExceeded, match="exited with status 3"):
        call("deeds:die")
    assert call("deeds:die_once", str(tmp_path / "mark")) == "well"


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("deeds:fail", "ValueError: a wrong thing"),
        ("no_such_module:f", "ModuleNotFoundError"),
        ("deeds:no_such_function", "AttributeError"),
    ],
)
def test_a_function_that_raises_or_is_missing_is_a_fault(target, said):
    with pytest.raises(VerifierFault, match=said) as caught:
        call(target)
    assert (caught.value.fault.kind, caught.value.fault.transient) == ("error", False)


def test_the_next_call_after_a_kill_is_served():
    for _ in range(3):
        with pytest.raises(WorkExceeded):
            call("deeds:backtrack", seconds=0.1)
        assert call("deeds:add", 1, 2) == 3


def test_it_says_the_same_on_an_event_loop():
    async def main():
        return call("deeds:add", 1, 2)

    assert asyncio.run(main()) == 3


def test_it_works_from_many_threads_and_inside_workers(pool, ask):
    values: list[int] = []
    threads = [
        threading.Thread(target=lambda n=n: values.append(call("deeds:add", n, 0)))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(values) == list(range(8))
    assert ask("call_inside", True).value == 3
