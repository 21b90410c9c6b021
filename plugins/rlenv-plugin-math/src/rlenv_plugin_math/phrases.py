"""Whole phrases that mean something: no solution, all real numbers, noon."""

from __future__ import annotations

from fractions import Fraction

from .tree import Clock, Const, Div, NamedSet, Node, Num, SetOf, Text

# the node, and its phrases in lower case with single spaces
_MEANINGS: tuple[tuple[Node, str], ...] = (
    (Text("no solution"), """
        no solution | no solutions | there is no solution | there are no solutions |
        no answer | has no solution | has no solutions | it has no solution |
        no possible solution | no such number | no possible solutions |
        there are no such numbers | no such numbers | no solution exists |
        no solutions exist | not solvable | unsolvable | no such value | no such values |
        no values | no value
    """),
    (Text("no real solution"), """
        no real solution | no real solutions | no real root | no real roots | no real number
        | there are no real solutions | there is no real solution | no real numbers |
        no real values | there are no real roots | no solution in real numbers |
        no real value
    """),
    (Text("infinitely many"), """
        infinitely many | infinitely many solutions | infinite solutions |
        infinite many solutions | infinite number of solutions |
        an infinite number of solutions | infinite many |
        there are infinitely many solutions | infinitely many values
    """),
    (Text("does not exist"), """
        does not exist | dne | doesn't exist | the limit does not exist |
        limit does not exist | not exist | nonexistent | non-existent | do not exist
    """),
    (Text("undefined"), "undefined | not defined | is undefined | is not defined | indeterminate"),
    (Text("none"), "none | none of these | none of the above | nothing"),
    (NamedSet("R"), """
        all real numbers | all reals | any real number | every real number |
        the real numbers | real numbers | all real values | the set of all real numbers |
        the set of real numbers | all real | any real value | the reals | all real number |
        all real x | all real values of x | all values of x
    """),
    (NamedSet("Z"), """
        all integers | any integer | every integer | the integers | integers |
        the set of integers | the set of all integers
    """),
    (NamedSet("N"), """
        all natural numbers | natural numbers | any natural number | the natural numbers |
        the set of natural numbers
    """),
    (NamedSet("Z+"), "all positive integers | positive integers | any positive integer"),
    (NamedSet("R+"), """
        all positive real numbers | positive real numbers | any positive real number |
        all positive reals
    """),
    (NamedSet("Q"), "all rational numbers | rational numbers | the rational numbers | rationals"),
    (NamedSet("C"), "all complex numbers | complex numbers | the complex numbers"),
    (SetOf(()), "empty set | the empty set | empty | null set | the null set"),
    (Const("inf"), "infinity | positive infinity | plus infinity"),
    (Clock(43200, ""), "noon | 12 noon"),
    (Clock(0, ""), "midnight | 12 midnight"),
    (Text("true"), "true | it is true"),
    (Text("false"), "false | it is false"),
    (Text("yes"), "yes"),
    (Text("no"), "no"),
)  # fmt: skip
_PHRASES = {
    " ".join(phrase.split()): node for node, phrases in _MEANINGS for phrase in phrases.split("|")
}


def phrase(text: str) -> Node | None:
    """The meaning of a whole phrase in lower case with single spaces, or None."""
    known = _PHRASES.get(text)
    if known is None and " out of " in text:
        top, _, bottom = text.partition(" out of ")
        if top.isdecimal() and bottom.isdecimal() and len(text) < 40 and int(bottom):
            return Div(Num(Fraction(int(top))), Num(Fraction(int(bottom))))
    return known
