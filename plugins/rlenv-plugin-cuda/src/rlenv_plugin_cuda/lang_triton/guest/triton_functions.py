"""Kernels as Python functions that hold no module: every full name is a global of its own."""

from __future__ import annotations

# ruff: noqa: TID252 - of the package only what the judge sends lies beside it
import ast
import copy
from collections.abc import Callable
from typing import Any

from ...planning.values import DTYPES, Dtype, Trouble
from ..body import is_libdevice
from ..names import BUILTINS, LOOPS
from ..rules import Answer
from .triton_library import builtins_of, libdevice
from .triton_machine import FILE, Machine, dtype_of
from .triton_rounding import behind

__all__ = ["built", "plain"]


class _Device:
    """A function of the answer, as Triton's reductions call what combines."""

    def __init__(self, fn: Callable[..., object]) -> None:
        self.fn = fn

    def __call__(self, *args: object, **named: object) -> Any:
        return self.fn(*args, **named)


class _Rewrite(ast.NodeTransformer):
    """Full names become globals, annotations go, and chains of comparisons become conjunctions."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.used: dict[str, str] = {}
        self.stored: set[str] = set()  # in the function at hand, so far
        self.tests = 0

    def _global(self, node: ast.expr, full: str) -> ast.expr:
        name = f"__{len(self.used)}_{full.rpartition('.')[2]}"
        self.used.setdefault(full, name)
        return ast.copy_location(ast.Name(self.used[full], ast.Load()), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        full = self.answer.names.dotted(node)
        if full:
            return self._global(node, full)
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        full = self.answer.names.dotted(node)
        return self._global(node, full) if full else node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        assert node.value is not None
        made = ast.Assign([node.target], self.visit(node.value))
        return ast.copy_location(made, node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) == 1:
            return node
        left = node.left
        found = None
        for op, right in zip(node.ops, node.comparators, strict=True):
            one: ast.expr = ast.Compare(copy.deepcopy(left), [op], [copy.deepcopy(right)])
            found = one if found is None else ast.BinOp(found, ast.BitAnd(), one)
            left = right
        assert found is not None
        return ast.fix_missing_locations(ast.copy_location(found, node))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.decorator_list = []
        node.returns = None
        self.stored = set()
        for argument in (*node.args.args, *node.args.kwonlyargs):
            argument.annotation = None
            self.stored.add(argument.arg)
        self.generic_visit(node)
        return node

    # -- numbers that only Python holds, where a compiled kernel has tensors

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        self.generic_visit(node)
        self.stored |= _stored(node)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        self.generic_visit(node)
        self.stored |= _stored(node)
        return node

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        unrolled = (
            isinstance(node.iter, ast.Call)
            and self.answer.names.dotted(node.iter.func) == "triton.language.static_range"
        )
        before = [] if unrolled else behind(_stored(*node.body) & self.stored)
        self.stored |= _stored(node.target)
        self.generic_visit(node)
        if not unrolled:
            assert isinstance(node.target, ast.Name)
            node.body[:0] = behind([node.target.id])
        return [*before, node]

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        before = behind(_stored(*node.body) & self.stored)
        self.generic_visit(node)
        return [*before, node]

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        names = _stored(*node.body, *node.orelse)
        self.generic_visit(node)
        self.tests += 1
        test = f"__test{self.tests}"
        keep = ast.Assign([ast.Name(test, ast.Store())], node.test)
        node.test = ast.Name(test, ast.Load())
        return [keep, node, *behind(names, test)]


def _stored(*nodes: ast.AST) -> set[str]:
    return {
        part.id
        for node in nodes
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }


def built(
    answer: Answer, machine: Machine, constants: dict[str, object]
) -> dict[str, Callable[..., Any]]:
    """The kernels and device functions of an answer, by name, in a namespace of their own."""
    rewrite = _Rewrite(answer)
    nodes = [rewrite.visit(copy.deepcopy(function.node)) for function in answer.functions.values()]
    module = ast.fix_missing_locations(ast.Module(nodes, []))
    space: dict[str, Any] = {"__builtins__": {}, **builtins_of(machine)}
    space.update(__carried=machine.carried, __absent=UnboundLocalError)
    space.update({name: plain(value) for name, value in constants.items()})
    space.update({name: _meaning(machine, full) for full, name in rewrite.used.items()})
    exec(compile(module, FILE, "exec", dont_inherit=True), space)  # noqa: S102 - held against the rules before
    functions = {name: space[name] for name in answer.functions}
    space.update({name: _Device(function) for name, function in functions.items()})
    return functions


def plain(value: object) -> Any:
    """A value of a plan as kernels take it."""
    return dtype_of(value.code) if isinstance(value, Dtype) else value


def _meaning(machine: Machine, full: str) -> Any:
    module, _, name = full.rpartition(".")
    if is_libdevice(full):
        return libdevice(machine, name)
    if name == "constexpr":
        return lambda value: value
    if full in LOOPS:
        return builtins_of(machine)["range"]
    if full in BUILTINS:
        return builtins_of(machine)[full]
    if module == "triton.language" and name in DTYPES and hasattr(machine.tl, name):
        return getattr(machine.tl, name)
    found = getattr(machine.tl.math if module.endswith(".math") else machine.tl, name, None)
    if found is None:
        raise Trouble("missing", f"`{full}` is not of this version of Triton")
    return found
