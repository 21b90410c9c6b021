"""The arithmetic of the pool: records survive any cutting, and no innocent item is suspected."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv.workers import wire
from rlenv.workers.diagnose import (
    ASYNC_SLACK,
    STALE,
    overdrawn,
    overdue,
    suspected,
)

RECORDS = st.lists(
    st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1), st.binary(max_size=60)),
    max_size=20,
)


@given(RECORDS, st.lists(st.integers(1, 40), min_size=1, max_size=8))
def test_records_arrive_whole_however_the_bytes_are_cut(records, sizes):
    data = b"".join(wire.record(*one) for one in records)
    buffer = wire.Buffer()
    got = []
    at = 0
    turn = 0
    while at < len(data):
        size = sizes[turn % len(sizes)]
        got += buffer.feed(data[at : at + size])
        at = at + size
        turn = turn + 1
    assert got == records


@pytest.mark.parametrize("step", [1, 7, 20, 1000])
def test_a_record_of_absurd_length_is_refused_before_it_is_gathered(step):
    buffer = wire.Buffer()
    data = wire.HEADER.pack(1, 1, 2 * wire.LONGEST)
    with pytest.raises(wire.WireError):
        _feed(buffer, data, step)


def _feed(buffer, data, step):
    for at in range(0, len(data), step):
        list(buffer.feed(data[at : at + step]))


REST = (0.0, 0.0, 0.0)  # when it began, and its CPU time
BEGUN = st.lists(
    st.tuples(st.integers(1, 50), st.integers(-1, 9), st.floats(0, 20), *[st.just(0.0)] * 3),
    unique_by=lambda one: one[0],
    min_size=1,
    max_size=8,
)


@given(BEGUN, st.floats(0, 30), st.integers(0, 50), st.floats(0, 2), st.booleans())
def test_only_what_had_begun_is_suspected(begun, now, running, silent, alone):
    everyone = {one[0] for one in begun}
    late = overdue(begun, now, 0.0, running, silent)
    found = set(suspected(everyone, late, running, silent, alone=alone))
    assert found <= everyone
    assert not late or (silent >= STALE and not alone) or found == set(late)


@given(BEGUN, st.integers(0, 50), st.booleans())
def test_of_a_dead_loop_who_was_running_is_suspected_or_all_are(begun, running, alone):
    everyone = {one[0] for one in begun}
    found = set(suspected(everyone, [], running, 0.0, alone=alone))
    stray = bool(running) and running not in everyone and not alone  # what an item left behind
    assert found in ({running}, set() if stray else everyone)


def test_of_a_blocked_loop_the_blocker_is_suspected_and_not_the_late():
    assert suspected({1, 2}, [1], 2, 2 * STALE, alone=False) == {2}
    assert suspected({1, 2}, [1], 0, 2 * STALE, alone=False) == {1, 2}
    assert suspected({1, 2}, [1], 2, 0.0, alone=False) == {1}


def test_who_blocks_a_loop_has_its_own_time_and_none_to_cancel_itself():
    begun = [(1, 0, 10.0, *REST), (2, 0, 10.2, *REST)]
    at = {now: overdue(begun, now, 0.0, 2, STALE) for now in (10.1, 10.3, 10.9, 11.1)}
    assert at == {10.1: [], 10.3: [2], 10.9: [2], 11.1: [1, 2]}
    assert overdue(begun, 10.3 + ASYNC_SLACK, 0.0, 2, 0.0) == [1, 2]
    assert overdue(begun, 10.3, 0.0, 2, 0.0) == []


def test_what_an_ended_item_left_on_the_loop_makes_no_other_run_alone():
    for late in ([1], []):
        assert suspected({1, 2}, late, 7, 2 * STALE, alone=False) == set()


def test_the_only_item_of_a_worker_is_suspected():
    only = partial(suspected, {4}, running=0, silent=2 * STALE, alone=True)
    assert only([4]) == only([]) == {4}
    assert only([3]) == set()  # it had moved on by the time it was dead


@pytest.mark.parametrize(
    ("deadline", "limit", "late", "spent"),
    [
        (9.0, 0.0, True, False),
        (11.0, 0.0, False, False),
        (11.0, 2.0, False, True),
        (11.0, 4.0, False, False),
        (9.0, -4.0, False, False),  # in a cold worker, at work for more than a tenth of the 10 s
        (9.0, -2.0, False, True),
        (float("nan"), 0.0, True, False),
    ],
)
def test_an_item_is_late_by_the_wall_or_by_its_cpu(deadline, limit, late, spent):
    begun = [(1, 0, deadline, 0.0, 0.0, limit)]
    assert overdue(begun, 10.0, 3.0) == [1] * late
    assert overdrawn(begun, 3.0) == [1] * spent
    assert overdue([(1, 0, 9.0, 0.0, 0.0, -4.0)], 10.0, 0.9) == [1]
