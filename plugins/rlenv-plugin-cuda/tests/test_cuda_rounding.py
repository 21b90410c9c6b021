"""Interpreted numba kernels round to their types: more bits than a device has are not paid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from rlenv import Environment, Task
from rlenv.model.errors import TaskError
from rlenv.sandbox import close_all
from rlenv_plugin_cuda.reading import kernel_of

HEAD = "import math\nimport numpy as np\nfrom numba import cuda, float16, float32, float64, int32\n"
DOUBLED = {"f4": 24, "f2": 11, "bf16": 8}  # doublings after which adding x is lost

ADDED = """
@cuda.jit
def k(x, o):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        b = v
        for _ in range({times}):
            b = b + b
        o[i] = {sum}
def run(x, o):
    k[(x.size + 63) // 64, 64](x, o)
"""
LITERAL = """
@cuda.jit
def k(x, o):
    i = cuda.grid(1)
    if i < x.size:
        big = float32(16777216.0)
        o[i] = (x[i] + big) - big
def run(x, o):
    k[(x.size + 63) // 64, 64](x, o)
"""
VARIANCE = """
@cuda.jit
def k(x, o):
    i = cuda.grid(1)
    if i < x.shape[0]:
        n = {real}(x.shape[1])
        s = {real}(0)
        q = {real}(0)
        for j in range(x.shape[1]):
            v = x[i, j] + {real}({offset})
            s += v
            q += v * v
        o[i] = {value}
def run(x, o):
    k[x.shape[0], 1](x, o)
"""
TWO_PASSES = """
@cuda.jit
def k(x, o):
    i = cuda.grid(1)
    if i < x.shape[0]:
        s = float32(0)
        for j in range(x.shape[1]):
            s += float32(x[i, j]) + float32({offset})
        mean = s / float32(x.shape[1])
        q = float32(0)
        for j in range(x.shape[1]):
            d = (float32(x[i, j]) + float32({offset})) - mean
            q += d * d
        o[i] = q / float32(x.shape[1])
def run(x, o):
    k[x.shape[0], 1](x, o)
"""
OFFSET = {"f4": 4096, "f2": 24}


def same(dtype: str) -> dict[str, Any]:
    return {
        "inputs": [["x", dtype, ["n"]]],
        "outputs": [["o", dtype, ["n"]]],
        "golden": "return [x]",
        "hidden": [{"n": 1}, {"n": 70}],
        "dists": ["uniform"],
        "tol": {"rtol": 1e-5 if dtype == "f4" else 1e-3},
    }


def variance(dtype: str) -> dict[str, Any]:
    return {
        "inputs": [["x", dtype, ["m", "n"]]],
        "outputs": [["o", "f4", ["m"]]],
        "golden": f"return [(x + {OFFSET[dtype]}).var(axis=1)]",
        "hidden": [{"m": 3, "n": 33}, {"m": 5, "n": 40}],
        "dists": ["normal"],
        "tol": {"rtol": 0.02, "atol": 0.002},
    }


@pytest.fixture(scope="module")
def env() -> Iterator[Environment]:
    stages: list[dict[str, Any]] = [
        {"use": "cuda/compile", "options": {"compiler": "none"}},
        {"use": "cuda/run", "weight": 0, "options": {"backend": "interpreter"}},
        {"use": "cuda/diff"},
    ]
    with Environment.from_dict({"name": "rounding", "stage": stages}) as made:
        yield made
    close_all()


def value(env: Environment, kernel: dict[str, Any], source: str, lang: str = "numba") -> float:
    task = Task("Write it.", info={"kernel": {**kernel, "lang": lang}})
    verdict = env.evaluate(task, f"```python\n{HEAD}{source}\n```\n")
    ran = verdict.results[1].outcome
    assert ran is not None
    assert ran.score == 1.0, ran.detail
    return verdict.reward


@pytest.mark.parametrize("dtype", DOUBLED)
def test_what_is_added_and_removed_again_is_lost(env: Environment, dtype: str) -> None:
    kernel = same(dtype)

    assert value(env, kernel, ADDED.format(times=DOUBLED[dtype], sum="(v + b) - b")) == 0.0
    assert value(env, kernel, ADDED.format(times=DOUBLED[dtype], sum="v + (b - b)")) == 1.0


def test_a_literal_of_float32_is_added_in_float32(env: Environment) -> None:
    assert value(env, same("f4"), LITERAL) == 0.0
    assert value(env, same("f4"), LITERAL.replace("float32(16777216.0)", "16777216.0")) == 1.0


@pytest.mark.parametrize("dtype", OFFSET)
def test_a_variance_in_one_pass_cancels(env: Environment, dtype: str) -> None:
    kernel = variance(dtype)
    real = {"f4": "float32", "f2": "float16"}[dtype]
    given = {"real": real, "offset": OFFSET[dtype]}

    assert value(env, kernel, VARIANCE.format(**given, value="q / n - (s / n) * (s / n)")) == 0.0
    assert value(env, kernel, TWO_PASSES.format(**given)) == 1.0


# -- fused multiply-add

SAXPY = (
    "@cuda.jit\n"
    "def k(a, x, y, o):\n"
    "    i = cuda.grid(1)\n"
    "    if i < o.size:\n"
    "        o[i] = {}\n"
    "def run(a, x, y, o):\n"
    "    k[(o.size + 63) // 64, 64](a, x, y, o)\n"
)
FMA = {
    "inputs": [["a", "f4", ["n"]], ["x", "f4", ["n"]], ["y", "f4", ["n"]]],
    "outputs": [["o", "f4", ["n"]]],
    "hidden": [{"n": 200}, {"n": 90}],
    "dists": ["normal"],
}
ONCE = "return [a * x + y]"  # nearest numbers of float64, rounded once
TWICE = "return [(a * x).astype(np.float32).astype(float) + y]"


@pytest.mark.parametrize(
    ("golden", "contract", "code", "reward"),
    [
        (ONCE, False, "a[i] * x[i] + y[i]", 0.0),
        (ONCE, True, "a[i] * x[i] + y[i]", 1.0),
        (ONCE, True, "y[i] - (-a[i]) * x[i]", 1.0),
        (ONCE, False, "cuda.fma(a[i], x[i], y[i])", 1.0),
        (TWICE, False, "a[i] * x[i] + y[i]", 1.0),
        (TWICE, True, "a[i] * x[i] + y[i]", 1.0),
        (TWICE, True, "cuda.fma(a[i], x[i], y[i])", 0.0),
        (ONCE, True, "(a[i] * x[i] + y[i]) + float32(1e-3)", 0.0),
    ],
)
def test_a_task_may_allow_products_that_are_not_rounded_before_a_sum(
    env: Environment, golden: str, contract: bool, code: str, reward: float
) -> None:
    kernel = {**FMA, "golden": golden, "tol": {"contract": contract}}

    assert value(env, kernel, SAXPY.format(code)) == reward


@pytest.mark.parametrize(
    ("golden", "code", "reward"),
    [
        (ONCE, "a[i] * x[i] + y[i]", 1.0),
        (TWICE, "a[i] * x[i] + y[i]", 1.0),
        (ONCE, "y[i] - (-a[i]) * x[i]", 1.0),
        (TWICE, "cuda.fma(a[i], x[i], y[i])", 0.0),
        (ONCE, "(a[i] * x[i] + y[i]) + float32(1e-3)", 0.0),
        ("return [(a * x).astype(np.float32).astype(float) * y]", "a[i] * x[i] * y[i]", 1.0),
    ],
)
def test_products_that_are_added_are_fused_by_default_as_the_compiler_does_it(
    env: Environment, golden: str, code: str, reward: float
) -> None:
    assert value(env, {**FMA, "golden": golden}, SAXPY.format(code)) == reward


def test_a_sum_that_is_kept_in_memory_is_fused_by_default(env: Environment) -> None:
    code = "y[i]\n        o[i] += a[i] * x[i]"
    for golden in (ONCE, TWICE):
        assert value(env, {**FMA, "golden": golden}, SAXPY.format(code)) == 1.0


def test_contract_is_true_or_false() -> None:
    kernel = {**FMA, "lang": "numba", "golden": ONCE, "tol": {"contract": "yes"}}
    with pytest.raises(TaskError, match=r"tol\.contract: expected true or false, not 'yes'"):
        kernel_of(Task("Write it.", info={"kernel": kernel}))
