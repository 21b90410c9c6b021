"""The body of a kernel against the rules."""

from __future__ import annotations

import ast

from rlenv_plugin_cuda.planning.rules import Names, plain, what
from rlenv_plugin_cuda.planning.values import Refused

from .names import ATTRIBUTES, BUILTINS, CALLS, LIBDEVICE, LIBDEVICE_MODULES, LOOPS, METHODS, WORDS

__all__ = ["check_kernel", "is_libdevice"]

DEPTH = 60
_TEXTS = frozenset([
    "cache_modifier", "eviction_policy", "input_precision", "sem", "scope", "padding_option",
    "propagate_nan",
])  # fmt: skip
_NUMBERS = frozenset({"inf", "-inf", "+inf", "nan", "infinity", "-infinity"})
_COMPOUND = (ast.Tuple, ast.List, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.IfExp)


def is_libdevice(full: str) -> bool:
    """Whether a full name is of the device library, as far as that can be had."""
    module, _, name = full.rpartition(".")
    return module in LIBDEVICE_MODULES and name in LIBDEVICE and full not in CALLS


def check_kernel(node: ast.FunctionDef, names: Names, functions: frozenset[str]) -> None:
    """Hold a kernel or device function against the rules.

    Raises:
        Refused: the first thing that is not allowed.
    """
    _Body(node, names, functions).block(node.body, 0)


class _Body:
    def __init__(self, node: ast.FunctionDef, names: Names, functions: frozenset[str]) -> None:
        self.names = names
        self.functions = functions
        self.locals: set[str] = {
            argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)
        }
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                plain(part.id, part.lineno)
                self.locals.add(part.id)
        for name in self.locals:
            if name in names.modules or name in functions:
                raise Refused(
                    node.lineno, f"`{name}` means something else outside `{node.name:.60}`"
                )

    def block(self, body: list[ast.stmt], depth: int) -> None:
        for place, statement in enumerate(body):
            text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if not (place == 0 and depth == 0 and text):
                self.statement(statement, depth + 1)

    def statement(self, node: ast.stmt, depth: int) -> None:
        if depth > DEPTH:
            raise Refused(node.lineno, "a kernel of so many levels is not read")
        if isinstance(node, ast.Assign):
            if len(node.targets) != 1:
                raise Refused(node.lineno, "one assignment at a time")
            self._target(node.targets[0])
            self.expression(node.value, depth)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            if self.names.dotted(node.annotation) not in WORDS:
                raise Refused(
                    node.lineno, "variables are annotated with tl.constexpr, or not at all"
                )
            self._target(node.target)
            self.expression(node.value, depth)
        elif isinstance(node, ast.AugAssign):
            self._target(node.target)
            self.expression(node.value, depth)
        elif isinstance(node, (ast.If, ast.While)):
            if isinstance(node, ast.While) and node.orelse:
                raise Refused(node.lineno, "a loop has no else")
            self.expression(node.test, depth)
            self.block(node.body, depth)
            self.block(node.orelse, depth)
        elif isinstance(node, ast.For) and not node.orelse:
            self._loop(node, depth)
        elif isinstance(node, ast.Return):
            if node.value is not None:
                self.expression(node.value, depth)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            self.expression(node.value, depth)
        elif not isinstance(node, ast.Pass):
            raise Refused(node.lineno, f"{what(node)} has no place in a Triton kernel")

    def _loop(self, node: ast.For, depth: int) -> None:
        call = node.iter
        if not isinstance(call, ast.Call) or self._callee(call.func) not in LOOPS:
            raise Refused(node.lineno, "a for loop goes over range, tl.range or tl.static_range")
        if not isinstance(node.target, ast.Name):
            raise Refused(node.lineno, "a for loop counts with one name")
        for part in (*call.args, *(keyword.value for keyword in call.keywords)):
            self.expression(part, depth + 1)
        if any(keyword.arg is None for keyword in call.keywords):
            raise Refused(node.lineno, "a call spreads no arguments")
        self.block(node.body, depth)

    def _callee(self, func: ast.expr) -> str:
        if isinstance(func, ast.Name) and func.id in BUILTINS and func.id not in self.locals:
            return func.id
        return self.names.dotted(func)

    def _target(self, node: ast.expr) -> None:
        if isinstance(node, ast.Tuple):
            for part in node.elts:
                self._target(part)
        elif not isinstance(node, ast.Name):
            raise Refused(
                node.lineno,
                f"kernels assign to names, not to {what(node)}; tl.store writes elements",
            )

    def expression(self, node: ast.expr, depth: int) -> None:
        if depth > DEPTH:
            raise Refused(node.lineno, "an expression of so many levels is not read")
        if isinstance(node, ast.Constant):
            if not (node.value is None or isinstance(node.value, (int, float))):
                raise Refused(node.lineno, f"{node.value!r:.40} has no place here")
            if isinstance(node.value, int) and abs(node.value) >= 1 << 64:
                raise Refused(node.lineno, "a number of more than 64 bits")
        elif isinstance(node, ast.Name):
            self._name(node)
        elif isinstance(node, ast.Attribute):
            self._attribute(node, depth)
        elif isinstance(node, ast.Call):
            self._call(node, depth)
        elif isinstance(node, ast.Subscript):
            self.expression(node.value, depth + 1)
            self._index(node.slice, depth + 1)
        elif isinstance(node, ast.Compare):
            self._compare(node, depth)
        elif isinstance(node, _COMPOUND):
            self._power(node)
            for part in ast.iter_child_nodes(node):
                if isinstance(part, ast.expr):
                    self.expression(part, depth + 1)
        else:
            raise Refused(node.lineno, f"{what(node)} has no place in a Triton kernel")

    def _power(self, node: ast.expr) -> None:
        if not isinstance(node, ast.BinOp):
            return
        if isinstance(node.op, ast.MatMult):
            raise Refused(node.lineno, "`@` is not of Triton; tl.dot is")
        if isinstance(node.op, (ast.Pow, ast.LShift)):
            right = node.right
            small = (
                isinstance(right, ast.Constant)
                and isinstance(right.value, int)
                and 0 <= right.value <= 64
            )
            if isinstance(node.op, ast.Pow) and not small:
                raise Refused(node.lineno, "`**` takes a small integer")

    def _compare(self, node: ast.Compare, depth: int) -> None:
        for op, right in zip(node.ops, node.comparators, strict=True):
            none = isinstance(right, ast.Constant) and right.value is None
            if isinstance(op, (ast.In, ast.NotIn)) or (
                isinstance(op, (ast.Is, ast.IsNot)) and not none
            ):
                raise Refused(
                    node.lineno,
                    "kernels compare numbers: `in` has no place, and `is` only before None",
                )
        for part in (node.left, *node.comparators):
            self.expression(part, depth + 1)

    def _index(self, node: ast.expr, depth: int) -> None:
        if isinstance(node, ast.Tuple):
            for part in node.elts:
                self._index(part, depth + 1)
        elif isinstance(node, ast.Slice):
            if node.lower or node.upper or node.step:
                raise Refused(node.lineno, "of slices there is `:` alone")
        else:
            self.expression(node, depth)

    def _name(self, node: ast.Name) -> None:
        known = node.id in self.locals or node.id in self.names.constants
        if not known and self.names.dotted(node) not in WORDS:
            raise Refused(
                node.lineno, f"`{node.id:.60}` is no variable, parameter or constant here"
            )

    def _attribute(self, node: ast.Attribute, depth: int) -> None:
        full = self.names.dotted(node)
        if full:
            if full not in WORDS:
                raise Refused(node.lineno, f"`{full:.80}` has no place in a kernel")
        elif node.attr not in ATTRIBUTES:
            raise Refused(
                node.lineno,
                f"`.{node.attr:.40}`: of a tensor a kernel knows {', '.join(sorted(ATTRIBUTES))}",
            )
        else:
            self.expression(node.value, depth + 1)

    def _call(self, node: ast.Call, depth: int) -> None:
        func = node.func
        full = self._callee(func)
        combines = full.endswith((".reduce", ".associative_scan"))
        if not full:
            if isinstance(func, ast.Name) and func.id in self.functions:
                full = func.id
            elif isinstance(func, ast.Attribute) and func.attr in METHODS:
                self.expression(func.value, depth + 1)
            else:
                shown = (
                    f".{func.attr}"
                    if isinstance(func, ast.Attribute)
                    else getattr(func, "id", what(func))
                )
                raise Refused(node.lineno, f"`{shown:.60}` cannot be called in a kernel")
        elif full == "range" or not (full in BUILTINS or full in CALLS or is_libdevice(full)):
            raise Refused(node.lineno, f"`{full:.80}` cannot be called in a kernel")
        self._arguments(node, full, depth, combines=combines)

    def _arguments(self, node: ast.Call, full: str, depth: int, *, combines: bool) -> None:
        for place, part in enumerate(node.args):
            if combines and place == 2:
                self._combiner(part)
            elif not (full == "float" and _is_text(part, _NUMBERS)):
                self.expression(part, depth + 1)
        for keyword in node.keywords:
            name = keyword.arg
            if name is None or name.startswith("_"):
                raise Refused(
                    node.lineno, "a call spreads no arguments, and names none with an underscore"
                )
            if combines and name == "combine_fn":
                self._combiner(keyword.value)
            elif not (name in _TEXTS and _is_text(keyword.value, None)) and not (
                full.endswith(".static_assert") and _is_text(keyword.value, None)
            ):
                self.expression(keyword.value, depth + 1)

    def _combiner(self, node: ast.expr) -> None:
        if not (isinstance(node, ast.Name) and node.id in self.functions):
            raise Refused(
                node.lineno, "what combines is a @triton.jit function of this answer, by its name"
            )


def _is_text(node: ast.expr, of: frozenset[str] | None) -> bool:
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return False
    return (
        node.value.lower() in of
        if of is not None
        else len(node.value) <= 80 and node.value.isascii()
    )
