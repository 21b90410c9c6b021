"""One function, or one constant, against the tables of a dialect."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from .dialect import Dialect
from .names import Names, as_grid, plain, what
from .values import Refused

__all__ = ["Checker", "is_text"]

DEPTH = 60
SMALL = 64


class Checker:
    """Holds what is said against the tables of a dialect.

    Args:
        dialect: its tables.
        names: what names at the top mean.
        node: the function, whose parameters and variables are known; None for a constant.
        functions: those that may be called, with the number of their arguments; None: any number.
    """

    def __init__(
        self,
        dialect: Dialect,
        names: Names,
        node: ast.FunctionDef | None = None,
        functions: Mapping[str, int | None] | None = None,
    ) -> None:
        self.dialect = dialect
        self.names = names
        self.functions = functions or {}
        self.locals: set[str] = set()
        self.opaque: set[str] = set()
        if node is not None:
            self._gather(node)

    def _gather(self, node: ast.FunctionDef) -> None:
        taken = self.names.taken()
        stored: set[str] = set()
        for part in ast.walk(node):
            if isinstance(part, ast.arg):
                name = part.arg
            elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                name = part.id
                stored.add(name)
            elif isinstance(part, ast.FunctionDef) and part is not node:
                name = part.name
            else:
                continue
            self._plain(name, part.lineno)
            if name in taken:
                said = f"`{name}` means something else outside `{node.name:.60}`"
                raise Refused(part.lineno, said)
            self.locals.add(name)
        if self.dialect.opaque:
            self.opaque = {argument.arg for argument in node.args.args} - stored

    def _plain(self, name: str, line: int) -> None:
        plain(name, line, self.dialect.hidden)

    def _no(self, node: ast.stmt | ast.expr, part: ast.AST | None = None) -> Refused:
        return Refused(node.lineno, f"{what(part or node)} has no place in {self.dialect.place}")

    # -- statements

    def block(self, body: list[ast.stmt], depth: int = 0) -> None:
        """Check the statements of a block; the first of a function may be its docstring."""
        for place, statement in enumerate(body):
            if place or depth or not self._opens(statement):
                self.statement(statement, depth + 1)

    def _opens(self, node: ast.stmt) -> bool:
        value = node.value if isinstance(node, ast.Expr) else None
        return isinstance(value, ast.Constant) and isinstance(value.value, self.dialect.opening)

    def statement(self, node: ast.stmt, depth: int) -> None:
        """Check one statement and what is in it."""
        if depth > DEPTH:
            raise Refused(node.lineno, f"{self.dialect.place} of so many levels is not read")
        if type(node) not in self.dialect.statements:
            raise self._no(node)
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            self._assigned(node, depth)
        elif isinstance(node, (ast.If, ast.While)):
            if isinstance(node, ast.While) and node.orelse:
                raise Refused(node.lineno, "a loop has no else")
            self.expression(node.test, depth)
            self.block(node.body, depth)
            self.block(node.orelse, depth)
        elif isinstance(node, ast.For):
            self._loop(node, depth)
        elif isinstance(node, ast.FunctionDef):
            self.expression(as_grid(node), depth, grid=True)
        elif isinstance(node, ast.Return):
            self._returned(node, depth)
        elif isinstance(node, ast.Assert):
            self.expression(node.test, depth)
        elif isinstance(node, ast.Expr):
            if not isinstance(node.value, ast.Call):
                raise Refused(node.lineno, f"{what(node.value)} by itself does nothing")
            self.expression(node.value, depth)

    def _assigned(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign, depth: int) -> None:
        if node.value is None:
            raise self._no(node)
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if len(targets) > 1 and not self.dialect.several:
            raise Refused(node.lineno, "one assignment at a time")
        known = self.dialect.annotations
        if known is not None and isinstance(node, ast.AnnAssign):
            full = self.names.dotted(node.annotation)
            if full not in known:
                said = (
                    "variables are annotated with a type of Triton or tl.constexpr, or not at all"
                )
                raise Refused(node.lineno, said)
        for target in targets:
            self._target(target, depth)
        self.expression(node.value, depth, grid=isinstance(node, ast.Assign))

    def _returned(self, node: ast.Return, depth: int) -> None:
        if node.value is None:
            return
        if not self.dialect.returns:
            said = f"{self.dialect.place} returns nothing; outputs are written in place"
            raise Refused(node.lineno, said)
        self.expression(node.value, depth)

    def _loop(self, node: ast.For, depth: int) -> None:
        if node.orelse:
            raise Refused(node.lineno, "a loop has no else")
        over = node.iter
        called = self._callee(over.func) if isinstance(over, ast.Call) else ""
        if isinstance(over, ast.Call) and called in self.dialect.loops:
            self._spread(over)
            if self.dialect.positional and (over.keywords or not 1 <= len(over.args) <= 3):
                raise Refused(node.lineno, "range takes one to three numbers")
            for part in (*over.args, *(keyword.value for keyword in over.keywords)):
                self.expression(part, depth + 1)
        elif self.dialect.tuples and isinstance(over, (ast.Tuple, ast.List, ast.Name)):
            self.expression(over, depth)
        else:
            loops = ", ".join(f"{name}(…)" for name in sorted(self.dialect.loops))
            more = " or a tuple" if self.dialect.tuples else ""
            raise Refused(node.lineno, f"a for loop goes over {loops}{more}")
        if not (self.dialect.tuples or isinstance(node.target, ast.Name)):
            raise Refused(node.lineno, "a for loop counts with one name")
        self._target(node.target, depth)
        self.block(node.body, depth)

    def _target(self, node: ast.expr, depth: int) -> None:
        if isinstance(node, ast.Tuple):
            for part in node.elts:
                self._target(part, depth)
        elif isinstance(node, ast.Subscript) and not self.dialect.elements:
            self.expression(node, depth + 1)
        elif not isinstance(node, ast.Name):
            said = f"{self.dialect.place} can assign to names only, not to {what(node)}"
            more = f": {self.dialect.elements}" if self.dialect.elements else ""
            raise Refused(node.lineno, said + more)

    # -- expressions

    def expression(self, node: ast.expr, depth: int, *, grid: bool = False) -> None:
        """Check one expression; ``grid``: a lambda may stand here, where the dialect has them."""
        if depth > DEPTH:
            raise Refused(node.lineno, "an expression of so many levels is not read")
        is_lambda = isinstance(node, ast.Lambda)
        if type(node) not in self.dialect.expressions or (is_lambda and not grid):
            raise self._no(node)
        if isinstance(node, ast.Constant):
            self._literal(node)
        elif isinstance(node, ast.Name):
            self._name(node)
        elif isinstance(node, ast.Attribute):
            self._attribute(node, depth)
        elif isinstance(node, ast.Call):
            self._call(node, depth)
        elif isinstance(node, ast.Subscript):
            self._subscript(node, depth)
        elif isinstance(node, ast.Lambda):
            self._lambda(node, depth)
        else:
            self._operators(node)
            for part in ast.iter_child_nodes(node):
                if isinstance(part, ast.expr):
                    self.expression(part, depth + 1)

    def _literal(self, node: ast.Constant) -> None:
        if self.dialect.literal(node.value):
            return
        is_int = isinstance(node.value, int)
        shown = "a number of more than 64 bits" if is_int else f"{node.value!r:.40}"
        raise Refused(node.lineno, f"{shown} has no place in {self.dialect.place}")

    def _name(self, node: ast.Name) -> None:
        self._plain(node.id, node.lineno)
        known = node.id in self.locals or node.id in self.names.constants
        if not known and self.names.dotted(node) not in self.dialect.values:
            said = f"`{node.id:.60}` is no parameter, variable or constant here"
            raise Refused(node.lineno, said)

    def _attribute(self, node: ast.Attribute, depth: int) -> None:
        full = self.names.dotted(node)
        if full:
            if full not in self.dialect.values:
                raise Refused(node.lineno, f"`{full:.80}` has no place in {self.dialect.place}")
        elif not self._is_fact(node):
            raise Refused(node.lineno, f"`.{node.attr:.40}`: {self.dialect.known}")
        else:
            self.expression(node.value, depth + 1)

    def _is_fact(self, node: ast.Attribute) -> bool:
        of_any = self.dialect.chained or isinstance(node.value, ast.Name)
        return of_any and node.attr in self.dialect.facts

    def _subscript(self, node: ast.Subscript, depth: int) -> None:
        base = node.value
        if self.dialect.chained:
            if isinstance(base, ast.Name) and base.id in self.opaque:
                said = f"`{base.id}[…]`: elements are for kernels; only shapes have items here"
                raise Refused(node.lineno, said)
            self.expression(base, depth + 1)
        else:
            self._array(node, base, depth)
        if self.dialect.slices:
            self._index(node.slice, depth + 1)
        else:
            self.expression(node.slice, depth + 1)

    def _array(self, node: ast.Subscript, base: ast.expr, depth: int) -> None:
        """Of what has items where not all does: names, their shapes, and rows of arrays."""
        is_shape = isinstance(base, ast.Attribute) and base.attr == "shape"
        is_row = isinstance(base, ast.Subscript) and not self.dialect.elements
        if not (is_shape or is_row or isinstance(base, ast.Name)):
            raise Refused(node.lineno, f"{what(base)} is not an array")
        if is_shape and isinstance(node.ctx, ast.Store):
            raise Refused(node.lineno, "elements are written by kernels only")
        self.expression(base, depth + 1)

    def _index(self, node: ast.expr, depth: int) -> None:
        if isinstance(node, ast.Tuple):
            for part in node.elts:
                self._index(part, depth + 1)
        elif not isinstance(node, ast.Slice):
            self.expression(node, depth)
        elif node.lower or node.upper or node.step:
            raise Refused(node.lineno, "of slices there is `:` alone")

    def _lambda(self, node: ast.Lambda, depth: int) -> None:
        args = node.args
        if len(args.args) != 1 or args.defaults or args.vararg or args.kwarg:
            raise Refused(node.lineno, "a grid is a lambda of one parameter")
        self.expression(node.body, depth + 1)

    def _operators(self, node: ast.expr) -> None:
        """Check the operators between the parts of an expression."""
        if isinstance(node, ast.Compare):
            for op, right in zip(node.ops, node.comparators, strict=True):
                self.operator(node, op, right)
        elif isinstance(node, ast.BinOp):
            self.operator(node, node.op, node.right)
        elif isinstance(node, (ast.UnaryOp, ast.BoolOp)):
            self.operator(node, node.op, node)

    def operator(self, node: ast.expr, op: ast.AST, right: ast.expr) -> None:
        """Check one operator and what is on its right."""
        if type(op) not in self.dialect.operators:
            raise self._no(node, op)
        value = right.value if isinstance(right, ast.Constant) else None
        is_small = isinstance(value, int) and 0 <= value <= SMALL
        if type(op) in self.dialect.small and not is_small:
            raise Refused(node.lineno, f"{what(op)} takes a small integer, from 0 to {SMALL}")

    # -- calls

    def _callee(self, func: ast.expr) -> str:
        """The full name of what is called; of Python's functions their name."""
        named = self.dialect.builtins | self.dialect.loops
        if isinstance(func, ast.Name) and func.id in named and func.id not in self.locals:
            return func.id
        return self.names.dotted(func)

    def _spread(self, node: ast.Call) -> None:
        stars = any(isinstance(part, ast.Starred) for part in node.args)
        if stars or any(keyword.arg is None for keyword in node.keywords):
            raise Refused(node.lineno, "a star: a call spreads no arguments")
        for keyword in node.keywords:
            self._plain(str(keyword.arg), node.lineno)

    def _call(self, node: ast.Call, depth: int) -> None:
        self._spread(node)
        func = node.func
        if isinstance(func, ast.Subscript):
            self.arguments(node, "", depth)
            self._launch(node, func, depth)
            return
        full = self._callee(func)
        dialect = self.dialect
        is_function = isinstance(func, ast.Name) and func.id in self.functions and not full
        is_method = isinstance(func, ast.Attribute) and func.attr in dialect.methods and not full
        if is_method and isinstance(func, ast.Attribute):
            self.expression(func.value, depth + 1)
        elif is_function and isinstance(func, ast.Name):
            self._arity(node, func.id)
        elif full not in dialect.builtins and full not in dialect.calls:
            if isinstance(func, ast.Attribute) and not full:
                self.arguments(node, full, depth)  # `o.copy_(torch.add(a, b))` names torch.add
            raise self._uncallable(func, full)
        if dialect.positional and node.keywords and full not in dialect.named:
            raise Refused(node.lineno, f"`{full or what(func)}` takes its arguments by position")
        self.arguments(node, full, depth)

    def _uncallable(self, func: ast.expr, full: str) -> Refused:
        name = func.id if isinstance(func, ast.Name) else ""
        method = f".{func.attr}" if isinstance(func, ast.Attribute) else ""
        shown = full or name or method or what(func)
        said = f"`{shown:.80}` cannot be called in {self.dialect.place}{self.dialect.hint}"
        return Refused(func.lineno, said)

    def _arity(self, node: ast.Call, name: str) -> None:
        count = self.functions[name]
        if count is not None and len(node.args) != count:
            raise Refused(node.lineno, f"`{name}` takes {count} arguments")

    def arguments(self, node: ast.Call, full: str, depth: int) -> None:  # noqa: ARG002 - languages have some of their own
        """Check the arguments of a call of a full name."""
        for part in (*node.args, *(keyword.value for keyword in node.keywords)):
            self.expression(part, depth + 1)

    def _launch(self, node: ast.Call, func: ast.Subscript, depth: int) -> None:
        name = func.value.id if isinstance(func.value, ast.Name) else ""
        if not self.dialect.launches or name not in self.names.kernels:
            said = (
                "only `run` launches, and only kernels of this answer are launched, as"
                " kernel[grid](…) or kernel[blocks, threads](…)"
            )
            raise Refused(func.lineno, said)
        count = len(self.names.kernels[name])
        if self.dialect.exact and (node.keywords or len(node.args) != count):
            raise Refused(func.lineno, f"`{name}` takes {count} arguments, by position")
        sizes = func.slice.elts if isinstance(func.slice, ast.Tuple) else ()
        if self.dialect.spelled and not 2 <= len(sizes) <= 4:
            said = (
                f"a launch is {name}[blocks, threads](…), or {name}[blocks, threads, 0, shared](…)"
            )
            raise Refused(func.lineno, said)
        self.expression(func.slice, depth + 1, grid=True)


def is_text(node: ast.expr) -> bool:
    """Whether this is a text that is written out."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
