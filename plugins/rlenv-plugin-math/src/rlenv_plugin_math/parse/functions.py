"""Named functions and their arguments, in brackets or not."""

from __future__ import annotations

from fractions import Fraction

from rlenv_plugin_math.tree import (
    Add,
    Call,
    Const,
    Div,
    Mul,
    Node,
    Num,
    Pow,
    Quantity,
    Seq,
    SetOf,
)

from .engine import POSTFIX, PREFIX, PRODUCT, Parser, Prose
from .operators import script

_ARCS = {
    "sin": "asin", "cos": "acos", "tan": "atan", "cot": "acot", "sec": "asec", "csc": "acsc",
    "sinh": "asinh", "cosh": "acosh", "tanh": "atanh",
}  # fmt: skip
_ROOTS = {"sqrt": 2, "cbrt": 3, "fourthroot": 4}
_BARE = frozenset(("num", "letter", "const", "cmd", "deg", "{"))
_AFTER_VALUE = frozenset(("end", "+", "-", "*", "/", ")", ",", "rel", "}"))
MINUS_ONE = Num(Fraction(-1))


def arguments(p: Parser) -> tuple[Node, ...]:
    """The bracketed arguments that start here."""
    node = PREFIX[p.kinds[p.pos]](p, POSTFIX)
    if type(node) is Seq and node.opening == "(" and node.closing == ")":
        return node.items
    return (node,)


def function(p: Parser, floor: int) -> Node:  # noqa: ARG001 - one signature for all
    """A named function with exponent, base and arguments, in brackets or not."""
    name = p.texts[p.pos]
    p.pos += 1
    base: Node | None = None
    exponent: Node | None = None
    while p.kinds[p.pos] in ("^", "_"):
        above = p.kinds[p.pos] == "^"
        p.pos += 1
        if above:
            exponent = script(p)
        else:
            glued = p.kinds[p.pos] == "num" and p.kinds[p.pos + 1] in _AFTER_VALUE
            base = p.digit() if glued else script(p, below=True)  # \\log_23
    if (
        name == "log"
        and p.texts[p.pos] in ("2", "10")
        and p.kinds[p.pos + 1] == "("
        and not p.gaps[p.pos]
    ):
        base = PREFIX["num"](p, POSTFIX)
    if p.kinds[p.pos] in ("]", "rel") or p.kinds[p.pos] not in PREFIX:
        raise p.broken()
    if exponent == MINUS_ONE and name in _ARCS:
        name = _ARCS[name]
        exponent = None
    p.deeper()
    args = _function_arguments(p, name)
    p.depth -= 1
    node = called(name, args, base)
    return node if exponent is None else Pow(node, exponent)


def _function_arguments(p: Parser, name: str) -> tuple[Node, ...]:
    kind = p.kinds[p.pos]
    if kind == "(" or (kind == "[" and name not in _ROOTS):
        return arguments(p)
    if kind == "{":
        first = p.braced()
        return (first, p.braced()) if name == "binomial" and p.kinds[p.pos] == "{" else (first,)
    if name in _ROOTS:
        return (p.expr(POSTFIX),)
    return (_bare(p),)


def _bare(p: Parser) -> Node:
    r"""An argument without brackets: ``\sin 2x``, up to the next sign, bracket or function."""
    factors = [p.expr(PRODUCT)]
    while p.kinds[p.pos] in _BARE or (p.kinds[p.pos] == "(" and type(factors[-1]) is Num):
        kind = p.kinds[p.pos]
        if kind == "deg":
            p.pos += 1
            factors[-1] = Quantity(factors[-1], (("deg", 1),))
        elif (kind == "num" and type(factors[-1]) is Num) or (
            p.diff is not None and p.texts[p.pos] == "d"
        ):
            break
        else:
            factors.append(p.expr(PRODUCT))
    node = factors[0] if len(factors) == 1 else Mul(tuple(factors))
    if p.kinds[p.pos] == "/" and p.kinds[p.pos + 1] == "num" and Const("pi") in factors:
        return _divided(p, node)
    return node


def _divided(p: Parser, node: Node) -> Node:
    r"""``\sin \pi/3``: nobody means a third of zero."""
    p.pos += 1
    return Div(node, PREFIX["num"](p, POSTFIX))


def called(name: str, args: tuple[Node, ...], base: Node | None = None) -> Node:
    """The one shape of a named function."""
    if name == "binomial" and len(args) != 2:
        raise Prose
    if name in _ROOTS and len(args) == 1:
        return Call("root", (args[0], Num(Fraction(_ROOTS[name]))))
    if name in ("max", "min", "gcd", "lcm") and len(args) == 1 and type(args[0]) is SetOf:
        return Call(name, args[0].items)
    if name == "exp" and len(args) == 1:
        return Pow(Const("e"), args[0])
    if name == "cis" and len(args) == 1:
        return Add((Call("cos", args), Mul((Const("i"), Call("sin", args)))))
    if name == "lg":
        return Call("log", (*args, Num(Fraction(10)) if base is None else base))
    if name == "log":
        if base == Const("e"):
            return Call("ln", args)
        return Call("log", args if base is None else (*args, base))
    if base is not None:
        return Call(f"{name}_", (*args, base))
    return Call(name, args)


PREFIX["fn"] = function
