"""A kernel as people write it, with its inputs and what it must compute."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from attrs import frozen

RNG = np.random.default_rng(7)


def floats(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


def ints(most: int, *shape: int) -> Any:
    return RNG.integers(0, most, shape).astype(np.int32)


@frozen
class Honest:
    source: str
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    want: Callable[..., Any]
    zero: bool = False


def elementwise(name: str, body: str, want: Callable[..., Any], *, n: int = 300) -> Honest:
    source = (
        "@cuda.jit\n"
        "def k(x, o):\n"
        "    i = cuda.grid(1)\n"
        "    if i < o.size:\n"
        f"        {body}\n"
        "def run(x, o):\n"
        "    k[(o.size + 63) // 64, 64](x, o)\n"
    )
    return Honest(source, {"x": floats(n)}, {"o": ("f4", (n,))}, want)


X = floats(300)
M = floats(20, 33)
N = floats(33, 18)
