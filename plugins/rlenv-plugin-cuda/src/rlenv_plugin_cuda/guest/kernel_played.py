"""Launches of a plan that is followed with arrays that have a shape and no content: which kernels,
with arguments of which types."""

from __future__ import annotations

import builtins
import signal
from importlib import import_module

import kernel_plan
from kernel_words import DTYPES
from planning.values import Dtype, Handle, Trouble
from planning.worth import OPERATORS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import FrameType
    from typing import Any

__all__ = ["Launches", "Wrong", "dry_run"]

LAUNCHES = 4096  # of one case
SECONDS = 3.0  # of CPU, for all cases
VARIANTS = 16  # combinations of types and kernels
NAMES = {
    "f2": "float16", "bf16": "uint16", "f4": "float32", "f8": "float64", "b1": "bool_",
    "c8": "complex64", "c16": "complex128", "i1": "int8", "i2": "int16", "i4": "int32",
    "i8": "int64", "u1": "uint8", "u2": "uint16", "u4": "uint32", "u8": "uint64",
}  # fmt: skip
_NUMBERS = {bool: "bool", int: "int", float: "float", complex: "complex"}


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


class Launches:
    """A host that notes what is launched.

    Args:
        full: whether to note each launch with its arguments, as a GPU takes them.

    Attributes:
        asked: kernels with the types of their arguments, each once, in order.
        plans: of each case ``{"temporaries": [[code, shape], …], "steps": [[kernel, number of what
            was asked, shape, arguments], …]}``; an argument is ["array", buffer, code, shape] or
            [type, text].
    """

    def __init__(self, *, full: bool) -> None:
        self.full = full
        self.asked: dict[tuple[str, tuple[Any, ...]], None] = {}
        self.plans: list[dict[str, Any]] = []
        self.count = 0
        self.buffers = 0

    def begin(self, case: Sequence[Any]) -> list[Any]:
        """The arguments of ``run`` for a case of [[dtype, shape or None, number or None], …]."""
        self.count = 0
        self.buffers = 0
        self.plans.append({"temporaries": [], "steps": []})
        return [
            value if shape is None else self._handle(tuple(shape), dtype)
            for dtype, shape, value in case
        ]

    def _handle(self, shape: tuple[int, ...], code: str) -> Handle:
        self.buffers += 1
        return Handle(self.buffers - 1, shape, code)

    def allocate(self, shape: tuple[int, ...], code: str, fill: None) -> Handle:
        """An array that holds nothing."""
        if not shape:
            raise Trouble("shape", "device_array takes a shape of integers")
        self.plans[-1]["temporaries"].append([_code(code), shape])
        return self._handle(shape, code)

    def launch(
        self,
        kernel: str,
        shape: object,
        args: Sequence[object],
        named: Mapping[str, object],
        line: int,
    ) -> None:
        """Note a launch."""
        self.count += 1
        if self.count > LAUNCHES:
            raise Trouble("launches", f"more than {LAUNCHES} launches", line)
        key = kernel, tuple(map(_type, args))
        self.asked[key] = None
        if len(self.asked) > VARIANTS:
            said = f"more than {VARIANTS} combinations of kernels and types"
            raise Trouble("launches", said, line)
        if self.full:
            number = list(self.asked).index(key)
            given = [_argument(one) for one in args]
            self.plans[-1]["steps"].append([kernel, number, shape, given])


def _code(code: str) -> str:
    """Of what numba takes an array for: it has no bfloat16."""
    return "u2" if code == "bf16" else code


def _argument(one: Any) -> list[Any]:
    if isinstance(one, Handle):
        return ["array", one.buffer, _code(one.code), one.shape]
    kind = _NUMBERS[type(one)]
    return [kind, one.hex() if kind == "float" else repr(one)]


def _type(argument: object) -> Any:
    """What numba takes an argument of a launch for."""
    numba = import_module("numba")
    if isinstance(argument, Handle):
        np = import_module("numpy")
        dtype = numba.from_dtype(np.dtype(getattr(np, NAMES[argument.code])))
        return numba.types.Array(dtype, len(argument.shape), "C")
    try:
        return numba.typeof(argument)
    except Exception:  # noqa: BLE001 - numba has several
        raise Trouble("type", f"a kernel is given {type(argument).__name__}") from None


class _Worth(kernel_plan.Worth):  # type: ignore[misc] # a neighbor in the sandbox
    """Values as Python and numba have them."""

    def function(self, full: str, args: list[Any], named: dict[str, Any], host: Any) -> Any:
        """Call a function; whoever allocates an array judges how it is to be laid out."""
        known = {name: value for name, value in named.items() if name in ("shape", "dtype")}
        return super().function(full, args, known, host)


def _of_plan(value: Any) -> Any:
    """A constant of the kernels as a plan has it: types are those of arrays."""
    if isinstance(value, tuple):
        return tuple(map(_of_plan, value))
    if isinstance(value, import_module("numba").types.Type):
        name = value.name
    elif isinstance(value, type):
        name = import_module("numpy").dtype(value).name
    else:
        return value
    code = DTYPES.get({"bool": "bool_"}.get(name, name))
    return Dtype(code) if code else value


def dry_run(
    answer: Any,
    space: dict[str, Any],
    cases: Sequence[Any],
    thing: Callable[[str], Any],
    *,
    full: bool = False,
) -> Launches:
    """Follow ``run`` for each case, and note the kernels that it launches.

    Args:
        answer: as the rules read it.
        space: the globals of its kernels, for its constants.
        cases: [[dtype, shape or None, number or None], …] for each.
        thing: what a full name means.
        full: as ``Launches`` has it; then nothing but the sandbox bounds the time.

    Raises:
        Wrong: ``run`` cannot be followed.
    """
    host = Launches(full=full)
    node = answer.functions["run"].node
    constants = {name: _of_plan(space[name]) for name in answer.constants}
    worth = _Worth(lambda full: getattr(builtins, full, None) or thing(full), OPERATORS)
    signal.signal(signal.SIGVTALRM, _ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0 if full else SECONDS)
    try:
        for case in cases:
            kernel_plan.follow(answer, host, host.begin(case), constants, worth)
            if not host.count:
                raise Wrong("no kernel is launched", node.lineno)
    except Trouble as trouble:
        said = f"run: {trouble.said}" if trouble.what == "error" else trouble.said
        raise Wrong(said, trouble.line or node.lineno) from None
    except _Endless:
        raise Wrong(f"run does not end within {SECONDS:g} s", node.lineno) from None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return host


def _ring(_number: int, _frame: FrameType | None) -> None:
    raise _Endless
