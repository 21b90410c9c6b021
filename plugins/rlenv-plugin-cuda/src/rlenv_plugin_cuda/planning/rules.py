"""What a launch plan may say: shapes, arithmetic of integers, arrays of its own, and launches.

Nothing in it reaches an element, a module or an attribute that has no place in these tables.
"""

from __future__ import annotations

import ast

from .tables import BUILTINS, FACTS, FUNCTIONS, METHODS, NAMED, OPERATORS, VALUES
from .values import Refused

__all__ = ["Names", "as_grid", "check_constant", "check_plan", "plain", "shortened", "what"]

DEPTH = 60


class Names:
    """What the names at the top of a program mean.

    Args:
        modules: name → full name ("tl" → "triton.language").
        constants: name → its expression.
        kernels: name → its parameters.
        positional: whether kernels are launched as kernel[grid, block](…), with every argument by
            position.
    """

    def __init__(self) -> None:
        self.modules: dict[str, str] = {}
        self.constants: dict[str, ast.expr] = {}
        self.kernels: dict[str, list[str]] = {}
        self.positional = False

    def dotted(self, node: ast.expr) -> str:
        """The full name of ``tl.float32``, whatever its module is called here.

        "" for what is none.
        """
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.modules:
            return ""
        return shortened(".".join([self.modules[node.id], *reversed(parts)]))


def shortened(full: str) -> str:
    """A full name where several mean the same."""
    if full.startswith("numba.cuda."):
        return full.replace("numba.", "", 1)
    return full.replace("types.", "", 1) if full.startswith("numba.types.") else full


def what(node: ast.AST) -> str:
    """A kind of node in words."""
    kind = type(node).__name__
    return NAMED.get(kind, kind)


def as_grid(node: ast.FunctionDef) -> ast.Lambda:
    """A function in a plan as the lambda that it could be.

    Raises:
        Refused: it is more than one return.
    """
    body = node.body[0]
    if (
        len(node.body) != 1
        or not isinstance(body, ast.Return)
        or body.value is None
        or node.decorator_list
    ):
        raise Refused(
            node.lineno, "of functions in `run` there are grids: one parameter, and one return"
        )
    return ast.copy_location(ast.Lambda(node.args, body.value), node)


def plain(name: str, line: int) -> None:
    """Raises Refused for a name that is not for answers."""
    if name.startswith("__") or len(name) > 80 or not name.isascii():
        raise Refused(
            line, f"`{name:.40}`: names begin with no two underscores, and have at most 80 letters"
        )


def check_plan(node: ast.FunctionDef, names: Names) -> None:
    """Hold ``run`` against the rules.

    Raises:
        Refused: the first thing that is not allowed.
    """
    args = node.args
    if args.vararg or args.kwarg or args.kwonlyargs or args.posonlyargs or args.defaults:
        raise Refused(node.lineno, "`run` takes plain parameters, without stars and defaults")
    for note in (*(argument.annotation for argument in args.args), node.returns):
        if note is not None and not isinstance(note, (ast.Name, ast.Attribute, ast.Constant)):
            raise Refused(node.lineno, "`run` is annotated with names of types, or not at all")
    _Check(names, node).block(node.body, 0)


def check_constant(node: ast.expr, names: Names) -> None:
    """Hold a constant at the top against the rules: numbers, types, and their arithmetic."""
    check = _Check(names, None)
    check.expression(node, 0)


class _Check:
    def __init__(self, names: Names, node: ast.FunctionDef | None) -> None:
        self.names = names
        self.locals: set[str] = set()
        if node is not None:
            for part in ast.walk(node):
                if isinstance(part, ast.arg):
                    self._local(part.arg, part.lineno)
                elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                    self._local(part.id, part.lineno)
                elif isinstance(part, ast.FunctionDef) and part is not node:
                    self._local(part.name, part.lineno)
        self.plan = node is not None
        self.arrays = {argument.arg for argument in node.args.args} if node else set()
        self.arrays -= (
            {
                n.id
                for n in ast.walk(node)
                if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
            }
            if node
            else set()
        )

    def _local(self, name: str, line: int) -> None:
        plain(name, line)
        if name in self.names.modules or name in self.names.kernels:
            raise Refused(line, f"`{name}` means something else outside `run`")
        self.locals.add(name)

    def block(self, body: list[ast.stmt], depth: int) -> None:
        for place, statement in enumerate(body):
            if (
                place == 0
                and depth == 0
                and isinstance(statement, ast.Expr)
                and _text(statement.value)
            ):
                continue
            self.statement(statement, depth + 1)

    def statement(self, node: ast.stmt, depth: int) -> None:
        if depth > DEPTH:
            raise Refused(node.lineno, "a plan of so many levels is not read")
        if isinstance(node, ast.Assign):
            if len(node.targets) != 1:
                raise Refused(node.lineno, "one assignment at a time")
            self._target(node.targets[0])
            self.expression(node.value, depth, grid=True)
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign)) and node.value is not None:
            self._target(node.target)
            self.expression(node.value, depth)
        elif isinstance(node, ast.If):
            self.expression(node.test, depth)
            self.block(node.body, depth)
            self.block(node.orelse, depth)
        elif isinstance(node, ast.For) and not node.orelse:
            self._loop(node, depth)
        elif isinstance(node, ast.FunctionDef):
            self.expression(as_grid(node), depth, grid=True)
        elif isinstance(node, ast.Return):
            if node.value is not None:
                self.expression(node.value, depth)
        elif isinstance(node, ast.Assert):
            self.expression(node.test, depth)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            self.expression(node.value, depth)
        elif not isinstance(node, ast.Pass):
            raise Refused(
                node.lineno, f"{what(node)} has no place in a plan: shapes, numbers and launches do"
            )

    def _loop(self, node: ast.For, depth: int) -> None:
        over = node.iter
        called = over.func if isinstance(over, ast.Call) else None
        ranged = isinstance(called, ast.Name) and called.id == "range"
        if not (ranged or isinstance(over, (ast.Tuple, ast.List, ast.Name))):
            raise Refused(node.lineno, "a for loop goes over range(…) or a tuple")
        self._target(node.target)
        self.expression(over, depth)
        self.block(node.body, depth)

    def _target(self, node: ast.expr) -> None:
        if isinstance(node, ast.Tuple):
            for part in node.elts:
                self._target(part)
        elif not isinstance(node, ast.Name):
            raise Refused(
                node.lineno,
                f"`run` assigns to names only, not to {what(node)}: elements are for kernels",
            )

    def expression(self, node: ast.expr, depth: int, *, grid: bool = False) -> None:
        if depth > DEPTH:
            raise Refused(node.lineno, "an expression of so many levels is not read")
        if isinstance(node, ast.Constant):
            self._constant(node)
        elif isinstance(node, ast.Name):
            self._name(node)
        elif isinstance(node, ast.Attribute):
            self._attribute(node, depth)
        elif isinstance(node, ast.Call):
            self._call(node, depth)
        elif isinstance(node, ast.Lambda) and grid and self.plan:
            self._lambda(node, depth)
        elif isinstance(node, ast.Subscript):
            if isinstance(node.value, ast.Name) and node.value.id in self.arrays:
                raise Refused(
                    node.lineno,
                    f"`{node.value.id}[…]`: elements are for kernels; only shapes have items here",
                )
            self.expression(node.value, depth + 1)
            self.expression(node.slice, depth + 1)
        elif isinstance(
            node, (ast.Tuple, ast.List, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp)
        ):
            for part in ast.iter_child_nodes(node):
                if isinstance(part, ast.expr):
                    self.expression(part, depth + 1)
                elif not isinstance(part, (*OPERATORS, ast.expr_context)):
                    raise Refused(node.lineno, f"{what(part)} has no place in a plan")
        else:
            raise Refused(
                node.lineno, f"{what(node)} has no place in a plan: shapes, numbers and launches do"
            )

    def _constant(self, node: ast.Constant) -> None:
        value = node.value
        if value is None or isinstance(value, (int, float)):
            return
        if not (isinstance(value, str) and len(value) <= 80):
            raise Refused(node.lineno, f"{value!r:.40} has no place in a plan")

    def _name(self, node: ast.Name) -> None:
        known = node.id in self.locals or node.id in self.names.constants
        if not known and self.names.dotted(node) not in VALUES:
            raise Refused(
                node.lineno, f"`{node.id:.60}` is no parameter, variable or constant here"
            )

    def _attribute(self, node: ast.Attribute, depth: int) -> None:
        full = self.names.dotted(node)
        if full:
            if full not in VALUES:
                raise Refused(node.lineno, f"`{full:.80}` has no place in a plan")
        elif node.attr not in FACTS:
            raise Refused(
                node.lineno,
                f"`.{node.attr:.40}`: of an array a plan knows shape and type, not what it holds",
            )
        else:
            self.expression(node.value, depth + 1)

    def _lambda(self, node: ast.Lambda, depth: int) -> None:
        if len(node.args.args) != 1 or node.args.defaults or node.args.vararg or node.args.kwarg:
            raise Refused(node.lineno, "a grid is a lambda of one parameter")
        self.expression(node.body, depth + 1)

    def _call(self, node: ast.Call, depth: int) -> None:
        for keyword in node.keywords:
            if keyword.arg is None:
                raise Refused(node.lineno, "a call spreads no arguments")
            plain(keyword.arg, node.lineno)
            self.expression(keyword.value, depth + 1)
        for part in node.args:
            self.expression(part, depth + 1)
        func = node.func
        full = self.names.dotted(func)
        if isinstance(func, ast.Subscript):
            self._launch(node, func, depth)
        elif full and not self.plan and full.startswith(("torch.", "cuda.")):
            raise Refused(node.lineno, "arrays are made in `run`, not at the top")
        elif full:
            if full not in FUNCTIONS:
                raise Refused(
                    node.lineno,
                    f"`{full:.80}` cannot be called in a plan: what is computed, kernels compute",
                )
        elif isinstance(func, ast.Name):
            if func.id not in BUILTINS or func.id in self.locals:
                raise Refused(node.lineno, f"`{func.id:.60}` cannot be called in a plan")
        elif isinstance(func, ast.Attribute) and func.attr in METHODS:
            self.expression(func.value, depth + 1)
        else:
            shown = f".{func.attr}" if isinstance(func, ast.Attribute) else what(func)
            raise Refused(
                node.lineno,
                f"`{shown:.60}` cannot be called in a plan: what is computed, kernels compute",
            )

    def _launch(self, node: ast.Call, func: ast.Subscript, depth: int) -> None:
        name = func.value.id if isinstance(func.value, ast.Name) else ""
        if not self.plan or name not in self.names.kernels:
            raise Refused(
                func.lineno, "only kernels of this answer are launched, as kernel[grid](…)"
            )
        if self.names.positional:
            count = len(self.names.kernels[name])
            if node.keywords or len(node.args) != count:
                raise Refused(func.lineno, f"`{name}` takes {count} arguments, by position")
            if not (isinstance(func.slice, ast.Tuple) and 2 <= len(func.slice.elts) <= 4):
                raise Refused(
                    func.lineno,
                    f"a launch is {name}[blocks, threads](…), or {name}[blocks, threads, 0,"
                    " shared](…)",
                )
        self.expression(func.slice, depth + 1, grid=True)


def _text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
