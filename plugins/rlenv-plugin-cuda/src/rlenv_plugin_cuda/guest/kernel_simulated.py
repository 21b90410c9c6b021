"""Kernels on numba's own simulator."""

from __future__ import annotations

import ast
import copy
import math
import os
import threading
from importlib import import_module

import kernel_plan
import kernel_runner
from kernel_memory import Broken
from kernel_rules import DTYPES
from kernel_store import SIZES
from kernel_typed import Code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from kernel_rules import Answer
    from kernel_threads import Shape

__all__ = ["Simulated", "rehearse", "serve"]

import_module("kernel_packages")  # makes numba importable
np: Any = import_module("numpy")
FILE = "answer.py"
CODES = {"b1": "?"}
os.environ["NUMBA_ENABLE_CUDASIM"] = (
    "1"  # before numba is imported, which the first answer does where no one has
)
threading.stack_size(1 << 18)  # there is a thread for each of a block


class Array:
    """An array in memory as numpy has it."""

    def __init__(self, name: str, dtype: str, values: Any, first: bytes) -> None:
        self.name = name
        self.dtype = dtype
        self.values = values
        self.first = first
        self.shape = values.shape
        self.ndim = values.ndim
        self.size = values.size

    def __len__(self) -> int:
        return int(self.shape[0])


class Simulated:
    """The machine of this module: kernels keep their source, and their decorator."""

    def __init__(self, answer: Answer) -> None:
        space: dict[str, Any] = {}
        exec(_HEAD, space)  # noqa: S102 - ours
        functions = [f for f in answer.functions.values() if f.role != "plan"]
        body: list[ast.stmt] = [_import(name, full) for name, full in answer.names.items()]
        for name, value in answer.constants.items():
            body.append(ast.Assign([ast.Name(name, ast.Store())], copy.deepcopy(value)))
        body += [copy.deepcopy(function.node) for function in functions]
        module = ast.fix_missing_locations(ast.Module(body, []))
        self.code = Code(answer)
        exec(compile(module, FILE, "exec"), space)  # noqa: S102 - only what the rules let through
        self.kernels = {f.name: space[f.name] for f in functions}

    def array(self, given: Sequence[Any], data: bytes, _clock: Any, mode: str) -> Array:
        """As numpy has it.

        The simulator writes to all of them, so inputs are looked at afterwards.
        """
        name, dtype, shape = given
        if dtype == "bf16":
            raise Broken("type", "the simulator has no bf16")
        values = np.frombuffer(data, CODES.get(dtype, dtype)).reshape(shape).copy()
        return Array(name, dtype, values, data if mode == "read" else b"")

    def host(self, *given: object) -> Host:
        """What the plan launches with."""
        return Host(self, *given)

    def taken(self, array: Array) -> bytes:
        """The content of an output."""
        return bytes(array.values.tobytes())


_HEAD = "import math, numpy, numba\nfrom numba import cuda\n"


def _import(name: str, full: str) -> ast.stmt:
    """``name`` for a full name, as an import makes it."""
    parts = full.split(".")
    if parts[-1] in DTYPES:  # numba has not all of them at its top
        parts = ["numpy", {"boolean": "bool_"}.get(parts[-1], parts[-1])]
    node: ast.expr = ast.Name(parts[0], ast.Load())
    for part in parts[1:]:
        node = ast.Attribute(node, part, ast.Load())
    return ast.Assign([ast.Name(name, ast.Store())], node)


class Host(kernel_plan.Host):  # type: ignore[misc] # a neighbor in the sandbox
    """``_h`` of simulated kernels."""

    def __init__(self, machine: Simulated, *given: object) -> None:
        super().__init__(*given)
        self.machine = machine

    def made(self, name: str, dtype: str, shape: tuple[int, ...]) -> Any:
        """A temporary array, which holds chance."""
        data = self.chance.randbytes(math.prod(shape) * SIZES[dtype])
        return self.machine.array((name, dtype, shape), data, self.clock, "poison")

    def ran(self, name: str, shape: Shape, given: Sequence[object]) -> int:
        """Run every thread."""
        arguments = [a.values if isinstance(a, Array) else a for a in given]
        launch = self.machine.kernels[name][shape.grid, shape.block, 0, shape.dynamic]
        try:
            launch(*arguments)
        except IndexError:
            raise Broken("bounds", "an index out of bounds") from None
        for array in self.buffers:
            if array.first and array.values.tobytes() != array.first:
                raise Broken("input", f"{array.name} is an input, and is written")
        return int(shape.dynamic)


def rehearse() -> None:
    """Import the simulator before an answer comes."""
    exec(_HEAD, {})  # noqa: S102 - ours


def serve() -> None:
    """Answer until the channel ends."""
    kernel_runner.serve(Simulated)
