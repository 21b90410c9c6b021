"""The direct parts of a node, and which kinds of nodes a tree holds."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from operator import attrgetter
from typing import Any

from . import tree as t
from .tree import Node

PARTS: dict[type, Callable[[Any], tuple[Node | None, ...]]] = {
    **dict.fromkeys((t.Add, t.Mul, t.Call, t.Rel, t.Logic, t.SetOp), attrgetter("args")),
    **dict.fromkeys((t.Seq, t.Items, t.SetOf, t.Ratio), attrgetter("items")),
    t.Neg: lambda node: (node.arg,),
    t.Quantity: lambda node: (node.value,),
    t.Choice: lambda node: (node.value,),
    t.Div: attrgetter("top", "bottom"),
    t.Pow: attrgetter("base", "exponent"),
    t.Mod: attrgetter("value", "modulus"),
    t.PlusMinus: attrgetter("left", "right"),
    t.Matrix: lambda node: tuple(chain.from_iterable(node.rows)),
    t.Piecewise: lambda node: tuple(chain.from_iterable(node.branches)),
    t.Big: attrgetter("body", "low", "high"),
    t.Builder: attrgetter("element", "condition", "domain"),
}
_MISSING = type(None)


def kinds(node: Node) -> tuple[frozenset[type], int]:
    """(the types of all nodes of a tree, how many nodes it has); gathered once, then kept with the
    node.
    """
    try:
        return node._kinds
    except AttributeError:
        found = set()
        size = 0
        stack: list[Any] = [node]
        while stack:
            top = stack.pop()
            kind = type(top)
            found.add(kind)
            size += kind is not _MISSING
            rule = PARTS.get(kind)
            if rule is not None:
                stack += rule(top)
        found.discard(_MISSING)
        known = frozenset(found), size
        object.__setattr__(node, "_kinds", known)
        return known


def has_words(node: Node) -> bool:
    """Whether a text is anywhere in a tree."""
    return t.Text in kinds(node)[0]
