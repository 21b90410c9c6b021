"""Items between commas, "and" and "or": what is one claim, and what are several."""

from __future__ import annotations

from fractions import Fraction

from rlenv_plugin_math.tree import Add, Items, Logic, Mod, Node, Num, Quantity, Rel, Seq, Sym, Text
from rlenv_plugin_math.units import convert

from .engine import PREFIX, Parser

_SEPARATORS = frozenset((",", ";", "and", "or", "row"))
_INEQUALITIES = frozenset(("<", ">", "<=", ">=", "!="))


def items(p: Parser) -> tuple[list[Node], str]:
    """Nodes between separators, and the separators, one sign each (``,`` ``;`` ``&`` ``|``
    ``\\``).
    """
    nodes: list[Node] = []
    between: list[str] = []
    while True:
        nodes.append(p.expr(0))
        kind = p.kinds[p.pos]
        if kind not in _SEPARATORS:
            return nodes, "".join(between)
        between.append({"and": "&", "or": "|", "row": "\\"}.get(kind, kind))
        p.pos += 1
        while p.kinds[p.pos] in ("and", "or", ","):  # "1, 2, and 3"
            between[-1] = "|" if p.kinds[p.pos] == "or" else "&"
            p.pos += 1
        if _closes(p):
            return nodes, "".join(between[:-1])


def _closes(p: Parser) -> bool:
    """Whether the list ends here, behind a separator; ``]`` may also open ``]0, 1[``."""
    kind = p.kinds[p.pos]
    if kind == "]":
        return p.kinds[p.pos + 1] not in PREFIX
    return kind in ("end", ")", "\\}", "}")


def listing(p: Parser) -> Node:
    """Items between commas, "and" and "or"."""
    return combined(*items(p))


def combined(nodes: list[Node], between: str) -> Node:
    """One node of several items and the signs between them."""
    if len(nodes) == 1:
        return nodes[0]
    if "|" in between:
        return alternatives(nodes, between)
    return _together(nodes, between)


def alternatives(nodes: list[Node], between: str) -> Node:
    """With an "or": flat when all are of one kind, else grouped by it."""
    nodes = _spread(nodes)
    flat = set(between) == {"|"} or (
        between.count("|") == 1 and between[-1] == "|" and _alike(nodes)
    )
    if flat:
        return Logic("or", tuple(nodes))
    groups: list[list[Node]] = [[nodes[0]]]
    signs: list[str] = [""]
    for sign, node in zip(between, nodes[1:], strict=True):
        if sign == "|":
            groups.append([])
            signs.append("")
        else:
            signs[-1] += sign
        groups[-1].append(node)
    parts = [g[0] if len(g) == 1 else _together(g, s) for g, s in zip(groups, signs, strict=True)]
    return Logic("or", tuple(parts))


def _alike(nodes: list[Node]) -> bool:
    """Values, or relations of one and the same left side."""
    lefts = {node.args[0] if type(node) is Rel else None for node in nodes}
    return len(lefts) == 1


def _together(nodes: list[Node], between: str) -> Node:
    nodes = _spread(nodes)
    if _adds(nodes):
        return Add(tuple(nodes))
    if set(between) == {"&"} and any(
        type(n) is Rel and _INEQUALITIES.intersection(n.ops) for n in nodes
    ):
        return Logic("and", tuple(nodes))
    return Items(tuple(nodes))


def _adds(nodes: list[Node]) -> bool:
    """``5 dollars and 30 cents``, ``1 hour, 30 minutes``: ever smaller units of one dimension."""
    if not all(type(n) is Quantity and type(n.value) is Num for n in nodes):
        return False
    limit: tuple[Fraction, object] | None = None
    for n in nodes:
        assert isinstance(n, Quantity)
        assert isinstance(n.value, Num)
        factor, dimension = convert(n.unit)
        if limit is not None and (limit[1] != dimension or n.value.value * factor >= limit[0]):
            return False
        limit = factor, dimension
    return bool(limit and limit[1])


def _spread(nodes: list[Node]) -> list[Node]:
    """What was said once for all: ``x = 1, 2``, ``x ≡ 1, 2 (mod 7)``."""
    last = nodes[-1]
    if type(last) is Mod and not any(type(n) is Mod for n in nodes[:-1]):
        nodes = [_with_modulus(n, last.modulus) for n in nodes]
    first = nodes[0]
    if type(first) is not Rel or first.ops != ("=",) or type(first.args[0]) not in (Sym, Seq):
        return nodes
    if any(type(n) in (Rel, Text) for n in nodes[1:]):
        return nodes
    return [first, *(Rel((first.args[0], n), ("=",)) for n in nodes[1:])]


def _with_modulus(node: Node, modulus: Node) -> Node:
    if type(node) is Mod:
        return node
    if type(node) is Rel and node.ops[-1] == "=":
        return Rel((*node.args[:-1], Mod(node.args[-1], modulus)), node.ops)
    return Mod(node, modulus)
