"""Equations and inequalities as such: the same solutions up to a constant factor."""

from __future__ import annotations

from fractions import Fraction

from rlenv_plugin_math.compare.claims import Claim, claim, compatible, renamed
from rlenv_plugin_math.compare.constants import has_constants, names_constant
from rlenv_plugin_math.compare.evaluate import Evaluator
from rlenv_plugin_math.compare.expand import ZERO
from rlenv_plugin_math.compare.kernels import floats
from rlenv_plugin_math.compare.points import points
from rlenv_plugin_math.compare.scalars import SCALARS
from rlenv_plugin_math.compare.walk import bind, facts, symbols, walk
from rlenv_plugin_math.compare.work import Case, Undefined
from rlenv_plugin_math.tree import Add, Big, Div, Logic, Mod, Mul, Neg, Node, Num, Pow, Rel, Sym

_TURNED = {"<": ">", "<=": ">="}
_OPPOSITE = {">": "<", ">=": "<="}
_EQUATION = frozenset(("=", "~"))
_COMPARED = frozenset(("<", "<=", ">", ">=", "!=", "="))


def same_relation(gold: Node, given: Node, case: Case) -> bool:
    """Two sides of which at least one is a relation."""
    wanted = claim(gold, case)
    found = claim(given, case)
    if isinstance(gold, Rel) and isinstance(given, Rel):
        return _both(gold, given, wanted, found, case)
    if isinstance(given, Rel):
        return found is not None and any(
            _resolved(value, gold) and case.same(gold, value) for value in found.values
        )
    return wanted is not None and any(case.same(value, given) for value in wanted.values)


def _both(gold: Rel, given: Rel, wanted: Claim | None, found: Claim | None, case: Case) -> bool:
    if wanted is not None and found is not None and _same_claim(wanted, found, case):
        return True
    if wanted is not None and _solved(wanted):
        return False  # a restated problem has the same solutions, but it does not solve itself
    if len(gold.ops) == len(given.ops) == 1:
        return _same_link(gold, given, case)
    return _same_chain(gold, given, case)


def _resolved(value: Node, gold: Node) -> bool:
    """An answer has no unknowns beyond the gold's; the index of a sum is none."""
    unknown = symbols(value) - symbols(gold)
    if not unknown or any(type(part) is Big for part in walk(value)):
        return True
    return has_constants(gold) and all(map(names_constant, unknown))


def _same_claim(wanted: Claim, found: Claim, case: Case) -> bool:
    found = renamed(wanted, found, case)
    if not compatible(wanted.label, found.label, case):
        return False
    pairs = [(a, b) for a in wanted.values for b in found.values]
    return any(isinstance(a, Mod) == isinstance(b, Mod) and case.same(a, b) for a, b in pairs)


def _solved(wanted: Claim) -> bool:
    return not isinstance(wanted.label, Add | Mul | Div) and not any(map(symbols, wanted.values))


def _same_link(gold: Rel, given: Rel, case: Case) -> bool:
    ops = gold.ops[0], given.ops[0]
    if not _COMPARED.issuperset(ops):
        return ops[0] == ops[1] and all(
            case.same(a, b) for a, b in zip(gold.args, given.args, strict=True)
        )
    if any(type(arg) not in SCALARS for arg in (*gold.args, *given.args)):
        return ops[0] == ops[1] and all(
            case.same(a, b) for a, b in zip(gold.args, given.args, strict=True)
        )
    (left, op) = _moved(gold.args, ops[0])
    (right, other) = _moved(given.args, ops[1])
    if op != other:
        return False
    return _proportional(left, right, case, signed=op in _OPPOSITE)


def _moved(args: tuple[Node, ...], op: str) -> tuple[Node, str]:
    """Everything on one side, so that the relation reads ``F = 0``, ``F != 0``, ``F > 0`` or ``F >=
    0``.
    """
    if op in _TURNED:
        return Add((args[1], Neg(args[0]))), _TURNED[op]
    return Add((args[0], Neg(args[1]))), op


def _same_chain(gold: Rel, given: Rel, case: Case) -> bool:
    """Chains agree link by link, in either direction."""
    if len(gold.ops) != len(given.ops):
        return False
    turned = Rel(given.args[::-1], tuple(_back(op) for op in reversed(given.ops)))
    return any(
        all(_same_link(a, b, case) for a, b in zip(_links(gold), _links(one), strict=True))
        for one in (given, turned)
    )


def conjuncts(node: Node) -> list[Rel] | None:
    """The single inequalities and equations that all hold, None where ``node`` says something
    else.
    """
    if isinstance(node, Rel):
        return _links(node) if _COMPARED.issuperset(node.ops) else None
    if not isinstance(node, Logic) or node.op != "and":
        return None
    parts = [conjuncts(arg) for arg in node.args]
    known = [part for part in parts if part is not None]
    return [link for part in known for link in part] if len(known) == len(parts) else None


def _back(op: str) -> str:
    return _TURNED.get(op) or _OPPOSITE.get(op) or op


def _links(node: Rel) -> list[Rel]:
    return [Rel(node.args[place : place + 2], (op,)) for place, op in enumerate(node.ops)]


def _proportional(left: Node, right: Node, case: Case, *, signed: bool) -> bool:
    """Whether ``left`` is a constant (positive, when ``signed``) multiple of ``right``, neither
    zero.
    """
    if not symbols(left) or symbols(left) != symbols(right):
        return False
    if case.same(left, ZERO) or case.same(right, ZERO):
        return False
    if _constant_ratio(left, right, case):
        return not signed or _positive_ratio(left, right, case)
    if signed:
        return False
    tops = _numerator(left, case)[0], _numerator(right, case)[0]
    return tops != (left, right) and _constant_ratio(*tops, case)


def _constant_ratio(left: Node, right: Node, case: Case) -> bool:
    """``F(x) G(y) = F(y) G(x)`` for independent x and y."""
    other_left = _elsewhere(left, case)
    other_right = _elsewhere(right, case)
    return other_left != left and case.same(Mul((left, other_right)), Mul((other_left, right)))


def _elsewhere(node: Node, case: Case) -> Node:
    for name in symbols(node):
        node = bind(node, name, Sym(f"{name}\0"), case)
    return node


def _positive_ratio(left: Node, right: Node, case: Case) -> bool:
    for point in points(facts(left, right), case.key, frozenset(), complexes=False):
        at = Evaluator(floats(), point, case)
        try:
            (a, _) = at.real(at.of(left))
            (b, _) = at.real(at.of(right))
        except Undefined:
            continue
        if not isinstance(a, complex) and not isinstance(b, complex) and a * b:
            return bool(a * b > 0)
    return False


def _numerator(node: Node, case: Case) -> tuple[Node, Node]:
    """``node`` as one fraction: numerator and denominator."""
    case.spend(1)
    one = Num(Fraction(1))
    if isinstance(node, Neg):
        top, bottom = _numerator(node.arg, case)
        return Neg(top), bottom
    if isinstance(node, Div):
        (a, b) = _numerator(node.top, case)
        (c, d) = _numerator(node.bottom, case)
        return Mul((a, d)), Mul((b, c))
    if isinstance(node, Pow) and isinstance(node.exponent, Num) and node.exponent.value == -1:
        top, bottom = _numerator(node.base, case)
        return bottom, top
    if isinstance(node, Mul):
        pairs = [_numerator(arg, case) for arg in node.args]
        return Mul(tuple(top for top, _ in pairs)), Mul(tuple(bottom for _, bottom in pairs))
    if isinstance(node, Add):
        return _over_common([_numerator(arg, case) for arg in node.args])
    return node, one


def _over_common(pairs: list[tuple[Node, Node]]) -> tuple[Node, Node]:
    bottoms: list[Node] = []
    for _, bottom in pairs:
        if bottom not in bottoms:
            bottoms.append(bottom)
    terms: list[Node] = [
        Mul((top, *(other for other in bottoms if other != bottom))) for top, bottom in pairs
    ]
    return Add(tuple(terms)), Mul(tuple(bottoms))
