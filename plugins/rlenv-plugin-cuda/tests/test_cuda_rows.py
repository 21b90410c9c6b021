"""A row of an array may have a name, and is checked as the array is."""

from typing import Any

import numpy as np
import pytest

X = np.arange(12, dtype=np.float32).reshape(4, 3)
PLAN = "def run(x, o):\n    k[1, 4](x, o)\n"
HONEST = {
    "sums": (
        "row = x[i]\n"
        "out = o[i]\n"
        "t = 0.0\n"
        "for j in range(row.size):\n"
        "    t += row[j]\n"
        "for j in range(len(out)):\n"
        "    out[j] = t"
    ),
    "adds": (
        "row = x[i]\n"
        "out = o[i]\n"
        "for j in range(3):\n"
        "    out[j] = 0\n"
        "    for q in range(row.shape[0]):\n"
        "        out[j] += row[q]"
    ),
    "atomics": (
        "row = x[i]\n"
        "out = o[i]\n"
        "for j in range(3):\n"
        "    out[j] = 0\n"
        "    for q in range(3):\n"
        "        cuda.atomic.add(out, j, row[q])"
    ),
}
WRONG = {
    "the next row": ("bounds", "row = x[i]\nfor j in range(3):\n    o[i, j] = row[j + 1]"),
    "before the row": ("bounds", "out = o[i]\nfor j in range(3):\n    out[j - 1] = x[i, j]"),
    "an input's row is written": ("input", "row = x[i]\nrow[0] = 1"),
    "a row that is none": ("bounds", "row = x[i + 1]\nfor j in range(3):\n    o[i, j] = row[j]"),
    "too many indices": ("index", "row = x[i]\nfor j in range(3):\n    o[i, j] = row[j, 0]"),
    "a row as a number": ("error", "for j in range(3):\n    o[i, j] = x[i] + 1"),
}
INTERPRETED = {
    "one row for all": ("race", "out = o[0]\nout[0] = x[i, 0]"),
    "a row never written": (
        "uninitialized",
        "out = o[i]\nfor j in range(3):\n    out[j] += x[i, j]",
    ),
    "an input's row, atomically": ("input", "row = x[i]\ncuda.atomic.add(row, 0, 1)"),
}


def kernel(body: str) -> str:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return f"@cuda.jit\ndef k(x, o):\n    i = cuda.threadIdx.x\n{lines}{PLAN}"


NJIT = pytest.param("njit", marks=pytest.mark.slow)  # each is compiled


@pytest.mark.parametrize("backend", ["interpreter", "njit"])
@pytest.mark.parametrize("name", sorted(HONEST))
def test_rows_are_read_and_written(name: str, backend: str, run_kernel: Any) -> None:
    found = run_kernel(kernel(HONEST[name]), {"x": X}, {"o": ("f4", X.shape)}, backend=backend)

    assert (found.wrong, found.runs.backend) == ("", backend), found.said
    assert np.array_equal(found.outputs[0].reshape(X.shape), X.sum(1, keepdims=True) + 0 * X)


@pytest.mark.parametrize("backend", ["interpreter", NJIT])
@pytest.mark.parametrize("name", sorted(WRONG))
def test_what_is_wrong_with_a_row_is_found(name: str, backend: str, run_kernel: Any) -> None:
    kind, body = WRONG[name]
    found = run_kernel(kernel(body), {"x": X}, {"o": ("f4", X.shape)}, backend=backend)

    assert found.wrong in {kind, "type"}, found.said


@pytest.mark.parametrize("name", sorted(INTERPRETED))
def test_rows_are_watched_as_their_array_is(name: str, run_kernel: Any) -> None:
    kind, body = INTERPRETED[name]
    found = run_kernel(kernel(body), {"x": X}, {"o": ("f4", X.shape)})

    assert found.wrong == kind, found.said
