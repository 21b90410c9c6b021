"""What an equation states about its label: ``x = 3``, ``f(x) = 2x + 1``, ``1/2 = 0.5``."""

from __future__ import annotations

from fractions import Fraction

from rlenv_plugin_math.compare.exact import rational
from rlenv_plugin_math.compare.functions import FUNCTIONS
from rlenv_plugin_math.compare.scalars import SCALARS
from rlenv_plugin_math.compare.tolerance import decimal, near_rounded
from rlenv_plugin_math.compare.walk import bind, symbols, walk
from rlenv_plugin_math.compare.work import Case
from rlenv_plugin_math.held import frozen
from rlenv_plugin_math.limits import words_of
from rlenv_plugin_math.tree import (
    Add,
    Big,
    Call,
    Div,
    Mul,
    Neg,
    Node,
    Num,
    Quantity,
    Ratio,
    Rel,
    Sym,
    Text,
)

_MEASURED = words_of("sin cos tan cot sec csc abs norm det arg re im max min gcd lcm")
_UNKNOWN_LETTERS = frozenset("xyt")
_SHARES = ((("%", 1),), (("permille", 1),))
_LINKS = frozenset(("=", "~"))


@frozen
class Claim:
    """A label (None for a bare value) and the values that are stated for it, the last one first."""

    label: Node | None
    values: tuple[Node, ...]


def claim(node: Node, case: Case) -> Claim | None:
    """What a relation claims; None when it is an equation to solve, a tautology, or false."""
    if not isinstance(node, Rel) or not set(node.ops) <= _LINKS:
        return None
    args = _measured(node.args, node.ops)
    ops = node.ops
    if len(args) == 2 and _is_label(args[1], args[0]) and not _is_label(args[0], args[1]):
        args = args[::-1]
    if _is_label(args[0], args[-1]):
        return Claim(args[0], (args[-1],)) if _links_hold(args[1:], ops[1:], case) else None
    if not _links_hold(args, ops, case, strict=True) or _vacuous(args):
        return None
    last = args[-1].value if isinstance(args[-1], Quantity) else args[-1]
    cut = "~" in ops and decimal(last) is not None
    return Claim(None, (args[-1], args[0]) if cut else (args[-1],))


def _measured(args: tuple[Node, ...], ops: tuple[str, ...]) -> tuple[Node, ...]:
    """``25\\pi ≈ 78.54 cm``: the unit behind an approximation belongs to what it approximates
    too.
    """
    last = args[-1]
    if "~" not in ops or not isinstance(last, Quantity) or last.unit in _SHARES:
        return args
    if any(isinstance(arg, Quantity) for arg in args[:-1]):
        return args
    return tuple(
        arg if arg is last or isinstance(arg, Text) or symbols(arg) else Quantity(arg, last.unit)
        for arg in args
    )


def _vacuous(args: tuple[Node, ...]) -> bool:
    """``x - x = 0``: true of every x, and about nothing."""
    return not symbols(args[-1]) and any(symbols(arg) for arg in args if not isinstance(arg, Big))


def _is_label(node: Node, value: Node) -> bool:
    """Whether ``node`` can be a name for ``value``, rather than one side of an equation."""
    if isinstance(node, Sym):
        return node.name not in symbols(value)
    if isinstance(node, Text):
        return not isinstance(value, Text)
    if isinstance(node, Call):
        return _names_value(node, value)
    if isinstance(node, Big):
        return node.kind == "lim" and not symbols(value) and _is_opaque(node.body)
    if isinstance(node, Add | Mul | Div):
        return _names_sum(node, value)
    return isinstance(node, Ratio) and all(isinstance(item, Sym) for item in node.items)


def _is_opaque(body: Node) -> bool:
    """Whether a function without a formula is in the body of a limit."""
    return any(type(part) is Call and part.name not in FUNCTIONS for part in walk(body))


def _names_value(node: Call, value: Node) -> bool:
    if node.name not in FUNCTIONS and node.name not in _MEASURED:
        return True
    names = symbols(node)
    return (
        node.name in _MEASURED
        and bool(names)
        and not symbols(value)
        and not names & _UNKNOWN_LETTERS
    )


def _names_sum(node: Add | Mul | Div, value: Node) -> bool:
    """``m + n``, ``abc``, ``a/b``: a quantity asked for, where each letter stands once and
    alone.
    """
    if any(type(part) not in (Add, Mul, Div, Neg, Sym) for part in walk(node)):
        return False
    names = [part.name for part in walk(node) if isinstance(part, Sym)]
    if len(set(names)) < len(names) and not all(map(str.isupper, names)):
        return False
    return not symbols(value) and not (isinstance(value, Num) and value.value == 0)


def _links_hold(
    args: tuple[Node, ...], ops: tuple[str, ...], case: Case, *, strict: bool = False
) -> bool:
    return all(
        _link_holds(args[place], op, args[place + 1], case, strict=strict)
        for place, op in enumerate(ops)
    )


def _link_holds(left: Node, op: str, right: Node, case: Case, *, strict: bool) -> bool:
    """``strict`` where no label vouches for the chain: then every link must be a known identity."""
    if left == right:
        return False
    if isinstance(left, Quantity) and isinstance(right, Quantity) and left.unit == right.unit:
        left = left.value
        right = right.value
    names = symbols(left), symbols(right)
    if type(left) not in SCALARS or type(right) not in SCALARS:
        return case.same(left, right)
    if op == "~":
        exact = rational(left, case)
        known = exact is not None and exact == rational(right, case)
        return not (names[0] or names[1]) and (known or rounds(left, right, case))
    if names[0] != names[1] and not strict:
        return True
    if isinstance(left, Big | Call) and case.doubt:
        return not strict
    return case.same(left, right) or (not (names[0] or names[1]) and rounds(left, right, case))


def rounds(exact: Node, rounded: Node, case: Case) -> bool:
    """Whether ``rounded`` is ``exact`` to the places it shows, with two digits or more, or the
    nearest integer.
    """
    shown = decimal(rounded)
    if shown is None and isinstance(rounded, Num) and rounded.value.denominator == 1:
        return decimal(exact) is not None and near_rounded(exact, rounded.value, Fraction(1), case)
    return (
        shown is not None
        and shown.digits >= 2
        and near_rounded(exact, shown.value, shown.unit, case)
    )


def renamed(gold: Claim, given: Claim, case: Case) -> Claim:
    """``f(t) = t + 1`` beside a gold for ``f(x)``: the same claim in the gold's variable."""
    match gold.label, given.label:
        case Call(name, (Sym(wanted),)), Call(other, (Sym(found),)) if name == other:
            names = frozenset[str]().union(*map(symbols, given.values))
            if found in names and wanted not in names:
                values = tuple(bind(value, found, Sym(wanted), case) for value in given.values)
                return Claim(gold.label, values)
    return given


def compatible(gold: Node | None, given: Node | None, case: Case) -> bool:
    """Whether two labels can name one thing: equal, one missing, or ``y`` and ``f(x)``."""
    if gold is None or given is None or gold == given:
        return True
    if isinstance(gold, Sym) and isinstance(given, Call):
        return gold.name == "y" and given.name not in FUNCTIONS
    if isinstance(given, Sym) and isinstance(gold, Call):
        return given.name == "y" and gold.name not in FUNCTIONS
    return not isinstance(gold, Sym) and not isinstance(given, Sym) and case.same(gold, given)
