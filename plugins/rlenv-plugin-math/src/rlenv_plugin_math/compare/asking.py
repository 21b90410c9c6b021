"""What SymPy is asked, in a worker: only what it can decide, and nothing that must outgrow its
budget.
"""

from __future__ import annotations

from rlenv_plugin_math import tree as t
from rlenv_plugin_math.compare.exact import rational
from rlenv_plugin_math.compare.functions import FUNCTIONS
from rlenv_plugin_math.compare.walk import Facts, facts, symbols, walk
from rlenv_plugin_math.compare.work import Case, Exhausted
from rlenv_plugin_math.tree import Big, Call, Node, Pow

EXPRESSIONS = frozenset(
    (
        *(t.Num, t.Const, t.Sym, t.Add, t.Mul, t.Div, t.Neg, t.Pow, t.Call, t.Big, t.Based),
        *(t.Quantity, t.Piecewise, t.Rel, t.Logic),
    )
)
HARD = frozenset((t.Big, t.Piecewise))
_MOST_NODES = 400
_MOST_FACTORS = 20_000  # of a product, or terms of a sum that grow faster than any power


def symbolic(gold: Node, given: Node, case: Case) -> bool:
    """The verdict of SymPy; ``case.doubt`` is set where it has none."""
    known = facts(gold, given)
    if not _may_ask(known, case) or outgrows(gold, case) or outgrows(given, case):
        named = known.calls <= FUNCTIONS.keys()
        case.doubt = case.doubt or (named and known.kinds <= EXPRESSIONS)
        return False
    from rlenv import WorkExceeded
    from rlenv.workers import call

    case.reached("symbolic")
    try:
        verdict = call(
            "rlenv_plugin_math.symbolic:equal", gold, given, seconds=case.options.seconds
        )
    except WorkExceeded:
        verdict = None
    case.doubt = case.doubt or verdict is None
    return verdict is True


def _may_ask(known: Facts, case: Case) -> bool:
    return (
        case.options.symbolic
        and known.kinds <= EXPRESSIONS
        and known.calls <= FUNCTIONS.keys()
        and known.size <= _MOST_NODES
        and bool(known.names or known.kinds & HARD)
    )


def outgrows(node: Node, case: Case) -> bool:
    """Whether a tree holds a sum, product or integral that SymPy could only fail at, at length."""
    if Big not in facts(node).kinds:
        return False
    return any(_hopeless(part, case) for part in walk(node) if isinstance(part, Big))


def _hopeless(node: Big, case: Case) -> bool:
    if node.kind == "int":
        return any(_tower(part, node.var) for part in walk(node.body))
    if node.kind not in ("sum", "prod") or node.low is None or node.high is None:
        return False
    try:
        low = rational(node.low, case)
        high = rational(node.high, case)
    except Exhausted:
        return False
    if low is None or high is None or high - low < _MOST_FACTORS:
        return False
    return node.kind == "prod" or any(_soars(part, node.var) for part in walk(node.body))


def _tower(node: Node, name: str) -> bool:
    """``x^x^x``: a power whose exponent is a power with the variable in its exponent."""
    if not isinstance(node, Pow) or name not in symbols(node.base):
        return False
    return any(
        isinstance(part, Pow) and name in symbols(part.exponent) for part in walk(node.exponent)
    )


def _soars(node: Node, name: str) -> bool:
    """A factorial of the index, or a power of the index to the index."""
    if isinstance(node, Call):
        return "factorial" in node.name and name in symbols(node)
    return isinstance(node, Pow) and all(name in symbols(p) for p in (node.base, node.exponent))
