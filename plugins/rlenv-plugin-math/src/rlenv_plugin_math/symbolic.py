"""What only SymPy can settle: sums, integrals, limits, branch cuts.  Runs in a worker, never
inline.

Expressions are built node by node with ``evaluate=False``; no text is ever parsed.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy as sp

from rlenv_plugin_math.tree import (
    Add,
    Based,
    Big,
    Call,
    Const,
    Div,
    Logic,
    Mul,
    Neg,
    Node,
    Num,
    Piecewise,
    Pow,
    Quantity,
    Rel,
    Sym,
)

_DIGITS = 40
_MOST_BITS = 65_536


class Unbuildable(Exception):
    """The tree holds something that has no counterpart in SymPy."""


def equal(gold: Node, given: Node) -> bool | None:
    """Whether two expressions are equal; None where SymPy cannot say either."""
    whole = _whole(gold) | _whole(given)
    try:
        left, right = (_done(build(node, whole)) for node in (gold, given))
        return _settled(left, right)
    except (Unbuildable, ArithmeticError, TypeError, ValueError, AttributeError, RecursionError):
        return None
    except (NotImplementedError, sp.PrecisionExhausted):
        return None


def _done(expression: Any) -> Any:
    """Carry out sums, integrals and limits."""
    return expression.doit()


def _settled(left: Any, right: Any) -> bool | None:
    if left == right:
        return not left.has(sp.nan, sp.zoo)
    if left.has(sp.oo, sp.zoo, sp.nan) or right.has(sp.oo, sp.zoo, sp.nan):
        return False
    gap = left - right
    if not gap.free_symbols:
        return _zero(gap)
    found = _sampled(gap)
    if found is False:
        return False
    return True if sp.simplify(gap) == 0 else None


def _zero(gap: Any) -> bool | None:
    """Whether a constant is zero: first by its digits, then by proof."""
    value = gap.evalf(_DIGITS, maxn=400)
    if value.is_number and abs(value) > sp.Float(10) ** (-_DIGITS // 2):
        return False
    if sp.simplify(gap) == 0:
        return True
    close = value.is_number and not gap.has(sp.Integral, sp.Sum, sp.Limit)
    return True if close and abs(gap.evalf(4 * _DIGITS)) < sp.Float(10) ** (-2 * _DIGITS) else None


def _sampled(gap: Any) -> bool | None:
    """False when a point shows a difference; integers for integer symbols."""
    for seed in (2, 3, 5):
        point = {
            name: seed + place if name.is_integer else sp.Rational(7 * seed + 3 * place, 11)
            for place, name in enumerate(sorted(gap.free_symbols, key=str))
        }
        value = gap.subs(point).doit().evalf(_DIGITS)
        if value.is_number and value.is_finite and abs(value) > sp.Float(10) ** (-_DIGITS // 2):
            return False
    return None


def _whole(node: Node) -> frozenset[str]:
    """Names that are in the bounds of sums and products, or in factorials, are integers."""
    from rlenv_plugin_math.compare.points import whole_names
    from rlenv_plugin_math.compare.walk import walk

    bound = {
        part.var for part in walk(node) if isinstance(part, Big) and part.kind in ("sum", "prod")
    }
    return whole_names(node) | bound


def build(node: Node, whole: frozenset[str] = frozenset()) -> Any:
    """The SymPy expression of a tree, unevaluated; ``whole`` names become integers, the others
    real.

    Raises:
        Unbuildable: for nodes and functions without a counterpart.
    """
    rule = _BUILDERS.get(type(node))
    if rule is None:
        raise Unbuildable(type(node).__name__)
    return rule(node, whole)


def _number(value: Fraction) -> Any:
    return sp.Rational(value.numerator, value.denominator)


def _constant(node: Const, _whole: frozenset[str]) -> Any:
    return {"pi": sp.pi, "e": sp.E, "i": sp.I, "inf": sp.oo}[node.name]


def _symbol(name: str, whole: frozenset[str]) -> Any:
    return sp.Symbol(name, integer=True) if name in whole else sp.Symbol(name, real=True)


def _power(node: Pow, whole: frozenset[str]) -> Any:
    base = build(node.base, whole)
    exponent = build(node.exponent, whole)
    if base.is_number and exponent.is_number:
        size = exponent.evalf(15)
        if not size.is_real:
            return sp.Pow(base, exponent, evaluate=False)
        if abs(size) * _length(base) > _MOST_BITS:
            raise Unbuildable("power")
    if base.is_Rational and exponent.is_Rational and exponent.q % 2 and base.is_negative:
        return sp.real_root(base, exponent.q) ** exponent.p
    return sp.Pow(base, exponent, evaluate=False)


def _length(base: Any) -> int:
    return int(base.p).bit_length() + int(base.q).bit_length() if base.is_Rational else 64


def _call(node: Call, whole: frozenset[str]) -> Any:
    args = [build(arg, whole) for arg in node.args]
    rule = _FUNCTIONS.get(node.name)
    if rule is None:
        raise Unbuildable(node.name)
    return rule(*args)


def _factorial(value: Any) -> Any:
    if value.is_number and abs(value) > 5_000:
        raise Unbuildable("factorial")
    return sp.factorial(value, evaluate=False)


def _root(value: Any, given: Any = None) -> Any:
    degree = sp.Integer(2) if given is None else given
    if degree.is_Integer and degree % 2 and value.is_negative:
        return -sp.Pow(-value, 1 / degree, evaluate=False)
    return sp.Pow(value, 1 / degree, evaluate=False)


def _log(value: Any, base: Any = None) -> Any:
    return sp.log(value) if base is None else sp.log(value) / sp.log(base)


def _big(node: Big, whole: frozenset[str]) -> Any:
    if not node.var:
        raise Unbuildable(node.kind)
    integers = whole | {node.var} if node.kind in ("sum", "prod") else whole - {node.var}
    variable = _symbol(node.var, integers)
    body = build(node.body, integers)
    if node.kind == "lim":
        return _limit(node, body, variable, whole)
    ends = [None if end is None else build(end, whole) for end in (node.low, node.high)]
    if node.kind == "int" and ends == [None, None]:
        return sp.Integral(body, variable)
    if None in ends:
        raise Unbuildable(node.kind)
    form = {"sum": sp.Sum, "prod": sp.Product, "int": sp.Integral}[node.kind]
    return form(body, (variable, *ends))


def _limit(node: Big, body: Any, variable: Any, whole: frozenset[str]) -> Any:
    if node.low is None:
        raise Unbuildable("lim")
    side = node.high.name if isinstance(node.high, Sym) else "+-"
    point = build(node.low, whole)
    return sp.Limit(body, variable, point, dir=side if not point.is_infinite else "-")


def _pieces(node: Piecewise, whole: frozenset[str]) -> Any:
    branches = [
        (build(value, whole), sp.true if when is None else build(when, whole))
        for value, when in node.branches
    ]
    return sp.Piecewise(*branches)


_ORDERS = {"<": sp.Lt, "<=": sp.Le, ">": sp.Gt, ">=": sp.Ge, "=": sp.Eq, "!=": sp.Ne}


def _relation(node: Rel, whole: frozenset[str]) -> Any:
    args = [build(arg, whole) for arg in node.args]
    if not set(node.ops) <= _ORDERS.keys():
        raise Unbuildable("relation")
    return sp.And(*(_ORDERS[op](args[i], args[i + 1]) for i, op in enumerate(node.ops)))


def _logic(node: Logic, whole: frozenset[str]) -> Any:
    form = {"and": sp.And, "or": sp.Or, "not": sp.Not}[node.op]
    return form(*(build(arg, whole) for arg in node.args))


def _quantity(node: Quantity, whole: frozenset[str]) -> Any:
    scales: dict[Any, Any] = {(("%", 1),): sp.Rational(1, 100), (("deg", 1),): sp.pi / 180}
    scale = scales.get(node.unit)
    if scale is None:
        raise Unbuildable("unit")
    return build(node.value, whole) * scale


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{
        name: getattr(sp, name)
        for name in (
            *(
                "sin",
                "cos",
                "tan",
                "cot",
                "sec",
                "csc",
                "asin",
                "acos",
                "atan",
                "acot",
                "asec",
                "acsc",
            ),
            *("sinh", "cosh", "tanh", "coth", "sech", "csch", "asinh", "acosh", "atanh"),
            *("exp", "floor", "re", "im", "arg", "sign", "binomial"),
        )
    },
    "ln": sp.log,
    "log": _log,
    "root": _root,
    "sqrt": _root,
    "abs": sp.Abs,
    "ceil": sp.ceiling,
    "conj": sp.conjugate,
    "factorial": _factorial,
    "min": sp.Min,
    "max": sp.Max,
}
_BUILDERS: dict[type, Callable[[Any, frozenset[str]], Any]] = {
    Num: lambda node, _: _number(node.value),
    Based: lambda node, _: _number(node.value),
    Const: _constant,
    Sym: lambda node, whole: _symbol(node.name, whole),
    Add: lambda node, whole: sp.Add(*(build(a, whole) for a in node.args), evaluate=False),
    Mul: lambda node, whole: sp.Mul(*(build(a, whole) for a in node.args), evaluate=False),
    Neg: lambda node, whole: sp.Mul(-1, build(node.arg, whole), evaluate=False),
    Div: lambda node, whole: sp.Mul(
        build(node.top, whole),
        sp.Pow(build(node.bottom, whole), -1, evaluate=False),
        evaluate=False,
    ),
    Pow: _power,
    Call: _call,
    Big: _big,
    Piecewise: _pieces,
    Rel: _relation,
    Logic: _logic,
    Quantity: _quantity,
}
