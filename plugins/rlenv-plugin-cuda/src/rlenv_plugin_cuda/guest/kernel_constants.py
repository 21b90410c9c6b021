"""Types of what is known before a kernel runs: literals, constants, arguments.

The arithmetic of literals is here too.
"""

from __future__ import annotations

import ast
import operator

import kernel_kinds as kinds
from kernel_kinds import BOOL, FLOAT, INT, Kind
from kernel_words import DTYPES, Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["Folded", "constant", "kind_of", "literal"]

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
    ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.USub: operator.neg,
}  # fmt: skip
_MOST = 128  # bits that CPython folds


class Folded(ast.NodeTransformer):
    """Arithmetic of literals is Python's: CPython does it before numba sees the kernel."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        left = node.left
        right = node.right
        if not (isinstance(left, ast.Constant) and isinstance(right, ast.Constant)):
            return node
        times: Any = right.value
        if isinstance(node.op, (ast.Pow, ast.LShift)) and abs(times) > _MOST:
            return node
        return _folded(node, left.value, times)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        return _folded(node, node.operand.value) if isinstance(node.operand, ast.Constant) else node


def _folded(node: ast.BinOp | ast.UnaryOp, *values: object) -> ast.expr:
    try:
        made = _OPERATORS[type(node.op)](*values)
    except (KeyError, ArithmeticError, TypeError, ValueError):
        return node
    return ast.copy_location(ast.Constant(made), node)


def kind_of(value: Any) -> Kind:
    """The type of an argument of a launch."""
    if getattr(value, "ndim", 0):
        return kinds.array(value.dtype, value.ndim)
    code = getattr(value, "dtype", None)
    if code is not None:
        return kinds.number(code)
    return {bool: BOOL, int: INT, float: FLOAT, complex: kinds.number("c16")}[value.__class__]


def constant(answer: Answer, node: ast.expr, known: dict[str, Kind]) -> Kind:
    """The type of a constant: numpy's rules, by which Python's numbers take the type of what they
    meet.
    """
    full = answer.dotted(node)
    last = full.rpartition(".")[2]
    if last in DTYPES:
        return Kind("dtype", 0, 0, (kinds.number(DTYPES[last]),))
    if isinstance(node, ast.Name) and node.id in known:
        return known[node.id]
    if isinstance(node, ast.Tuple):
        return Kind("tuple", 0, 0, tuple(constant(answer, part, known) for part in node.elts))
    if isinstance(node, ast.Call):
        last = answer.dotted(node.func).rpartition(".")[2]
        return kinds.number(DTYPES[last]) if last in DTYPES else FLOAT
    if isinstance(node, ast.UnaryOp):
        return constant(answer, node.operand, known)
    if isinstance(node, ast.BinOp):
        left, right = (constant(answer, part, known) for part in (node.left, node.right))
        typed = {kind.code for kind in (left, right)} & {"f2", "f4"}
        return kinds.number(max(typed)) if typed else kinds.binary(type(node.op), left, right)
    if isinstance(node, ast.Constant):
        return literal(node.value)
    return FLOAT


def literal(value: object) -> Kind:
    """The type of a literal."""
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        return Kind("i8" if value < 1 << 63 else "u8", value.bit_length())
    return kinds.number("c16") if isinstance(value, complex) else FLOAT
