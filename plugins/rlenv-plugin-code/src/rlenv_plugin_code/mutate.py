"""Mutants: the same program with one thing changed, as a tired programmer would get it wrong."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, TypeAlias

from attrs import frozen

__all__ = ["Mutant", "mutants"]

Variants: TypeAlias = Iterator[tuple[ast.AST, str]]

_OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add,),
    ast.Div: (ast.Mult, ast.FloorDiv),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.BitXor: (ast.BitAnd,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
}
_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}


@frozen
class Mutant:
    """Args:
    source: the program.
    what: what was changed, in a few words.
    line: of the original, where.
    """

    source: str
    what: str
    line: int


def mutants(source: str, most: int, seed: int = 0) -> list[Mutant]:
    """At most ``most`` different mutants of a Python program; the same seed draws the same ones.

    Raises:
        SyntaxError: it is no Python.
    """
    tree = ast.parse(source)
    sites = [(i, node) for i, node in enumerate(_changeable(tree)) if node is not None]
    seen = {ast.dump(tree)}
    wanted: list[tuple[int, int]] = [
        (i, k) for i, node in sites for k, _ in enumerate(_variants(node))
    ]
    Random(seed).shuffle(wanted)  # noqa: S311 - repeatable on purpose
    made: list[Mutant] = []
    for i, k in wanted:
        if len(made) == most:
            break
        mutated, what, line = _mutated(tree, i, k)
        if ast.dump(mutated) not in seen:
            seen.add(ast.dump(mutated))
            made.append(Mutant(ast.unparse(mutated) + "\n", what, line))
    return made


def _mutated(tree: ast.Module, site: int, variant: int) -> tuple[ast.Module, str, int]:
    """A copy of the program with this variant at this site, what it changes, and the site's
    line.
    """
    root = copy.deepcopy(tree)
    node = next(n for i, n in enumerate(_changeable(root)) if i == site)
    assert node is not None
    replacement, what = next(v for k, v in enumerate(_variants(node)) if k == variant)
    _Replace(node, replacement).visit(root)
    return ast.fix_missing_locations(root), what, getattr(node, "lineno", 0)


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old = old
        self.new = new

    def visit(self, node: ast.AST) -> Any:
        if node is self.old:
            return self.new
        return self.generic_visit(node)


def _changeable(tree: ast.AST) -> Iterator[ast.AST | None]:
    """Every node in a fixed order; None for those that say nothing of what the program does."""
    silent = _silent(tree)
    for node in ast.walk(tree):
        yield None if id(node) in silent else node


def _silent(tree: ast.AST) -> set[int]:
    """Annotations and docstrings, with all below them."""
    found: set[int] = set()
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            parts = [node.returns, *node.decorator_list]
        elif isinstance(node, (ast.arg, ast.AnnAssign)):
            parts = [node.annotation]
        elif isinstance(node, (ast.JoinedStr, ast.MatchValue)):
            parts = list(ast.iter_child_nodes(node))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            parts = [node]
        for part in parts:
            found.update(id(below) for below in (ast.walk(part) if part is not None else ()))
    return found


def _variants(node: ast.AST) -> Variants:
    """What could be in place of a node; always the same, in the same order."""
    for kind, change in _CHANGES:
        if isinstance(node, kind):
            yield from change(node)


def _named(node: ast.AST) -> str:
    return type(node).__name__


def _operator(node: ast.BinOp) -> Variants:
    for other in _OPERATORS.get(type(node.op), ()):
        said = f"{_named(node.op)} became {other.__name__}"
        yield ast.BinOp(node.left, other(), node.right), said


def _augmented(node: ast.AugAssign) -> Variants:
    for other in _OPERATORS.get(type(node.op), ()):
        said = f"{_named(node.op)}= became {other.__name__}="
        yield ast.AugAssign(node.target, other(), node.value), said
    yield ast.Pass(), "an update was left out"


def _comparison(node: ast.Compare) -> Variants:
    for place, op in enumerate(node.ops):
        for other in _COMPARISONS[type(op)]:
            ops = [*node.ops[:place], other(), *node.ops[place + 1 :]]
            said = f"{_named(op)} became {other.__name__}"
            yield ast.Compare(node.left, ops, node.comparators), said


def _boolean(node: ast.BoolOp) -> Variants:
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield ast.BoolOp(other, node.values), f"{_named(node.op)} became {_named(other)}"


def _unary(node: ast.UnaryOp) -> Variants:
    yield node.operand, f"{_named(node.op)} was left out"


def _constant(node: ast.Constant) -> Variants:
    value = node.value
    if isinstance(value, bool):
        yield ast.Constant(not value), f"{value} became {not value}"
    elif isinstance(value, (int, float)):
        yield ast.Constant(value + 1), f"{value!r:.20} became one more"
        yield ast.Constant(value - 1), f"{value!r:.20} became one less"
    elif isinstance(value, str):
        yield ast.Constant(value[:-1] if value else "?"), "a text was changed"


def _condition(node: ast.If | ast.IfExp) -> Variants:
    negated = ast.UnaryOp(ast.Not(), node.test)
    if isinstance(node, ast.If):
        yield ast.If(negated, node.body, node.orelse), "a condition was negated"
        if node.orelse:
            yield ast.If(node.test, node.body, []), "the else branch was left out"
    else:
        yield ast.IfExp(negated, node.body, node.orelse), "a condition was negated"


def _return(node: ast.Return) -> Variants:
    empty = node.value is None or (
        isinstance(node.value, ast.Constant) and node.value.value is None
    )
    if not empty:
        yield ast.Return(ast.Constant(None)), "a result became None"


def _statement(node: ast.Expr) -> Variants:
    if isinstance(node.value, ast.Call):
        yield ast.Pass(), "a call was left out"


def _call(node: ast.Call) -> Variants:
    args = node.args
    if len(args) > 1 and not any(isinstance(arg, ast.Starred) for arg in args[:2]):
        yield (
            ast.Call(node.func, [args[1], args[0], *args[2:]], node.keywords),
            "two arguments changed places",
        )
    if isinstance(node.func, ast.Name) and node.func.id == "range" and args:
        place = min(len(args), 2) - 1
        for op, said in ((ast.Add(), "later"), (ast.Sub(), "earlier")):
            end = ast.BinOp(args[place], op, ast.Constant(1))
            changed = [*args[:place], end, *args[place + 1 :]]
            yield ast.Call(node.func, changed, node.keywords), f"a range ends one {said}"


def _skip(node: ast.Continue) -> Variants:
    yield ast.copy_location(ast.Break(), node), "continue became break"


_CHANGES: tuple[tuple[Any, Callable[[Any], Variants]], ...] = (
    (ast.BinOp, _operator),
    (ast.AugAssign, _augmented),
    (ast.Compare, _comparison),
    (ast.BoolOp, _boolean),
    (ast.UnaryOp, _unary),
    (ast.Constant, _constant),
    ((ast.If, ast.IfExp), _condition),
    (ast.Return, _return),
    (ast.Expr, _statement),
    (ast.Call, _call),
    (ast.Continue, _skip),
)
