"""Launch plans of numba on checked memory: what they allocate and launch, and what their numbers
are.
"""

from __future__ import annotations

import ast
import math
import random

from kernel_memory import Broken, Buffer, Clock, Input
from kernel_numbers import HELPERS, Half, Single
from kernel_rewrite import FILE
from kernel_store import SIZES, storage
from kernel_threads import THREADS, Shape, run_launch
from kernel_words import DTYPES, Answer
from planning import worth
from planning.reading import Plan
from planning.values import Dtype, Handle, Trouble, configured

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

__all__ = ["Host", "Worth", "follow", "line_of", "of_plan"]

LAUNCHES = 4096
TEMPORARY_BYTES = 256 << 20
SHARED_BYTES = 48 << 10
NUMBERS = (int, float, bool, complex, Single, Half)
_OPERATORS = {
    **worth.OPERATORS,
    ast.Div: HELPERS["_div"], ast.FloorDiv: HELPERS["_floordiv"], ast.Mod: HELPERS["_mod"],
    ast.Pow: HELPERS["_pow"], ast.LShift: HELPERS["_shl"], ast.RShift: HELPERS["_shr"],
    ast.Mult: HELPERS["_mul"],
}  # fmt: skip


def of_device(full: str) -> Any:
    """Return a function of a plan, or a number of math, as kernels on checked memory have it."""
    module, _, name = full.rpartition(".")
    if module == "cuda":
        raise Trouble("error", f"`{full}` takes no arguments")
    if not module:
        return HELPERS[f"_{name}" if name != "range" else "range"]
    return HELPERS.get(f"_host_{name}") or HELPERS[f"_math_{name}"]


class Worth(worth.Worth):  # type: ignore[misc] # a neighbor in the sandbox
    """Values in plans of numba.

    Args:
        called: full name → function or number; of Python's functions the name.
        operators: by their nodes.
    """

    def __init__(
        self,
        called: Callable[[str], Any] = of_device,
        operators: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = _OPERATORS,
    ) -> None:
        self.called = called
        self.operators = operators

    def meaning(self, full: str) -> Any:
        """Return a type of numbers, or a number of math."""
        name = full.rpartition(".")[2]
        return Dtype(DTYPES[name]) if name in DTYPES else getattr(math, name)

    def binary(self, op: type[ast.operator], left: Any, right: Any) -> Any:
        """Apply an operator."""
        return _computed(self.operators[op], (left, right))

    def builtin(self, name: str, args: list[Any], named: dict[str, Any]) -> Any:
        """Call one of Python's functions; of arrays only their length is known."""
        if name == "len" and isinstance(args[0], Handle) and args[0].shape:
            return args[0].shape[0]
        if any(isinstance(one, Handle) for one in args):
            raise Trouble("type", f"{name} takes numbers; what arrays hold is for kernels")
        return _computed(self.called(name), args)

    def function(self, full: str, args: list[Any], named: dict[str, Any], host: Any) -> Any:
        """Call a function of math or a type of numbers, or allocate an array."""
        if full == "cuda.device_array":
            return _device_array(*args, host=host, **named)
        if full == "cuda.device_array_like":
            return _device_array_like(*args, host=host, **named)
        if full == "cuda.synchronize" and not (args or named):
            return None  # launches are in order already
        return _computed(self.called(full), args)


def _computed(function: Any, args: Sequence[Any]) -> Any:
    try:
        return function(*args)
    except Broken as broken:
        raise Trouble(broken.what, broken.said) from None


def _device_array(shape: Any, dtype: Any = None, *, host: Any) -> Handle:
    extents = shape if isinstance(shape, tuple) else (shape,)
    if isinstance(dtype, Single):  # numpy takes a number of a type for the type
        dtype = Dtype(dtype.dtype)
    if not (dtype is None or isinstance(dtype, Dtype)):
        raise Trouble("type", f"{dtype!r:.40} is no type of an array")
    if not all(type(extent) is int and extent >= 0 for extent in extents):
        raise Trouble("shape", f"{shape!r:.60} is no shape of an array")
    return host.allocate(extents, dtype.code if dtype else "f8", None)


def _device_array_like(other: Any, *, host: Any) -> Handle:
    if not isinstance(other, Handle):
        raise Trouble("type", "device_array_like of what is not an array")
    return host.allocate(other.shape, other.code, None)


def of_plan(value: Any) -> Any:
    """A constant of the kernels as a plan has it: types are those of arrays."""
    if isinstance(value, tuple):
        return tuple(map(of_plan, value))
    return Dtype(value.dtype) if callable(value) else value


def follow(
    answer: Answer, host: Any, given: Sequence[Any], constants: Mapping[str, Any], worth: Worth
) -> None:
    """Follow the plan of an answer with these arguments; the case's own clock bounds its steps.

    Raises:
        Trouble: what the plan, or a kernel that it launches, does wrong.
    """
    node = answer.functions["run"].node
    plan = Plan(node, answer, host, worth=worth, constants=constants, steps=math.inf)
    plan.run(given)


def line_of(error: BaseException) -> int:
    """The innermost line of the answer's kernels on the way to an error."""
    line = 0
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


class Host:
    """Allocates, launches and counts, for one case.

    Args:
        kernels: (name, arguments) → rewritten code, for arguments of these types.
        limits: "shared" bytes and "threads_per_block" at most.
        chance: orders of blocks and threads, poison of what is allocated.
    """

    def __init__(
        self,
        kernels: Callable[[str, Sequence[object]], object],
        buffers: Sequence[Input],
        limits: Mapping[str, int],
        chance: random.Random,
        clock: Clock,
    ) -> None:
        self.kernels = kernels
        self.buffers = list(buffers)
        self.shared_limit = limits.get("shared") or SHARED_BYTES
        self.threads_limit = min(THREADS, limits.get("threads_per_block") or THREADS)
        self.chance = chance
        self.clock = clock
        self.launches = 0
        self.most_shared = 0
        self.most_threads = 0
        self.launched: dict[tuple[Any, ...], list[Any]] = {}
        self._temporary = 0

    def allocate(self, shape: tuple[int, ...], code: str, fill: None) -> Handle:
        """A temporary array, which holds chance."""
        self._temporary += math.prod(shape) * SIZES[code]
        if self._temporary > TEMPORARY_BYTES:
            said = f"{self._temporary} bytes of temporary arrays; {TEMPORARY_BYTES} are allowed"
            raise Trouble("memory", said)
        made = self.made(f"temporary {len(self.buffers)}", code, shape)
        self.buffers.append(made)
        return Handle(made, shape, code)

    def made(self, name: str, dtype: str, shape: tuple[int, ...]) -> Any:
        """Memory of a temporary array."""
        size = math.prod(shape)
        data = storage(dtype, size, self.chance.randbytes(size * SIZES[dtype]))
        return Buffer(name, dtype, shape, data, self.clock, known=False)

    def launch(
        self,
        kernel: str,
        shape: object,
        args: Sequence[object],
        named: Mapping[str, object],
        line: int,
    ) -> None:
        """Run one kernel to its end.

        Raises:
            Trouble: what no launch may be, or its kernel does.
        """
        self.launches += 1
        if self.launches > LAUNCHES:
            raise Trouble("launches", f"more than {LAUNCHES} launches", line)
        grid, block, dynamic = configured(kernel, shape, self.shared_limit, self.threads_limit)
        given = [one.buffer if isinstance(one, Handle) else one for one in args]
        for one in given:
            if not hasattr(one, "ndim") and one.__class__ not in NUMBERS:
                kind = "a type" if isinstance(one, Dtype) else type(one).__name__
                said = f"{kernel} is given {kind}; kernels take arrays and numbers"
                raise Trouble("type", said, line)
        threads = Shape(grid, block, dynamic)
        self._note(kernel, given, threads)
        self.most_threads = max(self.most_threads, threads.threads)
        try:
            self.most_shared = max(self.most_shared, self.ran(kernel, threads, given))
        except Broken as broken:
            place = broken.line or line_of(broken)
            raise Trouble(broken.what, broken.said, place or line) from None
        except Exception as error:  # noqa: BLE001 - what an answer may bring a machine to
            said = f"{type(error).__name__}: {error}"
            raise Trouble("error", said, line_of(error) or line) from None

    def ran(self, name: str, shape: Shape, given: Sequence[object]) -> int:
        """Run every thread; bytes of shared memory of a block, at most."""
        for buffer in self.buffers:
            if isinstance(buffer, Buffer):
                buffer.forget()
        self.clock.races.clear()
        code = self.kernels(name, given)
        chance = self.chance
        used: int = run_launch(
            code, given, shape, self.clock, chance=chance, limit=self.shared_limit
        )
        for said in self.clock.races.values():
            raise Broken("race", said)
        return used

    def _note(self, name: str, given: Sequence[Any], shape: Shape) -> None:
        kinds = [f"{a.dtype}[{a.ndim}]" if hasattr(a, "ndim") else type(a).__name__ for a in given]
        self.launched.setdefault((name, *kinds), [name, kinds, shape.dynamic, shape.threads])
