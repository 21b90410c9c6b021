"""The small immutable tree that answers are parsed into.

A node says what was written, not what it equals: ``2/4`` stays a division and ``0.50`` keeps its
two decimals.  Where mathematics writes one value in several ways, the parser gives it one shape
here, and where a notation is ambiguous (``(1, 2)`` is a point or an interval) the node keeps the
brackets and the comparison decides.  Nodes are hashable and compare structurally.
"""

from __future__ import annotations

from fractions import Fraction
from operator import attrgetter
from typing import TypeAlias

from rlenv_plugin_math.held import frozen

_FIELDS: dict[type[object], attrgetter[object]] = {}


def _fields(kind: type[Tree]) -> attrgetter[object]:
    """What reads all fields of a node of this kind at once."""
    found = _FIELDS.get(kind)
    if found is None:
        found = _FIELDS[kind] = attrgetter(*kind.__match_args__)
    return found


class Tree:
    """Equality, hash and text of all nodes; attrs would generate each per class, at twice the
    import.
    """

    __slots__ = ("_facts", "_kinds")  # what was learned about the tree below, once
    __match_args__: tuple[str, ...] = ()
    _kinds: tuple[frozenset[type], int]
    _facts: object

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other):
            return NotImplemented
        fields = _fields(type(self))
        return bool(fields(self) == fields(other))

    def __hash__(self) -> int:
        kind = type(self)
        return hash((kind, _fields(kind)(self)))

    def __repr__(self) -> str:
        values = (f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
        return f"{type(self).__name__}({', '.join(values)})"


@frozen(eq=False, repr=False)
class Num(Tree):
    """A numeric literal, exact.  ``decimals`` is how many digits stood after the point, else
    None.
    """

    value: Fraction
    decimals: int | None = None
    repeating: bool = False  # 0.\overline{3}, 0.(3): exact although written as a decimal


@frozen(eq=False, repr=False)
class Const(Tree):
    """``pi``, ``e``, ``i`` or ``inf``."""

    name: str


@frozen(eq=False, repr=False)
class Sym(Tree):
    """A variable; subscripts are part of the name (``x_1``)."""

    name: str


@frozen(eq=False, repr=False)
class Add(Tree):
    args: tuple[Node, ...]


@frozen(eq=False, repr=False)
class Mul(Tree):
    args: tuple[Node, ...]


@frozen(eq=False, repr=False)
class Div(Tree):
    top: Node
    bottom: Node


@frozen(eq=False, repr=False)
class Neg(Tree):
    arg: Node


@frozen(eq=False, repr=False)
class Pow(Tree):
    base: Node
    exponent: Node


@frozen(eq=False, repr=False)
class PlusMinus(Tree):
    """``a ± b``; ``left`` is None when unary.  ``sign`` is 1 for ±, -1 for ∓."""

    left: Node | None
    right: Node
    sign: int = 1


@frozen(eq=False, repr=False)
class Call(Tree):
    """A named function: sin, log (args: x, base), ln, root (args: x, degree), abs, floor, ceil,
    factorial, binomial, gcd, lcm, conj, re, im, arg, min, max, exp, det ... or an unknown ``f(x)``.
    """

    name: str
    args: tuple[Node, ...]


@frozen(eq=False, repr=False)
class Big(Tree):
    """``sum``, ``prod``, ``int`` or ``lim`` over ``var`` from ``low`` to ``high`` (None where
    absent).
    """

    kind: str
    body: Node
    var: str
    low: Node | None = None
    high: Node | None = None


@frozen(eq=False, repr=False)
class Piecewise(Tree):
    """Branches ``(value, condition)``; the condition is None for "otherwise"."""

    branches: tuple[tuple[Node, Node | None], ...]


@frozen(eq=False, repr=False)
class Rel(Tree):
    """A chain: ``1 < x <= 3`` has three args and two ops out of = != < <= > >= ~ (approximately) in
    notin subset.
    """

    args: tuple[Node, ...]
    ops: tuple[str, ...]


@frozen(eq=False, repr=False)
class Logic(Tree):
    """``and`` / ``or`` / ``not`` between relations."""

    op: str
    args: tuple[Node, ...]


@frozen(eq=False, repr=False)
class Seq(Tree):
    """Bracketed, ordered items: a point, a tuple, a vector, or an interval; the brackets are
    kept.
    """

    items: tuple[Node, ...]
    opening: str  # ( [ <   and ] for the French open interval
    closing: str  # ) ] >   and [


@frozen(eq=False, repr=False)
class Items(Tree):
    """A bare comma list: ``1, 2``, ``x = 1 and y = 2``; every item is claimed."""

    items: tuple[Node, ...]


@frozen(eq=False, repr=False)
class SetOf(Tree):
    """A finite set; no items is the empty set."""

    items: tuple[Node, ...]


@frozen(eq=False, repr=False)
class Builder(Tree):
    """``{ var in domain | condition }``; element may be an expression (``{2k | k in Z}``)."""

    element: Node
    condition: Node
    domain: Node | None = None


@frozen(eq=False, repr=False)
class SetOp(Tree):
    """``union``, ``intersection``, ``difference`` or ``product``."""

    op: str
    args: tuple[Node, ...]


@frozen(eq=False, repr=False)
class NamedSet(Tree):
    """``R``, ``Z``, ``Q``, ``N``, ``C``."""

    name: str


@frozen(eq=False, repr=False)
class Matrix(Tree):
    """Rows of equal length; a column vector has rows of one; ``bars`` for a determinant is a Call
    instead.
    """

    rows: tuple[tuple[Node, ...], ...]


@frozen(eq=False, repr=False)
class Mod(Tree):
    """A residue: ``3 (mod 7)``; ``x ≡ 3 (mod 7)`` is a Rel "=" of x and this."""

    value: Node
    modulus: Node


@frozen(eq=False, repr=False)
class Based(Tree):
    """A numeral whose base is written: ``101_2``."""

    digits: str
    base: int
    value: Fraction


@frozen(eq=False, repr=False)
class Quantity(Tree):
    """A value with a unit from the table in ``units``; ``%``, currencies and degrees are units too.

    ``unit`` is canonical: sorted ``(base name, power)`` pairs as written (km, not m); ``units``
    converts.
    """

    value: Node
    unit: tuple[tuple[str, int], ...]


@frozen(eq=False, repr=False)
class Choice(Tree):
    """A multiple-choice letter, with the value beside it when one was given: ``(C) 17``."""

    letter: str
    value: Node | None = None


@frozen(eq=False, repr=False)
class Clock(Tree):
    """A time of day in seconds after midnight; ``half`` is "am", "pm" or "" (24 h or unsaid)."""

    seconds: int
    half: str = ""


@frozen(eq=False, repr=False)
class Date(Tree):
    """A calendar date; the year is None when unsaid."""

    year: int | None
    month: int
    day: int


@frozen(eq=False, repr=False)
class Ratio(Tree):
    """``3 : 4 : 5``."""

    items: tuple[Node, ...]


@frozen(eq=False, repr=False)
class Text(Tree):
    """Words that are no mathematics, case-folded and with single spaces: ``no solution``,
    ``tuesday``.
    """

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
    for name in node.__match_args__:
        value = getattr(node, name)
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
