"""From an answer that keeps the rules to Python that runs on checked memory.

Barriers become yields: a function that has one, or calls one that has, is a generator.  Thread indices become
attributes of the thread that runs, ``_c``; division, shifts and powers become calls that follow the device and not
Python; everything keeps its line, so that what goes wrong can name it.
"""

from __future__ import annotations

import ast

import kernel_numbers
from kernel_rules import (
    BARRIERS,
    CALLS,
    DTYPES,
    FACTS,
    HOST,
    INDICES,
    NUMBERS,
    WARP,
    Answer,
    Function,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

__all__ = ["FILE", "built", "compiled", "waiting"]

FILE = "answer.py"
_HELPERS = {
    ast.Div: "_div",
    ast.FloorDiv: "_floordiv",
    ast.Mod: "_mod",
    ast.Pow: "_pow",
    ast.LShift: "_shl",
    ast.RShift: "_shr",
    ast.Mult: "_mul",
}


def compiled(answer: Answer) -> CodeType:
    """The code of an answer, once: its tree is rewritten in place."""
    waits = waiting(answer)
    constants: list[ast.stmt] = [
        ast.Assign([ast.Name(name, ast.Store())], _Rewriter(answer, waits, None).visit(value))
        for name, value in answer.constants.items()
    ]
    functions = [_Rewriter(answer, waits, f).definition() for f in answer.functions.values()]
    module = ast.Module([*constants, *functions], [])
    ast.fix_missing_locations(module)
    return compile(module, FILE, "exec")


def built(code: CodeType) -> dict[str, object]:
    """A fresh namespace in which the functions of the answer are: kernels and device functions take ``_c`` first."""
    space: dict[str, object] = {"__builtins__": {}, **kernel_numbers.HELPERS}
    exec(code, space)  # noqa: S102 - only what the rules let through
    return space


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


class _Rewriter(ast.NodeTransformer):
    def __init__(self, answer: Answer, waits: set[str], function: Function | None) -> None:
        self.answer = answer
        self.waits = waits
        self.function = function
        self.sites = 0

    def definition(self) -> ast.FunctionDef:
        assert self.function is not None
        node = self.function.node
        body = [self.visit(statement) for statement in node.body]
        first = ["_h"] if self.function.role == "plan" else ["_c"]
        arguments = [ast.arg(name) for name in [*first, *self.function.parameters]]
        made = ast.FunctionDef(
            node.name, ast.arguments([], arguments, None, [], [], None, []), body, [], None, None
        )
        return ast.copy_location(made, node)

    # -- names ---------------------------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> ast.expr:
        full = self.answer.names.get(node.id, "")
        return self._named(node, full) if full else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        full = self.answer.dotted(node)
        return self._named(node, full) if full else self.generic_visit(node)

    def _named(self, node: ast.expr, full: str) -> ast.expr:
        module, _, name = full.partition(".")
        if module == "math" or (module == "numpy" and name in NUMBERS):
            made: ast.expr = ast.Name(f"_math_{name}", ast.Load())
        elif module in ("numba", "numpy") and name.rpartition(".")[2] in DTYPES:
            made = ast.Name(f"_type_{name.rpartition('.')[2]}", ast.Load())
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

    # -- arithmetic ----------------------------------------------------------------------------------

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        return self._operation(node, node.left, node.op, node.right)

    def _operation(
        self, at: ast.AST, left: ast.expr, op: ast.operator, right: ast.expr
    ) -> ast.expr:
        helper = _HELPERS.get(type(op))
        if helper is None or (helper == "_mul" and _plain_product(left, right)):
            made: ast.expr = ast.BinOp(left, op, right)
        else:
            made = ast.Call(ast.Name(helper, ast.Load()), [left, right], [])
        return ast.copy_location(made, at)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        value = self.visit(node.value)
        if type(node.op) not in _HELPERS:
            target = self.visit(node.target)
            return ast.copy_location(ast.AugAssign(target, node.op, value), node)
        if isinstance(node.target, ast.Name):
            left: ast.expr = ast.Name(node.target.id, ast.Load())
            target = node.target
            made = ast.Assign([target], self._operation(node, left, node.op, value))
            return ast.copy_location(made, node)
        # array[index] op= value: `_at` keeps the index from being worked out twice
        assert isinstance(node.target, ast.Subscript)
        node.target = _flat(node.target)
        array, index = self.visit(node.target.value), self.visit(node.target.slice)
        keep = ast.NamedExpr(ast.Name("_at", ast.Store()), index)
        left = ast.Subscript(array, keep, ast.Load())
        result = self._operation(node, left, node.op, value)
        made = ast.Assign([ast.Subscript(array, ast.Name("_at", ast.Load()), ast.Store())], result)
        return ast.copy_location(made, node)

    # -- calls ---------------------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> ast.expr:
        full = self.answer.dotted(node.func)
        module, _, name = full.partition(".")
        args = [self.visit(argument) for argument in node.args]
        if isinstance(node.func, ast.Subscript):
            made: ast.expr = self._launch(node, args)
        elif not full and isinstance(node.func, ast.Name):
            made = self._called(node.func.id, args)
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
        elif module == "cuda" and name in HOST:
            keywords = [ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords]
            made = ast.Call(
                ast.Attribute(ast.Name("_h", ast.Load()), HOST[name], ast.Load()), args, keywords
            )
        else:
            made = ast.Call(self._named(node.func, full), args, [])
        return ast.copy_location(made, node)

    def _site(self) -> ast.expr:
        self.sites += 1
        assert self.function is not None
        return ast.Constant(f"{self.function.name}:{self.sites}")

    def _called(self, name: str, args: list[ast.expr]) -> ast.expr:
        if name in self.answer.functions:
            call = ast.Call(ast.Name(name, ast.Load()), [ast.Name("_c", ast.Load()), *args], [])
            return ast.YieldFrom(call) if name in self.waits else call
        return ast.Call(ast.Name(f"_{name}" if name != "range" else "range", ast.Load()), args, [])

    def _wait(self, name: str, args: list[ast.expr]) -> ast.expr:
        if name == "activemask":
            return ast.Call(self._thread("activemask"), [], [])
        request = ast.Tuple([self._site(), ast.Constant(name), *args], ast.Load())
        return ast.Yield(request)

    def _launch(self, node: ast.Call, args: list[ast.expr]) -> ast.expr:
        assert isinstance(node.func, ast.Subscript)
        assert isinstance(node.func.value, ast.Name)
        shape = self.visit(node.func.slice)
        launch = ast.Attribute(ast.Name("_h", ast.Load()), "launch", ast.Load())
        return ast.Call(launch, [ast.Constant(node.func.value.id), shape, *args], [])


def _flat(node: ast.Subscript) -> ast.Subscript:
    """``a[i][j]`` as ``a[i, j]``."""
    parts, inner = [node.slice], node.value
    while isinstance(inner, ast.Subscript):
        parts.insert(0, inner.slice)
        inner = inner.value
    if len(parts) == 1 or isinstance(inner, ast.Attribute):
        return node
    index = ast.copy_location(ast.Tuple(parts, ast.Load()), node)
    return ast.copy_location(ast.Subscript(inner, index, node.ctx), node)


def _plain_product(left: ast.expr, right: ast.expr) -> bool:
    """Whether a product cannot leave 64 bits: of indices and dimensions, as in ``blockIdx.x * blockDim.x``."""

    def small(node: ast.expr) -> bool:
        if isinstance(node, ast.Constant):
            return isinstance(node.value, int) and abs(node.value) < 1 << 31
        return (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "_c"
        )

    return small(left) and small(right)
