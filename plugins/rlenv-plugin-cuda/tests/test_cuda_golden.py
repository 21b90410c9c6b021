"""The golden model: what it is given, what it may give, and whose fault it is when it fails."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rlenv.model.errors import VerifierFault
from rlenv.model.values import Task
from rlenv_plugin_cuda.golden import Golden, golden_of
from rlenv_plugin_cuda.numbers import to_bf16, to_float
from rlenv_plugin_cuda.reading import kernel_of


def model(golden: str, **more: Any) -> Golden:
    said: dict[str, Any] = {
        "inputs": [["a", "f4", ["n"]], ["b", "f4", ["n"]]],
        "outputs": [["o", "f4", ["n"]]],
        "golden": golden,
        "hidden": [{"n": 3}],
        **more,
    }
    return golden_of(kernel_of(Task("p", info={"kernel": said})))


def f4(*numbers: float) -> NDArray[Any]:
    return np.array(numbers, "f4")


GIVEN = {"a": f4(1, -2, 3), "b": f4(10, 20, 30)}
SIZES = {"n": 3}


@pytest.mark.parametrize(
    "golden",
    [
        "return [a + b]",
        "return a + b",
        "return (a + b,)",
        "c = a + b\nreturn [c]",
        "    c = a + b\n    return [c]",
        "return [np.add(a, b)]",
        "return [a + b + 0 * n]",
        "def golden(x, y):\n    return [x + y]",
        "import math\ndef total(x, y):\n    return [x + y]",
        "def twice(x):\n    return 2 * x\nreturn [twice(a) / 2 + b]",
        "numpy:add",
    ],
)
def test_a_model_may_be_written_in_several_ways(golden: str) -> None:
    (output,) = model(golden)(GIVEN, SIZES).outputs
    assert output.dtype == np.float32
    assert output.tolist() == [11, 18, 33]


def test_floats_are_widened_and_the_outputs_are_of_the_types_described() -> None:
    wanted = model("assert a.dtype == np.float64\nreturn [a * 1e-9 + 1]")(GIVEN, SIZES)
    assert wanted.outputs[0].dtype == np.float32
    assert wanted.outputs[0][0] == np.float32(1 + 1e-9)


def test_a_model_cannot_change_what_the_kernel_gets() -> None:
    given = {"a": np.array([1.0, 2.0, 3.0]), "b": np.array([1, 2, 3], "i4")}
    model("a *= 0\nb *= 0\nreturn [a]", inputs=[["a", "f8", ["n"]], ["b", "i4", ["n"]]])(
        given, SIZES
    )
    assert given["a"].tolist() == given["b"].tolist() == [1, 2, 3]


def test_bfloat16_is_read_and_written_as_its_bits() -> None:
    arrays: dict[str, Any] = {"inputs": [["a", "bf16", ["n"]]], "outputs": [["o", "bf16", ["n"]]]}
    (output,) = model("return [a * 2]", **arrays)({"a": to_bf16(f4(1, 2.5, -3))}, SIZES).outputs
    assert output.dtype == np.uint16
    assert to_float(output, "bf16").tolist() == [2, 5, -6]


def test_overflow_and_nan_are_results_and_no_warnings() -> None:
    given = {"a": f4(1e30, -1, np.nan), "b": f4(0, 0, 0)}
    (output,) = model("return [np.sqrt(a) / b * a * a]")(given, SIZES).outputs
    assert np.isposinf(output[0])
    assert np.isnan(output[1:]).all()
    (means,) = model("return [np.full(n, np.nanmean(a[:0]))]")(given, SIZES).outputs
    assert np.isnan(means).all()


@pytest.mark.parametrize(
    ("golden", "said"),
    [
        ("return [a", "it cannot be used: SyntaxError"),
        ("no_such_module:f", "it cannot be used: ModuleNotFoundError"),
        ("numpy:no_such_function", "it cannot be used: AttributeError"),
        ("numpy:pi", "it cannot be used: TypeError: numpy:pi is not a function"),
    ],
)
def test_a_model_that_is_none_is_a_fault(golden: str, said: str) -> None:
    with pytest.raises(VerifierFault) as raised:
        model(golden)
    assert raised.value.fault.message.startswith(f"the golden model of this task: {said}")


@pytest.mark.parametrize(
    ("golden", "said"),
    [
        ("raise ValueError('no')", "it raises ValueError: no"),
        ("return [c]", "it raises NameError"),
        ("return None", "it returns NoneType where a list of 1 outputs is described"),
        ("return [a, b]", "it returns 2 where a list of 1 outputs is described"),
        ("return [a[:2]]", "its output o has the shape (2,); (3,) is described"),
        ("return [a.sum()]", "its output o has the shape (); (3,) is described"),
        ("return [['x', 'y', 'z']]", "its output o holds <U1; f4 is described"),
        ("return [a + 1j]", "its output o holds complex128; f4 is described"),
        ("return [[[1], 2, 3]]", "its output o is not an array"),
        ("return [a], {'bounds': [a]}", "beside its outputs it returns 'bounds'"),
        ("return [a], {'bound': [a, a]}", "its bound is not a list of 1"),
        ("return [a], {'bound': [a[:2]]}", "its bound is not an array of numbers"),
    ],
)
def test_a_model_that_gives_what_is_not_described_is_a_fault(golden: str, said: str) -> None:
    with pytest.raises(VerifierFault) as raised:
        model(golden)(GIVEN, SIZES)
    fault = raised.value.fault
    assert fault.message.startswith(f"the golden model of this task: {said}")
    assert not fault.transient


def test_absdot_is_the_sum_of_absolute_products() -> None:
    dot = model(
        "return [np.array([a @ b])]", outputs=[["o", "f4", [1]]], tol={"rtol": 1, "scale": "absdot"}
    )
    wanted = dot(GIVEN, SIZES)
    assert wanted.outputs[0].tolist() == [10 - 40 + 90]
    (scale,) = wanted.scales
    assert isinstance(scale, np.ndarray)
    assert scale.tolist() == [10 + 40 + 90]


def test_absdot_is_never_less_than_the_output_nor_anything_but_finite() -> None:
    less = model("return [a - b]", tol={"rtol": 1, "scale": "absdot"})
    given = {"a": f4(5, np.inf, np.nan), "b": f4(-5, 1, 1)}
    (scale,) = less(given, SIZES).scales
    assert isinstance(scale, np.ndarray)
    assert scale.tolist() == [10, 0, 0]


def test_std_and_max_are_of_the_finite_output() -> None:
    given = {"a": f4(1, 3, np.nan), "b": f4(0, 0, 0)}
    for scale, number in (("std", 1.0), ("max", 3.0)):
        assert model("return [a]", tol={"rtol": 1, "scale": scale})(given, SIZES).scales == (
            number,
        )
    nothing = {"a": f4(np.nan, np.nan, np.nan), "b": f4(0, 0, 0)}
    assert model("return [a]", tol={"rtol": 1, "scale": "max"})(nothing, SIZES).scales == (0.0,)


def test_a_model_may_bound_its_own_errors() -> None:
    wanted = model("return [a], {'bound': [-abs(a)]}")(GIVEN, SIZES)
    assert wanted.bounds[0] is not None
    assert wanted.bounds[0].tolist() == [1, 2, 3]
    assert model("return [a], {'bound': [None]}")(GIVEN, SIZES).bounds == (None,)
