"""``decide``: the one question of this package."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from rlenv_plugin_math.compare.options import DEFAULT, Decision, Key, Options
from rlenv_plugin_math.tree import Node, Num

if TYPE_CHECKING:
    from rlenv_plugin_math.compare.work import Case, Exhausted

    Compare: TypeAlias = Callable[[Node, Node, Case], bool]

_EQUAL = Decision(equal=True, how="exact")
_UNEQUAL = Decision(equal=False, how="exact")
_SAME = Decision(equal=True, how="structure")
_UNDECIDED = Decision(equal=False, how="undecided", decided=False)


def decide(gold: Node, given: Node, *, key: Key, options: Options = DEFAULT) -> Decision:
    """Decide whether ``given`` means the same answer as ``gold``.

    Never raises for any two trees of the parser; bounded by operation counts.  ``key``, or what the
    call returns, draws the points at which expressions are compared and never changes a
    verdict.  What SymPy must settle runs in a worker; a broken pool raises
    ``rlenv.model.errors.VerifierFault``.
    """
    if type(gold) is Num and type(given) is Num:
        if gold.value == given.value:
            return _EQUAL
        if not gold.decimals and not given.decimals and not options.rel_tol and not options.abs_tol:
            return _UNEQUAL
    elif gold == given:
        return _SAME
    return _by_ladder(gold, given, key, options)


def _by_ladder(gold: Node, given: Node, key: Key, options: Options) -> Decision:
    same, differing, make, exhausted = _ladder()
    case = make(key, options, same)
    try:
        equal = differing(gold, given, case)
    except (exhausted, RecursionError):
        return _UNDECIDED
    if equal or not case.doubt:
        return Decision(equal, case.rung)
    return _UNDECIDED


@cache
def _ladder() -> tuple[Compare, Compare, type[Case], type[Exhausted]]:
    """What the first pair needs that is not written alike: imported once, and asked for by the
    rest.
    """
    from rlenv_plugin_math.compare.same import differing, same
    from rlenv_plugin_math.compare.work import Case, Exhausted

    return same, differing, Case, Exhausted
