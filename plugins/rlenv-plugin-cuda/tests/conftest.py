"""Kernels on arrays of a test's own choosing, by any backend, in the jail."""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import frozen
from rlenv.model.errors import VerifierFault
from rlenv.sandbox import close_all
from rlenv_plugin_cuda.artifacts import Program, Runs
from rlenv_plugin_cuda.box import Box
from rlenv_plugin_cuda.numbers import NUMPY
from rlenv_plugin_cuda.spec import Array, Kernel

sys.path.insert(0, str(Path(__file__).parent / "helpers"))
HEAD = (
    "import math\n"
    "import numpy as np\n"
    "from numba import cuda, float16, float32, float64, int32, int64, uint32, uint64\n"
)
CODES = {np.dtype(kind): name for name, kind in NUMPY.items() if name != "bf16"}


@frozen
class Fixed:
    """A case whose inputs are given."""

    kernel: Kernel
    values: Mapping[str, Any]
    seed: int
    poison: tuple[bytes, ...]
    sizes: Mapping[str, int] = {}
    elements: int = 1


@frozen
class Ran:
    """What came of it: the outputs as arrays, or what is wrong."""

    runs: Runs
    outputs: tuple[Any, ...]

    @property
    def wrong(self) -> str:
        """ "race", "refused", …, or "" """
        if self.runs.refused:
            return "refused"
        return next((trial.broken for trial in self.runs.trials if trial.broken), "")

    @property
    def said(self) -> str:
        return self.runs.refused or " ".join(trial.said for trial in self.runs.trials)

    @property
    def line(self) -> int:
        return self.runs.line or self.runs.trials[-1].line


def kernel_for(inputs: Mapping[str, Any], outputs: Mapping[str, Any], *, zero: bool) -> Kernel:
    arrays = []
    for name, value in inputs.items():
        if isinstance(value, np.ndarray):
            arrays.append(Array(name, CODES[value.dtype], value.shape))
        else:
            arrays.append(Array(name, "scalar" if isinstance(value, float) else "int"))
    made = [Array(name, CODES[np.dtype(kind)], shape) for name, (kind, shape) in outputs.items()]
    init: Any = "zero" if zero else "poison"
    return Kernel("numba", tuple(arrays), tuple(made), "", hidden=({},), output_init=init)


def tried(run: Callable[[], Coroutine[Any, Any, Runs]]) -> Runs:
    """What comes of it; a machine that gave it no processor is asked again, as the stage does."""
    for _ in range(4):
        try:
            return asyncio.run(run())
        except VerifierFault as error:
            if not error.fault.transient:
                raise
    return asyncio.run(run())


def ran(
    source: str,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    *,
    backend: str = "interpreter",
    zero: bool = False,
    seeds: tuple[int, ...] = (1,),
    budget: float = 10.0,
) -> Ran:
    """Run a program (imports are put before it, on its line 0) once per seed."""
    kernel = kernel_for(inputs, outputs, zero=zero)
    sizes = [
        int(np.prod(shape, dtype=int)) * np.dtype(kind).itemsize for kind, shape in outputs.values()
    ]
    cases: Any = [
        Fixed(kernel, inputs, seed, tuple(bytes(n) if zero else b"\xa5" * n for n in sizes))
        for seed in seeds
    ]
    module = import_module(f"rlenv_plugin_cuda.backends.{backend}")
    program = Program("numba", HEAD + source)
    made = getattr(module, backend.title())()
    runs = tried(lambda: made.run(program, kernel, cases, Box(budget=budget)))
    last = runs.trials[-1].outputs if runs.trials else None
    found = [
        np.frombuffer(data, kind).reshape(shape)
        for data, (kind, shape) in zip(last or (), outputs.values(), strict=False)
    ]
    return Ran(runs, tuple(found))


@pytest.fixture(scope="module")
def run_kernel() -> Iterator[Callable[..., Ran]]:
    yield ran
    close_all()
