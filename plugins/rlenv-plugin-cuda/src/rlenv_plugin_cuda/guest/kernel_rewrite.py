"""From an answer that keeps the rules to Python that runs on checked memory.

Barriers become yields: a function that has one, or calls one that has, is a generator.  Thread
indices become
attributes of the thread that runs, ``_c``; everything keeps its line, so that what goes wrong can
name it.  Arithmetic here is that of constants; ``kernel_typed`` has that of kernels.
"""

from __future__ import annotations

import ast

from kernel_words import (
    BARRIERS,
    CALLS,
    DTYPES,
    FACTS,
    INDICES,
    NUMBERS,
    WARP,
    Answer,
    Function,
)

__all__ = ["FILE", "Rewriter", "waiting"]

FILE = "answer.py"
_HELPERS = {
    ast.Div: "_div", ast.FloorDiv: "_floordiv", ast.Mod: "_mod", ast.Pow: "_pow",
    ast.LShift: "_shl", ast.RShift: "_shr", ast.Mult: "_mul",
}  # fmt: skip


def waiting(answer: Answer) -> set[str]:
    """The functions in which a thread may have to wait for others."""

    def waits_itself(function: Function) -> bool:
        return any(
            isinstance(node, ast.Call) and _barrier(answer.dotted(node.func))
            for node in ast.walk(function.node)
        )

    found = {name for name, function in answer.functions.items() if waits_itself(function)}
    while True:
        more = {
            name
            for name, function in answer.functions.items()
            if function.role != "plan" and name not in found and _calls(function) & found
        }
        if not more:
            return found
        found |= more


def _calls(function: Function) -> set[str]:
    return {
        node.func.id
        for node in ast.walk(function.node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


def _barrier(full: str) -> bool:
    module, _, name = full.partition(".")
    return module == "cuda" and (name in BARRIERS or (name in WARP and name != "activemask"))


class Rewriter(ast.NodeTransformer):
    """Rewrites one function in place, or an expression.

    Args:
        answer: whose function it is.
        waits: functions in which a thread may wait.
        node: the function.
        first: the parameter before its own: ``_c`` of what runs in threads.
    """

    def __init__(
        self,
        answer: Answer,
        waits: set[str],
        node: ast.FunctionDef | None = None,
        first: str = "",
    ) -> None:
        self.answer = answer
        self.waits = waits
        self.node = node
        self.first = first
        self.sites = 0

    def definition(self, name: str) -> ast.FunctionDef:
        """The function under this name."""
        assert self.node is not None
        own = self.node.args.args
        module = ast.Module(self.node.body, [])
        self.generic_visit(module)
        arguments = [ast.arg(each) for each in (self.first, *(argument.arg for argument in own))]
        signature = ast.arguments(
            posonlyargs=[],
            args=arguments,
            vararg=None,
            kwonlyargs=[],
            kw_defaults=[],
            kwarg=None,
            defaults=[],
        )
        made = ast.FunctionDef(
            name=name,
            args=signature,
            body=module.body or [ast.Pass()],
            decorator_list=[],
            returns=None,
            type_comment=None,
        )
        return ast.copy_location(made, self.node)

    # -- names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        full = self.answer.modules.get(node.id, "")
        return self._named(node, full) if full else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        full = self.answer.dotted(node)
        return self._named(node, full) if full else self.generic_visit(node)

    def _named(self, node: ast.expr, full: str) -> ast.expr:
        module, _, name = full.partition(".")
        if module == "math" or (module == "numpy" and name in NUMBERS):
            made: ast.expr = ast.Name(f"_math_{name}", ast.Load())
        elif module in ("numba", "numpy") and name.rpartition(".")[2] in DTYPES:
            last = name.rpartition(".")[2]
            made = ast.Name(f"_type_{last}", ast.Load())
        elif name in INDICES:
            made = self._thread(INDICES[name])
        elif name in FACTS:
            made = self._thread(name)
        else:
            made = node
        return ast.copy_location(made, node)

    @staticmethod
    def _thread(name: str) -> ast.expr:
        return ast.Attribute(ast.Name("_c", ast.Load()), name, ast.Load())

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        return self.generic_visit(_flat(node))

    # -- arithmetic

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        return self._operation(node, node.left, node.op, node.right)

    def _operation(
        self, at: ast.AST, left: ast.expr, op: ast.operator, right: ast.expr
    ) -> ast.expr:
        helper = _HELPERS.get(type(op))
        if helper is None:
            made: ast.expr = ast.BinOp(left, op, right)
        else:
            made = ast.Call(ast.Name(helper, ast.Load()), [left, right], [])
        return ast.copy_location(made, at)

    # -- calls

    def visit_Call(self, node: ast.Call) -> ast.expr:
        full = self.answer.dotted(node.func)
        module, _, name = full.partition(".")
        args = [self.visit(argument) for argument in node.args]
        if not full and isinstance(node.func, ast.Name):
            made: ast.expr = self._called(node, node.func.id, args)
        elif module == "cuda" and (name in BARRIERS or name in WARP):
            made = self._wait(name, args)
        elif module == "cuda" and name in CALLS:
            args += [
                self.visit(keyword.value)
                for keyword in sorted(node.keywords, key=lambda k: k.arg != "shape")
            ]
            if name in ("shared.array", "local.array"):
                args.insert(0, self._site())
            made = ast.Call(self._thread(CALLS[name]), args, [])
        else:
            made = ast.Call(self._named(node.func, full), args, [])
        return ast.copy_location(made, node)

    def _site(self) -> ast.expr:
        self.sites += 1
        assert self.node is not None
        return ast.Constant(f"{self.node.name}:{self.sites}")

    def _called(self, node: ast.Call, name: str, args: list[ast.expr]) -> ast.expr:
        if name in self.answer.functions:
            symbol = ast.Name(node.symbol, ast.Load())  # type: ignore[attr-defined]
            made = ast.Call(symbol, [ast.Name("_c", ast.Load()), *args], [])
            return ast.YieldFrom(made) if name in self.waits else made
        return ast.Call(ast.Name(f"_{name}" if name != "range" else "range", ast.Load()), args, [])

    def _wait(self, name: str, args: list[ast.expr]) -> ast.expr:
        if name == "activemask":
            return ast.Call(self._thread("activemask"), [], [])
        request = ast.Tuple([self._site(), ast.Constant(name), *args], ast.Load())
        return ast.Yield(request)


def _flat(node: ast.Subscript) -> ast.Subscript:
    """``a[i][j]`` as ``a[i, j]``."""
    parts = [node.slice]
    inner = node.value
    while isinstance(inner, ast.Subscript):
        parts.insert(0, inner.slice)
        inner = inner.value
    if len(parts) == 1 or isinstance(inner, ast.Attribute):
        return node
    index = ast.copy_location(ast.Tuple(parts, ast.Load()), node)
    return ast.copy_location(ast.Subscript(inner, index, node.ctx), node)
