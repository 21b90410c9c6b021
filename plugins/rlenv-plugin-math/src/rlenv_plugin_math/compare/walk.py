"""Walks over trees: children, facts, substitution, and sums taken apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, cast

from attrs import evolve

from rlenv_plugin_math import tree as t
from rlenv_plugin_math.compare.exact import rational
from rlenv_plugin_math.compare.work import Case
from rlenv_plugin_math.held import frozen
from rlenv_plugin_math.parts import PARTS, kinds
from rlenv_plugin_math.tree import Add, Big, Builder, Call, Const, Div, Mul, Neg, Node, Num, Sym

_NONE: frozenset[str] = frozenset()


def children(node: Node) -> tuple[Node, ...]:
    """The direct parts of a node, left to right."""
    rule = PARTS.get(type(node))
    if rule is None:
        return ()
    parts = rule(node)
    return tuple([part for part in parts if part is not None])


def walk(node: Node) -> Iterator[Node]:
    """Every node of the tree, in no promised order, without recursion."""
    stack: list[Node | None] = [node]
    while stack:
        top = stack.pop()
        if top is not None:
            yield top
            rule = PARTS.get(type(top))
            if rule is not None:
                stack += rule(top)


def symbols(node: Node) -> frozenset[str]:
    """The names of the variables that occur free or bound."""
    return _facts(node).names if Sym in kinds(node)[0] else _NONE


def rebuild(node: Node, change: Callable[[Node], Node]) -> Node:
    """The same node with ``change`` applied to each direct part; a Choice or leaf stays as it
    is.
    """
    rule = _REBUILT.get(type(node))
    result: Node = node if rule is None else rule(node, change)
    return result


def _maybe(part: Node | None, change: Callable[[Node], Node]) -> Node | None:
    return None if part is None else change(part)


def _args(node: Any, change: Callable[[Node], Node]) -> Node:
    changed: Node = evolve(node, args=tuple(map(change, node.args)))
    return changed


def _items(node: Any, change: Callable[[Node], Node]) -> Node:
    changed: Node = evolve(node, items=tuple(map(change, node.items)))
    return changed


def _big(node: Big, change: Callable[[Node], Node]) -> Node:
    low = _maybe(node.low, change)
    high = _maybe(node.high, change)
    return Big(node.kind, change(node.body), node.var, low, high)


def _builder(node: Builder, change: Callable[[Node], Node]) -> Node:
    return Builder(change(node.element), change(node.condition), _maybe(node.domain, change))


def _piecewise(node: t.Piecewise, change: Callable[[Node], Node]) -> Node:
    return t.Piecewise(
        tuple((change(value), _maybe(when, change)) for value, when in node.branches)
    )


_REBUILT: dict[type, Callable[[Any, Callable[[Node], Node]], Node]] = {
    **dict.fromkeys((Add, Mul, Call, t.Rel, t.Logic, t.SetOp), _args),
    **dict.fromkeys((t.Seq, t.Items, t.SetOf, t.Ratio), _items),
    Neg: lambda node, change: Neg(change(node.arg)),
    t.Quantity: lambda node, change: t.Quantity(change(node.value), node.unit),
    Div: lambda node, change: Div(change(node.top), change(node.bottom)),
    t.Pow: lambda node, change: t.Pow(change(node.base), change(node.exponent)),
    t.Mod: lambda node, change: t.Mod(change(node.value), change(node.modulus)),
    t.PlusMinus: lambda node, change: t.PlusMinus(
        _maybe(node.left, change), change(node.right), node.sign
    ),
    t.Matrix: lambda node, change: t.Matrix(tuple(tuple(map(change, row)) for row in node.rows)),
    Big: _big,
    Builder: _builder,
    t.Piecewise: _piecewise,
}


def summand(node: Big) -> Node:
    """The body of a sum; under an index called ``i`` every ``i`` is the index."""
    return _indexed(node.body) if node.var == "i" else node.body


def _indexed(node: Node) -> Node:
    return Sym("i") if node == Const("i") else rebuild(node, _indexed)


def bind(node: Node, name: str, value: Node, case: Case) -> Node:
    """``node`` with the variable ``name`` replaced by ``value``; inner sums over ``name`` keep
    theirs.
    """
    case.spend(1)
    if type(node) is Sym:
        return value if node.name == name else node
    if type(node) is Num or (isinstance(node, Big) and node.var == name):
        return node
    return rebuild(node, lambda part: bind(part, name, value, case))


def addends(node: Node, case: Case) -> list[tuple[Fraction, Node | None]]:
    """``node`` as a sum of rational multiples; the None entry is the plain number."""
    case.spend(1)
    if type(node) is Add:
        return [part for arg in node.args for part in addends(arg, case)]
    if type(node) is Neg:
        return [(-weight, rest) for weight, rest in addends(node.arg, case)]
    value = rational(node, case)
    if value is not None:
        return [(value, None)]
    if type(node) is Div:
        bottom = rational(node.bottom, case)
        if bottom:
            return [(weight / bottom, rest) for weight, rest in addends(node.top, case)]
    if type(node) is Mul:
        return _multiple(node, case)
    return [(Fraction(1), node)]


def _multiple(node: Mul, case: Case) -> list[tuple[Fraction, Node | None]]:
    weight = Fraction(1)
    rest = []
    for arg in node.args:
        value = rational(arg, case)
        if value is None:
            rest.append(arg)
        else:
            weight *= value
    if len(rest) == 1:
        return [(weight * inner, part) for inner, part in addends(rest[0], case)]
    return [(weight, Mul(tuple(rest)))]


@frozen
class Facts:
    """What one look at both sides of a comparison tells."""

    names: frozenset[str]
    kinds: frozenset[type]
    calls: frozenset[str]
    constants: frozenset[str]
    size: int
    digits: int  # decimal digits of all literals together


def facts(gold: Node, given: Node | None = None) -> Facts:
    """The facts of one tree, or of two taken together; those of a tree are kept with it."""
    first = _facts(gold)
    if given is None:
        return first
    other = _facts(given)
    return Facts(
        first.names | other.names,
        first.kinds | other.kinds,
        first.calls | other.calls,
        first.constants | other.constants,
        first.size + other.size,
        first.digits + other.digits,
    )


def _facts(node: Node) -> Facts:
    try:
        return cast("Facts", node._facts)
    except AttributeError:
        found = _gathered(node)
        object.__setattr__(node, "_facts", found)
        return found


def _gathered(node: Node) -> Facts:
    names = set()
    calls = set()
    constants = set()
    length = 0
    for part in walk(node):
        kind = type(part)
        if kind is Num:
            length += part.value.numerator.bit_length() + part.value.denominator.bit_length()  # type: ignore[union-attr]
        elif kind is Sym:
            names.add(part.name)  # type: ignore[union-attr]
        elif kind is Call:
            calls.add(part.name)  # type: ignore[union-attr]
        elif kind is Const:
            constants.add(part.name)  # type: ignore[union-attr]
    every, size = kinds(node)
    return Facts(
        frozenset(names), every, frozenset(calls), frozenset(constants), size, length * 3 // 10
    )
