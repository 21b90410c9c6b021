"""Walks over trees: children, facts, substitution, and sums taken apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from attrs import evolve, frozen

from rlenv_plugin_math import tree as t
from rlenv_plugin_math.compare.exact import rational
from rlenv_plugin_math.compare.work import Case
from rlenv_plugin_math.tree import Add, Big, Builder, Call, Const, Div, Mul, Neg, Node, Num, Sym

_ONE_CHILD = {Neg: "arg", t.Quantity: "value"}
_TWO_CHILDREN = {
    Div: ("top", "bottom"),
    t.Pow: ("base", "exponent"),
    t.Mod: ("value", "modulus"),
}
_MANY = {Add, Mul, Call, t.Rel, t.Logic, t.SetOp}
_LISTS = {t.Seq, t.Items, t.SetOf, t.Ratio}
_LEAVES = {Num, Const, Sym, t.NamedSet, t.Based, t.Clock, t.Date, t.Text}


def children(node: Node) -> tuple[Node, ...]:
    """The direct parts of a node, left to right."""
    kind = type(node)
    if kind in _LEAVES:
        return ()
    if kind in _MANY:
        return node.args  # type: ignore[union-attr,return-value]
    if kind in _LISTS:
        return node.items  # type: ignore[union-attr,return-value]
    if kind in _ONE_CHILD:
        return (getattr(node, _ONE_CHILD[kind]),)
    if kind in _TWO_CHILDREN:
        first, second = _TWO_CHILDREN[kind]
        return (getattr(node, first), getattr(node, second))
    return tuple(_rare_children(node))


def _rare_children(node: Node) -> Iterator[Node]:
    if isinstance(node, t.PlusMinus):
        parts: tuple[Node | None, ...] = (node.left, node.right)
    elif isinstance(node, Big):
        parts = (node.body, node.low, node.high)
    elif isinstance(node, t.Piecewise):
        parts = tuple(part for branch in node.branches for part in branch)
    elif isinstance(node, Builder):
        parts = (node.element, node.condition, node.domain)
    elif isinstance(node, t.Matrix):
        parts = tuple(entry for row in node.rows for entry in row)
    elif isinstance(node, t.Choice):
        parts = (node.value,)
    else:
        parts = ()
    return (part for part in parts if part is not None)


def walk(node: Node) -> Iterator[Node]:
    """Every node of the tree, in no promised order, without recursion."""
    stack = [node]
    while stack:
        top = stack.pop()
        yield top
        stack.extend(children(top))


def symbols(node: Node) -> frozenset[str]:
    """The names of the variables that occur free or bound."""
    return frozenset(part.name for part in walk(node) if type(part) is Sym)


def rebuild(node: Node, change: Callable[[Node], Node]) -> Node:
    """The same node with ``change`` applied to each direct part."""
    kind = type(node)
    if kind in _LEAVES:
        return node
    if kind in _MANY:
        return evolve(node, args=tuple(map(change, node.args)))  # type: ignore[union-attr,arg-type,misc]
    if kind in _LISTS:
        return evolve(node, items=tuple(map(change, node.items)))  # type: ignore[union-attr,arg-type,misc]
    if kind in _ONE_CHILD:
        name = _ONE_CHILD[kind]
        return evolve(node, **{name: change(getattr(node, name))})  # type: ignore[misc]
    if kind in _TWO_CHILDREN:
        return kind(*(change(getattr(node, name)) for name in _TWO_CHILDREN[kind]))  # type: ignore[no-any-return]
    return _rare_rebuild(node, change)


def _rare_rebuild(node: Node, change: Callable[[Node], Node]) -> Node:
    def maybe(part: Node | None) -> Node | None:
        return None if part is None else change(part)

    if isinstance(node, t.PlusMinus):
        return t.PlusMinus(maybe(node.left), change(node.right), node.sign)
    if isinstance(node, Big):
        return Big(node.kind, change(node.body), node.var, maybe(node.low), maybe(node.high))
    if isinstance(node, t.Piecewise):
        return t.Piecewise(tuple((change(value), maybe(when)) for value, when in node.branches))
    if isinstance(node, Builder):
        return Builder(change(node.element), change(node.condition), maybe(node.domain))
    if isinstance(node, t.Matrix):
        return t.Matrix(tuple(tuple(map(change, row)) for row in node.rows))
    if isinstance(node, t.Choice):
        return t.Choice(node.letter, maybe(node.value))
    return node


def bind(node: Node, name: str, value: Node, case: Case) -> Node:
    """``node`` with the variable ``name`` replaced by ``value``; inner sums over ``name`` keep theirs."""
    case.spend(1)
    if type(node) is Sym:
        return value if node.name == name else node
    if type(node) in _LEAVES or (type(node) is Big and node.var == name):
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
    weight, rest = Fraction(1), []
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


def facts(*nodes: Node) -> Facts:
    """Gather the facts of several trees in one walk."""
    names, kinds, calls, constants = set(), set(), set(), set()
    size = length = 0
    for node in nodes:
        for part in walk(node):
            size += 1
            kind = type(part)
            kinds.add(kind)
            if kind is Num:
                length += part.value.numerator.bit_length() + part.value.denominator.bit_length()  # type: ignore[union-attr]
            elif kind is Sym:
                names.add(part.name)  # type: ignore[union-attr]
            elif kind is Call:
                calls.add(part.name)  # type: ignore[union-attr]
            elif kind is Const:
                constants.add(part.name)  # type: ignore[union-attr]
    return Facts(
        frozenset(names),
        frozenset(kinds),
        frozenset(calls),
        frozenset(constants),
        size,
        length * 3 // 10,
    )
