"""Kernels compiled for this machine's processor by numba: for arrays that are too large to
interpret.

A kernel without barriers is one loop over all its threads; one with barriers is a generator per
thread, led from barrier to barrier.  Indices are checked, orders of blocks and threads are drawn;
races are not seen as such.
"""

from __future__ import annotations

import ast
import ctypes
import math
import random
import re
import signal
from importlib import import_module

import kernel_plan
import kernel_rules
import kernel_runner
from kernel_device import FUSING_JIT, JIT, NAMES, TYPES
from kernel_lower import Beyond, lowered
from kernel_memory import Broken, Clock
from kernel_store import SIZES
from kernel_typed import Code
from kernel_words import Answer
from planning.values import Handle, Refused, Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from kernel_threads import Shape

__all__ = ["Native", "rehearse", "serve"]


np: Any = import_module("numpy")
typeof: Any = import_module("numba").typeof
NumbaError: Any = import_module("numba.core.errors").NumbaError
FILE = "answer.py"
LINE = re.compile(r"answer\.py \((\d+)\)")
WARP = 32


class Array:
    """An array in memory as numpy has it."""

    def __init__(self, name: str, dtype: str, values: Any) -> None:
        self.name = name
        self.dtype = dtype
        self.values = values
        self.shape = values.shape
        self.ndim = values.ndim
        self.size = values.size

    def __len__(self) -> int:
        return int(self.shape[0])


class Native:
    """The machine of this module.

    Raises:
        Refused: it holds what this machine has no way to run; the interpreter may.
    """

    def __init__(self, answer: Answer) -> None:
        try:
            self.made = lowered(answer)
        except Beyond as beyond:
            raise Refused(0, f"not for njit: {beyond}") from None
        self.code = Code(answer)
        self.waits = self.code.waits
        self.constants = [ast.Expression(shape) for shape, _ in self.made.shared]
        module = ast.fix_missing_locations(ast.Module(list(self.made.functions), []))
        self.module = compile(module, FILE, "exec")
        self.fusible = any(map(_sums_products, self.made.functions))
        self.contract = False  # whether the next case rounds `a * b + c` once
        self.spaces: dict[bool, dict[str, Any]] = {}

    @property
    def space(self) -> dict[str, Any]:
        """The functions of the answer, compiled with or without contraction."""
        if self.contract not in self.spaces:
            self.spaces[self.contract] = self._made_space(FUSING_JIT if self.contract else JIT)
        return self.spaces[self.contract]

    def _made_space(self, jit: Any) -> dict[str, Any]:
        space: dict[str, Any] = {"__builtins__": __builtins__, "__name__": "answer", **NAMES}
        for name, (kind, value) in self.code.values.items():
            dtype = getattr(value, "dtype", "")  # of a type under a name of the answer's
            space[name] = NAMES[f"__type_{dtype}"] if dtype else _typed(value, kind.code)
        exec(self.module, space)  # noqa: S102 - only what the rules let through
        for function in self.made.functions:
            space[function.name] = jit(space[function.name])
        return space

    def array(self, given: Sequence[Any], data: bytes, _clock: Any, mode: str) -> Array:
        """As numpy has it; an input cannot be written to."""
        name, dtype, shape = given
        if dtype == "bf16":
            raise Broken("type", "njit has no bf16")
        values = np.frombuffer(data, _numpy(dtype)).reshape(shape)
        return Array(name, dtype, values if mode == "read" else values.copy())

    def host(self, *given: object) -> Host:
        """What the plan launches with."""
        return Host(self, *given)

    def taken(self, array: Array) -> bytes:
        """The content of an output."""
        return bytes(array.values.tobytes())

    def shared(self, dynamic: int, chance: random.Random) -> list[Any]:
        """Room for the shared arrays of a block, which holds chance."""
        made = []
        for expression, (_, dtype) in zip(self.constants, self.made.shared):
            code = compile(ast.fix_missing_locations(expression), FILE, "eval")
            shape = eval(code, {"__builtins__": {}, **self.space})  # noqa: S307 - arithmetic, as the rules have it
            shape = shape if isinstance(shape, tuple) else (shape,)
            if shape == (0,):
                shape = (dynamic // SIZES[dtype],)
            size = math.prod(shape) * SIZES[dtype]
            made.append(np.frombuffer(chance.randbytes(size), _numpy(dtype)).reshape(shape).copy())
        return made


def _sums_products(function: ast.FunctionDef) -> bool:
    """Whether a function multiplies and adds; places in arrays are worked out in integers."""
    found: set[type] = set()
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.BinOp, ast.AugAssign)):
            found.add(ast.Add if isinstance(node.op, ast.Sub) else type(node.op))
        if isinstance(node, ast.Subscript):
            waiting.append(node.value)
        else:
            waiting += ast.iter_child_nodes(node)
    return {ast.Add, ast.Mult} <= found


def _typed(value: object, dtype: str) -> Any:
    """A number as numba types it: of those that the rewriter keeps as Python's, these are
    narrower.
    """
    return np.float32(value) if dtype == "f4" else value


def _numpy(dtype: str) -> Any:
    return np.dtype(getattr(np, TYPES[dtype]))


class Host(kernel_plan.Host):  # type: ignore[misc] # a neighbor in the sandbox
    """Allocates and launches compiled kernels."""

    def __init__(self, native: Native, *given: object) -> None:
        super().__init__(*given)
        self.native = native

    def made(self, name: str, dtype: str, shape: tuple[int, ...]) -> Any:
        """A temporary array, which holds chance."""
        data = self.chance.randbytes(math.prod(shape) * SIZES[dtype])
        return self.native.array((name, dtype, shape), data, self.clock, "poison")

    def ran(self, name: str, shape: Shape, given: Sequence[object]) -> int:
        """Run every thread."""
        shared = self.native.shared(shape.dynamic, self.chance)
        used = sum(array.nbytes for array in shared)
        if used > self.shared_limit:
            raise Broken(
                "shared", f"{used} bytes of shared memory; {self.shared_limit} are allowed"
            )
        arguments = [
            a.values if isinstance(a, Array) else _typed(a, getattr(a, "dtype", "")) for a in given
        ]
        code = self.native.space[name]
        lanes = (np.zeros((2, shape.threads)), np.zeros((2, shape.threads), np.int64))
        blocks = self._blocks(shape.blocks)
        try:
            if name in self.native.waits:
                self._rounds(code, shape, blocks, (tuple(shared), lanes, *arguments), shared)
            else:
                first, step = blocks
                all_of_it = (
                    code, first, step, shape.block, shape.grid, bool(self.chance.randrange(2)),
                    tuple(shared), lanes, tuple(arguments),
                )  # fmt: skip
                _ready(_through, all_of_it)
                _through(*all_of_it)
        except Broken:
            raise
        except IndexError as error:
            raise _outside(error) from None
        except Exception as error:  # noqa: BLE001 - numba's own are distinguished
            raise _untyped(error) from None
        return int(used)

    def _blocks(self, count: int) -> tuple[int, int]:
        """Where to begin, and by how much to go on: all blocks come, each once."""
        step = self.chance.choice([1, count - 1, self.chance.randrange(count) | 1]) or 1
        while math.gcd(step, count) != 1:
            step += 1
        return self.chance.randrange(count), step

    def _rounds(
        self, code: Any, shape: Shape, blocks: tuple[int, int], given: tuple[Any, ...], shared: Any
    ) -> None:
        nx, ny, nz = shape.block
        gx, gy, gz = shape.grid
        at = [(x, y, z) for z in range(nz) for y in range(ny) for x in range(nx)]
        order = list(range(shape.threads))
        first, step = blocks
        poison = [self.chance.randbytes(array.nbytes) for array in shared]
        _ready(code, ((0,) * 12, *given))
        for count in range(shape.blocks):
            block = (first + count * step) % shape.blocks
            rest = (block % gx, block // gx % gy, block // (gx * gy), nx, ny, nz, gx, gy, gz)
            for array, content in zip(shared, poison):
                array.view(np.uint8).reshape(-1)[:] = np.frombuffer(content, np.uint8)
            self.chance.shuffle(order)
            _led([code((*at[place], *rest), *given) for place in order], order)


def _ready(code: Any, arguments: Sequence[Any]) -> None:
    """Have numba compile it on no case's time.

    A loop of it that has no end would not hear Python, so that the process ends.
    """
    left, _ = signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    code.compile(tuple(map(typeof, arguments)))
    if left:
        libc = ctypes.CDLL(None)  # the first of its namespace is not ended by a signal itself
        libc.signal(signal.SIGVTALRM, ctypes.cast(libc._exit, ctypes.c_void_p))
        signal.setitimer(signal.ITIMER_VIRTUAL, left)


def _led(threads: list[Any], order: Sequence[int]) -> None:
    """The threads of a block from one stop to the next: odd sites are of a warp, even ones of the
    block, 0 is the end.
    """
    at = [next(thread, 0) for thread in threads]
    while True:
        found = set(at)
        if found == {0}:
            return
        if len(found) == 1:
            at = [next(thread, 0) for thread in threads]
        elif any(site % 2 for site in found):
            _apart(at, order)
            at = [next(t, 0) if site % 2 else site for t, site in zip(threads, at)]
        else:
            raise Broken("barrier", "a barrier that not all threads of the block reach")


def _apart(at: Sequence[int], order: Sequence[int]) -> None:
    """Hold the lanes of each warp to one operation."""
    asked: dict[int, int] = {}
    for place, site in zip(order, at):
        if site % 2 and asked.setdefault(place // WARP, site) != site:
            raise Broken("warp", "lanes of one warp stand at different operations")


def _all_threads(  # noqa: PLR0917 - numba knows no arguments by name
    code: Any,
    first: Any,
    step: Any,
    block: Any,
    grid: Any,
    back: Any,
    shared: Any,
    lanes: Any,
    given: Any,
) -> None:
    """All threads of a launch, blocks from ``first`` on by ``step``."""
    nx, ny, nz = block
    gx, gy, gz = grid
    for count in range(gx * gy * gz):
        number = (first + count * step) % (gx * gy * gz)
        bx = number % gx
        by = number // gx % gy
        bz = number // (gx * gy)
        for c in range(nz):
            for b in range(ny):
                for a in range(nx):
                    tx, ty, tz = (nx - 1 - a, ny - 1 - b, nz - 1 - c) if back else (a, b, c)
                    t = (tx, ty, tz, bx, by, bz, nx, ny, nz, gx, gy, gz)
                    code(t, shared, lanes, *given)


_through: Any = JIT(_all_threads)


def _outside(error: IndexError) -> Any:
    if len(error.args) != 3:
        return Broken("bounds", "an index that is outside")
    place, extent, line = error.args
    where = "before the beginning" if place < 0 else f"beyond an extent of {extent}"
    broken = Broken("bounds", f"an index of {place}, {where}")
    broken.line = line
    return broken


def _untyped(error: Exception) -> Any:
    """What numba says of a kernel that it cannot compile, as the kernel's fault."""
    if not isinstance(error, NumbaError):
        return error
    text = " ".join(str(error).split())
    if "modify readonly array" in text:
        return Broken("input", "an input is written")
    found = LINE.search(text)
    broken = Broken("type", f"numba cannot compile it: {text[:160]}")
    broken.line = int(found[1]) if found else 0
    return broken


_SAMPLE = """
from numba import cuda
@cuda.jit
def k(a, o):
    i = cuda.grid(1)
    if i < o.size:
        o[i] = a[i]
@cuda.jit
def w(a, o):
    i = cuda.grid(1)
    cuda.syncthreads()
    if i < o.size:
        o[i] = a[i]
def run(a, o):
    k[1, 32](a, o)
    w[1, 32](a, o)
"""


def rehearse() -> None:
    """Have numba compile what every answer needs, once, so that no answer waits for that.

    What breaks is told later.
    """
    try:
        _rehearsed()
    except (Broken, Refused, Trouble):
        return


def _rehearsed() -> None:
    answer = kernel_rules.read(_SAMPLE)
    native = Native(answer)
    clock = Clock()
    chance = random.Random(1)  # noqa: S311 - orders, no secrets
    data = bytes(128)
    arrays = [
        native.array((name, "f4", (32,)), data, clock, mode)
        for name, mode in (("a", "read"), ("o", "known"))
    ]
    host = native.host(None, arrays, {}, chance, clock)
    given = [Handle(array, array.shape, array.dtype) for array in arrays]
    kernel_plan.follow(answer, host, given, {}, kernel_plan.Worth())


def serve() -> None:
    """Answer until the channel ends."""
    kernel_runner.serve(Native)
