"""Arithmetic of interpreted Triton kernels rounds to its type, as that of compiled ones does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from rlenv import Environment, Task
from rlenv.sandbox import close_all
from rlenv_plugin_cuda.lang_triton.where import missing

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "triton is here")
HEAD = "import triton\nimport triton.language as tl\n"
LOST = {"f4": 24, "f2": 11, "bf16": 8}  # doublings after which adding x is lost
BIG = {"f4": 2.0**24, "f2": 2.0**11, "bf16": 2.0**8}
NAMES = {"f4": "tl.float32", "f2": "tl.float16", "bf16": "tl.bfloat16"}


@pytest.fixture(scope="module")
def env() -> Iterator[Environment]:
    stages: list[dict[str, Any]] = [
        {"use": "cuda/compile", "options": {"compiler": "none"}},
        {"use": "cuda/run", "weight": 0},
        {"use": "cuda/diff"},
    ]
    with Environment.from_dict({"name": "rounding", "stage": stages}) as made:
        yield made
    close_all()


def value(
    env: Environment, body: str, golden: str, dtype: str = "f4", out: str = "", **tol: Any
) -> float:
    """What a kernel of these lines earns: ``i`` are the columns, ``v`` is row ``r`` of x, ``o + i``
    its output.
    """
    kernel = {
        "lang": "triton",
        "inputs": [["x", dtype, ["m", 64]], ["y", dtype, ["m", 64]]],
        "outputs": [["o", out or dtype, ["m", 64]]],
        "golden": golden,
        "hidden": [{"m": 2}, {"m": 3}],
        "dists": ["uniform"],
        "tol": tol or {"rtol": 0.01},
    }
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    source = (
        f"{HEAD}@triton.jit\n"
        "def k(x, y, o, n, m):\n"
        "    i = tl.program_id(0) * 64 + tl.arange(0, 64)\n"
        "    v = tl.load(x + i)\n"
        "    w = tl.load(y + i)\n"
        f"{lines}def run(x, y, o):\n"
        "    k[(x.shape[0],)](x, y, o, 64, x.shape[0])\n"
    )
    task = Task("Write it.", info={"kernel": kernel})
    verdict = env.evaluate(task, f"```python\n{source}```\n")
    ran = verdict.results[1].outcome
    assert ran is not None
    assert ran.score == 1.0, ran.detail
    return verdict.reward


@pytest.mark.parametrize("dtype", LOST)
def test_what_is_added_and_removed_again_is_lost(env: Environment, dtype: str) -> None:
    literal = f"tl.store(o + i, (v + {BIG[dtype]}) - {BIG[dtype]})"
    doubled = f"b = v\nfor _ in range({LOST[dtype]}):\n    b = b + b\ntl.store(o + i, (v + b) - b)"

    assert value(env, literal, "return [x]", dtype) == 0.0
    assert value(env, doubled, "return [x]", dtype) == 0.0
    assert value(env, doubled.replace("(v + b) - b", "v + (b - b)"), "return [x]", dtype) == 1.0


@pytest.mark.parametrize("dtype", LOST)
def test_a_variance_in_one_pass_cancels(env: Environment, dtype: str) -> None:
    offset = {"f4": 4096.0, "f2": 24.0, "bf16": 24.0}[dtype]
    one = (
        f"v = v + {offset}\n"
        "m = tl.sum(v, axis=0) / 64\n"
        "q = tl.sum(v * v, axis=0) / 64\n"
        "tl.store(o + i, v * 0 + (q - m * m))"
    )
    two = (
        f"v = v.to(tl.float32) + {offset}\n"
        "m = tl.sum(v, axis=0) / 64\n"
        "d = v - m\n"
        "tl.store(o + i, d * 0 + tl.sum(d * d, axis=0) / 64)"
    )
    golden = f"return [x * 0 + (x + {offset}).var(axis=1, keepdims=True)]"

    assert value(env, one, golden, dtype, "f4", rtol=0.05) == 0.0
    assert value(env, two, golden, dtype, "f4", rtol=0.05) == 1.0


@pytest.mark.parametrize("dtype", ["f2", "bf16"])
@pytest.mark.parametrize("call", ["tl.sum(v, axis=0)", "tl.max(tl.cumsum(v, axis=0), axis=0)"])
def test_every_partial_sum_of_16_bits_is_rounded(env: Environment, dtype: str, call: str) -> None:
    """64 numbers near a large one are lost one after another, or in a tree."""
    golden = f"return [x * 0 + (np.abs(x).sum(axis=1, keepdims=True) + 64 * {BIG[dtype]})]"
    exact = f"v = tl.abs(v) + {BIG[dtype]}\nv = v.to(tl.float32)\n"
    keep = f"tl.store(o + i, v * 0.0 + {call})"
    head = f"v = (tl.abs(v) + {BIG[dtype]}).to({NAMES[dtype]})\n"

    assert value(env, head + keep, golden, dtype, "f4", atol=1.0) == 0.0
    assert value(env, exact + keep, golden, dtype, "f4", rtol=0.02) == 1.0


def test_an_honest_sum_of_bfloat16_is_paid(env: Environment) -> None:
    golden = "return [x * 0 + np.abs(x).sum(axis=1, keepdims=True)]"
    body = "tl.store(o + i, v * 0 + tl.sum(tl.abs(v), axis=0))"

    assert value(env, body, golden, "bf16", rtol=0.05) == 1.0


SCALARS = {
    "a loop": (
        "c = 0.25\n"
        "for j in range(n):\n"
        "    c += 16777216.0 / 64\n"
        "for j in range(n):\n"
        "    c -= 16777216.0 / 64\n"
    ),
    "a loop over constants": (
        "c = 0.25\n"
        "for j in range(2):\n"
        "    c = c * 1.0\n"
        "for j in range(1):\n"
        "    c = (c + 33554432.0)\n"
        "c -= 33554432.0\n"
    ),
    "while": "c = 0.25\nj = 0\nwhile j < 2:\n    c += 33554432.0\n    j += 1\nc -= 67108864.0\n",
    "a branch": "c = 0.25\nif n > 3:\n    c += 33554432.0\nc -= 33554432.0\n",
    "the number of a round": (
        "c = 0.0\nfor j in range(1):\n    c += ((j + 0.25) + 33554432.0) - 33554432.0\n"
    ),
    "integers of a loop": (
        "c = 2147483647\n"
        "for j in range(n):\n"
        "    c += 2147483647\n"
        "c = (c + 0.25) / 139586437120.0 * 0.25\n"
    ),
}


@pytest.mark.parametrize("name", SCALARS)
def test_numbers_of_python_that_a_loop_changes_have_32_bits(env: Environment, name: str) -> None:
    assert value(env, f"{SCALARS[name]}tl.store(o + i, v * 0 + c)", "return [x * 0 + 0.25]") == 0.0


def test_numbers_that_are_known_when_it_is_compiled_are_pythons(env: Environment) -> None:
    body = (
        "c = (0.25 + 33554432.0) - 33554432.0\n"
        "for j in tl.static_range(2):\n"
        "    c = (c + 33554432.0) - 33554432.0\n"
    )

    assert value(env, f"{body}tl.store(o + i, v * 0 + c)", "return [x * 0 + 0.25]") == 1.0


def test_loops_of_whole_numbers_count_as_before(env: Environment) -> None:
    body = (
        "c = 0\n"
        "d = 1.0\n"
        "for j in range(0, n, 2):\n"
        "    if j % 4 == 0:\n"
        "        c += j // 2\n"
        "    d = d * 0.5 + j\n"
        "tl.store(o + i, v * 0 + c + d)"
    )
    c = 0
    d = 1.0
    for j in range(0, 64, 2):
        c = c + (j // 2 if j % 4 == 0 else 0)
        d = d * 0.5 + j

    assert value(env, body, f"return [x * 0 + {c + d}]", rtol=1e-6) == 1.0


@pytest.mark.parametrize("dtype", ["f2", "bf16"])
def test_a_dot_product_of_16_bits_accumulates_in_float32(env: Environment, dtype: str) -> None:
    """64 products of 1 + eps: in 16 bits their sum would be exactly 64."""
    eps = {"f2": 2.0**-10, "bf16": 2.0**-7}[dtype]
    body = (
        f"a = (tl.zeros((64, 64), tl.float32) + {1 + eps}).to({NAMES[dtype]})\n"
        f"b = (tl.zeros((64, 64), tl.float32) + 1).to({NAMES[dtype]})\n"
        "d = tl.dot(a, b)\n"
        "tl.store(o + i, tl.max(d, axis=0))"
    )

    assert value(env, body, f"return [x * 0 + {64 * (1 + eps)}]", dtype, "f4", rtol=1e-7) == 1.0


ONCE = "return [x * y + x]"
TWICE = "return [(x * y).astype(np.float32).astype(float) + x]"


@pytest.mark.parametrize(
    ("golden", "contract", "code", "reward"),
    [
        (ONCE, False, "v * w + v", 0.0),
        (ONCE, True, "v * w + v", 1.0),
        (ONCE, True, "v - (-v) * w", 1.0),
        (ONCE, False, "tl.fma(v, w, v)", 1.0),
        (TWICE, True, "v * w + v", 1.0),
        (TWICE, True, "tl.fma(v, w, v)", 0.0),
    ],
)
def test_a_task_may_allow_products_that_are_not_rounded_before_a_sum(
    env: Environment, golden: str, contract: bool, code: str, reward: float
) -> None:
    found = value(env, f"tl.store(o + i, {code})", golden, contract=contract)

    assert found == reward


def test_products_that_are_added_are_fused_by_default_as_the_compiler_does_it(
    env: Environment,
) -> None:
    for golden in (ONCE, TWICE):
        assert value(env, "tl.store(o + i, v * w + v)", golden, atol=0.0) == 1.0
    assert value(env, "tl.store(o + i, tl.fma(v, w, v))", TWICE, atol=0.0) == 0.0


def test_subnormal_numbers_of_float32_are_kept(env: Environment) -> None:
    body = "tl.store(o + i, (v * 1.0e-30) * 1.0e-12)"
    golden = "return [np.float32(np.float32(x) * np.float32(1e-30)) * np.float32(1e-12)]"

    assert np.finfo(np.float32).tiny > 1e-42
    assert value(env, body, golden, atol=1e-44) == 1.0
