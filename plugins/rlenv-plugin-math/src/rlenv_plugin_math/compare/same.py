"""The dispatcher: which comparison two shapes call for."""

from __future__ import annotations

from collections.abc import Sequence

from rlenv_plugin_math import tree as t
from rlenv_plugin_math.compare.constants import same_family_of_functions
from rlenv_plugin_math.compare.expand import ZERO, distribute, kinds, lift, readings, spelled_out
from rlenv_plugin_math.compare.families import same_family
from rlenv_plugin_math.compare.matching import distinct, in_order, matched
from rlenv_plugin_math.compare.quantities import measure, same_quantity
from rlenv_plugin_math.compare.records import entries, named_point, record, same_record, solutions
from rlenv_plugin_math.compare.regions import enumerated, region, regional, same_region
from rlenv_plugin_math.compare.relations import conjuncts, same_relation
from rlenv_plugin_math.compare.scalars import SCALARS, same_scalar, same_value
from rlenv_plugin_math.compare.special import same_letters, same_special
from rlenv_plugin_math.compare.walk import bind, children, symbols
from rlenv_plugin_math.compare.work import Case
from rlenv_plugin_math.tree import (
    Call,
    Items,
    Logic,
    Matrix,
    Mul,
    NamedSet,
    Node,
    Num,
    PlusMinus,
    Rel,
    Seq,
    SetOf,
    Sym,
)

_POINT = ("()", "<>")
_ENDS = ("opening", "closing")
_SHAPED = frozenset(
    (PlusMinus, Seq, Matrix, SetOf, Items, t.Quantity, NamedSet, t.SetOp, t.Ratio, t.Mod)
)


def same(gold: Node, given: Node, case: Case) -> bool:
    """Whether two trees mean the same answer; the heart of ``decide`` and of every part of it."""
    if type(gold) is Num and type(given) is Num:
        return same_scalar(gold, given, case)
    if gold == given:
        case.reached("structure")
        return True
    return differing(gold, given, case)


def differing(gold: Node, given: Node, case: Case) -> bool:
    """The same for two trees that are not written alike."""
    inside = kinds(gold, case) | kinds(given, case)
    if PlusMinus in inside:
        return _signed(gold, given, case)
    if inside <= SCALARS:  # nothing to settle, and nothing but expressions
        if Call in inside:
            gold = spelled_out(gold)
            given = spelled_out(given)
        elif type(gold) is Sym and not case.depth and same_letters(gold, given, case):
            return True
        return same_value(gold, given, case) or (
            Sym in inside and same_family_of_functions(gold, given, case)
        )
    if _connected_apart(gold, given) or _labeled_apart(gold, given):
        return False
    gold = _settled(gold, case)
    given = _settled(given, case)
    if type(gold) in SCALARS and type(given) in SCALARS and not inside & _SHAPED:
        return same_scalar(gold, given, case) or same_family_of_functions(gold, given, case)
    return _shapes(gold, given, case)


def _connected_apart(gold: Node, given: Node) -> bool:
    """Whether one side joins by "and" what the other joins by "or", as in two propositions."""
    if not isinstance(gold, Logic) or not isinstance(given, Logic) or gold.op == given.op:
        return False
    return not regional(gold) and not regional(given)


def _labeled_apart(gold: Node, given: Node) -> bool:
    """Whether two lists name different unknowns: ``x = 1, x = 2`` and ``z = 1, z = 2``."""
    first = _labels(gold)
    second = _labels(given)
    listed = any(isinstance(node, (Items, SetOf, Logic)) for node in (gold, given))
    return listed and len(first) == len(second) == 1 and first != second


def _labels(node: Node) -> set[str]:
    rows = (node,) if isinstance(node, Rel) else children(node)
    pairs = [row.args for row in rows if isinstance(row, Rel) and row.ops in (("=",), ("in",))]
    return {a.name for a, b, *_ in pairs if isinstance(a, Sym) and type(b) is not NamedSet}


def _signed(gold: Node, given: Node, case: Case) -> bool:
    pairs = [(a, b) for a in readings(gold) for b in readings(given)]
    plain = [(a, b) for a, b in pairs if PlusMinus not in kinds(a, case) | kinds(b, case)]
    case.doubt = case.doubt or not plain
    return any(case.same(a, b) for a, b in plain)


def _settled(node: Node, case: Case) -> Node:
    """One shape for what is written in several ways, at the top of a tree."""
    if isinstance(node, Rel):
        within = node.ops == ("in",) and isinstance(node.args[1], SetOf)
        if within and not symbols(node.args[0]) & symbols(node.args[1]):
            return node.args[1]
        return distribute(node)
    if isinstance(node, Logic):
        return _alternatives(node)
    if isinstance(node, (Items, SetOf)):
        return _listed(solutions(node) if isinstance(node, Items) else node)
    return lift(node, case) if type(node) in SCALARS and children(node) else enumerated(node, case)


def _alternatives(node: Logic) -> Node:
    """``x = 1 or x = 2`` is a list; so is "and" between equations."""
    if node.op == "not" or regional(node):
        return node
    parts: list[Node] = []
    for arg in node.args:
        inner = _alternatives(arg) if isinstance(arg, Logic) and arg.op == node.op else arg
        inner = distribute(inner) if isinstance(inner, Rel) else inner
        several = isinstance(inner, Items) and record(inner) is None
        parts += inner.items if isinstance(inner, Items) and several else (inner,)
    members = tuple(parts)
    return _listed(SetOf(members) if node.op == "or" else Items(members))


def _listed(node: Items | SetOf) -> Node:
    """Drop a label that all members share; a list of one is its member."""
    if len(node.items) == 1 and isinstance(node, Items):
        return node.items[0]
    first = node.items[0] if node.items else None
    if isinstance(first, Rel) and first.ops == ("!=",) and isinstance(node, Items):
        return Items(
            tuple(i if isinstance(i, Rel) else Rel((first.args[0], i), ("!=",)) for i in node.items)
        )
    labels = {item.args[0] for item in node.items if isinstance(item, Rel) and item.ops == ("=",)}
    if (
        len(labels) != 1
        or not isinstance(first, Rel)
        or not isinstance(first.args[0], (t.Sym, Seq))
    ):
        return node
    return type(node)(tuple(_unlabeled(item) for item in node.items))


def _unlabeled(node: Node) -> Node:
    return node.args[1] if isinstance(node, Rel) and node.ops == ("=",) else node


def _shapes(gold: Node, given: Node, case: Case) -> bool:
    special = same_special(gold, given, case)
    if special is not None:
        return special
    verdict = same_family(gold, given, case)
    if verdict is not None:
        return verdict
    if regional(gold) or regional(given):
        verdict = _regions(gold, given, case)
        if verdict is not None:
            return verdict
    known = record(gold), record(given)
    if known[0] is not None or known[1] is not None:
        return same_record(*known, (gold, given), case)
    if isinstance(gold, (Items, SetOf, Logic)) or isinstance(given, (Items, SetOf, Logic)):
        return _collections(gold, given, case)
    if isinstance(gold, Rel) or isinstance(given, Rel):
        return same_relation(gold, given, case)
    if isinstance(gold, (Seq, Matrix)) or isinstance(given, (Seq, Matrix)):
        return _arrays(gold, given, case)
    if measure(gold) is not None or measure(given) is not None:
        return same_quantity(gold, given, case)
    return _others(gold, given, case)


def _regions(gold: Node, given: Node, case: Case) -> bool | None:
    lists = [node.items for node in (gold, given) if isinstance(node, Items)]
    if len(lists) == 2 and Rel not in map(type, sum(lists, ())):  # sets, one by one
        return matched(lists[0], lists[1], case)
    wanted = region(_value(gold), case)
    found = region(_value(given), case)
    if wanted is not None and found is not None:
        case.reached("exact")
        return same_region(wanted, found)
    return False if wanted is not None and isinstance(given, Rel) else None


def _value(node: Node) -> Node:
    """A set with its label taken off: ``D = (0, 1)``."""
    if not isinstance(node, Rel) or node.ops != ("=",):
        return node
    label, value = node.args
    return value if isinstance(label, (t.Sym, t.Call)) and type(value) not in SCALARS else node


def _collections(gold: Node, given: Node, case: Case) -> bool:
    if isinstance(gold, Items) and isinstance(given, Items):
        if all(isinstance(item, Seq) for item in (*gold.items, *given.items)):
            return matched(distinct(gold.items, case), distinct(given.items, case), case)
        return matched(gold.items, given.items, case) or same_letters(gold, given, case)
    if isinstance(gold, Items | Mul) and isinstance(given, Items | Mul):
        return same_letters(gold, given, case)
    return _with_set(gold, given, case)


def _with_set(gold: Node, given: Node, case: Case) -> bool:
    pair = _value(gold), _value(given)
    wanted = _members(pair[0])
    found = _members(pair[1])
    if wanted is not None and found is not None:
        sets = [sum(isinstance(item, SetOf) for item in members) for members in (wanted, found)]
        pairs = distinct(wanted, case), distinct(found, case)
        return sets[0] == sets[1] and matched(*pairs, case)
    if any(isinstance(node, Items) for node in pair):
        return _list_as_tuple(*pair, case)
    if wanted is not None and len(wanted) == 1:
        return isinstance(given, Seq) <= isinstance(wanted[0], Seq) and case.same(wanted[0], given)
    if found is not None and len(found) == 1:
        return isinstance(gold, Seq) <= isinstance(found[0], Seq) and case.same(gold, found[0])
    if isinstance(gold, (Logic, Rel)) and isinstance(given, (Logic, Rel)):
        return _conditions(gold, given, case)
    return False


def _conditions(gold: Logic | Rel, given: Logic | Rel, case: Case) -> bool:
    """``a < b < c`` and ``a < b and b < c``; otherwise the same connective of the same parts."""
    wanted = conjuncts(gold)
    found = conjuncts(given)
    if wanted is not None and found is not None:
        return matched(wanted, found, case)
    if not isinstance(gold, Logic) or not isinstance(given, Logic):
        return False
    return gold.op == given.op and matched(gold.args, given.args, case)


def _members(node: Node) -> tuple[Node, ...] | None:
    return node.items if isinstance(node, (SetOf, Items)) else None


def _list_as_tuple(gold: Node, given: Node, case: Case) -> bool:
    """A list without its brackets stands for a point only in the same order."""
    if any(
        isinstance(node, Seq) and node.opening + node.closing not in _POINT
        for node in (gold, given)
    ):
        return False
    wanted = gold.items if isinstance(gold, Items) else entries(gold)
    found = given.items if isinstance(given, Items) else entries(given)
    return wanted is not None and found is not None and in_order(wanted, found, case)


def _arrays(gold: Node, given: Node, case: Case) -> bool:
    if isinstance(gold, Matrix) and isinstance(given, Matrix):
        return len(gold.rows) == len(given.rows) and all(
            in_order(a, b, case) for a, b in zip(gold.rows, given.rows, strict=True)
        )
    gold, given = named_point(gold, given), named_point(given, gold)
    if isinstance(gold, Seq) and isinstance(given, Seq) and _bracketed_apart(gold, given, case):
        return False
    wanted = entries(gold)
    found = entries(given)
    if wanted is None or found is None:
        return _rows(gold, given, case)
    return in_order(*_even(wanted, found, (gold, given)), case)


def _bracketed_apart(gold: Seq, given: Seq, case: Case) -> bool:
    """Whether two pairs differ as intervals: ``(1, 2)`` and ``[1, 2]``."""
    if (gold.opening, gold.closing) == (given.opening, given.closing):
        return False
    if regional(gold) or regional(given):
        return True
    if "<" in (gold.opening, given.opening):
        return False
    return region(gold, case) is not None and region(given, case) is not None


def _even(
    wanted: Sequence[Node], found: Sequence[Node], pair: tuple[Node, Node]
) -> tuple[Sequence[Node], Sequence[Node]]:
    """``3i + 2j`` is read with a third entry 0, which a plane vector does not write."""
    if len(wanted) == 3 == len(found) + 1 and _arrow(pair[0]):
        return wanted, (*found, ZERO)
    if len(found) == 3 == len(wanted) + 1 and _arrow(pair[1]):
        return (*wanted, ZERO), found
    return wanted, found


def _arrow(node: Node) -> bool:
    return isinstance(node, Seq) and node.opening == "<"


def _rows(gold: Node, given: Node, case: Case) -> bool:
    """A matrix written as a tuple of its rows."""
    if isinstance(gold, Seq) and isinstance(given, Matrix):
        gold, given = given, gold
    if not isinstance(gold, Matrix) or not isinstance(given, Seq):
        return False
    rows = [entries(item) for item in given.items]
    return len(rows) == len(gold.rows) and all(
        b is not None and in_order(a, b, case) for a, b in zip(gold.rows, rows, strict=True)
    )


def _others(gold: Node, given: Node, case: Case) -> bool:
    if isinstance(gold, t.Big) and isinstance(given, t.Big):  # of sets
        body = bind(given.body, given.var, Sym(gold.var), case)
        if [getattr(gold.body, end, "") for end in _ENDS] != [
            getattr(body, end, "") for end in _ENDS
        ]:
            return False
        given = t.Big(given.kind, body, gold.var, given.low, given.high)
    elif type(gold) in SCALARS and type(given) in SCALARS:
        return same_scalar(gold, given, case)
    if {type(gold), type(given)} == {NamedSet, Sym}:  # a bold letter
        return getattr(gold, "name", "") == getattr(given, "name", "")
    parts = children(gold), children(given)
    if type(gold) is not type(given) or not parts[0] or len(parts[0]) != len(parts[1]):
        return False
    if any(getattr(gold, name, "") != getattr(given, name, "") for name in ("op", "kind")):
        return False
    if isinstance(gold, t.SetOp) and gold.op in ("union", "intersection"):
        return matched(*parts, case)
    return in_order(*parts, case)
