"""A kernel task is read strictly, and every mistake names its key, its value and what was
expected.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rlenv.model.errors import TaskError
from rlenv.model.values import Task
from rlenv_plugin_cuda.dims import BadDim, extent, names_in
from rlenv_plugin_cuda.reading import kernel_of
from rlenv_plugin_cuda.spec import Kernel

VADD: dict[str, Any] = {
    "inputs": [["a", "f4", ["n"]], ["b", "f4", ["n"]]],
    "outputs": [["o", "f4", ["n"]]],
    "golden": "return [a + b]",
    "hidden": [{"n": 1}, {"n": 257}],
}


def read(**changes: Any) -> Kernel:
    said = {key: value for key, value in {**VADD, **changes}.items() if value is not ...}
    return kernel_of(Task("p", info={"kernel": said}, id="t7"))


def test_the_shortest_task_has_sound_defaults() -> None:
    kernel = read()
    assert (kernel.lang, kernel.dists, kernel.output_init) == ("numba", ("normal",), "poison")
    assert (kernel.tol.atol, kernel.tol.rtol, kernel.tol.scale) == (0.0, 0.0, "")
    assert (kernel.limits.arch, kernel.limits.registers) == ("sm_90", None)


def test_the_longest_task_is_read_whole() -> None:
    kernel = read(
        lang="triton",
        inputs=[["a", "f4", ["n", "2*n+1"]], ["alpha", "scalar", []], ["k", "int", []]],
        visible=[{"n": 128}],
        hidden=[{"n": 4, "k": 3}],
        dists=["normal", "big", "normal"],
        tol={"atol": 1e-6, "rtol": 1, "scale": "absdot?"},
        output_init="zero",
        limits={
            "registers": 32,
            "shared": 0,
            "stack": 1024,
            "spills": 0,
            "threads_per_block": 256,
            "arch": "sm_90a",
        },
        values={"alpha": 2},
        golden="return [a[:, 0] * alpha]",
        outputs=[["o", "f4", ["n"]]],
    )
    assert kernel.inputs[0].shape({"n": 4}) == (4, 9)
    assert kernel.tol.scale == "absdot"
    assert kernel.dists == ("normal", "big")
    assert kernel.values == {"alpha": 2.0}
    assert (kernel.limits.registers, kernel.limits.arch) == (32, "sm_90a")


def test_numbers_by_value_are_a_scalar_or_an_int() -> None:
    kernel = read(
        inputs=[["a", "f4", "n"], ["x", "f4", []], ["y", "f8"], ["m", "i4", []], ["k", "u8"]]
    )
    assert [array.dtype for array in kernel.inputs] == ["f4", "scalar", "scalar", "int", "int"]
    assert [array.scalar for array in kernel.inputs] == [False, True, True, True, True]
    assert kernel.inputs[0].dims == ("n",)


def test_neither_golden_nor_hidden_sizes_show_in_a_kernel() -> None:
    assert "a + b" not in repr(read())
    assert "257" not in repr(read())


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"hiden": []}, 'hiden: there is no such key; did you mean "hidden"?'),
    ({"lang": "opencl"}, "lang: 'opencl' is not known"),
    ({"inputs": 3}, "inputs: expected a list"),
    ({"outputs": []}, "outputs: expected a list of at least 1"),
    ({"inputs": [["a", "f3", ["n"]]]}, "inputs[0]: 'f3' is not known"),
    ({"inputs": [["a", ["f4"], ["n"]]]}, "inputs[0]: ['f4'] is not known"),
    ({"inputs": [["a"]]}, 'inputs[0]: expected ["name", "f4", ["n"]]'),
    ({"inputs": [["1a", "f4", ["n"]]]}, "inputs[0]: expected a name, not '1a'"),
    ({"inputs": [["lambda", "f4", ["n"]]]}, "inputs[0]: expected a name, not 'lambda'"),
    ({"inputs": [["__a", "f4", ["n"]]]}, "inputs[0]: expected a name, not '__a'"),
    ({"inputs": [["a", "f4", [1.5]]]}, "inputs[0]: expected dimensions of names and integers"),
    (
        {"inputs": [["a", "f4", [True]]]},
        "inputs[0]: expected dimensions of names and integers",
    ),
    ({"inputs": [["a", "f4", ["n**2"]]]}, "inputs[0]: dimension 'n**2' has more than"),
    ({"inputs": [["a", "f4", ["n n"]]]}, "inputs[0]: dimension 'n n' is not arithmetic"),
    ({"inputs": [["a", "f4", ["f(n)"]]]}, "inputs[0]: dimension 'f(n)' has more than"),
    ({"inputs": [["a", "scalar", ["n"]]]}, "inputs[0]: a is a scalar and has no dimensions"),
    ({"inputs": [["a", "c8", []]]}, "inputs[0]: a has no dimensions"),
    (
        {"outputs": [["o", "scalar", []]]},
        "outputs[0]: o is a number by value and cannot be written",
    ),
    ({"outputs": [["a", "f4", ["n"]]]}, "outputs: the name 'a' is given twice"),
    ({"golden": ...}, "golden: expected the body of a function"),
    ({"golden": "  "}, "golden: expected the body of a function"),
    ({"hidden": ...}, "hidden: expected a list of at least 1"),
    ({"hidden": []}, "hidden: expected a list of at least 1"),
    ({"hidden": [{}]}, "hidden[0]: no size for n, so shapes do not resolve"),
    ({"hidden": [{"n": 0}]}, "hidden[0]: expected a table of integers from 1"),
    ({"hidden": [{"n": True}]}, "hidden[0]: expected a table of integers from 1"),
    ({"hidden": [{"n": 4, "m": 4}]}, "hidden[0]: 'm' is a dimension of no array"),
    ({"hidden": [{"n": 1 << 40}]}, "hidden[0]: a would have the shape (1099511627776,)"),
    ({"visible": [{"n": "4"}]}, "visible[0]: expected a table of integers from 1"),
    ({"inputs": [["a", "f4", ["n-5"]]]}, "hidden[0]: a would have the shape (-4,)"),
    ({"inputs": [["a", "f4", ["n//(n-1)"]]]}, "hidden[0]: a: dimension 'n//(n-1)' divides by zero"),
    ({"dists": ["nromal"]}, "dists: 'nromal' is not known; did you mean \"normal\"?"),
    ({"dists": []}, "dists: expected a list of at least 1"),
    ({"tol": 0.1}, "tol: expected a table"),
    ({"tol": {"atoll": 1}}, 'tol.atoll: there is no such key; did you mean "atol"?'),
    ({"tol": {"atol": -1}}, "tol.atol: expected a finite number from 0, not -1"),
    ({"tol": {"rtol": float("nan")}}, "tol.rtol: expected a finite number from 0, not nan"),
    ({"tol": {"rtol": float("inf")}}, "tol.rtol: expected a finite number from 0, not inf"),
    ({"tol": {"rtol": True}}, "tol.rtol: expected a finite number from 0, not True"),
    ({"tol": {"scale": "absdt"}}, "tol.scale: 'absdt' is not known; did you mean \"absdot\"?"),
    ({"output_init": "nan"}, "output_init: 'nan' is not known"),
    ({"limits": []}, "limits: expected a table"),
    ({"limits": {"regs": 1}}, "limits.regs: there is no such limit"),
    ({"limits": {"registers": -1}}, "limits.registers: expected an integer from 0, not -1"),
    ({"limits": {"registers": True}}, "limits.registers: expected an integer from 0, not True"),
    (
        {"limits": {"threads_per_block": 0}},
        "limits.threads_per_block: expected an integer from 1",
    ),
    ({"limits": {"arch": "gfx90"}}, "limits.arch: expected such as \"sm_90\", not 'gfx90'"),
    ({"limits": {"arch": 90}}, 'limits.arch: expected such as "sm_90", not 90'),
    ({"values": {"beta": 1}}, "values.beta: there is no such scalar"),
    (
        {"inputs": [["k", "int", []]], "values": {"k": 1.5}},
        "values.k: expected an integer, not 1.5",
    ),
    ({"inputs": [["k", "int", []]], "values": {"k": 1 << 63}}, "values.k: expected an integer"),
]


@pytest.mark.parametrize(("changes", "said"), MISTAKES, ids=[said[:40] for _, said in MISTAKES])
def test_a_mistake_names_task_key_value_and_what_was_expected(
    changes: Mapping[str, Any], said: str
) -> None:
    with pytest.raises(TaskError) as raised:
        read(**changes)
    assert str(raised.value).startswith(f"task 't7': info.kernel.{said}")


@pytest.mark.parametrize("info", [{}, {"kernel": None}, {"kernel": "vadd"}, {"kernel": []}])
def test_a_task_without_a_table_says_what_belongs_there(info: Mapping[str, Any]) -> None:
    with pytest.raises(TaskError, match=r"info\.kernel: expected a table with lang"):
        kernel_of(Task("p", info=info))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["n", "f4", "a"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["n", "atol", "arch", "x"]), inner)
    ),
    max_leaves=6,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    key=st.sampled_from([*VADD, "lang", "dists", "tol", "limits", "values", "visible"]), value=JSON
)
def test_any_value_is_read_or_refused_with_a_reason(key: str, value: Any) -> None:
    try:
        read(**{key: value})
    except TaskError as err:
        assert err.message.startswith("info.kernel.")  # noqa: PT017 - either is right
        json.dumps(err.message)


def test_dimensions_are_arithmetic_of_names() -> None:
    assert names_in("(n + 255) // 256 * m") == {"n", "m"}
    assert extent("(n + 255) // 256 * m - 1", {"n": 257, "m": 3}) == 5
    assert extent(7, {}) == 7


@pytest.mark.parametrize(
    "dim", ["", "n.x", "n[0]", "-n", "1.5", "'n'", "n if n else 1", "(" * 300, "n\n;m", "\0"]
)
def test_a_dimension_that_is_more_than_arithmetic_is_refused(dim: str) -> None:
    with pytest.raises(BadDim):
        names_in(dim)
