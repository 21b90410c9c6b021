"""Time on a run queue: it does not count against the deadline of an item that has a CPU budget."""

from __future__ import annotations

import os
import time

import pytest
from rlenv.workers.board import UNCOUNTED
from rlenv.workers.delays import Delays, seconds_in_queues
from rlenv.workers.diagnose import overdue

BUDGETED = 1.0
COLD = -5.0
PLAIN = 0.0


def item(seq=1, began=0.0, end=5.0, limit=BUDGETED, mark=0):
    return seq, mark, end, began, 0.0, limit


def delays(*looks):
    """Delays whose looks find these seconds of threads, one after the other."""
    left = iter(looks)
    return Delays(lambda _: next(left))


@pytest.mark.parametrize("limit", [BUDGETED, COLD])
def test_an_item_with_a_budget_that_waits_for_a_processor_is_not_late(limit):
    found = delays({"1": 0.0}, {"1": 9.0})
    begun = [item(limit=limit)]

    assert overdue(begun, 0.1, 0.0, delays=found.look(7, begun, 0.1)) == []
    waited = found.look(7, begun, 10.0)

    assert waited == {1: 9.0}
    assert overdue(begun, 10.0, 0.1, delays=waited) == []
    assert overdue(begun, 14.1, 0.1, delays=waited) == [1]


def test_an_item_without_a_budget_keeps_its_deadline():
    found = delays({"1": 0.0}, {"1": 9.0})
    begun = [item(limit=PLAIN)]
    found.look(7, begun, 0.1)

    assert overdue(begun, 10.0, 0.1, delays=found.look(7, begun, 10.0)) == [1]


def test_the_check_of_the_empty_response_waits_as_the_others_do():
    found = delays({"1": 0.0}, {"1": 9.0})
    begun = [item(limit=PLAIN, mark=UNCOUNTED - 3)]
    found.look(7, begun, 0.1)

    assert overdue(begun, 10.0, 0.1, delays=found.look(7, begun, 10.0)) == []


def test_what_an_item_waited_before_it_began_does_not_count():
    found = delays({"1": 0.0}, {"1": 50.0}, {"1": 52.0})
    first = [item(1)]
    second = [item(2, began=99.9)]
    found.look(7, first, 0.1)

    assert found.look(7, second, 100.0)[2] == pytest.approx(0.1)
    assert found.look(7, second, 103.0)[2] == pytest.approx(2.1)


def test_of_threads_the_one_counts_that_waited_longest():
    found = delays({"1": 1.0, "2": 1.0}, {"1": 3.0, "2": 2.0, "3": 0.5}, {"2": 6.0})
    begun = [item(began=0.0)]
    found.look(7, begun, 0.0)

    assert found.look(7, begun, 3.0) == {1: 2.0}
    assert found.look(7, begun, 9.0) == {1: 6.0}


def test_where_the_kernel_does_not_say_the_deadline_is_as_it_was():
    found = delays({}, {})
    begun = [item()]
    found.look(7, begun, 0.1)

    assert overdue(begun, 10.0, 0.1, delays=found.look(7, begun, 10.0)) == [1]


@pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="no such kernel")
def test_the_kernel_says_it_for_each_thread():
    first = seconds_in_queues(os.getpid())
    time.sleep(0.01)
    second = seconds_in_queues(os.getpid())

    assert str(os.getpid()) in first
    assert all(second[name] >= first[name] >= 0.0 for name in first if name in second)
    assert seconds_in_queues(2**22 + 1) == {}
