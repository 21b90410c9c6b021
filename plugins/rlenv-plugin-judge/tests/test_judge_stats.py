"""Agreement, calibration, strengths and slopes, against figures of independent implementations."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv.model.errors import ConfigError
from rlenv_plugin_judge.stats.agreement import cohen, krippendorff, wilson
from rlenv_plugin_judge.stats.bradley_terry import bradley_terry
from rlenv_plugin_judge.stats.calibration import Isotonic, bins, ece, isotonic
from rlenv_plugin_judge.stats.length import Slopes, features, fit

FIRST = [
    2,
    1,
    3,
    0,
    0,
    0,
    2,
    0,
    1,
    0,
    0,
    3,
    3,
    0,
    1,
    0,
    3,
    0,
    0,
    1,
    0,
    3,
    0,
    1,
    0,
    1,
    2,
    3,
    1,
    0,
    2,
    1,
    0,
    1,
    2,
    0,
    0,
    0,
    1,
    3,
]
SECOND = [
    3,
    3,
    3,
    0,
    0,
    1,
    2,
    0,
    1,
    0,
    0,
    0,
    3,
    0,
    1,
    3,
    3,
    2,
    0,
    1,
    0,
    0,
    2,
    1,
    0,
    2,
    3,
    3,
    1,
    0,
    2,
    1,
    0,
    1,
    1,
    3,
    0,
    0,
    1,
    3,
]
RATERS: list[list[float | None]] = [
    [2, 2, 3, 4, 1, 2, 3, 1, 2, 2, None, 3, 4, 2, 3, 4, None, 2, 3, 4],
    [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, None, 1, 2, 3, 4, 1, 2, 3, 3],
    [1, 2, 3, 4, 1, 2, 3, 1, 1, 2, 3, 4, 1, None, 3, 4, 1, 2, 1, 4],
]
SCORES = [
    0.261,
    0.367,
    0.167,
    0.772,
    0.533,
    0.779,
    0.33,
    0.223,
    0.812,
    0.985,
    0.853,
    0.806,
    0.818,
    0.74,
    0.227,
    0.518,
    0.356,
    0.029,
    0.028,
    0.279,
    0.259,
    0.693,
    0.957,
    0.447,
    0.937,
    0.988,
    0.955,
    0.365,
    0.22,
    0.227,
]
LABELS = [
    1.0,
    1,
    0,
    0,
    0,
    1,
    0,
    0,
    1,
    1,
    0,
    0,
    0,
    1,
    1,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    1,
    1,
    1,
    1,
    0,
    0,
    1,
    0,
]
JUDGED = [
    0.453205,
    0.348434,
    0.392779,
    0.629789,
    0.654011,
    0.797418,
    0.490977,
    0.435997,
    0.655261,
    0.680442,
    0.55444,
    0.72201,
    0.734404,
    0.647095,
    0.424086,
    0.586391,
    0.567661,
    0.377721,
    0.52263,
    0.476406,
    0.511321,
    0.680916,
    0.913103,
    0.500757,
    0.793686,
    0.870536,
    0.596248,
    0.473203,
    0.334649,
    0.409827,
]
MATCHES = [
    (0, 1),
    (0, 1),
    (0, 2),
    (0, 2),
    (0, 2),
    (0, 3),
    (0, 3),
    (1, 0),
    (1, 2),
    (1, 3),
    (2, 1),
    (2, 3),
    (3, 2),
]
units = st.floats(0, 1)


def test_kappa_is_that_of_scikit_learn() -> None:
    assert cohen(FIRST, SECOND) == pytest.approx(0.577093, abs=1e-6)
    assert cohen(FIRST, SECOND, levels=range(4)) == pytest.approx(0.520362, abs=1e-6)


def test_alpha_is_that_of_the_package_krippendorff() -> None:
    assert krippendorff(RATERS) == pytest.approx(0.598202, abs=1e-6)


def test_the_isotonic_map_is_that_of_scikit_learn() -> None:
    found = isotonic(SCORES, LABELS)
    wanted = {
        0: 0.0,
        0.1: 0.0,
        0.25: 0.3,
        0.4: 0.4,
        0.55: 0.4,
        0.7: 0.404255,
        0.9: 0.468537,
        1: 1.0,
    }

    assert {x: found.apply(x) for x in wanted} == pytest.approx(wanted, abs=1e-6)


def test_intervals_are_those_of_statsmodels() -> None:
    assert wilson(0, 10) == pytest.approx((0.0, 0.277533), abs=1e-6)
    assert wilson(3, 10) == pytest.approx((0.107791, 0.603222), abs=1e-6)
    assert wilson(96, 100) == pytest.approx((0.901629, 0.984337), abs=1e-6)
    assert wilson(0, 0) == (0.0, 1.0)


def test_strengths_maximize_the_likelihood_that_scipy_maximizes() -> None:
    found = bradley_terry([(a, b, 1.0) for a, b in MATCHES], 4)

    assert found == pytest.approx([0.818843, 0.581696, 0.345169, 0.254292], abs=1e-6)


def test_a_slope_and_its_error_are_those_of_ordinary_least_squares() -> None:
    styles = [{**features(""), "length": score} for score in SCORES]
    found = fit(styles, JUDGED)

    assert set(found.slopes) == {"length"}
    assert found.slopes["length"] == pytest.approx(0.419465, abs=1e-5)
    assert found.errors["length"] == pytest.approx(0.049940, abs=1e-5)


def test_a_player_without_a_match_is_middling_and_no_one_is_infinite() -> None:
    won, lost, idle = bradley_terry([(0, 1, 1.0)] * 50, 3)

    assert 0.5 < won < 1.0
    assert 0.0 < lost < 0.5
    assert idle == 0.5
    assert bradley_terry([], 2) == [0.5, 0.5]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), units), max_size=12))
def test_swapping_every_score_mirrors_the_strengths(
    drawn: list[tuple[int, int, float]],
) -> None:
    matches = [match for match in drawn if match[0] != match[1]]
    strengths = bradley_terry(matches, 5)
    mirrored = bradley_terry([(a, b, 1.0 - score) for a, b, score in matches], 5)

    assert [1.0 - s for s in mirrored] == pytest.approx(strengths, abs=1e-6)
    assert all(0.0 < s < 1.0 for s in strengths)


@given(st.lists(st.tuples(units, units), min_size=1, max_size=30))
def test_an_isotonic_map_never_falls_and_survives_json(pairs: list[tuple[float, float]]) -> None:
    scores, labels = zip(*pairs, strict=True)
    found = isotonic(scores, labels)
    values = [found.apply(x / 20) for x in range(21)]

    assert values == sorted(values)
    assert all(0.0 <= value <= 1.0 for value in values)
    assert Isotonic.from_dict(found.to_dict()) == found


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=20))
def test_a_rater_agrees_with_itself(said: list[float]) -> None:
    found = cohen(said, said)

    assert found == 1.0 or (math.isnan(found) and len(set(said)) == 1)


def test_calibration_error_is_the_gap_between_score_and_label() -> None:
    assert ece([0.9] * 10, [1.0] * 5 + [0.0] * 5) == pytest.approx(0.4)
    assert ece([0.25, 0.75], [0.25, 0.75]) == 0.0
    assert math.isnan(ece([], []))
    assert [each.count for each in bins([0.0, 1.0, 0.99], [0, 1, 1])] == [1, 2]


def test_a_judge_that_pays_for_length_is_corrected_where_quality_is_known() -> None:
    texts = [" ".join(["word"] * (20 + 37 * n % 400)) for n in range(60)]
    styles = [features(text) for text in texts]
    quality = [float(n % 3 == 0) for n in range(60)]
    scores = [
        0.2 + 0.4 * good + 0.05 * style["length"]
        for good, style in zip(quality, styles, strict=True)
    ]
    slopes = fit(styles, scores, quality)
    corrected = [slopes.corrected(s, style) for s, style in zip(scores, styles, strict=True)]

    assert slopes.slopes["length"] == pytest.approx(0.05, abs=1e-4)
    for good in (0.0, 1.0):
        kept = [c for c, label in zip(corrected, quality, strict=True) if label == good]
        assert max(kept) - min(kept) < 1e-3
    assert Slopes.from_dict(slopes.to_dict()) == slopes


def test_style_is_counted_per_hundred_words() -> None:
    text = "# Plan\n- one\n- two\nPerhaps this is fine. I hope this helps!\n" + "word " * 86
    found = features(text)

    assert found["bullets"] == pytest.approx(200 / 100, rel=0.1)
    assert found["headings"] == pytest.approx(1.0, rel=0.1)
    assert found["hedges"] > 0
    assert found["stock"] > 0
    assert features("")["length"] == 0.0


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"scores": [0, 1], "values": [1, 0]},
        {"scores": [], "values": []},
        {"scores": [0], "values": [2]},
    ],
)
def test_a_broken_map_is_refused(data: dict[str, list[float]]) -> None:
    with pytest.raises(ConfigError, match="isotonic map"):
        Isotonic.from_dict(data)
