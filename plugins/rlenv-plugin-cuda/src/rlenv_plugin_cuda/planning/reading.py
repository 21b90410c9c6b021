"""A launch plan, followed step by step: no code of an answer is executed for it."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .host import Host
from .names import Names, as_grid
from .values import Dtype, Handle, Trouble
from .worth import Worth, truth

__all__ = ["STEPS", "Grid", "Plan"]

STEPS = 500_000
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


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class Plan:
    """``run`` and the constants of one program.

    Args:
        node: the function, held against the rules before.
        names: what names at the top mean.
        host: what it launches on.
        worth: what names, functions and operators are worth.
        constants: values of the constants at the top, where the language computes them by itself.
        steps: the most that it may take.
    """

    def __init__(
        self,
        node: ast.FunctionDef,
        names: Names,
        host: Host,
        *,
        worth: Worth | None = None,
        constants: Mapping[str, Any] | None = None,
        steps: float = STEPS,
    ) -> None:
        self.node = node
        self.names = names
        self.host = host
        self.worth = worth or Worth()
        self._steps = 0
        self._most = steps
        self.constants: dict[str, Any] = dict(constants or {})
        for name, expression in names.constants.items() if constants is None else ():
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
            value = self.value(node.value, space)
            for target in node.targets:
                self._assign(target, value, space)
        elif isinstance(node, ast.AnnAssign):
            assert node.value is not None
            self._assign(node.target, self.value(node.value, space), space)
        elif isinstance(node, ast.AugAssign):
            assert isinstance(node.target, ast.Name)
            old = self.value(ast.Name(node.target.id, ast.Load()), space)
            new = self.value(node.value, space)
            space[node.target.id] = self.worth.binary(type(node.op), old, new)
        elif isinstance(node, ast.If):
            self._block(node.body if truth(self.value(node.test, space)) else node.orelse, space)
        elif isinstance(node, (ast.For, ast.While)):
            try:
                self._loop(node, space)
            except _Break:
                return
        elif isinstance(node, ast.FunctionDef):
            space[node.name] = Grid(self, as_grid(node), space)
        elif isinstance(node, (ast.Return, ast.Break, ast.Continue)):
            raise _LEAVES[type(node)]
        elif isinstance(node, ast.Assert):
            if not truth(self.value(node.test, space)):
                raise Trouble("assert", "an assertion of `run` does not hold")
        elif isinstance(node, ast.Expr):
            self.value(node.value, space)

    def _loop(self, node: ast.For | ast.While, space: dict[str, object]) -> None:
        if isinstance(node, ast.For):
            for each in self.value(node.iter, space):
                self._step()
                self._assign(node.target, each, space)
                self._turn(node.body, space)
            return
        while truth(self.value(node.test, space)):
            self._turn(node.body, space)

    def _turn(self, body: Sequence[ast.stmt], space: dict[str, object]) -> None:
        try:
            self._block(body, space)
        except _Continue:
            return

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
            left = self.value(node.left, space)
            return self.worth.binary(type(node.op), left, self.value(node.right, space))
        if isinstance(node, ast.UnaryOp):
            return self.worth.unary(type(node.op), self.value(node.operand, space))
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
        return self.worth.meaning(full)

    def _bool(self, node: ast.BoolOp, space: dict[str, object]) -> Any:
        for part in node.values[:-1]:
            value = self.value(part, space)
            if truth(value) is isinstance(node.op, ast.Or):
                return value
        return self.value(node.values[-1], space)

    def _compare(self, node: ast.Compare, space: dict[str, object]) -> bool:
        left = self.value(node.left, space)
        for op, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part, space)
            if not _COMPARE[type(op)](left, right):
                return False
            left = right
        return True

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
            return self.worth.meaning(full)
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
            return self.worth.function(full, args, named, self.host)
        if isinstance(func, ast.Name):
            return self.worth.builtin(func.id, args, named)
        assert isinstance(func, ast.Attribute)
        array = self.value(func.value, space)
        if not isinstance(array, Handle):
            raise Trouble("error", f"`.{func.attr}()` of what is not an array")
        return self.worth.method(array, func.attr, args, self.host)

    def _step(self) -> None:
        self._steps += 1
        if self._steps > self._most:
            raise Trouble("endless", f"a plan of more than {self._most} steps")


_LEAVES: Mapping[type[ast.stmt], type[Exception]] = {
    ast.Return: _Return,
    ast.Break: _Break,
    ast.Continue: _Continue,
}
