"""Inputs are drawn by a key: the same for the same response, and like nothing that a policy could
expect.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rlenv.model.values import Task
from rlenv_plugin_cuda.draws import generator, poison
from rlenv_plugin_cuda.indices import draw
from rlenv_plugin_cuda.numbers import NUMPY, to_bf16, to_bytes, to_float
from rlenv_plugin_cuda.reading import kernel_of
from rlenv_plugin_cuda.spec import DISTS, DTYPES, Array, Kernel

KEY = b"k" * 32


def kernel(dtype: str = "f4", **more: Any) -> Kernel:
    said: dict[str, Any] = {
        "inputs": [["a", dtype, ["n"]], ["x", "scalar", []], ["k", "int", []]],
        "outputs": [["o", dtype, ["n"]]],
        "golden": "return [a]",
        "hidden": [{"n": 1}],
        **more,
    }
    return kernel_of(Task("p", info={"kernel": said}))


@pytest.mark.parametrize("dist", DISTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_is_drawn_from_every_distribution(dtype: str, dist: str) -> None:
    for n in (1, 2, 100):
        values = draw(kernel(dtype), {"n": n}, dist, generator(KEY, "inputs", n))
        again = draw(kernel(dtype), {"n": n}, dist, generator(KEY, "inputs", n))
        assert values["a"].dtype == np.dtype(NUMPY[dtype])
        assert values["a"].shape == (n,)
        assert to_bytes(values["a"], dtype) == to_bytes(again["a"], dtype)
        if dist != "special":
            assert np.isfinite(to_float(values["a"], dtype)).all()


@pytest.mark.parametrize("dist", DISTS)
def test_other_keys_and_other_purposes_give_other_inputs(dist: str) -> None:
    drawn = [
        draw(kernel("f8"), {"n": 50}, dist, generator(key, "inputs", label))["a"].tobytes()
        for key in (KEY, b"j" * 32)
        for label in (0, 1)
    ]
    assert len(set(drawn)) == 4


def test_special_values_are_all_there() -> None:
    values = draw(kernel("f4"), {"n": 3000}, "special", generator(KEY))["a"]
    tiny = np.abs(values[(values != 0) & np.isfinite(values)]).min()
    assert np.isnan(values).any()
    assert np.isposinf(values).any()
    assert np.isneginf(values).any()
    assert np.signbit(values[values == 0]).any()
    assert 0 < tiny < np.finfo("f4").smallest_normal


def test_small_ints_are_sums_that_low_precision_gets_wrong() -> None:
    values = draw(kernel("f4"), {"n": 2000}, "small_ints", generator(KEY))["a"]
    assert set(np.unique(values)) == set(range(9))
    assert values.sum() > 4096


def test_a_float_by_value_is_a_float32_and_an_int_takes_its_size() -> None:
    for label in range(20):
        values = draw(kernel(), {"n": 3}, "normal", generator(KEY, label))
        assert values["x"] == float(np.float32(values["x"])) != 0.0
        assert 1 <= values["k"] < 16
    assert draw(kernel(), {"n": 3, "k": 77}, "normal", generator(KEY))["k"] == 77


def test_given_values_are_not_drawn() -> None:
    values = draw(kernel(values={"x": 0.1, "k": -4}), {"n": 3, "k": 9}, "normal", generator(KEY))
    assert (values["x"], values["k"]) == (0.1, -4)


def test_extreme_elements_often_stand_first_or_last() -> None:
    places = {"first": 0, "last": 0}
    for label in range(200):
        values = draw(kernel("f8"), {"n": 1000}, "normal", generator(KEY, label))["a"]
        for extreme in (values.argmax(), values.argmin()):
            places["first"] += int(extreme == 0)
            places["last"] += int(extreme == 999)
    assert min(places.values()) > 30


@pytest.mark.parametrize("dtype", DTYPES)
def test_poison_has_the_size_of_the_output(dtype: str) -> None:
    array = Array("o", dtype, ("n", 3))
    found = poison(array, {"n": 5}, generator(KEY))
    assert len(found) == 15 * np.dtype(NUMPY[dtype]).itemsize
    assert found != poison(array, {"n": 5}, generator(KEY, "other"))
    if dtype == "b1":
        assert set(found) <= {0, 1}


def test_bfloat16_is_rounded_to_nearest_even_and_keeps_what_is_not_finite() -> None:
    halves = np.array([1.0, 1 + 2**-8, 1 + 3 * 2**-8, -0.0, np.inf, -np.inf, 3.4e38, 1e300], "f8")
    wanted = np.array([1.0, 1.0, 1 + 4 * 2**-8, -0.0, np.inf, -np.inf, np.inf, np.inf], "f4")
    assert to_bytes(to_float(to_bf16(halves), "bf16"), "f4") == to_bytes(wanted, "f4")
    assert np.isnan(to_float(to_bf16(np.array([np.nan])), "bf16")).all()


def test_every_bfloat16_survives_being_a_float() -> None:
    bits = np.arange(1 << 16, dtype="<u2")
    back = to_bf16(to_float(bits, "bf16"))
    numbers = ~np.isnan(to_float(bits, "bf16"))
    assert (back[numbers] == bits[numbers]).all()
    assert (back[~numbers] == 0x7FC0).all()
