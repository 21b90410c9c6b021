"""Intervals against published values, and the laws that every interval keeps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv_audit.statistics import at_least, holm, interval, quantile, rate

counts = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(
    ("hits", "trials", "low", "high"),
    [(5, 20, 0.0866, 0.4910), (1, 10, 0.0025, 0.4450), (50, 100, 0.3983, 0.6017)],
)
def test_the_interval_is_that_of_clopper_and_pearson(
    hits: int, trials: int, low: float, high: float
) -> None:
    assert interval(hits, trials) == pytest.approx((low, high), abs=1e-4)


def test_no_hit_of_many_is_bounded_from_above() -> None:
    low, high = interval(0, 300)

    assert low == 0.0
    assert high == pytest.approx(1 - 0.025 ** (1 / 300))
    assert str(rate(0, 300)) == "0 of 300: ≤ 1.2 %"


def test_nothing_tried_is_not_nothing_found() -> None:
    assert rate(0, 0).share is None
    assert str(rate(0, 0)) == "not measured"
    assert interval(0, 0) == (0.0, 1.0)


@given(counts)
def test_an_interval_holds_its_share(count: tuple[int, int]) -> None:
    hits, trials = count
    low, high = interval(hits, trials)

    assert 0 <= low <= hits / trials <= high <= 1


@given(counts)
def test_success_and_failure_mirror_each_other(count: tuple[int, int]) -> None:
    hits, trials = count
    low, high = interval(hits, trials)
    other = interval(trials - hits, trials)

    assert other == pytest.approx((1 - high, 1 - low), abs=1e-9)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_a_corrected_value_is_never_smaller_and_keeps_the_order(values: list[float]) -> None:
    corrected = holm(values)

    assert all(after >= before for before, after in zip(values, corrected, strict=True))
    order = sorted(range(len(values)), key=values.__getitem__)
    assert [corrected[n] for n in order] == sorted(corrected)


def test_the_tail_of_a_binomial() -> None:
    assert at_least(0, 10, 0.5) == 1.0
    assert at_least(10, 10, 0.5) == pytest.approx(2**-10)
    assert at_least(1, 10, 0.0) == 0.0


def test_counts_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="4 hits of 3"):
        rate(4, 3)
    with pytest.raises(ValueError, match="no quantile"):
        quantile([], 0.5)
