"""What times say: medians, intervals, clocks, floors and scores."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv.model.errors import VerifierFault
from rlenv_plugin_cuda import speed
from rlenv_plugin_cuda.gpu.measuring import WARM, judged

TIMES = st.floats(1e-6, 1.0)
PAIRS = st.lists(st.tuples(TIMES, TIMES), min_size=1, max_size=30)


@given(st.integers(1, 100))
def test_both_sides_run_as_often_and_neither_is_always_first(pairs: int) -> None:
    order = speed.order(pairs)
    assert len(order) == 2 * pairs
    assert sum(order) == pairs
    assert order[:4] == (True, False, False, True)[: 2 * pairs]


@given(PAIRS)
def test_an_interval_holds_its_median_and_comes_out_the_same_again(
    pairs: list[tuple[float, float]],
) -> None:
    own, base = [list(side) for side in zip(*pairs, strict=True)]
    found = speed.ratio(own, base, draws=100)
    assert found.low <= found.value <= found.high
    assert found.spread >= 0
    assert found == speed.ratio(own, base, draws=100)


@given(PAIRS, st.floats(0.01, 100.0))
def test_a_slower_machine_changes_no_ratio(pairs: list[tuple[float, float]], slow: float) -> None:
    own, base = [list(side) for side in zip(*pairs, strict=True)]
    plain = speed.ratio(own, base, draws=20).value
    slowed = speed.ratio([t * slow for t in own], [t * slow for t in base], draws=20).value
    assert slowed == pytest.approx(plain)


@pytest.mark.parametrize(
    ("own", "base"),
    [([], []), ([1.0], []), ([0.0], [1.0]), ([math.nan], [1.0]), ([math.inf], [1.0])],
)
def test_what_is_no_time_has_no_ratio(own: list[float], base: list[float]) -> None:
    with pytest.raises(ValueError, match="pairs"):
        speed.ratio(own, base)


@given(st.floats(0, 1e9), st.floats(0, 1e9), st.floats(1.01, 1e6))
def test_scores_lie_in_the_unit_interval_and_grow_with_speed(
    one: float, other: float, cap: float
) -> None:
    for measure in (speed.score, speed.within):
        low = measure(min(one, other), cap)
        high = measure(max(one, other), cap)
        assert 0 <= low <= high <= 1


@pytest.mark.parametrize(("value", "wanted"), [(0.5, 0), (1, 0), (10**0.5, 0.5), (10, 1), (50, 1)])
def test_a_score_is_the_logarithm_of_the_speed(value: float, wanted: float) -> None:
    assert speed.score(value, 10) == pytest.approx(wanted)


@pytest.mark.parametrize(("value", "wanted"), [(1, 1), (0.1, 0), (10**-0.5, 0.5), (0, 0), (2, 1)])
def test_without_a_baseline_memory_is_the_measure(value: float, wanted: float) -> None:
    assert speed.within(value, 10) == pytest.approx(wanted)


def test_nan_is_no_speed() -> None:
    assert speed.score(math.nan, 10) == 0


@pytest.mark.parametrize(
    ("event", "wall", "wanted"),
    [
        (1e-3, 1.2e-3, True),
        (1e-3, 2e-3, False),
        (2e-3, 1e-3, False),
        (1e-6, 15e-6, True),
        (0, 1, False),
    ],
)
def test_two_clocks_agree_or_nothing_is_said(event: float, wall: float, wanted: bool) -> None:
    assert speed.agree([event] * 3, [wall] * 3) is wanted


def test_inputs_cannot_be_read_faster_than_memory_goes() -> None:
    assert speed.impossible(1e-6, 4 << 20, 4e12 / 4)
    assert not speed.impossible(1e-5, 4 << 20, 4e12)
    assert not speed.impossible(1e-9, 4 << 20, 0)


def _runs(own: float, base: float, *, wall: float = 1.0, wobble: float = 0.0) -> list[list[float]]:
    runs = []
    for turn, mine in enumerate(speed.order(WARM + 10)):
        time = (own if mine else base) * (1 + wobble * (turn * 7 % 11))
        runs.append([0 if mine else 1, time, time * wall, 0])
    return runs


def test_twice_as_fast_with_a_cap_of_four_is_a_half() -> None:
    found = judged(_runs(1e-3, 2e-3), 0, 1e12, 4.0, {})
    assert found.score == pytest.approx(0.5)
    assert found.data["ratio"] == 2


def test_times_that_vary_say_nothing() -> None:
    runs = _runs(1e-3, 2e-3)
    for turn, run in enumerate(runs):
        if not run[0]:
            run[1] *= (1, 9, 1, 30)[turn % 4]
            run[2] = run[1]
    with pytest.raises(VerifierFault, match="vary"):
        judged(runs, 0, 1e12, 4.0, {})


def test_clocks_that_do_not_agree_are_no_fault_of_the_answer() -> None:
    with pytest.raises(VerifierFault, match="clocks"):
        judged(_runs(1e-3, 2e-3, wall=3.0), 0, 1e12, 4.0, {})


def test_what_is_faster_than_memory_earns_nothing() -> None:
    found = judged(_runs(1e-6, 2e-3), 1 << 30, 1e12, 4.0, {})
    assert found.score == 0
    assert "faster" in found.problem


def test_a_little_faster_than_memory_counts_as_memory() -> None:
    found = judged(_runs(0.8e-3, 2e-3), 10**9, 1e12, 4.0, {})
    assert found.data["ratio"] == pytest.approx(2)


def test_alone_the_roofline_is_the_baseline() -> None:
    runs = [run for run in _runs(2e-3, 1.0) if not run[0]]
    assert judged(runs, 10**9, 1e12, 4.0, {}).score == pytest.approx(0.5)
