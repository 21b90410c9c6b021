"""Values of a launch plan's names, functions and operators."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .values import DTYPES, SIZES, Dtype, Handle, Trouble

if TYPE_CHECKING:
    from .host import Host

__all__ = ["OPERATORS", "UNARY", "Worth", "truth"]

BITS = 256  # of an integer
OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.RShift: operator.rshift,
    ast.LShift: operator.lshift, ast.Pow: operator.pow,
}  # fmt: skip
UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos, ast.USub: operator.neg, ast.Invert: operator.invert,
}  # fmt: skip


def is_number(value: object) -> bool:
    """Whether a plan may compute with it."""
    return isinstance(value, (int, float))


def truth(value: object) -> bool:
    """Of numbers, texts and tuples."""
    if isinstance(value, Handle):
        raise Trouble("type", "an array has no truth in a plan")
    return bool(value)


def meaning(full: str) -> Any:
    """What a full name is worth."""
    module, _, name = full.rpartition(".")
    return getattr(math, name) if module == "math" else Dtype(DTYPES[name])


def dtype_of(value: object) -> Dtype:
    """The type of an array, which may be said in words as numpy has it ("int32", "i4")."""
    if isinstance(value, str):
        code = {"int": "i8", "float": "f8"}.get(value) or DTYPES.get(value, value)  # not torch's
        value = Dtype(code) if code in SIZES else value
    if not isinstance(value, Dtype):
        raise Trouble("type", f"{value!r:.40} is no type of an array")
    return value


def whole(args: list[Any], count: int) -> list[int]:
    """The arguments, which are integers."""
    if len(args) != count or not all(isinstance(number, int) for number in args):
        raise Trouble("error", "integers were expected")
    return args


def of_math(name: str, args: list[object]) -> Any:
    """A function of math, of numbers."""
    numbers = args[0] if name == "prod" and len(args) == 1 and isinstance(args[0], tuple) else args
    if not all(is_number(number) for number in numbers):
        raise Trouble("error", f"math.{name} takes numbers")
    value = getattr(math, name)(*args)
    if isinstance(value, int) and value.bit_length() > BITS:
        raise Trouble("error", "a number that is too large for a plan")
    return value


def builtin(name: str, args: list[Any], named: dict[str, Any]) -> Any:
    """One of Python's few functions."""
    if named:
        raise Trouble("error", f"{name} takes its arguments by position")
    if name == "len" and len(args) == 1:
        return args[0].shape[0] if isinstance(args[0], Handle) else len(args[0])
    listed = name in ("max", "min", "tuple") and len(args) == 1 and isinstance(args[0], tuple)
    if not all(is_number(value) for value in (args[0] if listed else args)):
        raise Trouble("error", f"{name} takes numbers")
    calls: Mapping[str, Callable[..., Any]] = {
        "abs": abs, "bool": bool, "float": float, "int": int, "max": max, "min": min,
        "range": range, "round": round, "tuple": tuple,
    }  # fmt: skip
    return calls[name](*args)


def reshaped(array: Handle, args: list[Any]) -> Handle:
    """The same elements in another shape."""
    shape = args[0] if len(args) == 1 and isinstance(args[0], tuple) else tuple(args)
    if not all(type(extent) is int and extent >= -1 for extent in shape) or shape.count(-1) > 1:
        raise Trouble("shape", f"{shape!r:.60} is no shape of an array")
    known = math.prod(extent for extent in shape if extent != -1)
    if -1 in shape:
        shape = tuple(array.size // max(known, 1) if extent == -1 else extent for extent in shape)
    if math.prod(shape) != array.size:
        raise Trouble("shape", f"{array.size} elements are not of the shape {shape!r:.60}")
    return Handle(array.buffer, shape, array.code)


class Worth:
    """Values in plans of CUDA C++ and Triton; other languages override what differs."""

    def meaning(self, full: str) -> Any:
        """Return the value of a full name."""
        return meaning(full)

    def binary(self, op: type[ast.operator], left: Any, right: Any) -> Any:
        """Apply an operator to numbers, or join two tuples.

        Raises:
            Trouble: the operands are something else, or the result is too large.
        """
        joined = op is ast.Add and isinstance(left, tuple) and isinstance(right, tuple)
        if not joined and not (is_number(left) and is_number(right)):
            raise Trouble("error", "a plan computes with numbers; what arrays hold is for kernels")
        if op in (ast.Pow, ast.LShift) and not (abs(right) <= BITS and abs(left) <= 1 << 64):
            raise Trouble("error", "a number that is too large for a plan")
        value = OPERATORS[op](left, right)
        if isinstance(value, complex) or (isinstance(value, int) and value.bit_length() > BITS):
            raise Trouble("error", "a number that is too large for a plan")
        if isinstance(value, tuple) and len(value) > 1024:
            raise Trouble("error", "a tuple that is too long for a plan")
        return value

    def unary(self, op: type[ast.unaryop], operand: Any) -> Any:
        """Apply an operator to one number."""
        return not truth(operand) if op is ast.Not else UNARY[op](operand)

    def builtin(self, name: str, args: list[Any], named: dict[str, Any]) -> Any:
        """Call one of Python's functions."""
        return builtin(name, args, named)

    def function(self, full: str, args: list[Any], named: dict[str, Any], host: Host) -> Any:
        """Call a function by its full name; those that allocate ask the host."""
        module, _, name = full.rpartition(".")
        if name == "cdiv":
            left, right = whole(args, 2)
            return -(-left // right)
        if name == "next_power_of_2":
            (number,) = whole(args, 1)
            return 1 << max(0, number - 1).bit_length()
        if name == "dtype":
            return dtype_of(args[0])
        if module == "math":
            return of_math(name, args)
        if name == "constexpr":
            return args[0]
        if module == "cuda" and name.startswith("device_array"):
            if len(args) == 2:
                named = {**named, "dtype": args.pop()}
            return allocated(name.replace("device_array", "empty"), args, named, host)
        if module == "torch" and name != "device":
            return allocated(name, args, named, host)
        return None

    def method(self, array: Handle, name: str, args: list[Any], host: Host) -> Any:
        """Call a method of an array."""
        if name in ("zero_", "fill_"):
            value = 0 if name == "zero_" else args[0]
            if not is_number(value):
                raise Trouble("type", "an array is filled with a number")
            host.fill(array, value)
            return array
        if name in ("view", "reshape", "flatten"):
            return reshaped(array, args if name != "flatten" else [-1])
        if name in ("size", "stride"):
            extents = array.shape if name == "size" else array.strides
            return extents[args[0]] if args else extents
        return {
            "numel": array.size,
            "dim": len(array.shape),
            "element_size": SIZES[array.code],
            "is_contiguous": True,
            "contiguous": array,
        }[name]


def allocated(name: str, args: list[Any], named: dict[str, Any], host: Host) -> Handle:
    """A new array, as torch's function of this name makes it."""
    given = dtype_of(named["dtype"]) if named.get("dtype") is not None else None
    fill: Any = {"empty": None, "zeros": 0, "ones": 1}.get(name.removesuffix("_like"))
    if name.startswith("full"):
        fill = args.pop() if len(args) > 1 else named.get("fill_value")
        if not is_number(fill):
            raise Trouble("type", "an array is filled with a number")
    if name.endswith("_like"):
        if len(args) != 1 or not isinstance(args[0], Handle):
            raise Trouble("type", f"torch.{name} of what is not an array")
        return host.allocate(args[0].shape, given.code if given else args[0].code, fill)
    shape = args[0] if len(args) == 1 and isinstance(args[0], tuple) else tuple(args)
    shape = named.get("size", named.get("shape", shape))
    extents = shape if isinstance(shape, tuple) else (shape,)
    if (
        not all(type(extent) is int and 0 <= extent < 1 << 40 for extent in extents)
        or len(extents) > 8
    ):
        raise Trouble("shape", f"{shape!r:.60} is no shape of an array")
    return host.allocate(extents, given.code if given else "f4", fill)
