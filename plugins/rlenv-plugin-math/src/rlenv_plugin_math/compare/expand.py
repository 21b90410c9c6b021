"""Notation that stands for several values or for entries: ±, and arithmetic with vectors and
matrices.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from attrs import evolve

from rlenv_plugin_math import parts
from rlenv_plugin_math import tree as t
from rlenv_plugin_math.compare.walk import facts, rebuild, walk
from rlenv_plugin_math.compare.work import Case
from rlenv_plugin_math.tree import (
    Add,
    Call,
    Div,
    Items,
    Matrix,
    Mul,
    Neg,
    Node,
    Num,
    PlusMinus,
    Pow,
    Rel,
    Seq,
    SetOf,
    Sym,
)

_MOST_SIGNS = 4
_MOST_ENTRIES = 100
_ARRAYS = (Seq, Matrix)


def kinds(node: Node, case: Case) -> frozenset[type]:
    """The types of all nodes of a tree."""
    found, size = parts.kinds(node)
    case.spend(size // 2)
    return found


def readings(node: Node) -> Iterator[Node]:
    """What a tree with ± says: all signs taken together first, then each ± on its own."""
    yield _spread(node, linked=True)
    if sum(type(part) is PlusMinus for part in walk(node)) > 1:
        yield _spread(node, linked=False)


def _spread(node: Node, *, linked: bool) -> Node:
    """Replace a value with ± by the list of values, inside lists by more members."""
    if isinstance(node, (Items, SetOf)):
        members: list[Node] = []
        for item in node.items:
            inner = _spread(item, linked=linked)
            members += inner.items if isinstance(inner, Items) and inner is not item else (inner,)
        return type(node)(tuple(members))
    signs = sum(type(part) is PlusMinus for part in walk(node))
    if not 0 < signs <= _MOST_SIGNS:
        return node
    if isinstance(node, t.Logic):
        return evolve(node, args=tuple(_spread(arg, linked=linked) for arg in node.args))
    choices = product((1, -1), repeat=signs) if not linked else ((1,) * signs, (-1,) * signs)
    return Items(tuple(_signed(node, iter(choice)) for choice in choices))


def _signed(node: Node, signs: Iterator[int]) -> Node:
    if not isinstance(node, PlusMinus):
        return rebuild(node, lambda part: _signed(part, signs))
    sign = next(signs) * node.sign
    left = None if node.left is None else _signed(node.left, signs)
    right = _signed(node.right, signs)
    signed = right if sign > 0 else _minus(right)
    return signed if left is None else Add((left, signed))


def _minus(node: Node) -> Node:
    return Num(-node.value, node.decimals, node.repeating) if isinstance(node, Num) else Neg(node)


_SPELLED = frozenset(("vec", "P"))


def spelled_out(node: Node) -> Node:
    """The tree with ``\\vec{AB}`` as B - A and ``P(5, 3)`` as 5!/2!, for where expressions are
    compared.
    """
    if _SPELLED.isdisjoint(facts(node).calls):
        return node
    match rebuild(node, spelled_out):
        case Call("vec", (Sym(start), Sym(end))):
            return Add((Sym(f"{end}⃗"), Neg(Sym(f"{start}⃗"))))
        case Call("P", (Num(total), Num(chosen))):
            rest = Call("factorial", (Num(total - chosen),))
            return Div(Call("factorial", (Num(total),)), rest)
        case other:
            return other


def lift(node: Node, case: Case) -> Node:
    """Carry out sums and multiples of vectors and matrices, and determinants, entry by entry."""
    case.spend(1)
    if isinstance(node, Neg):
        inner = lift(node.arg, case)
        return _entries(inner, Neg) if isinstance(inner, _ARRAYS) else node
    if isinstance(node, Div):
        top = lift(node.top, case)
        bottom = node.bottom
        return _entries(top, lambda entry: Div(entry, bottom)) if isinstance(top, _ARRAYS) else node
    if isinstance(node, Mul):
        return _scaled(node, [lift(arg, case) for arg in node.args])
    if isinstance(node, Add):
        return _summed(node, [lift(arg, case) for arg in node.args])
    if isinstance(node, Pow) and node.exponent == Sym("T"):
        return _transposed(node)
    if isinstance(node, Call) and node.name == "det" and len(node.args) == 1:
        matrix = node.args[0]
        if isinstance(matrix, Matrix) and len(matrix.rows) == len(matrix.rows[0]) <= 4:
            return _determinant(matrix.rows)
    return node


def _entries(array: Node, change: type[Neg] | object) -> Node:
    assert callable(change)
    if isinstance(array, Matrix):
        return Matrix(tuple(tuple(change(entry) for entry in row) for row in array.rows))
    assert isinstance(array, Seq)
    return evolve(array, items=tuple(change(entry) for entry in array.items))


def _scaled(node: Mul, args: list[Node]) -> Node:
    arrays = [arg for arg in args if isinstance(arg, _ARRAYS)]
    if len(arrays) != 1:
        return node
    rest = tuple(arg for arg in args if arg is not arrays[0])
    return _entries(arrays[0], lambda entry: Mul((*rest, entry)))


def _summed(node: Add, args: list[Node]) -> Node:
    first = args[0]
    if isinstance(first, Seq) and all(
        isinstance(a, Seq) and len(a.items) == len(first.items) for a in args
    ):
        columns = zip(*(a.items for a in args if isinstance(a, Seq)), strict=True)
        return evolve(first, items=tuple(Add(column) for column in columns))
    shapes = {_shape(arg) for arg in args}
    if len(shapes) != 1 or None in shapes:
        return node
    rows = zip(*(a.rows for a in args if isinstance(a, Matrix)), strict=True)
    return Matrix(tuple(tuple(Add(cell) for cell in zip(*row, strict=True)) for row in rows))


def _shape(node: Node) -> tuple[int, int] | None:
    return (len(node.rows), len(node.rows[0])) if isinstance(node, Matrix) and node.rows else None


def _transposed(node: Pow) -> Node:
    if isinstance(node.base, Matrix):
        return Matrix(tuple(zip(*node.base.rows, strict=True)))
    return node.base if isinstance(node.base, Seq) else node


def _determinant(rows: tuple[tuple[Node, ...], ...]) -> Node:
    if len(rows) == 1:
        return rows[0][0]
    terms: list[Node] = []
    for column, entry in enumerate(rows[0]):
        minor = tuple(row[:column] + row[column + 1 :] for row in rows[1:])
        term: Node = Mul((entry, _determinant(minor)))
        terms.append(term if column % 2 == 0 else Neg(term))
    return Add(tuple(terms))


def distribute(node: Rel) -> Node:
    """``x = {1, 2}`` and ``x = a, b`` on one side of an equation become a list of equations."""
    if node.ops == ("=",) and isinstance(node.args[1], Items):
        return Items(tuple(Rel((node.args[0], item), ("=",)) for item in node.args[1].items))
    return node


ZERO = Num(Fraction(0))
