"""The Pratt loop over tokens, and the state that the rules share.

``PREFIX[kind](parser, floor)`` reads what starts with a token of that kind; ``INFIX[kind]`` is a
binding power and ``rule(parser, left)`` that goes on from ``left``.  The other files of this
package fill both tables when they are imported.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

from rlenv_plugin_math.lexer import Tokens
from rlenv_plugin_math.limits import DEPTH, Unparsed
from rlenv_plugin_math.tree import Node, Num

# binding powers
OVER = 1
IMPLIES = 2
LOR = 4
LAND = 6
RELATION = 10
MODULO = 12
SETS = 14
RATIO = 16
SUM = 20
PRODUCT = 30
POWER = 40
POSTFIX = 50
NO_STOPS: frozenset[str] = frozenset()

T = TypeVar("T")
Prefix = Callable[["Parser", int], Node]
Infix = Callable[["Parser", Node], Node]
PREFIX: dict[str, Prefix] = {}
INFIX: dict[str, tuple[int, Infix]] = {}


class Prose(Exception):
    """Words where mathematics would have to be: the whole text is words."""


class Parser:
    """Tokens, the place among them, and what surrounds it."""

    __slots__ = (
        "ats", "depth", "diff", "gaps", "inside", "kinds", "pos", "source",
        "stops", "texts", "upright",
    )  # fmt: skip

    def __init__(self, tokens: Tokens) -> None:
        self.source = tokens.source
        self.kinds = tokens.kinds
        self.texts = tokens.texts
        self.gaps = tokens.gaps
        self.ats = tokens.ats
        self.upright = tokens.upright
        self.pos = 0
        self.depth = 0
        self.inside = False  # in brackets of a list, where 1,234 is two numbers
        self.stops = NO_STOPS  # kinds that end the expression here: | in bars, : in a set-builder
        self.diff: str | None = None  # in an integral: "" until its dx is met, then the variable

    def expr(self, floor: int) -> Node:
        """The longest expression whose operators bind tighter than ``floor``."""
        rule = PREFIX.get(self.kinds[self.pos])
        if rule is None:
            raise self.broken()
        left = rule(self, floor)
        while True:
            kind = self.kinds[self.pos]
            infix = INFIX.get(kind)
            if infix is None or infix[0] <= floor or kind in self.stops:
                return left
            before = self.pos
            left = infix[1](self, left)
            if self.pos == before and self.kinds[before] == kind:
                return left

    def deeper(self) -> None:
        """One level down; every rule that recurses through brackets or prefixes calls it."""
        self.depth += 1
        if self.depth > DEPTH:
            raise Unparsed("nested too deep", self.ats[self.pos])

    def take(self, kind: str) -> bool:
        """Step over the token when it is of this kind."""
        if self.kinds[self.pos] == kind:
            self.pos += 1
            return True
        return False

    def expect(self, kind: str) -> None:
        """Step over a token of this kind, or fail."""
        if self.kinds[self.pos] != kind:
            raise self.broken()
        self.pos += 1

    def broken(self) -> Unparsed:
        """The error that the token here cannot be here."""
        what = "unfinished" if self.kinds[self.pos] == "end" else "unexpected sign"
        return Unparsed(what, self.ats[self.pos])

    def group(self) -> Node:
        """The argument of a command: ``{...}``, or one digit, letter or command."""
        kind = self.kinds[self.pos]
        if kind == "{":
            return self.braced()
        if kind == "num":
            return self.digit()
        if kind == "end" or PREFIX.get(kind) is None:
            raise self.broken()
        self.deeper()
        node = PREFIX[kind](self, POSTFIX)
        self.depth -= 1
        return node

    def braced(self) -> Node:
        """``{expression}`` as an argument, outside of any list or bars."""
        node = self.nested(lambda: self.expr(0))
        self.expect("}")
        return node

    def nested(
        self, read: Callable[[], T], *, inside: bool = False, stops: frozenset[str] = NO_STOPS
    ) -> T:
        """What ``read`` finds behind the bracket that is here, one level down and with its own
        ``stops``.
        """
        saved = self.inside, self.stops
        self.inside = inside
        self.stops = stops
        self.deeper()
        self.pos += 1
        found = read()
        self.depth -= 1
        self.inside, self.stops = saved
        return found

    def digit(self) -> Node:
        """One digit, as TeX takes it: the rest of the number stays."""
        text = self.texts[self.pos]
        if len(text) == 1 or not text.isdigit():
            return PREFIX["num"](self, POSTFIX)
        self.texts[self.pos] = text[1:]
        self.gaps[self.pos] = 0
        return Num(Fraction(int(text[0])))
