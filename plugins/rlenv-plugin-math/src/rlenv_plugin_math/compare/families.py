"""Infinite families over the integers: ``x = pi/2 + k pi, k in Z`` in whatever letter and from
whatever start.
"""

from __future__ import annotations

from fractions import Fraction

from rlenv_plugin_math.compare.scalars import SCALARS
from rlenv_plugin_math.compare.tolerance import number
from rlenv_plugin_math.compare.walk import bind, symbols
from rlenv_plugin_math.compare.work import Case
from rlenv_plugin_math.held import frozen
from rlenv_plugin_math.tree import (
    Add,
    Builder,
    Div,
    Items,
    Logic,
    Mod,
    Mul,
    NamedSet,
    Neg,
    Node,
    Num,
    Rel,
    Sym,
)

_PARAMETER = "\0k"
_WHOLE = frozenset(("Z", "N", "Z+", "N+", "N*", "N_0"))
_USUAL = frozenset("kmnlj")


@frozen
class Family:
    """Expressions in one integer parameter, and the set (``Z`` or ``N``) that it runs through."""

    members: tuple[Node, ...]
    over: str
    label: str | None


def same_family(gold: Node, given: Node, case: Case) -> bool | None:
    """The verdict where a side declares an integer parameter, else None."""
    wanted = family(gold, case)
    found = family(given, case)
    if (
        wanted is None
        and found is None
        and not (
            _congruence(gold, case) and symbols(given) & _USUAL and _congruence(given, case) is None
        )
    ):
        return None
    wanted = wanted or _congruence(gold, case)
    found = found or _congruence(given, case)
    if wanted is None:
        wanted = _undeclared(gold, found, case)
    if found is None:
        found = _undeclared(given, wanted, case)
    if wanted is None or found is None or wanted.over != found.over:
        return False
    if wanted.label is not None and found.label is not None and wanted.label != found.label:
        return False
    return _matched(wanted, found, case)


def family(node: Node, case: Case) -> Family | None:
    """Read a declared family: members beside one ``k in Z``."""
    if isinstance(node, Builder):
        parts: tuple[Node, ...] = (node.element, node.condition)
    elif isinstance(node, Items) or (isinstance(node, Logic) and node.op == "and"):
        parts = node.items if isinstance(node, Items) else node.args
    else:
        return None
    declared = [part for part in parts if _declaration(part) is not None]
    if len(declared) != 1:
        return None
    name, over = _declaration(declared[0]) or ("", "")
    members = [part for part in parts if part is not declared[0]]
    return _family(members, name, over, case)


def _congruence(node: Node, case: Case) -> Family | None:
    """``x = 2 (mod 5)`` is ``x = 2 + 5k``."""
    label = node.args[0] if isinstance(node, Rel) and node.ops == ("=",) else None
    residue = node.args[1] if isinstance(node, Rel) and label is not None else node
    if not isinstance(residue, Mod) or not (label is None or isinstance(label, Sym)):
        return None
    member = Add((residue.value, Mul((residue.modulus, Sym(_PARAMETER)))))
    case.spend(1)
    return Family((member,), "Z", None if label is None else label.name)


def _declaration(node: Node) -> tuple[str, str] | None:
    if not isinstance(node, Rel) or node.ops != ("in",):
        return None
    name, within = node.args
    if isinstance(name, Sym) and isinstance(within, NamedSet | Sym) and within.name in _WHOLE:
        return name.name, within.name
    return None


def _undeclared(node: Node, other: Family | None, case: Case) -> Family | None:
    """The same without its declaration, when a usual letter is left free."""
    names = symbols(node) & _USUAL
    if other is None or len(names) != 1:
        return None
    parts = node.items if isinstance(node, Items) else (node,)
    return _family(list(parts), next(iter(names)), other.over, case)


def _family(parts: list[Node], name: str, over: str, case: Case) -> Family | None:
    members: list[Node] = []
    labels: set[str] = set()
    for part in _flat(parts):
        value = part
        if isinstance(part, Rel):
            if part.ops != ("=",) or not isinstance(part.args[0], Sym):
                return None
            labels.add(part.args[0].name)
            value = part.args[1]
        if type(value) not in SCALARS:
            return None
        members.append(bind(value, name, Sym(_PARAMETER), case))
    if not members or len(labels) > 1:
        return None
    return Family(tuple(members), over, labels.pop() if labels else None)


def _flat(parts: list[Node]) -> list[Node]:
    found: list[Node] = []
    for part in parts:
        if isinstance(part, Logic) and part.op == "or":
            found += part.args
        else:
            found += part.items if isinstance(part, Items) else (part,)
    return found


def _matched(wanted: Family, found: Family, case: Case) -> bool:
    rest = list(found.members)
    for member in wanted.members:
        match = next(
            (other for other in rest if _same_member(member, other, wanted.over, case)), None
        )
        if match is None:
            return False
        rest.remove(match)
    return not rest


def _same_member(gold: Node, given: Node, over: str, case: Case) -> bool:
    """Equal as they stand or, over all integers, one progression entered at another place."""
    if case.same(gold, given):
        return True
    steps = _step(gold, case), _step(given, case)
    if over != "Z" or steps[0] is None or steps[1] is None:
        return False
    if not case.same(steps[0], steps[1]) and not case.same(steps[0], Neg(steps[1])):
        return False
    gap = Add((_at(gold, 0, case), Neg(_at(given, 0, case))))
    return _is_whole(Div(gap, steps[0]), case)


def _at(node: Node, value: int, case: Case) -> Node:
    return bind(node, _PARAMETER, Num(Fraction(value)), case)


def _step(node: Node, case: Case) -> Node | None:
    """The difference of an arithmetic progression, None for anything else."""
    if symbols(node) != {_PARAMETER}:
        return None
    first, second, third = (_at(node, value, case) for value in (0, 1, 2))
    step = Add((second, Neg(first)))
    return step if case.same(Add((third, Neg(second))), step) else None


def _is_whole(node: Node, case: Case) -> bool:
    value = number(node, case, 30)
    if value is None or abs(value) > 1e9:
        return False
    return case.same(node, Num(Fraction(round(float(value)))))
