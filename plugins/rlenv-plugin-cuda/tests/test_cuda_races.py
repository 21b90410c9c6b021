"""What is wrong with a kernel is found, with its line, whatever order its threads come in."""

from typing import Any

import numpy as np
import pytest

N = 100
A = np.arange(1, N + 1, dtype=np.float32)


def answer(body: str, launch: str = "k[(o.size + 31) // 32, 32](a, o)") -> str:
    """A kernel k(a, o) whose body begins on line 4 of the program (imports are three)."""
    lines = "".join(f"    {line}\n" for line in body.strip("\n").split("\n"))
    return f"@cuda.jit\ndef k(a, o):\n{lines}def run(a, o):\n    {launch}\n"


GUARDED = "i = cuda.grid(1)\nif i < o.size:\n    "
SHARED = "s = cuda.shared.array(32, float32)\nt = cuda.threadIdx.x\n"
ONE = "k[1, 32](a, o)"
WRONG: dict[str, tuple[str, str, str]] = {
    "beyond the end": ("bounds", "i = cuda.grid(1)\no[i] = a[i]", ""),
    "one beyond the end": ("bounds", "i = cuda.grid(1)\nif i <= o.size:\n    o[i] = 1", ""),
    "a negative index": ("bounds", GUARDED + "o[i] = a[i - 1]", ""),
    "beyond in a second dimension": ("index", GUARDED + "o[i] = a[i, 0]", ""),
    "beyond shared memory": ("bounds", SHARED + "s[t + 1] = a[t]\no[t] = 0", ONE),
    "beyond local memory": (
        "bounds",
        "w = cuda.local.array(4, float32)\nw[4] = 1\no[0] = 1",
        "k[1, 1](a, o)",
    ),
    "a race of one block for one element": ("race", "o[0] = a[cuda.threadIdx.x]", ONE),
    "the same value written by all": ("race", "o[0] = 1", ONE),
    "a race of two blocks": ("race", "o[cuda.threadIdx.x] = a[cuda.threadIdx.x]", "k[2, 32](a, o)"),
    "a neighbor read in place": (
        "race",
        "i = cuda.threadIdx.x\no[i] = a[i]\nif i > 0:\n    o[i] = o[i - 1] + 1",
        ONE,
    ),
    "a barrier that is missing": (
        "race",
        SHARED + "s[t] = a[t]\ncuda.syncthreads()\nv = s[31 - t]\ns[t] = v\no[t] = v",
        ONE,
    ),
    "a barrier that only some reach": (
        "barrier",
        SHARED + "s[t] = a[t]\nif t < 16:\n    cuda.syncthreads()\no[t] = s[t]",
        ONE,
    ),
    "two barriers for one": (
        "barrier",
        SHARED + "if t < 16:\n    cuda.syncthreads()\nelse:\n    cuda.syncthreads()\no[t] = a[t]",
        ONE,
    ),
    "a return before a barrier": (
        "barrier",
        SHARED + "if t == 31:\n    return\ncuda.syncthreads()\no[t] = a[t]",
        ONE,
    ),
    "shared memory that was never written": ("uninitialized", SHARED + "o[t] = s[t]", ONE),
    "local memory that was never written": (
        "uninitialized",
        "w = cuda.local.array(4, float32)\no[cuda.threadIdx.x] = w[0]",
        ONE,
    ),
    "an output that is read first": ("uninitialized", GUARDED + "o[i] += a[i]", ""),
    "an atomic on what was never written": ("uninitialized", "cuda.atomic.add(o, 0, a[0])", ONE),
    "a plain read beside atomics": (
        "race",
        (
            "o[cuda.threadIdx.x] = 0\n"
            "cuda.syncthreads()\n"
            "cuda.atomic.add(o, 0, 1.0)\n"
            "if o[0] > 5:\n"
            "    o[cuda.threadIdx.x + 32] = 1"
        ),
        ONE,
    ),
    "an input that is written": ("input", GUARDED + "a[i] = 0", ""),
    "an input that is changed atomically": ("input", GUARDED + "cuda.atomic.add(a, 0, 1)", ""),
    "too many threads": ("launch", "pass", "k[1, 1025](a, o)"),
    "too many threads in depth": ("launch", "pass", "k[1, (1, 1, 65)](a, o)"),
    "no blocks": ("launch", "pass", "k[0, 32](a, o)"),
    "too many blocks": ("launch", "pass", "k[(1, 65536), 32](a, o)"),
    "too much shared memory": ("shared", "s = cuda.shared.array(20000, float32)\ns[0] = 1", ONE),
    "too much dynamic shared memory": ("shared", "pass", "k[1, 32, 0, 1 << 20](a, o)"),
    "no launch": ("launch", "pass", "pass"),
    "an end that never comes": ("endless", "while True:\n    o[cuda.grid(1)] = 1", "k[1, 1](a, o)"),
    "a barrier for ever": ("endless", "while True:\n    cuda.syncthreads()", ONE),
    "launches for ever": ("launches", "pass", "for i in range(10 ** 9):\n        k[1, 1](a, o)"),
    "a spinning lock": ("endless", "while cuda.atomic.cas(o, 0, 0.0, 1.0) != 0.0:\n    pass", ONE),
    "a division by zero": ("zero", GUARDED + "o[i] = i // (i - i)", ""),
    "an index that is not an integer": ("index", GUARDED + "o[i / 1] = 1", ""),
    "lanes of a warp apart": (
        "warp",
        (
            "t = cuda.threadIdx.x\n"
            "v = 0.0\n"
            "if t < 16:\n"
            "    v = cuda.shfl_down_sync(0xffffffff, 1.0, 1)\n"
            "o[t] = v"
        ),
        ONE,
    ),
    "a huge temporary": (
        "memory",
        "pass",
        "t = cuda.device_array(1 << 40, float32)\n    k[1, 32](a, t)",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_it_is_found(name: str, run_kernel: Any) -> None:
    kind, body, launch = WRONG[name]
    source = answer(body, launch) if launch else answer(body)
    budget = 0.2 if kind == "endless" else 2.0
    zero = name in ("a spinning lock", "a neighbor read in place")

    for seed in (1, 2):
        found = run_kernel(
            source, {"a": A}, {"o": ("f4", (N,))}, seeds=(seed,), budget=budget, zero=zero
        )

        assert (found.wrong, name) == (kind, name), found.said


@pytest.mark.parametrize("seed", range(4))
def test_a_race_is_found_in_every_order(seed: int, run_kernel: Any) -> None:
    body = "i = cuda.grid(1)\nif i < 64:\n    o[i] = a[i]\nif i == 63:\n    o[0] = a[0]"

    found = run_kernel(answer(body), {"a": A}, {"o": ("f4", (N,))}, seeds=(seed,))

    assert found.wrong == "race"


def test_what_is_wrong_has_its_line(run_kernel: Any) -> None:
    found = run_kernel(
        answer("i = cuda.grid(1)\nj = i - 1\no[i] = a[j]"), {"a": A}, {"o": ("f4", (N,))}
    )

    assert (found.wrong, found.line) == ("bounds", 8)


def test_barriers_order_what_one_block_does(run_kernel: Any) -> None:
    body = (
        "t = cuda.threadIdx.x\n"
        "o[t] = a[t]\n"
        "cuda.syncthreads()\n"
        "v = o[99 - t]\n"
        "cuda.syncthreads()\n"
        "o[t] = v"
    )

    found = run_kernel(answer(body, "k[1, 100](a, o)"), {"a": A}, {"o": ("f4", (N,))})

    assert (found.wrong, list(found.outputs[0])) == ("", list(A[::-1]))


def test_nothing_is_left_of_the_case_before(run_kernel: Any) -> None:
    body = GUARDED + "o[i] = a[i]"
    found = run_kernel(answer(body), {"a": A}, {"o": ("f4", (N,))}, seeds=(1, 2, 3))

    assert [trial.launches for trial in found.runs.trials] == [1, 1, 1]


def test_launches_are_told(run_kernel: Any) -> None:
    found = run_kernel(answer("pass", "k[2, 64, 0, 128](a, o)"), {"a": A}, {"o": ("f4", (N,))})

    (launch,) = found.runs.trials[0].launched
    assert (launch.kernel, launch.arguments, launch.shared, launch.threads) == (
        "k",
        ("f4[1]", "f4[1]"),
        128,
        64,
    )
