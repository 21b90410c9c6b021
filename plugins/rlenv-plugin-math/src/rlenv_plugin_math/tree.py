"""The small immutable tree that answers are parsed into.

A node says what was written, not what it equals: ``2/4`` stays a division and ``0.50`` keeps its two
decimals.  Where mathematics writes one value in several ways, the parser gives it one shape here, and
where a notation is ambiguous (``(1, 2)`` is a point or an interval) the node keeps the brackets and
the comparison decides.  Nodes are hashable and compare structurally.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from attrs import frozen


@frozen
class Num:
    """A numeric literal, exact.  ``decimals`` is how many digits stood after the point, else None."""

    value: Fraction
    decimals: int | None = None
    repeating: bool = False  # 0.\overline{3}, 0.(3): exact although written as a decimal


@frozen
class Const:
    """``pi``, ``e``, ``i`` or ``inf``."""

    name: str


@frozen
class Sym:
    """A variable; subscripts are part of the name (``x_1``)."""

    name: str


@frozen
class Add:
    args: tuple[Node, ...]


@frozen
class Mul:
    args: tuple[Node, ...]


@frozen
class Div:
    top: Node
    bottom: Node


@frozen
class Neg:
    arg: Node


@frozen
class Pow:
    base: Node
    exponent: Node


@frozen
class PlusMinus:
    """``a ± b``; ``left`` is None when unary.  ``sign`` is 1 for ±, -1 for ∓."""

    left: Node | None
    right: Node
    sign: int = 1


@frozen
class Call:
    """A named function: sin, log (args: x, base), ln, root (args: x, degree), abs, floor, ceil, factorial,
    binomial, gcd, lcm, conj, re, im, arg, min, max, exp, det ... or an unknown ``f(x)``.
    """

    name: str
    args: tuple[Node, ...]


@frozen
class Big:
    """``sum``, ``prod``, ``int`` or ``lim`` over ``var`` from ``low`` to ``high`` (None where absent)."""

    kind: str
    body: Node
    var: str
    low: Node | None = None
    high: Node | None = None


@frozen
class Piecewise:
    """Branches ``(value, condition)``; the condition is None for "otherwise"."""

    branches: tuple[tuple[Node, Node | None], ...]


@frozen
class Rel:
    """A chain: ``1 < x <= 3`` has three args and two ops out of = != < <= > >= ~ (approximately) in notin subset."""

    args: tuple[Node, ...]
    ops: tuple[str, ...]


@frozen
class Logic:
    """``and`` / ``or`` / ``not`` between relations."""

    op: str
    args: tuple[Node, ...]


@frozen
class Seq:
    """Bracketed, ordered items: a point, a tuple, a vector, or an interval; the brackets are kept."""

    items: tuple[Node, ...]
    opening: str  # ( [ <   and ] for the French open interval
    closing: str  # ) ] >   and [


@frozen
class Items:
    """A bare comma list: ``1, 2``, ``x = 1 and y = 2``; every item is claimed."""

    items: tuple[Node, ...]


@frozen
class SetOf:
    """A finite set; no items is the empty set."""

    items: tuple[Node, ...]


@frozen
class Builder:
    """``{ var in domain | condition }``; element may be an expression (``{2k | k in Z}``)."""

    element: Node
    condition: Node
    domain: Node | None = None


@frozen
class SetOp:
    """``union``, ``intersection``, ``difference`` or ``product``."""

    op: str
    args: tuple[Node, ...]


@frozen
class NamedSet:
    """``R``, ``Z``, ``Q``, ``N``, ``C``."""

    name: str


@frozen
class Matrix:
    """Rows of equal length; a column vector has rows of one; ``bars`` for a determinant is a Call instead."""

    rows: tuple[tuple[Node, ...], ...]


@frozen
class Mod:
    """A residue: ``3 (mod 7)``; ``x ≡ 3 (mod 7)`` is a Rel "=" of x and this."""

    value: Node
    modulus: Node


@frozen
class Based:
    """A numeral whose base is written: ``101_2``."""

    digits: str
    base: int
    value: Fraction


@frozen
class Quantity:
    """A value with a unit from the table in ``units``; ``%``, currencies and degrees are units too.

    ``unit`` is canonical: sorted ``(base name, power)`` pairs as written (km, not m); ``units`` converts.
    """

    value: Node
    unit: tuple[tuple[str, int], ...]


@frozen
class Choice:
    """A multiple-choice letter, with the value beside it when one was given: ``(C) 17``."""

    letter: str
    value: Node | None = None


@frozen
class Clock:
    """A time of day in seconds after midnight; ``half`` is "am", "pm" or "" (24 h or unsaid)."""

    seconds: int
    half: str = ""


@frozen
class Date:
    """A calendar date; the year is None when unsaid."""

    year: int | None
    month: int
    day: int


@frozen
class Ratio:
    """``3 : 4 : 5``."""

    items: tuple[Node, ...]


@frozen
class Text:
    """Words that are no mathematics, case-folded and with single spaces: ``no solution``, ``tuesday``."""

    words: str


Node: TypeAlias = (
    Num
    | Const
    | Sym
    | Add
    | Mul
    | Div
    | Neg
    | Pow
    | PlusMinus
    | Call
    | Big
    | Piecewise
    | Rel
    | Logic
    | Seq
    | Items
    | SetOf
    | Builder
    | SetOp
    | NamedSet
    | Matrix
    | Mod
    | Based
    | Quantity
    | Choice
    | Clock
    | Date
    | Ratio
    | Text
)


def children(node: Node) -> tuple[Node, ...]:
    """The nodes right below this one, in the order in which they are written."""
    found: list[Node] = []
    for name in node.__slots__:  # type: ignore[union-attr]
        value = getattr(node, name, None)
        if isinstance(value, tuple):
            _collect(value, found)
        elif isinstance(value, _KINDS):
            found.append(value)
    return tuple(found)


def _collect(values: tuple[object, ...], found: list[Node]) -> None:
    for value in values:
        if isinstance(value, tuple):
            _collect(value, found)
        elif isinstance(value, _KINDS):
            found.append(value)


_KINDS = Node.__args__


def height(node: Node) -> int:
    """How many levels the tree has; a leaf has 1.  Not recursive."""
    levels = 0
    row = [node]
    while row:
        levels += 1
        row = [child for parent in row for child in children(parent)]
    return levels
