"""Kernels compiled for the CPU: the same answers, indices checked, races found on a smaller
shape.
"""

from functools import partial
from typing import Any

import numpy as np
import pytest

N = 5000
A = np.arange(1, N + 1, dtype=np.float32)
PLAN = "def run(a, o):\n    k[(o.size + 127) // 128, 128](a, o)\n"
TREE = """
T = 128
@cuda.jit
def k(a, o):
    s = cuda.shared.array(T, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = a[i] if i < a.size else 0.0
    cuda.syncthreads()
    w = T // 2
    while w > 0:
        if t < w:
            s[t] += s[t + w]
        cuda.syncthreads()
        w //= 2
    if t == 0:
        cuda.atomic.add(o, 0, s[0])
def run(a, o):
    k[(a.size + T - 1) // T, T](a, o)
"""
SHUFFLE = """
@cuda.jit
def k(a, o):
    i = cuda.grid(1)
    v = a[i] if i < a.size else float32(0)
    d = 16
    while d > 0:
        v += cuda.shfl_down_sync(0xffffffff, v, d)
        d //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(o, 0, v)
def run(a, o):
    k[(a.size + 127) // 128, 128](a, o)
"""


@pytest.fixture
def lowered(run_kernel: Any) -> Any:
    return partial(run_kernel, backend="njit")


def kernel(body: str) -> str:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return f"@cuda.jit\ndef k(a, o):\n{lines}{PLAN}"


@pytest.mark.parametrize(
    "source",
    [pytest.param(TREE, marks=pytest.mark.slow), SHUFFLE],  # compiled for four seconds
    ids=["tree", "shuffle"],
)
def test_sums_are_right(source: str, lowered: Any) -> None:
    found = lowered(source, {"a": A}, {"o": ("f8", (1,))}, zero=True)

    assert (found.wrong, found.runs.backend) == ("", "njit")
    assert found.outputs[0][0] == A.sum(dtype=float)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("bounds", "o[cuda.grid(1)] = 1"),
        ("bounds", "i = cuda.grid(1)\nif i < o.size:\n    o[i] = a[i - 1]"),
        ("input", "i = cuda.grid(1)\nif i < o.size:\n    a[i] = 1"),
        ("type", "o[cuda.grid(1) / 1] = 1"),
        ("barrier", "if cuda.grid(1) == 0:\n    cuda.syncthreads()"),
    ],
)
def test_what_is_wrong_is_found(kind: str, body: str, lowered: Any) -> None:
    found = lowered(kernel(body), {"a": A}, {"o": ("f4", (N,))})

    assert found.wrong == kind, found.said


def test_what_never_ends_is_ended(lowered: Any) -> None:
    body = "while a[0] > 0:\n    o[0] = 1"

    found = lowered(kernel(body), {"a": A}, {"o": ("f4", (N,))}, budget=0.3)

    assert found.wrong == "endless", found.said


def test_an_index_out_of_bounds_has_its_line(lowered: Any) -> None:
    found = lowered(kernel("i = cuda.grid(1)\no[i] = a[i]"), {"a": A}, {"o": ("f4", (N,))})

    assert (found.wrong, found.line) == ("bounds", 7)


def test_what_it_cannot_lower_is_interpreted(lowered: Any) -> None:
    source = (
        "@cuda.jit(device=True)\ndef wait(a):\n    cuda.syncthreads()\n    return a\n"
        + kernel("o[cuda.threadIdx.x] = wait(a[cuda.threadIdx.x])").replace(
            "(o.size + 127) // 128", "1"
        )
    )

    found = lowered(source, {"a": A[:128]}, {"o": ("f4", (128,))})

    assert (found.wrong, found.runs.backend) == ("", "interpreter")
    assert list(found.outputs[0]) == list(A[:128])


def test_numbers_are_typed_as_numba_types_them(lowered: Any) -> None:
    found = lowered(
        kernel(
            "i = cuda.grid(1)\n"
            "if i < o.size:\n"
            "    o[i] = (a[i] * a[i] + float32(0.1)) - a[i] * a[i]"
        ),
        {"a": A},
        {"o": ("f8", (N,))},
    )

    want = (A * A + np.float32(0.1)) - A * A
    assert np.array_equal(found.outputs[0], want.astype(float))


NUMBERS = [
    "x[i] * x[i] * x[i]", "x[i] // 3", "x[i] % -3", "x[i] // -3", "x[i] >> 1", "x[i] << 40",
    "x[i] & 7", "int32(x[i] * 2)", "uint32(x[i])", "~x[i]", "x[i] / 3", "x[i] * f[i]",
    "f[i] / f[i]", "1 / f[i]", "f[i] // 2", "f[i] % 2", "math.sqrt(f[i])", "math.log(f[i])",
    "math.exp(f[i])", "f[i] ** 0.5", "math.pow(f[i], 2)", "max(f[i], 0.0)", "float32(f[i] * f[i])",
    "math.copysign(1.0, f[i])", "math.isnan(f[i])", "int64(x[i]) * int64(x[i]) * int64(x[i])",
    "x[i] and 3", "not x[i]", "float32(1e39)", "math.log1p(f[i])", "math.hypot(f[i], 3.0)",
    "np.inf - f[i]",
]  # fmt: skip


def test_the_interpreter_counts_as_compiled_kernels_do(lowered: Any) -> None:
    x = np.array([-7, -3, -1, 1, 2, 5, 100, 2**31 - 1, -(2**31)], np.int32)
    f = np.array([-7.5, -3, 0.0, -0.0, 1.5, np.inf, -np.inf, np.nan, 1e30], np.float32)
    body = "".join(f"        o[{n}, i] = {each}\n" for n, each in enumerate(NUMBERS))
    source = (
        "@cuda.jit\n"
        "def k(x, f, o):\n"
        "    i = cuda.grid(1)\n"
        "    if i < x.size:\n"
        f"{body}def run(x, f, o):\n"
        "    k[1, 32](x, f, o)\n"
    )

    both = [
        lowered(source, {"x": x, "f": f}, {"o": ("f8", (len(NUMBERS), 9))}, backend=name)
        for name in ("interpreter", "njit")
    ]

    assert [each.wrong for each in both] == ["", ""], both[0].said + both[1].said
    np.testing.assert_allclose(both[0].outputs[0], both[1].outputs[0], rtol=1e-6)
