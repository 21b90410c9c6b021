"""Inequalities, intervals, set-builders and their unions, read as subsets of the real line."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce

from rlenv_plugin_math.compare import line
from rlenv_plugin_math.compare.exact import rational
from rlenv_plugin_math.compare.line import Bound, Cuts
from rlenv_plugin_math.compare.scalars import infinity
from rlenv_plugin_math.compare.walk import addends, symbols, walk
from rlenv_plugin_math.compare.work import Case, Undefined
from rlenv_plugin_math.held import frozen
from rlenv_plugin_math.tree import (
    Add,
    Builder,
    Call,
    Items,
    Logic,
    Mul,
    NamedSet,
    Neg,
    Node,
    Num,
    Rel,
    Seq,
    SetOf,
    SetOp,
    Sym,
)

ORDERS = frozenset(("<", "<=", ">", ">="))
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!=", "=": "="}
_SETTLING = ORDERS | {"!=", "in", "notin"}
_MOST_PARTS = 40
_ZERO = Num(Fraction(0))
_ONE = Num(Fraction(1))


@frozen
class Region:
    """A set of reals, and the variable that was said to lie in it, if any."""

    name: str | None
    cuts: Cuts


def regional(node: Node) -> bool:
    """Whether the notation can only mean a set of reals (a plain pair may be a point)."""
    if isinstance(node, Rel):
        return bool(_SETTLING.intersection(node.ops))
    if isinstance(node, Logic):
        return any(map(regional, node.args))
    if isinstance(node, Items):
        return bool(node.items) and all(map(regional, node.items))
    if isinstance(node, Seq):
        mixed = (node.opening, node.closing) not in (("(", ")"), ("[", "]"), ("<", ">"))
        return len(node.items) == 2 and (mixed or any(infinity(i) is not None for i in node.items))
    return isinstance(node, (SetOp, Builder, NamedSet))


def enumerated(node: Node, case: Case) -> Node:
    """``{x in Z | 1 <= x <= 3}`` as ``{1, 2, 3}`` where that is short, else the node as it is."""
    if not isinstance(node, Builder) or not isinstance(node.element, Sym):
        return node
    if not isinstance(node.domain, NamedSet) or node.domain.name not in ("Z", "N", "Z+"):
        return node
    within = region(node.condition, case)
    if within is None or within.name not in (None, node.element.name) or len(within.cuts) != 2:
        return node
    (low, _), (high, _) = within.cuts
    if not -1e9 < low.value <= high.value < 1e9 or high.value - low.value > _MOST_PARTS:
        return node
    candidates = range(math.floor(low.value), math.ceil(high.value) + 1)
    least = 1 if node.domain.name == "Z+" else 0 if node.domain.name == "N" else candidates.start
    chosen = [Num(Fraction(value)) for value in candidates if value >= least]
    return SetOf(tuple(n for n in chosen if line.holds(within.cuts, Bound(n, case))))


def region(node: Node, case: Case) -> Region | None:
    """The set that ``node`` describes, None where it is no set of reals with constant bounds."""
    if sum(1 for _ in walk(node)) > 50 * _MOST_PARTS:
        return None
    try:
        return _read(node, case)
    except Undefined:
        return None


def same_region(gold: Region, given: Region) -> bool:
    """Equal sets, said of the same variable where both name one."""
    if gold.name is not None and given.name is not None and gold.name != given.name:
        return False
    return len(gold.cuts) == len(given.cuts) and all(
        a[1] == b[1] and a[0] == b[0] for a, b in zip(gold.cuts, given.cuts, strict=True)
    )


def _read(node: Node, case: Case) -> Region | None:
    rule = _READERS.get(type(node))
    return None if rule is None else rule(node, case)


def _relation(node: Rel, case: Case) -> Region | None:
    if node.ops in (("in",), ("notin",)):
        return _membership(node, case)
    names = {_variable(arg, case) for arg in node.args if symbols(arg)}
    if len(names) != 1 or None in names or not set(node.ops) <= _FLIPPED.keys():
        return None
    cuts = line.everything(case)
    for place, op in enumerate(node.ops):
        link = _link(node.args[place], op, node.args[place + 1], case)
        if link is None:
            return None
        cuts = line.intersection(cuts, link)
    return Region(names.pop(), cuts)


def _variable(node: Node, case: Case) -> str | None:
    """What ``node`` is linear in: a variable, or the value of a function such as ``f(x)``."""
    if isinstance(node, Call) and node.name == "abs" and len(node.args) == 1:
        return _variable(node.args[0], case)
    unknown = {rest for _, rest in addends(node, case) if rest is not None and symbols(rest)}
    atom = unknown.pop() if len(unknown) == 1 else None
    if isinstance(atom, Call) and len(atom.name) == len(atom.args) == 1:
        return f"{atom.name}()" if isinstance(atom.args[0], Sym) else None
    return atom.name if isinstance(atom, Sym) else None


def _link(left: Node, op: str, right: Node, case: Case, *, within: bool = False) -> Cuts | None:
    """The solutions of ``-x < 3``, ``x - 3 < 0`` and, ``within`` bars, ``x - 3 < 2``.

    What is still to be solved (``2x < 6``, ``x + 1 < 7``, ``x < 6 - x``) is not an answer.
    """
    if not symbols(left):
        left, op, right = right, _FLIPPED[op], left
    if symbols(right):
        return None
    if isinstance(left, Call) and left.name == "abs":
        return _absolute(left.args[0], op, right, case)
    parts = addends(left, case)
    weight = sum((w for w, rest in parts if rest is not None and symbols(rest)), Fraction(0))
    shift = [Mul((Num(w), rest or _ONE)) for w, rest in parts if rest is None or not symbols(rest)]
    if abs(weight) != 1 or not (within or not shift or rational(right, case) == 0):
        return None
    right = Add((right, *map(Neg, shift))) if shift else right
    right = right if weight > 0 else Neg(right)
    return _half_line(op if weight > 0 else _FLIPPED[op], Bound(right, case), case)


def _half_line(op: str, bound: Bound, case: Case) -> Cuts:
    low, high = line.ends(case)
    if op in ("=", "!="):
        point = line.interval(bound, bound, low_in=True, high_in=True)
        return point if op == "=" else line.difference(line.everything(case), point)
    if op in ("<", "<="):
        return line.interval(low, bound, low_in=False, high_in=op == "<=")
    return line.interval(bound, high, low_in=op == ">=", high_in=False)


def _absolute(inner: Node, op: str, right: Node, case: Case) -> Cuts | None:
    """``|x| < c`` is both ``x < c`` and ``-x < c``; ``|x| > c`` is either."""
    above = _link(inner, op, right, case, within=True)
    below = _link(Neg(inner), op, right, case, within=True)
    if above is None or below is None:
        return None
    both = op in ("<", "<=", "!=")
    return line.intersection(above, below) if both else line.union(above, below)


def _membership(node: Rel, case: Case) -> Region | None:
    name = _variable(node.args[0], case)
    within = _read(node.args[1], case)
    if name is None or within is None:
        return None
    if node.ops == ("in",):
        return Region(name, within.cuts)
    return Region(name, line.difference(line.everything(case), within.cuts))


def _pair(node: Seq, case: Case) -> Region | None:
    if len(node.items) != 2 or node.opening == "<" or symbols(node):
        return None
    low = Bound(node.items[0], case)
    high = Bound(node.items[1], case)
    if not low < high and not (low == high and (node.opening, node.closing) == ("[", "]")):
        return None
    low_in = node.opening == "["
    high_in = node.closing == "]"
    if (low_in and math.isinf(low.value)) or (high_in and math.isinf(high.value)):
        return None
    return Region(None, line.interval(low, high, low_in=low_in, high_in=high_in))


def _points(node: SetOf, case: Case) -> Region | None:
    if len(node.items) > _MOST_PARTS:
        return None
    cuts: Cuts = []
    for item in node.items:
        bound = Bound(item, case)
        cuts = line.union(cuts, line.interval(bound, bound, low_in=True, high_in=True))
    return Region(None, cuts)


def _named(node: NamedSet | Sym, case: Case) -> Region | None:
    """R, also as a letter that stood in bold."""
    if node.name == "R":
        return Region(None, line.everything(case))
    if node.name not in ("R+", "R-"):
        return None
    return Region(None, _half_line(">" if node.name == "R+" else "<", Bound(_ZERO, case), case))


def _builder(node: Builder, case: Case) -> Region | None:
    if not isinstance(node.element, Sym):
        return None
    within = _read(node.condition, case)
    if within is None or within.name not in (None, node.element.name):
        return None
    if node.domain is None:
        return Region(None, within.cuts)
    domain = _read(node.domain, case)
    return None if domain is None else Region(None, line.intersection(within.cuts, domain.cuts))


def _operation(node: SetOp, case: Case) -> Region | None:
    fold = {"union": line.union, "intersection": line.intersection, "difference": line.difference}
    return _folded(node.args, fold[node.op], case) if node.op in fold else None


def _logic(node: Logic, case: Case) -> Region | None:
    if node.op == "not":
        inner = _read(node.args[0], case)
        if inner is None:
            return None
        return Region(inner.name, line.difference(line.everything(case), inner.cuts))
    return _folded(node.args, line.intersection if node.op == "and" else line.union, case)


def _listed(node: Items, case: Case) -> Region | None:
    """A comma between inequalities means "and", unless nothing is left; between intervals, "or"."""
    if all(isinstance(item, (Seq, SetOp)) for item in node.items):
        return _folded(node.items, line.union, case)
    both = _folded(node.items, line.intersection, case)
    return both if both is None or both.cuts else _folded(node.items, line.union, case)


def _folded(parts: Sequence[Node], fold: Callable[[Cuts, Cuts], Cuts], case: Case) -> Region | None:
    if len(parts) > _MOST_PARTS:
        return None
    regions = [_read(part, case) for part in parts]
    known = [one for one in regions if one is not None]
    names = {one.name for one in known if one.name is not None}
    if not known or len(known) < len(regions) or len(names) > 1:
        return None
    return Region(names.pop() if names else None, reduce(fold, (one.cuts for one in known)))


_READERS: dict[type, Callable[..., Region | None]] = {
    Rel: _relation,
    Seq: _pair,
    SetOf: _points,
    NamedSet: _named,
    Sym: _named,
    Builder: _builder,
    SetOp: _operation,
    Logic: _logic,
    Items: _listed,
}
