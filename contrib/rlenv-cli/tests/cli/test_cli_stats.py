"""The summary's arithmetic against values known from tables and from simulation."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv_cli.scores.stats import (
    Cluster,
    Quantiles,
    interval,
    mean_variance,
    pass_at_k,
    student_t,
    wilson,
)


def ones(*values):
    return [Cluster(1, v, v * v) for v in values]


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),  # Newcombe 1998, table I, method 3
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (20, 20, 0.8389, 1.0),
    ],
)
def test_wilson_agrees_with_the_published_table(successes, n, low, high):
    assert wilson(successes, n) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(
    ("df", "t"),
    [
        (1, 12.7062),
        (2, 4.30265),
        (3, 3.18245),
        (4, 2.77645),
        (5, 2.57058),
        (10, 2.22814),
        (30, 2.04227),
        (120, 1.97993),
        (10**6, 1.95997),
    ],
)
def test_student_t_agrees_with_the_table(df, t):
    assert student_t(df) == pytest.approx(t, rel=4e-4)


def test_one_pass_or_fail_response_per_task_is_the_plain_wilson_interval():
    got = interval(ones(*[1.0] * 81, *[0.0] * 182))
    assert (got.low, got.high) == pytest.approx(wilson(81, 263))
    assert got.method == "Wilson"


def test_no_value_has_no_interval():
    assert interval([]) is None
    assert interval([Cluster(0, 0.0, 0.0)]) is None


def test_one_task_with_many_responses_says_nothing_of_other_tasks():
    got = interval([Cluster(8, 4.0, 4.0)])
    assert (got.mean, got.low, got.high) == (0.5, None, None)


def test_zero_passes_still_leave_room_above():
    got = interval([Cluster(4, 0.0, 0.0)] * 10)
    assert got.low == 0.0
    assert got.high == pytest.approx(wilson(0, 10 * (1.95996 / student_t(9)) ** 2)[1], rel=1e-4)


def test_perfectly_correlated_responses_count_as_one():
    alike = interval([Cluster(8, 8.0 * (i % 2), 8.0 * (i % 2)) for i in range(200)])
    single = interval(ones(*[float(i % 2) for i in range(200)]))
    assert alike.high - alike.low == pytest.approx(single.high - single.low, rel=0.02)


def test_the_clustered_variance_of_singletons_is_the_usual_one():
    values = [0.1, 0.4, 0.4, 0.9, 1.0]
    mean = sum(values) / 5
    usual = sum((v - mean) ** 2 for v in values) / 4 / 5
    assert mean_variance(ones(*values)) == pytest.approx(usual)


def test_clustered_intervals_cover_the_truth_about_95_times_in_100():
    rng = random.Random(7)
    hits = 0
    for _ in range(400):
        clusters = []
        for _ in range(40):
            p = rng.betavariate(0.6, 1.4)  # tasks differ: the mean is 0.3
            k = sum(rng.random() < p for _ in range(6))
            clusters.append(Cluster(6, float(k), float(k)))
        got = interval(clusters)
        hits += got.low <= 0.3 <= got.high
    assert 0.91 <= hits / 400 <= 0.985


@given(st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=5), min_size=2, max_size=12))
@settings(max_examples=100, deadline=None)
def test_the_interval_holds_the_mean_and_stays_in_the_unit_range(groups):
    got = interval([Cluster(len(g), sum(g), sum(v * v for v in g)) for g in groups])
    assert 0.0 <= got.low <= got.mean + 1e-9
    assert got.mean - 1e-9 <= got.high <= 1.0


def test_pass_at_k_is_the_chance_of_a_draw_without_replacement():
    assert pass_at_k(10, 3, 1) == pytest.approx(0.3)
    assert pass_at_k(4, 2, 2) == pytest.approx(5 / 6)
    assert pass_at_k(5, 0, 5) == 0.0
    assert pass_at_k(5, 1, 5) == 1.0
    assert pass_at_k(5, 5, 1) == 1.0


def test_quantiles_of_a_stream_are_within_two_percent():
    stream = Quantiles()
    rng = random.Random(3)
    values = [math.exp(rng.uniform(-12, 4)) for _ in range(5000)]
    for value in values:
        stream.add(value)
    values.sort()
    assert stream.at(0.5) == pytest.approx(values[2499], rel=0.02)
    assert stream.at(0.95) == pytest.approx(values[4749], rel=0.02)


def test_quantiles_of_nothing_and_of_zeros_are_zero():
    stream = Quantiles()
    assert stream.at(0.5) == 0.0
    stream.add(0.0)
    assert stream.at(0.5) == 0.0
