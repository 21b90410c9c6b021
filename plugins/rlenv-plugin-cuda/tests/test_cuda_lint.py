"""A task that would pay for a cheat does not load, and says which cheat, by how much and what to
do.
"""

from __future__ import annotations

from typing import Any

import pytest
from rlenv.model.errors import TaskError
from rlenv.model.values import Task
from rlenv_plugin_cuda.lint import lint
from rlenv_plugin_cuda.reading import kernel_of


def load(**changes: Any) -> None:
    said: dict[str, Any] = {
        "inputs": [["a", "f4", ["n"]], ["b", "f4", ["n"]]],
        "outputs": [["o", "f4", ["n"]]],
        "golden": "return [a + b]",
        "hidden": [{"n": 1}, {"n": 257}],
        **changes,
    }
    lint(kernel_of(Task("p", info={"kernel": said}, id="t7")), "t7")


ONE: dict[str, Any] = {"outputs": [["o", "f4", [1]]]}
GRID: dict[str, Any] = {
    "inputs": [["a", "f4", ["m", "n"]]],
    "hidden": [{"m": 1, "n": 1}, {"m": 3, "n": 50}, {"m": 8, "n": 8}],
}
SUM: dict[str, Any] = {**ONE, "golden": "return [np.array([a.sum()])]"}

SOUND: dict[str, dict[str, Any]] = {
    "vadd": {"dists": ["normal", "big", "special"]},
    "relu": {"golden": "return [np.maximum(a, 0)]"},
    "copy": {"golden": "return [a]"},
    "sign": {"golden": "return [np.sign(a)]"},
    "root": {"golden": "return [np.sqrt(a)]", "tol": {"rtol": 1e-6}},
    "sum": {**SUM, "tol": {"rtol": 1e-5, "scale": "absdot?"}, "output_init": "zero"},
    "sum to all": {
        "golden": "return [np.full(n, a.sum())]",
        "tol": {"rtol": 1e-5, "scale": "absdot"},
    },
    "max": {**ONE, "golden": "return [np.array([a.max()])]"},
    "argmax": {"outputs": [["o", "i8", [1]]], "golden": "return [np.array([a.argmax()])]"},
    "compare": {"outputs": [["o", "b1", ["n"]]], "golden": "return [a > b]"},
    "count": {"outputs": [["o", "i4", ["n"]]], "golden": "return [(a > b) + 0]"},
    "two outputs": {
        "outputs": [["o", "f4", ["n"]], ["p", "f4", [1]]],
        "golden": "return [a + b, a[:1]]",
    },
    "half": {"outputs": [["o", "f2", ["n"]]], "tol": {"rtol": 1e-3}},
    "bfloat16": {
        "inputs": [["a", "bf16", ["n"]]],
        "outputs": [["o", "bf16", ["n"]]],
        "golden": "return [a * 3]",
    },
    "complex": {
        "inputs": [["a", "c8", ["n"]]],
        "outputs": [["o", "c8", ["n"]]],
        "golden": "return [a * a]",
    },
    "fill by index": {"golden": "return [np.arange(n) * 2.5]", "hidden": [{"n": 5}, {"n": 3000}]},
    "softmax": {
        **GRID,
        "outputs": [["o", "f4", ["m", "n"]]],
        "golden": "e = np.exp(a - a.max(1, keepdims=True))\nreturn [e / e.sum(1, keepdims=True)]",
        "dists": ["normal", "big"],
        "tol": {"atol": 1e-6, "rtol": 1e-4},
    },
    "transpose": {**GRID, "outputs": [["o", "f4", ["n", "m"]]], "golden": "return [a.T]"},
    "gram": {
        **GRID,
        "outputs": [["o", "f4", ["m", "m"]]],
        "golden": "return [a @ a.T]",
        "tol": {"rtol": 1e-5, "scale": "absdot"},
    },
    "histogram": {
        "inputs": [["a", "i4", ["n"]]],
        "outputs": [["o", "i4", [16]]],
        "golden": "return [np.bincount(a & 15, minlength=16)]",
        "output_init": "zero",
    },
    "scan": {
        "inputs": [["a", "i4", ["n"]]],
        "outputs": [["o", "i4", ["n"]]],
        "golden": "return [a.cumsum()]",
    },
}


@pytest.mark.parametrize("name", SOUND)
def test_sound_tasks_load(name: str) -> None:
    load(**SOUND[name])


CHEATS: dict[str, tuple[dict[str, Any], str]] = {
    "zeros within atol": (
        {"dists": ["tiny"], "tol": {"atol": 0.01}},
        "tol: with atol 0.01 and rtol 0, for the output o, zeros would pass in all of 6 cases",
    ),
    "zeros within a scale": (
        {"tol": {"rtol": 2, "scale": "max"}},
        "tol: with atol 0 and rtol 2, for the output o, zeros",
    ),
    "zeros within bounds": (
        {"golden": "return [a + b], {'bound': [abs(a + b)]}"},
        "tol: with atol 0 and rtol 0",
    ),
    "zeros of the second output": (
        {
            "outputs": [["o", "f4", ["n"]], ["p", "f4", ["n"]]],
            "golden": "return [a * 1e6, a]",
            "tol": {"atol": 100},
        },
        "tol: with atol 100 and rtol 0, for the output p, zeros",
    ),
    "only zeros": ({"golden": "return [a * 0]"}, "golden: the right output o is nothing but zeros"),
    "only ones": (
        {"golden": "return [a * 0 + 1]"},
        "golden: the right output o is nothing but ones",
    ),
    "only NaN": (
        {"golden": "return [a + np.nan]"},
        "golden: the right output o is nothing but NaN alone",
    ),
    "always false": (
        {"outputs": [["o", "b1", ["n"]]], "golden": "return [a > 1e9]"},
        "golden: the right output o is nothing but zeros",
    ),
    "always the same": (
        {"golden": "return [a * 0 + 7]"},
        "golden: the right output o is nothing but the mean",
    ),
    "the expected value": (
        {
            **SUM,
            "dists": ["positive"],
            "hidden": [{"n": 40000}],
            "tol": {"rtol": 0.02, "scale": "absdot"},
        },
        "tol: with atol 0 and rtol 0.02, for the output o, the mean of the right output would pass",
    ),
    "the mean": (
        {
            **GRID,
            "outputs": [["o", "f4", ["m", "n"]]],
            "golden": "return [1 + a * 1e-6]",
            "tol": {"rtol": 1e-4},
        },
        "tol: with atol 0 and rtol 0.0001, for the output o, ones would pass",
    ),
    "float16 outputs": (
        {"tol": {"rtol": 1e-3}},
        (
            "tol: with atol 0 and rtol 0.001, for the output o, the right output rounded to float16"
            " would pass"
        ),
    ),
    "float16 of an exact distribution": (
        {"dists": ["small_ints"]},
        (
            "dists: small_ints: for the output o, the right output rounded to float16 would be"
            " right in all of 6 cases"
        ),
    ),
    "a copy": (
        {"golden": "return [np.maximum(a, 0)]", "dists": ["positive"]},
        "dists: positive: for the output o, a copy of the input a would be right in all of 6 cases",
    ),
    "a copy within tolerance": (
        {"golden": "return [a + b * 1e-9]", "tol": {"rtol": 1e-4}},
        "tol: with atol 0 and rtol 0.0001, for the output o, a copy of the input a",
    ),
    "a shift": (
        {
            "inputs": [["a", "i8", ["n"]]],
            "outputs": [["o", "i8", ["n"]]],
            "golden": "return [1000 + np.arange(n) + a * 0]",
            "hidden": [{"n": 9}],
            "tol": {"atol": 8},
        },
        "tol: with atol 8 and rtol 0, for the output o, the mean",
    ),
    "a dropped term": (
        {
            "inputs": [["a", "i8", ["n"]]],
            "outputs": [["o", "i8", [1]]],
            "golden": "return [np.array([a.sum()])]",
            "hidden": [{"n": 60000}],
            "dists": ["positive"],
            "tol": {"rtol": 1e-4},
        },
        (
            "tol: with atol 0 and rtol 0.0001, for the output o, what is right without the last"
            " element of the input a"
        ),
    ),
}


@pytest.mark.parametrize("name", CHEATS)
def test_a_task_that_a_cheat_passes_does_not_load(name: str) -> None:
    changes, said = CHEATS[name]
    with pytest.raises(TaskError) as raised:
        load(**changes)
    assert str(raised.value).startswith(f"task 't7': info.kernel.{said}")


BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "raises": ({"golden": "raise ValueError('no')"}, "golden: it raises ValueError: no"),
    "raises for one shape": (
        {"golden": "assert n != 257\nreturn [a]"},
        "golden: it raises AssertionError",
    ),
    "no Python": ({"golden": "return [a"}, "golden: it cannot be used: SyntaxError"),
    "shape": (
        {"golden": "return [a[:1]]"},
        "golden: its output o has the shape (1,); (257,) is described",
    ),
    "number": (
        {"golden": "return []"},
        "golden: it returns 0 where a list of 1 outputs is described",
    ),
    "random": ({"golden": "return [a + np.random.rand(n)]"}, "golden: it is not deterministic"),
    "counts its calls": (
        {
            "golden": (
                "import itertools\n"
                "c = globals().setdefault('c', itertools.count())\n"
                "return [a + next(c)]"
            )
        },
        "golden: it is not deterministic",
    ),
    "remembers": (
        {"golden": "last = globals().get('last', 0)\nglobals()['last'] = a[0]\nreturn [a + last]"},
        "golden: it is not deterministic",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_model_is_found_at_load(name: str) -> None:
    changes, said = BROKEN[name]
    with pytest.raises(TaskError) as raised:
        load(**changes)
    assert str(raised.value).startswith(f"task 't7': info.kernel.{said}")


def test_a_task_that_was_tried_is_not_tried_again() -> None:
    from rlenv_plugin_cuda import lint as module

    before = module._problem.cache_info()
    for _ in range(3):
        load(golden="return [a + b + 1]")
    after = module._problem.cache_info()
    assert (after.misses - before.misses, after.hits - before.hits) == (1, 2)
    load(golden="return [a + b + 1]", hidden=[{"n": 2}, {"n": 257}])
    assert module._problem.cache_info().misses == after.misses + 1


def test_a_large_shape_is_left_alone_where_there_are_small_ones() -> None:
    load(hidden=[{"n": 7}, {"n": 1 << 26}])
