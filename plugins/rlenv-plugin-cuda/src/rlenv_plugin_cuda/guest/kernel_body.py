"""The body of one function, held against the rules word by word."""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING or not __package__:  # in a sandbox there is no package
    from kernel_words import (
        ARRAY,
        BARRIERS,
        BUILTINS,
        CALLS,
        DEPTH,
        DTYPES,
        EXPRESSIONS,
        HOST,
        MATH,
        STATEMENTS,
        WARP,
        Answer,
        Function,
        Refused,
        number,
        plain,
        value,
        what,
    )
else:
    from .kernel_words import *  # noqa: F403 - the same names

__all__ = ["Body"]


def _literals(function: ast.FunctionDef) -> dict[str, ast.Constant]:
    """What is given an integer once and for all: shapes of arrays may be made of it, as of a
    constant.
    """
    stored = [
        n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    ]
    return {
        node.targets[0].id: node.value
        for node in function.body
        if isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
        and stored.count(node.targets[0].id) == 1
        and isinstance(node.value, ast.Constant)
        and type(node.value.value) is int
    }


class _Literal(ast.NodeTransformer):
    """Puts numbers in the place of the names that stand for them."""

    def __init__(self, literals: dict[str, ast.Constant]) -> None:
        self.literals = literals

    def visit_Name(self, node: ast.Name) -> ast.expr:
        found = self.literals.get(node.id)
        return node if found is None else ast.copy_location(ast.Constant(found.value), node)


class Body:
    """One function against the rules."""

    def __init__(self, answer: Answer, function: Function) -> None:
        self.answer = answer
        self.function = function
        self.locals = set(function.parameters)
        for node in ast.walk(function.node):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.locals.add(node.id)
        self.literals = _literals(function.node)
        self.types: list[ast.expr] = []  # where an array's dtype may be named

    def check(self) -> None:
        body = self.function.node.body
        if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:]
        taken = self.locals & (
            set(self.answer.names)
            | set(self.answer.functions)
            | set(self.answer.constants)
            | BUILTINS
        )
        if taken:
            name = min(taken)
            raise Refused(
                self.function.node.lineno,
                f"`{name}` means something else outside `{self.function.name}`",
            )
        for statement in body:
            self.statement(statement, 0)

    def statement(self, node: ast.stmt, depth: int) -> None:
        asserted = isinstance(node, ast.Assert) and self.function.role == "plan"
        if not (asserted or isinstance(node, STATEMENTS)) or depth > DEPTH:
            raise Refused(node.lineno, f"{what(node)} has no place in a {self.function.role}")
        if (
            isinstance(node, ast.Return)
            and node.value is not None
            and self.function.role != "device"
        ):
            raise Refused(
                node.lineno, f"a {self.function.role} returns nothing; outputs are written in place"
            )
        if isinstance(node, ast.For):
            self._loop(node)
        if isinstance(node, (ast.For, ast.While)) and node.orelse:
            raise Refused(node.lineno, "a loop has no else")
        if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Call):
            raise Refused(node.lineno, "an expression by itself does nothing")
        for _, value in ast.iter_fields(node):
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, ast.stmt):
                    self.statement(part, depth + 1)
                elif isinstance(part, ast.expr) and not self._iterates(node, part):
                    self.expression(part, depth + 1)

    def _loop(self, node: ast.For) -> None:
        call = node.iter
        if not (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id == "range"
        ):
            raise Refused(node.lineno, "a for loop goes over range(…)")
        if not isinstance(node.target, ast.Name):
            raise Refused(node.lineno, "a for loop counts with one name")
        if call.keywords or not 1 <= len(call.args) <= 3:
            raise Refused(node.lineno, "range takes one to three numbers")
        for argument in call.args:
            self.expression(argument, 1)

    def _iterates(self, node: ast.stmt, part: ast.expr) -> bool:
        return isinstance(node, ast.For) and part is node.iter

    def expression(self, node: ast.expr, depth: int) -> None:
        if not isinstance(node, EXPRESSIONS) or depth > DEPTH:
            raise Refused(node.lineno, f"{what(node)} has no place in a {self.function.role}")
        if isinstance(node, ast.Constant):
            if not number(node.value):
                raise Refused(node.lineno, "a literal that is not a number of 64 bits")
            return
        if isinstance(node, ast.Name):
            self._name(node)
            return
        if isinstance(node, ast.Attribute):
            self._attribute(node)
            return
        if isinstance(node, ast.Call):
            self._call(node, depth)
            return
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            raise Refused(node.lineno, "`@` multiplies no elements")
        if isinstance(node, ast.Compare) and any(
            isinstance(op, (ast.In, ast.NotIn, ast.Is, ast.IsNot)) for op in node.ops
        ):
            raise Refused(node.lineno, "kernels compare numbers: `in` and `is` have no place")
        if isinstance(node, ast.Subscript):
            self._subscript(node, depth)
            return
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                self.expression(part, depth + 1)

    def _name(self, node: ast.Name) -> None:
        plain(node.id, node.lineno)
        known = node.id in self.locals or node.id in self.answer.constants
        dotted = self.answer.names.get(node.id, "")
        if not known and not value(dotted):
            raise Refused(node.lineno, f"`{node.id}` is no variable, parameter or constant here")

    def _attribute(self, node: ast.Attribute) -> None:
        full = self.answer.dotted(node)
        if full:
            if not value(full) or not isinstance(node.ctx, ast.Load):
                raise Refused(node.lineno, f"`{full}` has no place in a {self.function.role}")
            if full.startswith("cuda.") and self.function.role == "plan":
                raise Refused(node.lineno, f"`{full}` exists in kernels only")
        elif not (
            (node.attr in ARRAY or node in self.types)
            and isinstance(node.value, ast.Name)
            and isinstance(node.ctx, ast.Load)
        ):
            raise Refused(
                node.lineno, f"`.{node.attr}`: of an array only shape, size and ndim are known"
            )
        else:
            self._name(node.value)

    def _subscript(self, node: ast.Subscript, depth: int) -> None:
        inner = node.value
        shape = isinstance(inner, ast.Attribute) and inner.attr == "shape"
        if isinstance(inner, ast.Attribute) and shape:
            self._attribute(inner)
        elif isinstance(inner, ast.Subscript) and self.function.role != "plan":
            self._subscript(inner, depth + 1)
        elif isinstance(inner, ast.Name):
            self._name(inner)
        else:
            raise Refused(node.lineno, f"{what(inner)} is not an array")
        if isinstance(node.ctx, ast.Store) and (shape or self.function.role == "plan"):
            raise Refused(node.lineno, "elements are written by kernels only")
        self.expression(node.slice, depth + 1)

    def _call(self, node: ast.Call, depth: int) -> None:
        if any(keyword.arg is None for keyword in node.keywords) or any(
            isinstance(a, ast.Starred) for a in node.args
        ):
            raise Refused(node.lineno, "a call spreads no arguments")
        self._callee(node, depth)
        for part in [*node.args, *(keyword.value for keyword in node.keywords)]:
            self.expression(part, depth + 1)

    def _callee(self, node: ast.Call, depth: int) -> None:
        role = self.function.role
        func = node.func
        line = node.lineno
        if isinstance(func, ast.Subscript):
            name = func.value.id if isinstance(func.value, ast.Name) else ""
            kernel = self.answer.functions.get(name)
            if role != "plan" or kernel is None or kernel.role != "kernel":
                raise Refused(
                    line,
                    "only `run` launches, as kernel[blocks, threads](…), a kernel of this answer",
                )
            if node.keywords or len(node.args) != len(kernel.parameters):
                raise Refused(
                    line, f"`{name}` takes {len(kernel.parameters)} arguments by position"
                )
            self.expression(func.slice, depth + 1)
            return
        full = self.answer.dotted(func)
        if isinstance(func, ast.Name) and not full:
            self._plain_call(node, func.id)
            return
        module, _, name = full.partition(".")
        in_kernel = (
            module == "cuda"
            and role != "plan"
            and (name in CALLS or name in BARRIERS or name in WARP)
        )
        in_plan = module == "cuda" and role == "plan" and name in HOST
        number = (module == "math" and name in MATH) or (
            module in ("numba", "numpy") and name in DTYPES
        )
        if not (in_kernel or in_plan or number):
            shown = full or what(func)
            raise Refused(line, f"`{shown}` cannot be called in a {role}")
        if name == "device_array":
            given = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
            self.types += [p for p in given if isinstance(p, ast.Attribute) and p.attr == "dtype"]
        if name in ("shared.array", "local.array"):
            self._declared(node, name)
        elif node.keywords and not in_plan:
            raise Refused(line, f"`{full}` takes its arguments by position")

    def _plain_call(self, node: ast.Call, name: str) -> None:
        function = self.answer.functions.get(name)
        if function is None:
            if name not in BUILTINS or name == "range":
                raise Refused(node.lineno, f"`{name}` cannot be called in a {self.function.role}")
        elif function.role != "device" or self.function.role == "plan":
            raise Refused(node.lineno, f"`{name}` is a {function.role} and is not called so")
        elif len(node.args) != len(function.parameters):
            raise Refused(node.lineno, f"`{name}` takes {len(function.parameters)} arguments")
        if node.keywords:
            raise Refused(node.lineno, f"`{name}` takes its arguments by position")

    def _declared(self, node: ast.Call, name: str) -> None:
        _Literal(self.literals).visit(node)
        given: dict[str | None, ast.expr] = {k.arg: k.value for k in node.keywords}
        given.update(zip(("shape", "dtype"), node.args))
        if set(given) != {"shape", "dtype"}:
            raise Refused(node.lineno, f"cuda.{name} takes a shape and a dtype")
        for part in ast.walk(given["shape"]):
            if isinstance(part, ast.Name) and part.id not in self.answer.constants:
                raise Refused(
                    node.lineno,
                    f"the shape of cuda.{name} is made of constants, and `{part.id}` is none",
                )
