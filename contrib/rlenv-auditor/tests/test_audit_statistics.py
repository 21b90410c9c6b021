"""Intervals against published values, and the laws that every interval keeps."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv_auditor import Result, Scorecard
from rlenv_auditor.statistics import (
    at_least,
    holm,
    interval,
    kappa,
    paired,
    quantile,
    rate,
    slope,
)
from rlenv_auditor.thresholds import Thresholds, crossed

unhurried = settings(deadline=None)  # a machine may be busy
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


@unhurried
@given(counts)
def test_an_interval_holds_its_share(count: tuple[int, int]) -> None:
    hits, trials = count
    low, high = interval(hits, trials)

    assert 0 <= low <= hits / trials <= high <= 1


@unhurried
@given(counts)
def test_success_and_failure_mirror_each_other(count: tuple[int, int]) -> None:
    hits, trials = count
    low, high = interval(hits, trials)
    other = interval(trials - hits, trials)

    assert other == pytest.approx((1 - high, 1 - low), abs=1e-9)


@unhurried
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


# From statsmodels 0.15 (proportion_confint, method="beta"; multipletests, method="holm"; OLS with a
# dummy per curve), scipy 1.17 (binomtest, bootstrap with 20,000 resamples) and scikit-learn 1.9
# (cohen_kappa_score), run once beside this house.
@pytest.mark.parametrize(
    ("hits", "trials", "low", "high"),
    [
        (0, 300, 0.0, 0.01222097),
        (0, 40, 0.0, 0.0880973),
        (1, 40, 0.00063274, 0.13158586),
        (3, 8, 0.08523341, 0.75513678),
        (7, 12, 0.27666969, 0.84834777),
        (40, 40, 0.9119027, 1.0),
        (199, 200, 0.9724581, 0.99987342),
        (13, 541, 0.01285536, 0.04074079),
    ],
)
def test_intervals_are_those_of_statsmodels(
    hits: int, trials: int, low: float, high: float
) -> None:
    assert interval(hits, trials) == pytest.approx((low, high), abs=5e-9)


def test_corrected_values_are_those_of_statsmodels() -> None:
    corrected = holm([0.001, 0.04, 0.03, 0.005, 0.6, 0.03])

    assert corrected == pytest.approx([0.006, 0.12, 0.12, 0.025, 0.6, 0.12])


@pytest.mark.parametrize(
    ("hits", "trials", "share", "value"),
    [
        (3, 40, 0.01, 0.007497363395395947),
        (1, 300, 0.05, 0.9999997924696652),
        (20, 40, 0.3, 0.006254504372435016),
        (2, 12, 0.05, 0.11835985697148697),
    ],
)
def test_tails_are_those_of_scipy(hits: int, trials: int, share: float, value: float) -> None:
    assert at_least(hits, trials, share) == pytest.approx(value, rel=1e-9)


def test_slopes_within_tasks_are_those_of_a_regression_with_a_dummy_for_each() -> None:
    curves = [
        [(0, 0.1), (1, 0.2), (2, 0.25), (5, 0.6)],
        [(0, 0.0), (1, 0.1), (2, 0.2), (5, 0.5)],
        [(0, 0.3), (2, 0.3), (4, 0.5)],
    ]
    rise, low, high = slope(curves)

    assert rise == pytest.approx(0.08888888888888885)
    assert low <= rise <= high


def test_a_mean_of_differences_has_the_interval_of_scipys_bootstrap() -> None:
    mean, low, high = paired([0.0, 0.1, 0.2, 0.0, 0.3, 0.25, 0.05, 0.0, 0.4, 0.1])

    assert mean == pytest.approx(0.14)
    assert (low, high) == pytest.approx((0.06, 0.225), abs=0.012)


def test_agreement_is_the_kappa_of_scikit_learn() -> None:
    one = [1, 1, 1, 0, 0, 0, 0, 1, 0, 1, 1, 0]
    two = [1, 1, 0, 0, 0, 1, 0, 1, 0, 1, 1, 0]

    assert kappa([(bool(a), a == b) for a, b in zip(one, two, strict=True)]) == pytest.approx(2 / 3)
    assert kappa([]) is None
    assert kappa([(True, True)] * 3) is None


def card(*results: Result, tasks: int = 40, of: int = 400) -> Scorecard:
    return Scorecard("t", (), 1.0, tasks, of, 0, "ci", 60.0, results)


def one(probe: str, hits: int, trials: int = 40) -> Result:
    return Result(probe, "a", "found", "", "high", "exploit", rate(hits, trials))


def test_a_limit_above_zero_is_corrected_for_the_number_of_probes() -> None:
    """3 of 40 at a limit of 1 % is surprising alone (p = 0.0075), and not among ten probes (Holm:
    0.075).
    """
    limits = Thresholds.read("exploit>0.01")
    others = [one(f"a.{n}", 0) for n in range(9)]

    assert crossed(card(one("a.x", 3)), limits) == (
        "exploit > 0.01: a.x, 3 of 40: 7.5 % (1.6–20.4)",
    )
    assert crossed(card(one("a.x", 3), *others), limits) == ()
    assert crossed(card(one("a.x", 3), *others, of=40), limits) != ()  # no sample: all there are
    assert crossed(card(one("a.x", 1), *others), Thresholds.read("exploit>0")) != ()
