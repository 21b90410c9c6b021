"""Arithmetic of interpreted numba kernels has the bits of compiled code."""

from __future__ import annotations

import ast
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

A = np.array([16777216, 1e-40, 0.1, 3e38, -7.5, 1e-3, 33.3, -0.0], np.float32)
B = np.array([1, 1e-45, 0.3, 3e38, 2.3, 1e4, -1e-3, 5], np.float32)
X = np.array([2**31 - 1, -(2**31), 7, -7, 3, 1, 100, -100], np.int32)
U = np.array([2**32 - 1, 9, 7, 5, 3, 1, 100, 77], np.uint32)
W = np.array([2**64 - 1, 2**63, 7, 5, 3, 1, 2**53 + 1, 77], np.uint64)
Y = np.array([2**62 + 1, -(2**61), 2**53 + 1, -7, 3, 1, 100, -100], np.int64)
INPUTS = {"a": A, "b": B, "x": X, "u": U, "w": W, "y": Y}
EXPRESSIONS = [
    "(a[i] + b[i]) - a[i]", "a[i] * b[i] - a[i] * b[i]", "(a[i] * b[i]) / b[i]", "a[i] / b[i]",
    "a[i] * a[i] * float32(1e-3)", "a[i] // b[i]",
    "float32(3208114.75) // float32(0.40919914841651917)", "a[i] % b[i]", "-a[i] % b[i]",
    "a[i] + 0.5 - a[i]", "a[i] + float32(0.5) - a[i]", "a[i] + 1 - a[i]", "a[i] + x[i]",
    "a[i] * u[i]", "a[i] ** 2", "a[i] ** 5", "a[2] ** -3", "a[i] ** x[2]", "abs(a[i]) ** 0.5",
    "math.sqrt(abs(a[i]))", "float32(y[i])", "float32(w[i])", "float64(w[i]) - float64(y[i])",
    "y[i] / 3", "w[i] / u[i]", "x[i] * x[i] * x[i]", "x[i] + x[i]", "u[i] - w[i]", "u[i] * w[i]",
    "w[i] * w[i] >> 60", "-u[i]", "~u[i]", "-x[i]", "~w[i] & 255", "int32(x[i] * 3)",
    "uint32(x[i] - 1)", "w[i] // 3", "w[i] % 7", "y[i] // -7", "x[i] << 33", "w[i] > y[i]",
    "y[i] > 9007199254740992.0", "max(a[i], b[i])", "min(a[i], 0.1)", "max(x[i], u[i])",
    "a[i] if b[i] > 1 else 0.1", "x[i] if b[i] > 1 else 0.5", "a[i] and x[i]", "C * a[i]",
    "Q * a[i]", "2 ** -1 * a[i]", "(1 << 40) * x[i]", "third(a[i]) + third(x[i])",
    "third(b[i]) * Q", "abs(x[i])", "abs(-a[i])", "round(b[2] * x[i])", "not a[i]",
    "math.fabs(a[i] + b[i])", "float64(a[i]) + float64(b[i])", "float32(float64(a[i]) / 3)",
    "(a[i] > b[i]) * a[i]", "True + u[i]",
]  # fmt: skip
FLOW = {
    "a sum in float32": "v = float32(0)\nfor j in range(8):\n    v += b[j] * a[j]",
    "a sum in float64": "v = 0.0\nfor j in range(8):\n    v += b[j]",
    "a sum that begins as an integer": "v = 0\nfor j in range(8):\n    v += b[j]",
    "an integer that becomes a float": "v = y[2]\nif x[i] > 0:\n    v = 0.5\nv = v + 1 - v",
    "integers added to what is a float": (
        "v = 0\nif a[0] < 0:\n    v = 0.5\nfor j in range(3):\n    v += y[2]"
    ),
    "a branch that is never compiled": "v = b[i]\nif NEVER:\n    v = 0.5\nv = (v + a[0]) - a[0]",
    "a branch that is never taken": "v = b[i]\nif x[0] == 0:\n    v = 0.5\nv = (v + a[0]) - a[0]",
    "a type that comes later": "v = (b[i] + a[0]) - a[0]\nw_ = v\nv = 0.5\nv = w_",
    "a float that a loop widens": "v = b[i]\nfor j in range(3):\n    v = (v + a[0]) * 0.5",
    "a loop that is left": (
        "v = 1\nfor j in range(8):\n    if j == 3:\n        v = b[j]\n        break\nv = v * a[2]"
    ),
    "a loop that goes on": (
        "v = 1\n"
        "j = 0\n"
        "while j < 5:\n"
        "    j += 1\n"
        "    if j == 2:\n"
        "        v = b[2]\n"
        "        continue\n"
        "v = v / 3"
    ),
    "pairs of a device function": "v, w_ = pair(b[i], x[i])\nv = v * a[2] + w_",
    "an array in local memory": (
        "t = cuda.local.array(2, float32)\nt[0] = 0.1\nt[1] = y[2]\nv = t[0] * 3 + t[1]"
    ),
    "atomics": "t = cuda.local.array(1, float32)\nt[0] = a[0]\nt[0] += 1.0\nv = t[0]",
    "an integer that wraps in memory": (
        "t = cuda.local.array(2, int32)\nt[0] = 2147483647\nt[0] += 1\nv = t[0] + u[0] * 4294967296"
    ),
}
SOURCE = """
C = 0.3
Q = np.float32(0.3)
NEVER = False
@cuda.jit(device=True)
def third(z):
    return z / float32(3)
@cuda.jit(device=True)
def pair(s, t):
    if s > float32(1):
        return s, t
    return t * float32(1), 3
@cuda.jit
def k(a, b, x, u, w, y, o):
    i = cuda.grid(1)
    if i < a.size:
{body}
def run(a, b, x, u, w, y, o):
    k[1, 8](a, b, x, u, w, y, o)
"""


def both(run_kernel: Any, lines: list[str], count: int) -> list[Any]:
    """The outputs of the interpreter and of compiled code."""
    source = SOURCE.format(body="\n".join(f"        {line}" for line in lines))
    found = [
        run_kernel(source, INPUTS, {"o": ("f8", (count, 8))}, backend=name)
        for name in ("interpreter", "njit")
    ]
    assert [each.wrong for each in found] == ["", ""], [each.said for each in found]
    assert [each.runs.backend for each in found] == ["interpreter", "njit"]
    return [each.outputs[0] for each in found]


@pytest.mark.slow  # numba compiles a hundred expressions
def test_expressions_have_the_bits_of_compiled_code(run_kernel: Any) -> None:
    lines = [f"o[{place}, i] = {each}" for place, each in enumerate(EXPRESSIONS)]

    ours, theirs = both(run_kernel, lines, len(EXPRESSIONS))

    odd = [
        place
        for place in range(len(ours))
        if not np.array_equal(ours[place], theirs[place], equal_nan=True)
    ]
    assert {EXPRESSIONS[place]: (ours[place], theirs[place]) for place in odd} == {}


def test_variables_have_the_bits_of_compiled_code(run_kernel: Any) -> None:
    lines: list[str] = []
    for place, body in enumerate(FLOW.values()):
        names = {"v": f"v{place}", "w_": f"w{place}", "t": f"t{place}"}
        tree = ast.parse(body)
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                node.id = names.get(node.id, node.id)
        lines += [*ast.unparse(tree).splitlines(), f"o[{place}, i] = v{place}"]

    ours, theirs = both(run_kernel, lines, len(FLOW))

    odd = [place for place in range(len(ours)) if not np.array_equal(ours[place], theirs[place])]
    assert {[*FLOW][place]: (ours[place], theirs[place]) for place in odd} == {}


# -- what numba compiles for a device only


def ran(
    run_kernel: Any, body: str, inputs: dict[str, Any], kind: str = "f8", more: str = ""
) -> Any:
    names = ", ".join(inputs)
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    source = (
        "@cuda.jit\n"
        f"def k({names}, o):\n"
        "    i = cuda.threadIdx.x\n"
        f"{lines}def run({names}, o):\n"
        f"    k[1, 8]({names}, o{more})\n"
    )
    found = run_kernel(source, inputs, {"o": (kind, (8,))})
    assert not found.wrong, found.said
    return found.outputs[0]


H = np.array([2048, 60000, 6e-8, 0.1, -3.3, 1000, 1e-4, 7], np.float16)
G = np.array([1, 60000, 2e-1, 0.3, 7.7, 3, 1e-4, 0.7], np.float16)


@pytest.mark.parametrize(
    "code",
    [
        "h[i] + g[i]",
        "h[i] * g[i]",
        "h[i] / g[i]",
        "(h[i] + g[i]) - h[i]",
        "-h[i]",
        "(h[i] * g[i]) * g[i]",
    ],
)
def test_float16_overflows_and_is_subnormal_as_in_numpy(run_kernel: Any, code: str) -> None:
    with np.errstate(all="ignore"):
        want = np.array([eval(code, {"h": H, "g": G, "i": i}) for i in range(8)])

    assert np.array_equal(
        ran(run_kernel, f"o[i] = {code}", {"h": H, "g": G}), want.astype(float), equal_nan=True
    )


def test_an_atomic_takes_its_value_in_the_type_of_the_array(run_kernel: Any) -> None:
    body = "o[i] = 0\ncuda.syncthreads()\ncuda.atomic.add(o, 0, 0.1)\ncuda.atomic.add(o, 1, a[0])"
    found = ran(run_kernel, body, {"a": np.array([16777217.0])}, "f4")
    want = np.float32(0)
    for _ in range(8):
        want += np.float32(0.1)

    assert (found[0], found[1]) == (want, np.float32(16777216) * np.float32(8))


def test_a_product_of_complex64_is_rounded(run_kernel: Any) -> None:
    z = np.full(8, 1 + 2**-20 + 1j, np.complex64)
    found = ran(run_kernel, "o[i] = abs(z[i] * z[i]) - abs(z[i]) * abs(z[i])", {"z": z})

    assert abs(found[0]) < 1e-6
    assert found[0] == np.float64(np.float32(found[0]))


def test_cuda_fma_rounds_once(run_kernel: Any) -> None:
    a = np.full(8, 1 + 2**-12, np.float32)
    b = np.full(8, 1.1)
    source = "o[i] = cuda.fma(a[i], a[i], -(a[i] * a[i])) + cuda.fma(b[i], b[i], -(b[i] * b[i]))"
    lost = float(
        Fraction(1.1) ** 2 - Fraction(1.1 * 1.1)
    )  # of a square in float64; 2 ** -24 in float32

    assert ran(run_kernel, source, {"a": a, "b": b})[0] == 2.0**-24 + lost


def test_floor_is_a_float_as_on_a_device(run_kernel: Any) -> None:
    found = run_kernel(
        "@cuda.jit\ndef k(a, o):\n    o[math.floor(a[0])] = 1\ndef run(a, o):\n    k[1, 1](a, o)\n",
        {"a": A},
        {"o": ("f4", (8,))},
    )

    assert (found.wrong, found.line) == ("index", 6)


def test_a_float32_of_the_plan_is_one_in_the_kernel(run_kernel: Any) -> None:
    source = (
        "@cuda.jit\n"
        "def k(a, c, o):\n"
        "    i = cuda.grid(1)\n"
        "    o[i] = (a[i] + c) - c\n"
        "def run(a, o):\n"
        "    k[1, 8](a, {}, o)\n"
    )
    given = {"a": np.full(8, 0.1, np.float32)}
    narrow, wide = (
        run_kernel(source.format(c), given, {"o": ("f8", (8,))}).outputs[0][0]
        for c in ("np.float32(16777216)", "16777216.0")
    )

    assert (narrow, wide) == (0.0, float(np.float32(0.1)) + 16777216.0 - 16777216.0)


def test_what_numba_cannot_type_is_told_with_its_line(run_kernel: Any) -> None:
    source = (
        "@cuda.jit\n"
        "def k(a, o):\n"
        "    v = a\n"
        "    if a.size > 3:\n"
        "        v = 1.0\n"
        "    o[0] = v\n"
        "def run(a, o):\n"
        "    k[1, 1](a, o)\n"
    )
    found = run_kernel(source, {"a": A}, {"o": ("f4", (8,))})

    assert (found.wrong, found.line) == ("type", 9)
    assert "two types" in found.said


def test_a_variable_that_is_defined_further_down_only_is_refused_as_numba_does(
    run_kernel: Any,
) -> None:
    source = (
        "@cuda.jit\n"
        "def k(a, o):\n"
        "    for i in range(3):\n"
        "        if i > 0:\n"
        "            o[i] = v\n"
        "        v = a[i]\n"
        "def run(a, o):\n"
        "    k[1, 1](a, o)\n"
    )
    found = [
        run_kernel(source, {"a": A}, {"o": ("f4", (8,))}, backend=name)
        for name in ("interpreter", "njit")
    ]

    assert [each.wrong for each in found] == ["type", "type"]
    assert found[0].line == 8
