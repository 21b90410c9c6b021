"""Equality of two expressions: the rungs from exact arithmetic to SymPy."""

from __future__ import annotations

from fractions import Fraction

from rlenv_plugin_math import tree as t
from rlenv_plugin_math.compare.asking import EXPRESSIONS, HARD, symbolic
from rlenv_plugin_math.compare.exact import rational
from rlenv_plugin_math.compare.modular import Residues
from rlenv_plugin_math.compare.numeric import agree, agree_beyond
from rlenv_plugin_math.compare.tolerance import near
from rlenv_plugin_math.compare.walk import facts, rebuild
from rlenv_plugin_math.compare.work import Case, Exhausted, Undefined
from rlenv_plugin_math.tree import Call, Const, Neg, Node, Num

SCALARS = EXPRESSIONS - {t.Quantity, t.Rel, t.Logic, t.Based}


def same_scalar(gold: Node, given: Node, case: Case) -> bool:
    """Whether two expressions have one value; ``case.doubt`` is set where that could not be
    settled.
    """
    if gold == given:
        case.reached("structure")
        return True
    return same_value(gold, given, case)


def same_value(gold: Node, given: Node, case: Case) -> bool:
    """The same for two expressions that are not written alike."""
    try:
        verdict = _ladder(gold, given, case)
    except Exhausted:
        verdict = None
    if verdict is None:
        verdict = symbolic(gold, given, case)
    return verdict


def _ladder(gold: Node, given: Node, case: Case) -> bool | None:
    left = rational(gold, case)
    right = rational(given, case)
    if left is not None and right is not None:
        case.reached("exact")
        return left == right or near(gold, given, case)
    known = facts(gold, given)
    if "inf" in known.constants and not (known.kinds & HARD and _finite(gold, given)):
        return _infinite(gold, given)
    verdict = _by_residues(gold, given, case)
    if verdict is None:
        verdict = agree(gold, given, known, case)
    if verdict and "abs" in known.calls and known.names:
        verdict = agree_beyond(gold, given, known, case)
    if verdict is False and "log" in known.calls:
        verdict = _common_log(gold, given, case)
    if verdict is not True and near(gold, given, case):
        return True
    return verdict


def _by_residues(gold: Node, given: Node, case: Case) -> bool | None:
    residues = Residues(case)
    try:
        equal = residues.of(gold) == residues.of(given)
    except Undefined:
        return None
    if equal or not residues.opaque:
        case.reached("normal form")
        return equal
    return None


def _finite(gold: Node, given: Node) -> bool:
    return infinity(gold) is None and infinity(given) is None


def _infinite(gold: Node, given: Node) -> bool:
    left = infinity(gold)
    right = infinity(given)
    return left is not None and left == right


def infinity(node: Node) -> int | None:
    """1 or -1 for an infinity with that sign, None for anything else."""
    if node == Const("inf"):
        return 1
    if isinstance(node, Neg):
        inner = infinity(node.arg)
        return None if inner is None else -inner
    return None


def _common_log(gold: Node, given: Node, case: Case) -> bool | None:
    """A bare ``log`` is read as natural first; where that fails, to the base ten."""
    tens = _to_base_ten(gold), _to_base_ten(given)
    if tens == (gold, given):
        return False
    verdict = _by_residues(*tens, case)
    return agree(*tens, facts(*tens), case) if verdict is None else verdict


def _to_base_ten(node: Node) -> Node:
    inner = rebuild(node, _to_base_ten)
    if isinstance(inner, Call) and inner.name == "log" and len(inner.args) == 1:
        return Call("log", (inner.args[0], Num(Fraction(10))))
    return inner
