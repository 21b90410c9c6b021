"""The types of what kernels are given: ``run`` is played through with arrays that have a shape and
no content, and with kernels that only note their arguments."""

from __future__ import annotations

import ast
import builtins
import math
import signal
import types
from importlib import import_module

import kernel_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType
    from typing import Any

__all__ = ["FILE", "Wrong", "defined", "played"]

FILE = "answer.py"
LAUNCHES = 4096  # of one playing
SECONDS = 1.0  # of CPU, for all playings
VARIANTS = 16  # combinations of types and kernels
NAMES = {
    "f2": "float16", "bf16": "uint16", "f4": "float32", "f8": "float64", "b1": "bool_",
    "c8": "complex64", "c16": "complex128", "i1": "int8", "i2": "int16", "i4": "int32",
    "i8": "int64", "u1": "uint8", "u2": "uint16", "u4": "uint32", "u8": "uint64",
}  # fmt: skip


class Wrong(Exception):
    """The answer cannot be compiled.

    ``line`` counts from 1 within the program; 0: nowhere in particular.
    """

    def __init__(self, said: str, line: int = 0) -> None:
        self.said = said
        self.line = line
        super().__init__(said)


class _Endless(BaseException):
    """The time is up; no plan can catch this."""


class Handle:
    """An array of a launch plan: a type and a shape."""

    __slots__ = ("dtype", "ndim", "shape", "size")

    def __init__(self, dtype: str, shape: Sequence[int]) -> None:
        self.dtype = dtype
        self.shape = tuple(shape)
        self.ndim = len(self.shape)
        self.size = math.prod(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        raise Wrong("an array has no truth")


class _Notes:
    """What was launched: {(kernel, types of its arguments)}, in order."""

    def __init__(self) -> None:
        self.asked: dict[tuple[str, tuple[Any, ...]], None] = {}
        self.count = 0

    def launched(self, name: str, arguments: Sequence[object]) -> None:
        self.count += 1
        if self.count > LAUNCHES:
            raise Wrong(f"more than {LAUNCHES} launches")
        self.asked[name, tuple(map(_type, arguments))] = None
        if len(self.asked) > VARIANTS:
            raise Wrong(f"more than {VARIANTS} combinations of kernels and types")


class _Launcher:
    """A kernel as ``run`` has it."""

    def __init__(self, name: str, notes: _Notes) -> None:
        self.name = name
        self.notes = notes

    def __getitem__(self, _shape: object) -> Any:
        return lambda *arguments: self.notes.launched(self.name, arguments)


def _type(argument: object) -> Any:
    """What numba takes an argument of a launch for."""
    numba = import_module("numba")
    if isinstance(argument, Handle):
        np = import_module("numpy")
        dtype = numba.from_dtype(np.dtype(getattr(np, argument.dtype)))
        return numba.types.Array(dtype, argument.ndim, "C")
    try:
        return numba.typeof(argument)
    except Exception:  # noqa: BLE001 - numba has several
        raise Wrong(f"a kernel is given {type(argument).__name__}") from None


def played(
    answer: Any, space: dict[str, Any], cases: Sequence[Any]
) -> list[tuple[str, tuple[Any, ...]]]:
    """The kernels that ``run`` launches, with the types of what they are given.

    Args:
        answer: as the rules read it.
        space: the globals of its kernels.
        cases: [[dtype, shape or None, number or None], …] for each.

    Raises:
        Wrong: ``run`` cannot be played through.
    """
    notes = _Notes()
    plan = answer.functions["run"]
    wanted = len(plan.parameters)
    signal.signal(signal.SIGVTALRM, _ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        for case in cases:
            if len(case) != wanted:
                said = f"run takes {wanted} arguments, and is given {len(case)}"
                raise Wrong(said, plan.node.lineno)
            notes.count = 0
            _play(_host(answer, space, notes), case)
            if not notes.count:
                raise Wrong("no kernel is launched", plan.node.lineno)
    except _Endless:
        raise Wrong(f"run does not end within {SECONDS:g} s", plan.node.lineno) from None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return list(notes.asked)


def _ring(_number: int, _frame: FrameType | None) -> None:
    raise _Endless


def _play(here: dict[str, Any], case: Sequence[Any]) -> None:
    given = [
        value if shape is None else Handle(NAMES[dtype], shape) for dtype, shape, value in case
    ]
    try:
        here["run"](*given)
    except Wrong as wrong:
        raise Wrong(wrong.said, wrong.line or _line(wrong)) from None
    except Exception as error:  # noqa: BLE001 - whatever a plan may raise
        raise Wrong(f"run: {type(error).__name__}", _line(error)) from None


def _line(error: BaseException) -> int:
    line = 0
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _host(answer: Any, space: dict[str, Any], notes: _Notes) -> dict[str, Any]:
    """The globals of ``run``: it sees shapes, and its ``cuda`` allocates nothing."""
    fake = {
        "device_array": _device_array,
        "device_array_like": lambda other: Handle(other.dtype, other.shape),
        "synchronize": lambda: None,
    }
    cuda = types.SimpleNamespace(**fake)
    safe = {name: getattr(builtins, name) for name in kernel_rules.BUILTINS}
    here = {**space, "__builtins__": safe}
    for name, full in answer.names.items():
        if full == "cuda":
            here[name] = cuda
        elif full == "numba":
            here[name] = types.SimpleNamespace(**_types(), cuda=cuda)
        elif full.startswith("cuda.") and full[5:] in fake:
            here[name] = fake[full[5:]]
    for function in answer.functions.values():
        if function.role != "plan":
            here[function.name] = _Launcher(function.name, notes)
    defined(answer.functions["run"].node, here)
    return here


def _device_array(shape: object, dtype: object = "float64", **_: object) -> Handle:
    extents = shape if isinstance(shape, tuple) else (shape,)
    if not extents or not all(type(extent) is int and extent >= 0 for extent in extents):
        raise Wrong("device_array takes a shape of integers")
    name = getattr(dtype, "name", None) or import_module("numpy").dtype(dtype).name
    return Handle({"bool": "bool_", "boolean": "bool_"}.get(name, name), extents)


def _types() -> dict[str, Any]:
    numba = import_module("numba")
    return {name: getattr(numba, name) for name in kernel_rules.DTYPES if hasattr(numba, name)}


def defined(node: ast.FunctionDef, space: dict[str, object]) -> Any:
    """A function without its decorators and annotations, on these globals; nothing of it is run.

    Raises:
        Wrong: Python does not compile it.
    """
    more: dict[str, Any] = {"type_params": []} if hasattr(node, "type_params") else {}
    names = [ast.copy_location(ast.arg(argument.arg), argument) for argument in node.args.args]
    arguments = ast.arguments(
        posonlyargs=[],
        args=names,
        vararg=None,
        kwonlyargs=[],
        kw_defaults=[],
        kwarg=None,
        defaults=[],
    )
    bare = ast.FunctionDef(
        name=node.name,
        args=arguments,
        body=node.body,
        decorator_list=[],
        returns=None,
        type_comment=None,
        **more,
    )
    module = ast.Module([ast.copy_location(bare, node)], [])
    try:
        exec(compile(ast.fix_missing_locations(module), FILE, "exec"), space)  # noqa: S102 - keeps the rules
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Wrong(f"no Python: {type(error).__name__}", node.lineno) from None
    return space[node.name]
