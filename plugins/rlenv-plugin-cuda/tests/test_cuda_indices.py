"""Integers that index are drawn within the arrays, and integers that do not are drawn far beyond
them.
"""

from __future__ import annotations

from typing import Any

import pytest
from rlenv.model.errors import TaskError
from rlenv.model.values import Task
from rlenv_plugin_cuda.cases import cases_of
from rlenv_plugin_cuda.golden import golden_of
from rlenv_plugin_cuda.lint import lint
from rlenv_plugin_cuda.reading import kernel_of
from rlenv_plugin_cuda.spec import DISTS, Kernel

KEY = b"k" * 32


def kernel(golden: str, **more: Any) -> Kernel:
    said: dict[str, Any] = {
        "inputs": [["x", "i4", ["n"]]],
        "outputs": [["o", "i4", [16]]],
        "golden": golden,
        "hidden": [{"n": 3}, {"n": 257}],
        **more,
    }
    return kernel_of(Task("p", info={"kernel": said}))


GATHER: dict[str, Any] = {
    "inputs": [["x", "f4", ["n"]], ["at", "i4", ["m"]]],
    "outputs": [["o", "f4", ["m"]]],
    "golden": "return [x[at]]",
    "hidden": [{"n": 40, "m": 9}, {"n": 7, "m": 300}],
}


def test_bins_of_a_histogram_are_below_its_length() -> None:
    counted = kernel("return [np.bincount(x, minlength=16)]", dists=list(DISTS))
    for case in cases_of(counted, KEY):
        found = case.values["x"]
        assert found.min() >= 0
        assert found.max() < 16
        golden_of(counted)(case.values, case.sizes)
    assert max(case.values["x"].max() for case in cases_of(counted, KEY)) == 15


def test_places_of_a_gather_are_within_what_is_gathered() -> None:
    gather = kernel(**GATHER)
    lint(gather)
    for case in cases_of(gather, KEY):
        assert 0 <= case.values["at"].min() <= case.values["at"].max() < case.sizes["n"]


@pytest.mark.parametrize(
    "golden",
    [
        "return [x[at]]",
        "return [np.take(x, at)]",
        "o = np.zeros(m)\nfor i in range(m):\n    o[i] = x[at][i]\nreturn [o]",
    ],
)
def test_places_are_never_negative_even_where_numpy_would_take_them(golden: str) -> None:
    large = kernel(**{**GATHER, "golden": golden, "hidden": [{"n": 4000, "m": 4000}]})
    (case, *_) = cases_of(large, KEY)
    assert case.values["at"].min() >= 0
    assert case.values["at"].max() > 100


def test_a_sum_over_places_reaches_them_all() -> None:
    total = kernel(
        **{**GATHER, "outputs": [["o", "f4", [1]]], "golden": "return [np.array([x[at].sum()])]"}
    )
    assert max(case.values["at"].max() for case in cases_of(total, KEY)) > 30


def test_a_selection_by_what_integers_are_is_no_place() -> None:
    counted = kernel("return [np.full(16, len(x[x > 0]) + (x[0] & 1) + x[x < 0].sum())]")
    assert min(case.values["x"].min() for case in cases_of(counted, KEY)) < 0


def test_integers_that_any_number_may_be_are_any() -> None:
    masked = kernel("return [np.bincount(x & 15, minlength=16)]", dists=["normal", "big"])
    found = [case.values["x"] for case in cases_of(masked, KEY)]
    assert min(values.min() for values in found) < -(1 << 20)
    assert max(values.max() for values in found) > 1 << 20


def test_a_model_that_takes_no_integers_at_all_is_still_named() -> None:
    with pytest.raises(TaskError, match="golden: it raises ValueError: no"):
        lint(kernel("raise ValueError('no')"))
