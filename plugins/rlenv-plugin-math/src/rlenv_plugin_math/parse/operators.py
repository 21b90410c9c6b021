"""Sums, products, powers, relations and what else is between two operands."""

from __future__ import annotations

import re

from rlenv_plugin_math.limits import Unparsed
from rlenv_plugin_math.tree import (
    Add,
    Builder,
    Call,
    Div,
    Mul,
    NamedSet,
    Neg,
    Node,
    Num,
    PlusMinus,
    Pow,
    Quantity,
    Seq,
    SetOf,
    SetOp,
    Sym,
    Text,
)

from .bases import based
from .engine import (
    INFIX,
    POSTFIX,
    POWER,
    PREFIX,
    PRODUCT,
    SUM,
    Parser,
    Prose,
)
from .quantities import attach, based_on, names_unit, of_words

SET_NODES = (SetOf, Seq, SetOp, NamedSet, Builder)
# what may begin a factor without a sign before it
STARTS = frozenset(
    (
        "num",
        "letter",
        "const",
        "word",
        "fn",
        "cmd",
        "(",
        "[",
        "{",
        "\\{",
        "|",
        "l|",
        "lnorm",
        "lfloor",
        "lceil",
        "basis",
        "langle",
        "cur",
        "%",
        "deg",
        "norm",
        "angle",
    )
)
_VECTOR = re.compile(r"\\(?:vec|overrightarrow|mathbf|boldsymbol|bm)\b").search
_UNITS = frozenset(("word", "letter", "const", "%", "deg", "cmd", "cur"))


_AFTER_CLOSING = frozenset(("end", "setop", ",", ")", "\\}", "and", "or", "rel"))


def negative(node: Node) -> Node:
    """``-node``, folded into a literal or a quantity."""
    if type(node) is Num:
        return Num(-node.value, node.decimals, node.repeating)
    if type(node) is Quantity:
        return Quantity(negative(node.value), node.unit)
    return Neg(node)


def plus(p: Parser, floor: int) -> Node:
    p.pos += 1
    p.deeper()
    node = p.expr(max(floor, PRODUCT - 1))
    p.depth -= 1
    return node


def minus(p: Parser, floor: int) -> Node:
    node = plus(p, floor)
    if type(node) is Text:
        raise Prose
    return negative(node)


def plus_minus(p: Parser, floor: int) -> Node:
    sign = int(p.texts[p.pos])
    return PlusMinus(None, plus(p, floor), sign)


def total(p: Parser, left: Node) -> Node:
    """A whole sum behind its first term."""
    terms = [left]
    while not p.diff:
        kind = p.kinds[p.pos]
        if kind == "+":
            p.pos += 1
            terms.append(p.expr(SUM))
        elif kind == "-":
            p.pos += 1
            terms.append(negative(p.expr(SUM)))
        elif kind == "pm":
            sign = int(p.texts[p.pos])
            p.pos += 1
            terms = [PlusMinus(_sum(terms), p.expr(SUM), sign)]
        else:
            break
    return _sum(terms)


def _sum(terms: list[Node]) -> Node:
    if len(terms) == 1:
        return terms[0]
    if any(type(term) is Text for term in terms):
        raise Prose
    if type(terms[0]) in SET_NODES and len(terms) == 2:
        removed = terms[1]
        if type(removed) is Neg and type(removed.arg) in (SetOf, NamedSet, SetOp):
            return SetOp("difference", (terms[0], removed.arg))
    last = terms[-1]
    if type(last) is Quantity and last.unit[0][0] not in "%$€£¥₹₩" and _bare(terms[:-1]):
        return Quantity(Add((*terms[:-1], last.value)), last.unit)
    return Add(tuple(terms))


def _bare(terms: list[Node]) -> bool:
    """Whether no term has a unit, so that the unit of the last one is meant for all."""
    return not any(type(term) in (Quantity, PlusMinus) for term in terms)


def product(p: Parser, left: Node) -> Node:
    """A whole product behind its first factor: signs, juxtaposition, units, the dx of an
    integral.
    """
    factors = [left]
    while True:
        kind = p.kinds[p.pos]
        if kind == "*":
            p.pos += 1
            crossed = p.texts[p.pos - 1] == "x" and "\\" in p.source and _VECTOR(p.source)
            factors.append(p.expr(PRODUCT))
            if crossed and type(factors[-1]) is type(factors[-2]) is Sym:
                factors[-2:] = [_cross(*factors[-2:])]
        elif kind == "/":
            p.pos += 1
            factors = [Div(_times(factors), p.expr(PRODUCT))]
        elif kind not in STARTS or kind in p.stops or not _juxtaposed(p, kind, factors):
            break
        if p.diff:
            break
    return _times(factors)


def _cross(left: Node, right: Node) -> Node:
    """The product of two vectors, which changes sign with their order."""
    if repr(left) > repr(right):
        return Neg(Call("cross", (right, left)))
    return Call("cross", (left, right))


def _juxtaposed(p: Parser, kind: str, factors: list[Node]) -> bool:
    """Take one factor, unit or differential; False when the product ends here."""
    if kind == "letter" and p.diff == "" and differential(p):
        return True
    if kind in _UNITS and _united(p, kind, factors):
        return True
    if kind == "num":
        _number_behind(p, factors)
        return True
    if kind == "[" and p.gaps[p.pos] and type(factors[-1]) in SET_NODES:
        return False
    if kind == "(" and p.kinds[p.pos + 1] == "word" and p.gaps[p.pos]:
        found = based_on(p, factors[-1])
        if found is None:
            raise Prose  # 18 (it is not 17)
        factors[-1] = found
        return True
    if kind == "[" and p.inside and p.kinds[p.pos + 1] in _AFTER_CLOSING:
        return False  # [0, 1[
    if kind == "letter" and p.texts[p.pos] == "U" and type(factors[-1]) in SET_NODES:
        p.kinds[p.pos] = "setop"
        p.texts[p.pos] = "union"
        return False
    factors.append(p.expr(PRODUCT))
    if type(factors[-1]) is Text or type(factors[0]) is Text:
        raise Prose
    return True


def _united(p: Parser, kind: str, factors: list[Node]) -> bool:
    """Whether the token made a quantity (or a bigger number, or a base) of what is before it."""
    last = factors[-1]
    if kind in ("letter", "const", "cmd") and not names_unit(p, factors):
        return False
    if kind == "word":
        found = of_words(p, last if len(factors) == 1 else None)
        if found is not None:
            factors[-1] = found
            return True
    several = len(factors) > 1 and any(type(f) is Quantity for f in factors[:-1])
    whole = last if several else _times(factors)
    node = attach(p, whole)
    if node is None:
        return False
    if several:
        factors[-1] = node
    else:
        factors[:] = [node]
    return True


def _number_behind(p: Parser, factors: list[Node]) -> None:
    """``2 hours 30 minutes`` adds; ``x2`` multiplies; two literals side by side are no product."""
    last = factors[-1]
    if type(last) is Num and (p.kinds[p.pos - 1] == "num" or last.repeating):
        raise Unparsed("two numbers side by side", p.ats[p.pos])
    if type(last) is Text:
        raise Prose
    if type(last) is Quantity or (type(last) is Add and type(last.args[-1]) is Quantity):
        number = p.expr(POWER)
        right = number if type(number) is Quantity else attach(p, number)
        if right is not None:
            parts = last.args if type(last) is Add else (last,)
            factors[-1] = Add((*parts, right))
            return
        raise Unparsed("a number behind a unit", p.ats[p.pos - 1])
    factors.append(p.expr(PRODUCT))


def _times(factors: list[Node]) -> Node:
    if len(factors) == 1:
        return factors[0]
    if all(type(f) in (SetOf, NamedSet, SetOp) for f in factors):
        return SetOp("product", tuple(factors))
    return Mul(tuple(factors))


def differential(p: Parser) -> bool:
    """``dx`` at this place, noted as the variable of the integral."""
    pos = p.pos
    if p.texts[pos] != "d" or p.kinds[pos + 1] not in ("letter", "const"):
        return False
    p.diff = p.texts[pos + 1]
    p.pos = pos + 2
    return True


def power(p: Parser, left: Node) -> Node:
    """``left^…``; right-associative, since the exponent takes further powers."""
    p.pos += 1
    exponent = script(p)
    if type(exponent) is Sym and exponent.name == "'":
        return Call("diff", (left,))
    if type(left) is NamedSet and type(exponent) is Sym and exponent.name in "+-*":
        return NamedSet(left.name + exponent.name)
    if type(exponent) is Sym and exponent.name in ("th", "st", "nd", "rd") and type(left) is Num:
        return left
    return Pow(left, exponent)


def script(p: Parser, *, below: bool = False) -> Node:
    """An exponent: a group, or one literal, letter or command with a sign, and a power of it.

    ``below`` reads a subscript or bound, which takes no power.
    """
    kind = p.kinds[p.pos]
    p.deeper()
    if kind == "{":
        node = _braced_script(p)
    elif kind in ("+", "-", "*") and p.kinds[p.pos + 1] not in (
        "num",
        "letter",
        "const",
        "(",
        "cmd",
        "{",
        "fn",
    ):
        p.pos += 1
        node = Sym(kind)
    elif kind in ("-", "+"):
        p.pos += 1
        node = negative(script(p)) if kind == "-" else script(p)
    elif kind in PREFIX:
        node = PREFIX[kind](p, POSTFIX)
        while p.kinds[p.pos] == "!":
            node = factorial(p, node)
    else:
        raise p.broken()
    if p.kinds[p.pos] == "^" and not below:
        node = power(p, node)
    p.depth -= 1
    return node


_ORDINAL = frozenset(("st", "nd", "rd", "th"))


def _braced_script(p: Parser) -> Node:
    kind = p.kinds[p.pos + 1]
    after = p.kinds[p.pos + 2]
    name = p.texts[p.pos + 1]
    factors = (
        kind == "word" and len(name) == 2 and name not in _ORDINAL and not p.upright[p.pos + 1]
    )
    if (
        after == "}"
        and kind in ("+", "-", "*", "'", "word")
        and not (factors and p.kinds[p.pos - 1] == "^")
    ):
        p.pos += 3
        return Sym(name)
    return p.braced()


def factorial(p: Parser, left: Node) -> Node:
    p.pos += 1
    if p.kinds[p.pos] == "!" and not p.gaps[p.pos]:
        p.pos += 1
        return Call("factorial2", (left,))
    return Call("factorial", (left,))


def subscript(p: Parser, left: Node) -> Node:
    """``(2F)_{16}``: only numerals and sets take a subscript here; names read theirs themselves."""
    pos = p.pos
    p.pos += 1
    base = script(p, below=True)
    digits = _bracketed_digits(p, pos)
    if digits and type(base) is Num and base.value.denominator == 1:
        node = based(digits, int(base.value))
        if node is not None:
            return node
    if type(left) is NamedSet:
        return NamedSet(f"{left.name}_{p.source[p.ats[pos] + 1 : p.ats[p.pos]].strip(' {}')}")
    raise Unparsed("a subscript of no name", p.ats[pos])


def _bracketed_digits(p: Parser, pos: int) -> str:
    """The digits in the brackets that close right before ``pos``, or nothing."""
    if p.kinds[pos - 1] != ")":
        return ""
    end = p.ats[pos - 1]
    digits = p.source[p.source.rfind("(", 0, end) + 1 : end].strip()
    return digits if digits.replace(".", "").isalnum() and digits.isascii() else ""


def prime(p: Parser, left: Node) -> Node:
    p.pos += 1
    if type(left) is Num:
        inches = p.take("'") or p.kinds[p.pos - 1] == '"'
        return Quantity(left, (("inch" if inches else "foot", 1),))
    if type(left) is Quantity or p.kinds[p.pos - 1] == '"':
        raise p.broken()
    return Call("diff", (left,))


def composition(p: Parser, left: Node) -> Node:
    p.pos += 1
    return Call("compose", (left, p.expr(POWER)))


PREFIX |= {"-": minus, "+": plus, "pm": plus_minus}
INFIX |= dict.fromkeys(STARTS, (PRODUCT, product)) | {
    "+": (SUM, total),
    "-": (SUM, total),
    "pm": (SUM, total),
    "*": (PRODUCT, product),
    "/": (PRODUCT, product),
    "^": (POWER, power),
    "!": (POSTFIX, factorial),
    "'": (POSTFIX, prime),
    '"': (POSTFIX, prime),
    "_": (POSTFIX, subscript),
    "circ": (POWER, composition),
}
