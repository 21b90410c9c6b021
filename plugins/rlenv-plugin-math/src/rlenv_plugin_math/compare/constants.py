"""Arbitrary constants: ``x^2 + C`` under any name of the constant and from whatever start."""

from __future__ import annotations

import re
from itertools import permutations

from rlenv_plugin_math.compare.scalars import SCALARS, same_scalar
from rlenv_plugin_math.compare.walk import bind, symbols
from rlenv_plugin_math.compare.work import Case
from rlenv_plugin_math.tree import Add, Neg, Node, Sym

_GOLD = re.compile(
    r"[CK]|[cC]_\d"
)  # what a gold means by a constant; other letters may be variables
_GIVEN = re.compile(r"[A-EKckM]|[cCkK]_\d")
_MOST = 3


def same_family_of_functions(gold: Node, given: Node, case: Case) -> bool:
    """Whether two expressions agree once the constants of the given are renamed, or absorb a
    shift.
    """
    wanted = _constants(gold, _GOLD)
    found = _constants(given, _GIVEN)
    ordinary = symbols(gold) - set(wanted)
    found = [name for name in found if name not in ordinary]
    if not 0 < len(wanted) == len(found) <= _MOST or type(given) not in SCALARS:
        return False
    if (
        symbols(given) - set(found) != ordinary
        or not ordinary
        or not all(map(str.islower, ordinary))
    ):
        return False  # a constant is next to variables; A, B and C alone are choices or points
    return any(
        _renamed(gold, given, dict(zip(found, names, strict=True)), case)
        for names in permutations(wanted)
    )


def has_constants(gold: Node) -> bool:
    """Whether a gold holds arbitrary constants beside its variables."""
    return bool(_constants(gold, _GOLD))


def names_constant(name: str) -> bool:
    """Whether an answer may call an arbitrary constant so."""
    return _GIVEN.fullmatch(name) is not None


def _constants(node: Node, pattern: re.Pattern[str]) -> list[str]:
    return sorted(name for name in symbols(node) if pattern.fullmatch(name))


def _renamed(gold: Node, given: Node, names: dict[str, str], case: Case) -> bool:
    for name in names:
        given = bind(given, name, Sym(f"\0{name}"), case)
    for name, other in names.items():
        given = bind(given, f"\0{name}", Sym(other), case)
    return same_scalar(gold, given, case) or _shifted(gold, given, case)


def _shifted(gold: Node, given: Node, case: Case) -> bool:
    """``F + C`` and ``G + C`` say the same when ``F - G`` is the same everywhere."""
    left = _without_constant(gold)
    right = _without_constant(given)
    if left is None or right is None or not symbols(left):
        return False
    here: Node = Add((left, Neg(right)))
    there = here
    for name in symbols(here):
        there = bind(there, name, Sym(f"{name}\0"), case)
    return same_scalar(here, there, case)


def _without_constant(node: Node) -> Node | None:
    """The terms beside one added constant, which occurs nowhere else; None where there is none."""
    if not isinstance(node, Add):
        return None
    lone = [arg for arg in node.args if isinstance(arg, Sym) and _GOLD.fullmatch(arg.name)]
    rest = tuple(arg for arg in node.args if arg not in lone)
    if len(lone) != 1 or not rest or any(symbols(arg) & {lone[0].name} for arg in rest):
        return None
    return Add(rest)
