"""numba's own simulator beside the interpreter: the same numbers where both can, and what it is
blind to.
"""

from typing import Any

import numpy as np
import pytest

A = np.arange(1, 41, dtype=np.float32)
SCAN = """
@cuda.jit
def k(a, o):
    s = cuda.shared.array(40, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncthreads()
    d = 1
    while d < 40:
        v = s[t]
        if t >= d:
            v += s[t - d]
        cuda.syncthreads()
        s[t] = v
        cuda.syncthreads()
        d *= 2
    o[t] = s[t]
def run(a, o):
    k[1, 40](a, o)
"""
PLAIN = (
    "@cuda.jit\ndef k(a, o):\n    i = cuda.grid(1)\n    {}\ndef run(a, o):\n    k[1, 64](a, o)\n"
)


@pytest.mark.parametrize(
    "source",
    [
        SCAN,
        PLAIN.format(
            "if i < o.size:\n        o[i] = math.sqrt(a[i]) // 1 + (i % 7) ** 2 - (i >> 2)"
        ),
    ],
    ids=["scan", "plain"],
)
def test_it_agrees_with_the_interpreter(source: str, run_kernel: Any) -> None:
    both = [
        run_kernel(source, {"a": A}, {"o": ("f4", (40,))}, backend=name)
        for name in ("simulator", "interpreter")
    ]

    assert [each.wrong for each in both] == ["", ""]
    assert np.array_equal(both[0].outputs[0], both[1].outputs[0])


@pytest.mark.parametrize(("kind", "body"), [("bounds", "o[i] = 1"), ("input", "a[0] = 7")])
def test_it_finds_a_little(kind: str, body: str, run_kernel: Any) -> None:
    found = run_kernel(PLAIN.format(body), {"a": A}, {"o": ("f4", (40,))}, backend="simulator")

    assert found.wrong == kind, found.said


def test_it_does_not_see_what_the_interpreter_sees(run_kernel: Any) -> None:
    source = PLAIN.format("if i < o.size:\n        o[i] = a[i - 1]")

    both = [
        run_kernel(source, {"a": A}, {"o": ("f4", (40,))}, backend=name)
        for name in ("simulator", "interpreter")
    ]

    assert [each.wrong for each in both] == ["", "bounds"]
