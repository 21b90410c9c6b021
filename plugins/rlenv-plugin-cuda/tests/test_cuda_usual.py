"""Loops over tuples, and types of arrays by name: what numba compiles runs here too, with the same
meaning.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rlenv_plugin_cuda.guest.kernel_rules import Refused, read

X = np.arange(64, dtype=np.float32)
SUM = """@cuda.jit
def k(x, o):
    s = cuda.shared.array(64, {dtype})
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    for {loop}:
        if t < d:
            s[t] += s[t + d]
        cuda.syncthreads()
    if t == 0:
        o[0] = s[0]
def run(x, o):
    k[1, 64](x, o)
"""
COPY = """@cuda.jit
def copy(x, o, n):
    i = cuda.grid(1)
    if i < n:
        o[i] = x[i]
def run(x, o):
"""
LOOPS = {
    "a tuple": ("", "d in (32, 16, 8, 4, 2, 1)", "float32"),
    "a constant": ("STEPS = (32, 16, 8, 4, 2, 1)\n", "d in STEPS", "float32"),
    "names in a tuple": ("H = 32\nONE = 1\n", "d in (H, H // 2, 8, 4, 2, ONE)", "float32"),
    "pairs": ("", "d, _ in ((32, 5), (16, 4), (8, 3), (4, 2), (2, 1), (1, 0))", "float32"),
    "enumerate": ("", "i, d in enumerate((32, 16, 8, 4, 2, 1))", "float32"),
    "a range that falls": ("", "e in range(5, -1, -1)", "float32"),
    "a type in words": ("", "d in (32, 16, 8, 4, 2, 1)", "'float32'"),
    "a constant type in words": ("KIND = np.dtype('f4')\n", "d in (32, 16, 8, 4, 2, 1)", "KIND"),
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_reduction_over_a_tuple_of_steps_is_right(
    run_kernel: Callable[..., Any], name: str
) -> None:
    above, loop, dtype = LOOPS[name]
    source = SUM.format(loop=loop, dtype=dtype)
    if "range" in loop:
        source = source.replace("        if t < d", "        d = 1 << e\n        if t < d")
    found = run_kernel(above + source, {"x": X}, {"o": ("f4", (1,))})

    assert (found.wrong, found.outputs[0][0]) == ("", X.sum())


def test_a_barrier_that_is_missing_in_such_a_loop_is_a_race(run_kernel: Callable[..., Any]) -> None:
    source = SUM.format(loop="d in (32, 16, 8, 4, 2, 1)", dtype="float32")
    racing = source.replace("        cuda.syncthreads()\n    if t == 0", "    if t == 0")

    assert run_kernel(racing, {"x": X}, {"o": ("f4", (1,))}).wrong == "race"


def test_break_and_continue_go_on_with_the_next_element(run_kernel: Callable[..., Any]) -> None:
    body = (
        "    for a in (1, 2, 4, 8):\n"
        "        if a == 2:\n"
        "            continue\n"
        "        if a == 8:\n"
        "            break\n"
        "        s += a * w\n"
    )
    source = (
        "@cuda.jit\n"
        "def k(x, o):\n"
        "  for w in (0.5, 0.25):\n"
        "    s = 0.0\n"
        f"{body}    o[0] += s\n"
        "def run(x, o):\n"
        "    k[1, 1](x, o)\n"
    )
    found = run_kernel(source, {"x": X}, {"o": ("f4", (1,))}, zero=True)

    assert (found.wrong, found.outputs[0][0]) == ("", 3.75)


TYPES = [
    "o.size, 'float32'", "o.size, dtype='f4'", "o.shape, np.dtype('float32')",
    "o.size, np.dtype(np.float32)", "o.size, x.dtype", "o.shape, dtype=x.dtype",
    "shape=o.size, dtype=np.float32, order='C'", "(len(o),), '<f4'", "o.size, 'single'",
    "o.size, KIND",
]  # fmt: skip


def test_a_temporary_array_takes_its_type_by_any_name(run_kernel: Callable[..., Any]) -> None:
    plan = "".join(
        f"    t{place} = cuda.device_array({given})\n"
        f"    copy[1, 64](x, t{place}, x.size)\n"
        f"    copy[1, 64](t{place}, o, x.size)\n"
        for place, given in enumerate(TYPES)
    )
    found = run_kernel(f"KIND = 'float32'\n{COPY}{plan}", {"x": X}, {"o": ("f4", (64,))})

    assert (found.wrong, list(found.outputs[0])) == ("", list(X))


def test_a_type_in_words_is_the_type_that_it_names(run_kernel: Callable[..., Any]) -> None:
    plan = (
        "    for kind in (1, 2):\n"
        "        t = cuda.device_array(o.size, 'int8')\n"
        "        copy[kind, 64](x, t, x.size)\n"
        "        copy[1, 64](t, o, x.size)\n"
    )
    found = run_kernel(COPY + plan, {"x": 3 * X}, {"o": ("f4", (64,))})

    assert list(found.outputs[0]) == list((3 * X).astype("i4").astype("i1"))


REJECTED = {
    "a tuple of mixed types": "for d in (1, 2.5):\n        o[0] = d",
    "a tuple of mixed types, one with a sign": "for d in (1, -2.5):\n        o[0] = d",
    "a tuple of mixed types, one computed": "for d in (1, 5 / 2):\n        o[0] = d",
    "pairs of mixed types": "for d, e in ((1, 2), (1, -2.5)):\n        o[0] = d",
    "an element that the loop gives": "for d in (1, d + 1):\n        o[0] = d",
    "enumerate from another number": "for i, d in enumerate((1, 2), start=3):\n        o[i] = d",
    "a formatted text": "for d in (f'', f''):\n        o[0] = d",
    "a list": "for d in [1, 2]:\n        o[0] = d",
    "an empty tuple": "for d in ():\n        o[0] = d",
    "elements that change": "v = 1\n    for d in (v, 2):\n        v = d",
    "elements of an array": "for d in (x[0], x[1]):\n        o[0] = d",
    "a call": "for d in (cuda.grid(1), 2):\n        o[0] = d",
    "another number of names": "for d, e in ((1, 2), (3,)):\n        o[0] = d",
    "an array": "for d in x:\n        o[0] = d",
    "a text": "for d in 'abc':\n        o[0] = d",
    "too many": f"for d in {tuple(range(33))}:\n        o[0] = d",
    "a type as a number": "o[0] = x.dtype",
    "a text as a number": "o[0] = 'f4'",
    "an unknown type": "s = cuda.shared.array(4, 'float31')",
}


@pytest.mark.parametrize("name", REJECTED)
def test_what_numba_would_not_compile_is_rejected_with_its_line(name: str) -> None:
    source = (
        "import numpy as np\n"
        "from numba import cuda\n"
        "@cuda.jit\n"
        "def k(x, o):\n"
        f"    {REJECTED[name]}\n"
        "def run(x, o):\n"
        "    k[1, 1](x, o)\n"
    )
    with pytest.raises(Refused) as caught:
        read(source)
    assert caught.value.line >= 5


@pytest.mark.parametrize("given", ["o", "o.shape", "'x'", "3", "np.dtype('x')", "x.dtype.dtype"])
def test_an_array_of_what_is_no_type_is_not_made(
    run_kernel: Callable[..., Any], given: str
) -> None:
    plan = f"    t = cuda.device_array(o.size, {given})\n    copy[1, 64](x, o, x.size)\n"

    assert run_kernel(COPY + plan, {"x": X}, {"o": ("f4", (64,))}).wrong in ("type", "refused")
