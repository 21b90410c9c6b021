"""Coordinates by unit vectors: ``3\\mathbf{i} + 2\\mathbf{j} - \\mathbf{k}`` is ``<3, 2, -1>``."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from attrs import evolve

from rlenv_plugin_math.tree import Add, Call, Div, Items, Logic, Mul, Neg, Node, Num, Rel, Seq, Sym

from .engine import PREFIX, Parser
from .operators import negative

_ZERO = Num(Fraction(0))
_ONE = Num(Fraction(1))
_NAMES = ("i⃗", "j⃗", "k⃗")
Coordinates = tuple[Node | None, Node | None, Node | None]


def basis(p: Parser, floor: int) -> Node:  # noqa: ARG001 - one signature for all
    p.pos += 1
    return Sym(p.texts[p.pos - 1] + "⃗")


def gathered(node: Node) -> Node:
    """The tree with every linear combination of unit vectors as one sequence."""
    found = _linear(node)
    if found is not None:
        return Seq(tuple(_ZERO if c is None else c for c in found), "<", ">")
    if isinstance(node, (Rel, Logic, Call)):
        return evolve(node, args=tuple(map(gathered, node.args)))
    if isinstance(node, (Items, Seq)):
        return evolve(node, items=tuple(map(gathered, node.items)))
    return node


def _linear(node: Node) -> Coordinates | None:
    """The coefficients of the three unit vectors, None for an absent one; None when not linear."""
    kind = type(node)
    if isinstance(node, Sym) and node.name in _NAMES:
        first, second, third = (_ONE if node.name == name else None for name in _NAMES)
        return first, second, third
    if isinstance(node, Neg):
        return _each(_linear(node.arg), negative)
    if isinstance(node, Add):
        return _added([_linear(arg) for arg in node.args])
    if isinstance(node, Mul):
        return _multiplied(node)
    if kind is Div and isinstance(node, Div):
        bottom = node.bottom
        return _each(_linear(node.top), lambda c: Div(c, bottom))
    return None


def _each(found: Coordinates | None, change: Callable[[Node], Node]) -> Coordinates | None:
    if found is None:
        return None
    first, second, third = (None if c is None else change(c) for c in found)
    return first, second, third


def _added(parts: list[Coordinates | None]) -> Coordinates | None:
    columns: list[list[Node]] = [[], [], []]
    for part in parts:
        if part is None:
            return None
        for column, c in zip(columns, part, strict=True):
            if c is not None:
                column.append(c)
    first, second, third = map(_sum, columns)
    return first, second, third


def _sum(terms: list[Node]) -> Node | None:
    if len(terms) > 1:
        return Add(tuple(terms))
    return terms[0] if terms else None


def _multiplied(node: Mul) -> Coordinates | None:
    found = [_linear(arg) for arg in node.args]
    vectors = [f for f in found if f is not None]
    if len(vectors) != 1:
        return None
    scalars = tuple(a for a, f in zip(node.args, found, strict=True) if f is None)

    def scaled(c: Node) -> Node:
        factors = scalars if c == _ONE else (*scalars, c)
        return factors[0] if len(factors) == 1 else Mul(factors)

    return _each(vectors[0], scaled)


PREFIX["basis"] = basis
