"""Kernels as numba compiles them for a CPU: indices checked, barriers as yields, thread indices as
a tuple.

Every function takes ``__t`` (thread, block, threads a block, blocks: twelve numbers), ``__s`` (the
shared arrays of all functions, in order), ``__m`` (what lanes hand each other) and then its own
parameters.
"""

from __future__ import annotations

import ast
import copy

from kernel_rewrite import waiting
from kernel_words import BARRIERS, CALLS, DTYPES, FACTS, INDICES, NUMBERS, WARP, Answer, Function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Beyond", "Lowered", "lowered"]

FIRST = ("__t", "__s", "__m")
_PLACES = {
    f"{short}{axis}": 3 * row + column
    for row, short in enumerate("tbng")
    for column, axis in enumerate("xyz")
}
ABSENT = ("fmod", "remainder", "tau")  # of what numba compiles for a CPU
_STRAIGHT = (ast.Assign, ast.AugAssign, ast.Expr)


class Beyond(Exception):
    """What this lowering has no way to say; the interpreter has."""


class Lowered:
    """Functions ready for the compiler, and the shared arrays they declare: (shape, dtype) as
    expressions.
    """

    def __init__(self) -> None:
        self.functions: list[ast.FunctionDef] = []
        self.shared: list[tuple[ast.expr, str]] = []


def lowered(answer: Answer) -> Lowered:
    """All kernels and device functions of an answer; its own trees stay as they are.

    Raises:
        Beyond: barriers in device functions, or in the middle of an expression that may not be
            reached.
    """
    waits = waiting(answer)
    made = Lowered()
    for function in answer.functions.values():
        if function.role == "plan":
            continue
        if function.role == "device" and function.name in waits:
            raise Beyond("a device function that waits for other threads")
        made.functions.append(_Lowering(answer, function, made).definition())
    return made


def _name(text: str) -> ast.Name:
    return ast.Name(text, ast.Load())


def _call(text: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(_name(text), list(arguments), [])


def _item(text: str, place: int) -> ast.expr:
    return ast.Subscript(_name(text), ast.Constant(place), ast.Load())


class _Lowering(ast.NodeTransformer):
    def __init__(self, answer: Answer, function: Function, made: Lowered) -> None:
        self.answer = answer
        self.function = function
        self.made = made
        self.before: list[ast.stmt] | None = None  # statements to come before the one at hand
        self.sites = 0

    def definition(self) -> ast.FunctionDef:
        node = self.function.node
        body = self._block(copy.deepcopy(node.body))
        arguments = [ast.arg(name) for name in (*FIRST, *self.function.parameters)]
        signature = ast.arguments(
            posonlyargs=[],
            args=arguments,
            vararg=None,
            kwonlyargs=[],
            kw_defaults=[],
            kwarg=None,
            defaults=[],
        )
        flip = ast.Assign([ast.Name("__p", ast.Store())], ast.Constant(0))
        more: dict[str, Any] = {"type_params": []} if hasattr(node, "type_params") else {}
        bare = ast.FunctionDef(
            name=node.name,
            args=signature,
            body=[flip, *body],
            decorator_list=[],
            returns=None,
            type_comment=None,
            **more,
        )
        return ast.copy_location(bare, node)

    # -- statements

    def _block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for statement in body:
            made += self._statement(statement)
        return made

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, (ast.For, ast.While, ast.If)):
            self.before = None
            if isinstance(node, ast.For):
                node.iter = self.visit(node.iter)
            else:
                if isinstance(node, ast.If):
                    self.before = []
                node.test = self.visit(node.test)
            ahead = self.before or []
            self.before = None
            node.body = self._block(node.body)
            node.orelse = self._block(node.orelse)
            return [*ahead, node]
        self.before = [] if isinstance(node, _STRAIGHT) else None
        done = self.visit(node)
        ahead = self.before or []
        self.before = None
        return [*ahead, *(done if isinstance(done, list) else [done])]

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        value = self.visit(node.value)
        plain = isinstance(value, (ast.Constant, ast.Name))
        return ast.copy_location(ast.Pass() if plain else ast.Expr(value), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        return self._apart(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        return self._apart(node)

    def _apart(self, node: ast.expr) -> ast.AST:
        """Parts that may not be reached hand out no statements."""
        before = self.before
        self.before = None
        made = self.generic_visit(node)
        self.before = before
        return made

    # -- names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        full = self.answer.modules.get(node.id, "")
        return self._named(node, full) if full else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        full = self.answer.dotted(node)
        return self._named(node, full) if full else self.generic_visit(node)

    def _named(self, node: ast.expr, full: str) -> ast.expr:
        module, _, name = full.partition(".")
        last = name.rpartition(".")[2]
        if module == "math" and name in ABSENT:
            raise Beyond(f"math.{name}")
        if module == "math" or (module == "numpy" and name in NUMBERS):
            made: ast.expr = ast.Attribute(_name("__math"), name, ast.Load())
        elif module in ("numba", "numpy") and last in DTYPES:
            made = _name(f"__type_{DTYPES[last]}")
        elif name in INDICES:
            made = _item("__t", _PLACES[INDICES[name]])
        elif name in FACTS:
            made = _call("__lane", _name("__t")) if name == "laneid" else ast.Constant(32)
        else:
            made = node
        return ast.copy_location(made, node)

    # -- elements

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        inner = node.value
        parts = [node.slice]
        if isinstance(inner, ast.Attribute):  # a.shape[0]
            return ast.copy_location(
                ast.Subscript(self.visit(inner), self.visit(node.slice), ast.Load()), node
            )
        while isinstance(inner, ast.Subscript):
            parts.insert(0, inner.slice)
            inner = inner.value
        index = parts[0] if len(parts) == 1 else ast.Tuple(parts, ast.Load())
        array = self.visit(inner)
        place = _call("__at", array, self.visit(index), ast.Constant(node.lineno))
        return ast.copy_location(ast.Subscript(array, place, node.ctx), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        value = self.visit(node.value)
        if not isinstance(node.target, ast.Subscript):
            return ast.copy_location(ast.AugAssign(node.target, node.op, value), node)
        target = self.visit(node.target)
        return ast.copy_location(ast.AugAssign(target, node.op, value), node)

    # -- calls

    def visit_Call(self, node: ast.Call) -> ast.expr:
        full = self.answer.dotted(node.func)
        module, _, name = full.partition(".")
        if name in ("shared.array", "local.array") and module == "cuda":
            made = self._declared(node, name)
        elif not full and isinstance(node.func, ast.Name):
            args = [self.visit(argument) for argument in node.args]
            if node.func.id in self.answer.functions:
                args = [*map(_name, FIRST), *args]
            made = ast.Call(_name(node.func.id), args, [])
        elif module == "cuda" and (name in BARRIERS or name in WARP):
            made = self._wait(name, [self.visit(argument) for argument in node.args])
        elif module == "cuda" and name in CALLS:
            args = [self.visit(argument) for argument in node.args]
            made = self._asked(node, name, args)
        else:
            args = [self.visit(argument) for argument in node.args]
            made = ast.Call(self._named(node.func, full), args, [])
        return ast.copy_location(made, node)

    def _asked(self, node: ast.Call, name: str, args: list[ast.expr]) -> ast.expr:
        if name in ("grid", "gridsize"):
            return _call(f"__{name}", _name("__t"), *args)
        if name.startswith("threadfence"):
            return ast.Constant(0)
        if name.startswith("atomic."):
            return _call(f"__{CALLS[name]}", *args, ast.Constant(node.lineno))
        return _call(f"__{name}", *args)

    def _declared(self, node: ast.Call, name: str) -> ast.expr:
        given: dict[str | None, ast.expr] = {k.arg: k.value for k in node.keywords}
        given.update(zip(("shape", "dtype"), node.args))
        dtype = self.answer.dotted(given["dtype"]).rpartition(".")[2]
        constant = given["dtype"].id if isinstance(given["dtype"], ast.Name) else ""
        if not dtype and constant in self.answer.constants:
            dtype = self.answer.dotted(self.answer.constants[constant]).rpartition(".")[2]
        if dtype not in DTYPES:
            raise Beyond("an array of no type that is known by name")
        if name == "local.array":
            return _call("__local", self.visit(given["shape"]), _name(f"__numpy_{DTYPES[dtype]}"))
        self.made.shared.append((given["shape"], DTYPES[dtype]))
        return _item("__s", len(self.made.shared) - 1)

    # -- waiting

    def _wait(self, name: str, args: list[ast.expr]) -> ast.expr:
        if name == "activemask":
            return ast.Constant(0xFFFFFFFF)
        if self.before is None:
            raise Beyond(f"{name} in the middle of an expression")
        self.sites += 1
        warp = name in WARP
        site = ast.Constant(self.sites * 2 + warp)
        if name in ("syncthreads", "syncwarp"):
            self.before.append(ast.Expr(ast.Yield(site)))
            return ast.Constant(0)
        mask, said = (args[0], args[1:]) if warp else (ast.Constant(0), args)
        kept = f"__v{self.sites}"
        self.before += [
            ast.Assign([ast.Name(kept, ast.Store())], said[0]),
            ast.Expr(_call("__put", _name("__m"), _name("__p"), _name("__t"), _name(kept))),
            ast.Expr(ast.Yield(site)),
            ast.Assign(
                [ast.Name("__p", ast.Store())], ast.BinOp(ast.Constant(1), ast.Sub(), _name("__p"))
            ),
        ]
        last = ast.BinOp(ast.Constant(1), ast.Sub(), _name("__p"))
        place = [_name("__m"), last, _name("__t")]
        taken = f"__r{self.sites}"
        got = _call(f"__{name}", *place, mask, _name(kept), *said[1:])
        self.before.append(ast.Assign([ast.Name(taken, ast.Store())], got))
        return _name(taken)
