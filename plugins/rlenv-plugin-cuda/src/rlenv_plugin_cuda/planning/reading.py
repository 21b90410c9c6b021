"""A launch plan, followed step by step: no code of an answer is executed for it."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from .rules import Names, as_grid
from .values import SIZES, Dtype, Handle, Trouble
from .worth import BITS, builtin, dtype_of, is_number, meaning, of_math, reshaped, truth, whole

__all__ = ["Grid", "Host", "Plan"]

STEPS = 500_000
_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.RShift: operator.rshift,
    ast.LShift: operator.lshift, ast.Pow: operator.pow,
}  # fmt: skip
_COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
_UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos, ast.USub: operator.neg, ast.Not: operator.not_,
    ast.Invert: operator.invert,
}  # fmt: skip


class Host(Protocol):
    """What a plan asks for."""

    def allocate(self, shape: tuple[int, ...], code: str, fill: float | None) -> Handle:
        """A new array; ``fill`` None leaves it as it comes."""

    def fill(self, array: Handle, value: float) -> None:
        """Every element becomes this."""

    def launch(
        self,
        kernel: str,
        shape: object,
        args: Sequence[object],
        named: Mapping[str, object],
        line: int,
    ) -> None:
        """Run a kernel to its end; ``shape`` is what stood in the brackets."""


class Grid:
    """A grid that depends on what a kernel is launched with."""

    def __init__(self, plan: Plan, node: ast.Lambda, space: dict[str, object]) -> None:
        self._plan = plan
        self._node = node
        self._space = space

    def __call__(self, meta: Mapping[str, object]) -> Any:
        """The grid for these arguments, by name."""
        name = self._node.args.args[0].arg
        return self._plan.value(self._node.body, {**self._space, name: dict(meta)})


class _Return(Exception):
    pass


class Plan:
    """``run`` and the constants of one program.

    Args:
        node: the function, held against the rules before.
        names: what names at the top mean.
        host: what it launches on.
    """

    def __init__(self, node: ast.FunctionDef, names: Names, host: Host) -> None:
        self.node = node
        self.names = names
        self.host = host
        self._steps = 0
        self.constants: dict[str, Any] = {}
        for name, expression in names.constants.items():
            self.constants[name] = self.value(expression, {})

    def run(self, arguments: Sequence[object]) -> None:
        """Follow the plan with these arguments.

        Raises:
            Trouble: what it does wrong.
        """
        parameters = [argument.arg for argument in self.node.args.args]
        if len(parameters) != len(arguments):
            raise Trouble(
                "arguments", f"run takes {len(parameters)} arguments, and is given {len(arguments)}"
            )
        try:
            self._block(self.node.body, dict(zip(parameters, arguments, strict=True)))
        except _Return:
            return

    def _block(self, body: Sequence[ast.stmt], space: dict[str, object]) -> None:
        for statement in body:
            try:
                self._statement(statement, space)
            except Trouble as trouble:
                trouble.line = trouble.line or statement.lineno
                raise
            except (
                ArithmeticError,
                LookupError,
                TypeError,
                ValueError,
                MemoryError,
                RecursionError,
            ) as error:
                said = f"{type(error).__name__}: {error}"
                raise Trouble("error", said[:200], statement.lineno) from None

    def _statement(self, node: ast.stmt, space: dict[str, object]) -> None:
        self._step()
        if isinstance(node, ast.Assign):
            self._assign(node.targets[0], self.value(node.value, space), space)
        elif isinstance(node, ast.AnnAssign):
            assert node.value is not None
            self._assign(node.target, self.value(node.value, space), space)
        elif isinstance(node, ast.AugAssign):
            assert isinstance(node.target, ast.Name)
            old = self.value(ast.Name(node.target.id, ast.Load()), space)
            space[node.target.id] = self._binary(type(node.op), old, self.value(node.value, space))
        elif isinstance(node, ast.If):
            self._block(node.body if truth(self.value(node.test, space)) else node.orelse, space)
        elif isinstance(node, ast.For):
            for each in self.value(node.iter, space):
                self._step()
                self._assign(node.target, each, space)
                self._block(node.body, space)
        elif isinstance(node, ast.FunctionDef):
            space[node.name] = Grid(self, as_grid(node), space)
        elif isinstance(node, ast.Return):
            raise _Return
        elif isinstance(node, ast.Assert):
            if not truth(self.value(node.test, space)):
                raise Trouble("assert", "an assertion of `run` does not hold")
        elif isinstance(node, ast.Expr):
            self.value(node.value, space)

    def _assign(self, target: ast.expr, value: object, space: dict[str, object]) -> None:
        if isinstance(target, ast.Name):
            space[target.id] = value
            return
        assert isinstance(target, ast.Tuple)
        if not isinstance(value, tuple) or len(value) != len(target.elts):
            raise Trouble("error", f"{len(target.elts)} names for another number of values")
        for part, one in zip(target.elts, value, strict=True):
            self._assign(part, one, space)

    def value(self, node: ast.expr, space: dict[str, object]) -> Any:
        """What an expression is worth."""
        self._step()
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self._named(node, space)
        if isinstance(node, (ast.Tuple, ast.List)):
            return tuple(self.value(part, space) for part in node.elts)
        if isinstance(node, ast.BinOp):
            return self._binary(
                type(node.op), self.value(node.left, space), self.value(node.right, space)
            )
        if isinstance(node, ast.UnaryOp):
            operand = self.value(node.operand, space)
            return (
                not truth(operand)
                if isinstance(node.op, ast.Not)
                else _UNARY[type(node.op)](operand)
            )
        if isinstance(node, ast.BoolOp):
            return self._bool(node, space)
        if isinstance(node, ast.Compare):
            return self._compare(node, space)
        if isinstance(node, ast.IfExp):
            return self.value(
                node.body if truth(self.value(node.test, space)) else node.orelse, space
            )
        if isinstance(node, ast.Subscript):
            return self._item(self.value(node.value, space), self.value(node.slice, space))
        if isinstance(node, ast.Attribute):
            return self._attribute(node, space)
        if isinstance(node, ast.Lambda):
            return Grid(self, node, space)
        assert isinstance(node, ast.Call)
        return self._call(node, space)

    def _named(self, node: ast.Name, space: dict[str, object]) -> Any:
        if node.id in space:
            return space[node.id]
        if node.id in self.constants:
            return self.constants[node.id]
        full = self.names.dotted(node)
        if not full:
            raise Trouble("error", f"`{node.id}` has no value yet")
        return meaning(full)

    def _bool(self, node: ast.BoolOp, space: dict[str, object]) -> Any:
        value: Any = None
        for part in node.values:
            value = self.value(part, space)
            if truth(value) is isinstance(node.op, ast.Or):
                return value
        return value

    def _compare(self, node: ast.Compare, space: dict[str, object]) -> bool:
        left = self.value(node.left, space)
        for op, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part, space)
            if not _COMPARE[type(op)](left, right):
                return False
            left = right
        return True

    def _binary(self, op: type[ast.operator], left: Any, right: Any) -> Any:
        joined = op is ast.Add and isinstance(left, tuple) and isinstance(right, tuple)
        if not joined and not (is_number(left) and is_number(right)):
            raise Trouble("error", "a plan computes with numbers; what arrays hold is for kernels")
        if op in (ast.Pow, ast.LShift) and not (abs(right) <= BITS and abs(left) <= 1 << 64):
            raise Trouble("error", "a number that is too large for a plan")
        value = _BINARY[op](left, right)
        if isinstance(value, complex) or (isinstance(value, int) and value.bit_length() > BITS):
            raise Trouble("error", "a number that is too large for a plan")
        if isinstance(value, tuple) and len(value) > 1024:
            raise Trouble("error", "a tuple that is too long for a plan")
        return value

    def _item(self, value: Any, key: Any) -> Any:
        if isinstance(value, (tuple, dict)):
            return value[key]
        raise Trouble(
            "error",
            "only shapes and what a grid is given have items here; elements are for kernels",
        )

    def _attribute(self, node: ast.Attribute, space: dict[str, object]) -> Any:
        full = self.names.dotted(node)
        if full:
            return meaning(full)
        value = self.value(node.value, space)
        if not isinstance(value, Handle):
            raise Trouble("error", f"`.{node.attr}` of what is not an array")
        return {
            "shape": value.shape,
            "ndim": len(value.shape),
            "size": value.size,
            "dtype": Dtype(value.code),
            "device": "cuda",
            "is_cuda": True,
        }[node.attr]

    def _call(self, node: ast.Call, space: dict[str, object]) -> Any:
        args = [self.value(part, space) for part in node.args]
        named = {str(keyword.arg): self.value(keyword.value, space) for keyword in node.keywords}
        func = node.func
        if isinstance(func, ast.Subscript):
            assert isinstance(func.value, ast.Name)
            self.host.launch(func.value.id, self.value(func.slice, space), args, named, node.lineno)
            return None
        full = self.names.dotted(func)
        if full:
            return self._function(full, args, named)
        if isinstance(func, ast.Name):
            return builtin(func.id, args, named)
        assert isinstance(func, ast.Attribute)
        array = self.value(func.value, space)
        if not isinstance(array, Handle):
            raise Trouble("error", f"`.{func.attr}()` of what is not an array")
        return self._method(array, func.attr, args)

    def _function(self, full: str, args: list[object], named: dict[str, object]) -> Any:
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
            return self._allocate(name.replace("device_array", "empty"), args, named)
        if module == "torch" and name != "device":
            return self._allocate(name, args, named)
        return None

    def _allocate(self, name: str, args: list[Any], named: dict[str, Any]) -> Handle:
        given = dtype_of(named["dtype"]) if named.get("dtype") is not None else None
        fill: Any = {"empty": None, "zeros": 0, "ones": 1}.get(name.removesuffix("_like"))
        if name.startswith("full"):
            fill = args.pop() if len(args) > 1 else named.get("fill_value")
            if not is_number(fill):
                raise Trouble("type", "an array is filled with a number")
        if name.endswith("_like"):
            if len(args) != 1 or not isinstance(args[0], Handle):
                raise Trouble("type", f"torch.{name} of what is not an array")
            return self.host.allocate(args[0].shape, given.code if given else args[0].code, fill)
        shape = args[0] if len(args) == 1 and isinstance(args[0], tuple) else tuple(args)
        shape = named.get("size", named.get("shape", shape))
        extents = shape if isinstance(shape, tuple) else (shape,)
        if (
            not all(type(extent) is int and 0 <= extent < 1 << 40 for extent in extents)
            or len(extents) > 8
        ):
            raise Trouble("shape", f"{shape!r:.60} is no shape of an array")
        return self.host.allocate(extents, given.code if given else "f4", fill)

    def _method(self, array: Handle, name: str, args: list[Any]) -> Any:
        if name in ("zero_", "fill_"):
            value = 0 if name == "zero_" else args[0]
            if not is_number(value):
                raise Trouble("type", "an array is filled with a number")
            self.host.fill(array, value)
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

    def _step(self) -> None:
        self._steps += 1
        if self._steps > STEPS:
            raise Trouble("endless", f"a plan of more than {STEPS} steps")
