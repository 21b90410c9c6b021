"""Named solutions: ``x = 1, y = 2`` in any order, or ``(x, y) = (1, 2)``, or the bare point."""

from __future__ import annotations

from collections.abc import Sequence

from rlenv_plugin_math.compare.matching import in_order, matched
from rlenv_plugin_math.compare.walk import symbols
from rlenv_plugin_math.compare.work import Case
from rlenv_plugin_math.tree import Call, Items, Logic, Matrix, Node, Rel, Seq, SetOf, Sym

Record = dict[str, Node]
_MOST = 40


def record(node: Node) -> Record | None:
    """The values by name, in the order written; None when ``node`` is not a list of named
    values.
    """
    if isinstance(node, Rel):
        return _point(node)
    parts = _parts(node)
    if not 2 <= len(parts) <= _MOST:
        return None
    found: Record = {}
    for part in parts:
        pair = _named(part)
        if pair is None or pair[0] in found:
            return None
        found[pair[0]] = pair[1]
    return None if any(symbols(value) & found.keys() for value in found.values()) else found


def _parts(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Logic) and node.op == "and":
        return node.args
    return node.items if isinstance(node, (Items, Seq)) else ()


def solutions(node: Items) -> Items:
    """``p = 5, q = 2; p = 7, q = 2`` as a list of points, where each names the same unknowns in
    turn.
    """
    pairs = [_named(part) for part in _parts(node)][:_MOST]
    names = [pair[0] for pair in pairs if pair is not None]
    size = len(set(names))
    if not 2 <= size < len(pairs) == len(names) or names != names[:size] * (len(names) // size):
        return node
    values = [pair[1] for pair in pairs if pair is not None]
    order = sorted(range(size), key=names.__getitem__)
    starts = range(0, len(values), size)
    return Items(tuple(Seq(tuple(values[at + i] for i in order), "(", ")") for at in starts))


def _named(node: Node) -> tuple[str, Node] | None:
    if not isinstance(node, Rel) or node.ops not in (("=",), ("~",)):
        return None
    left, right = node.args
    name = _name(left)
    if name is None:
        left, right, name = right, left, _name(right)
    return None if name is None else (name, right)


def _name(node: Node) -> str | None:
    if isinstance(node, Sym):
        return node.name
    if isinstance(node, Call) and len(node.name) <= 2:
        return repr(node)
    return None


def _point(node: Rel) -> Record | None:
    if node.ops != ("=",):
        return None
    left, right = (entries(arg) for arg in node.args)
    if left is None or right is None or not 2 <= len(left) == len(right):
        return None
    if not all(isinstance(part, Sym) for part in left):
        left, right = right, left
    names = [part.name for part in left if isinstance(part, Sym)]
    if len(names) < len(left) or len(set(names)) < len(names):
        return None
    return dict(zip(names, right, strict=True))


def entries(node: Node) -> Sequence[Node] | None:
    """The entries of a point or a vector in any notation, None for all else."""
    if isinstance(node, Seq):
        return node.items
    if isinstance(node, Matrix):
        if len(node.rows) == 1:
            return node.rows[0]
        if all(len(row) == 1 for row in node.rows):
            return [row[0] for row in node.rows]
    return None


def same_record(
    gold: Record | None, given: Record | None, pair: tuple[Node, Node], case: Case
) -> bool:
    """Compare where at least one side names its values."""
    if gold is not None and given is not None:
        return gold.keys() == given.keys() and all(
            case.same(gold[name], given[name]) for name in gold
        )
    unnamed = pair[1] if gold is not None else pair[0]
    known = gold if gold is not None else given
    if isinstance(unnamed, (Items, SetOf)) and known is not None and _numbered(known):
        return matched(list(known.values()), unnamed.items, case)
    if gold is not None:
        bare = _bare(pair[1])
        orders = [list(gold.values()), _alphabetical(gold)]
        return bare is not None and any(in_order(order, bare, case) for order in orders)
    assert given is not None
    bare = _bare(pair[0])
    written = isinstance(pair[1], Rel) and not given.keys() <= set("xyz")
    order = list(given.values()) if written else _alphabetical(given)
    return bare is not None and in_order(bare, order, case)


def _numbered(known: Record) -> bool:
    """``x_1, x_2``: the members of a list, not different unknowns."""
    return len({name.partition("_")[0] for name in known}) == 1 and all(
        "_" in name for name in known
    )


def _alphabetical(known: Record) -> list[Node]:
    return [known[name] for name in sorted(known)]


def named_point(node: Node, other: Node) -> Node:
    """``P(3, -2)`` beside a point is that point."""
    if not isinstance(other, (Seq, Matrix)) or not isinstance(node, Call) or len(node.args) < 2:
        return node
    return Seq(node.args, "(", ")") if len(node.name) == 1 and node.name.isupper() else node


def _bare(node: Node) -> Sequence[Node] | None:
    return node.items if isinstance(node, Items) else entries(node)
