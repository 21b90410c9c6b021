"""Answers that are no expressions: words, choices, times, dates, residues, numerals in a base,
ratios.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from rlenv_plugin_math.compare.exact import rational
from rlenv_plugin_math.compare.expand import ZERO
from rlenv_plugin_math.compare.matching import in_order
from rlenv_plugin_math.compare.work import Case
from rlenv_plugin_math.tree import (
    Based,
    Choice,
    Clock,
    Const,
    Date,
    Div,
    Items,
    Mod,
    Mul,
    Node,
    Num,
    Ratio,
    Rel,
    SetOf,
    Sym,
    Text,
)

_HALF_DAY = 43_200
_ARTICLES = frozenset(("the", "a", "an"))
_SYNONYMS = {
    **dict.fromkeys(
        ("no solution", "no real solution", "none", "empty set", "no solutions"), "no solution"
    ),
    **dict.fromkeys(("does not exist", "dne", "undefined", "not defined"), "undefined"),
    **dict.fromkeys(("diverges", "divergent", "does not converge"), "diverges"),
    **dict.fromkeys(("converges", "convergent"), "converges"),
    **dict.fromkeys(("yes", "true"), "yes"),
    **dict.fromkeys(("no", "false"), "no"),
}
_NOTHING = "no solution"
_CHOICES = frozenset("ABCDEFGHIJ")


def same_special(gold: Node, given: Node, case: Case) -> bool | None:
    """The verdict where either side is such an answer, else None."""
    kind = type(gold)
    other = type(given)
    if (kind not in _RULES and other not in _RULES) or kind is Rel or other is Rel:
        return None
    for special, rule in _RULES.items():
        if kind is special:
            return rule(gold, given, case)
        if other is special:
            return _flipped(rule, given, gold, case)
    return None


def _flipped(rule: Callable[..., bool], given: Node, gold: Node, case: Case) -> bool:
    if rule is _based:
        return _based_given(given, gold)
    return rule(given, gold, case)


def _words(node: Node) -> str | None:
    if isinstance(node, SetOf) and not node.items:
        return _NOTHING
    if not isinstance(node, Text):
        return None
    words = [word for word in node.words.casefold().split() if word not in _ARTICLES]
    plain = " ".join(words) or node.words.casefold()
    return _SYNONYMS.get(plain, plain)


def _text(one: Text, other: Node, _case: Case) -> bool:
    return _words(one) == _words(other)


def _choice(one: Choice, other: Node, case: Case) -> bool:
    if isinstance(other, Sym):
        return one.letter.upper() == other.name.upper()
    if isinstance(other, Choice):
        both = one.value is not None and other.value is not None
        return one.letter.upper() == other.letter.upper() and not (
            both and not case.same(one.value, other.value)  # type: ignore[arg-type]
        )
    return one.value is not None and case.same(one.value, other)


def _clock(one: Clock, other: Node, _case: Case) -> bool:
    if isinstance(other, Ratio):
        from rlenv_plugin_math.words import as_clock

        read = as_clock(other)
        return isinstance(read, Clock) and _same_time(one, read)
    return isinstance(other, Clock) and _same_time(one, other)


def _same_time(one: Clock, other: Clock) -> bool:
    """A time before noon that says neither half may be either."""
    if any(not time.half and time.seconds < _HALF_DAY for time in (one, other)):
        return (one.seconds - other.seconds) % _HALF_DAY == 0
    return one.seconds == other.seconds


def _date(one: Date, other: Node, _case: Case) -> bool:
    if not isinstance(other, Date) or (one.month, one.day) != (other.month, other.day):
        return False
    return one.year == other.year or one.year is None or other.year is None


def _mod(one: Mod, other: Node, case: Case) -> bool:
    if not isinstance(other, Mod):
        return _residue(one, other, case)
    if not case.same(one.modulus, other.modulus):
        return False
    values = [rational(node, case) for node in (one.value, other.value, one.modulus)]
    left, right, modulus = values
    if left is None or right is None or not modulus:
        return case.same(one.value, other.value)
    case.reached("exact")
    return ((left - right) / modulus).denominator == 1


def _residue(one: Mod, plain: Node, case: Case) -> bool:
    """``17 mod 6`` is 5; a residue that is not reduced, or to no number, stands for nothing."""
    value = rational(one.value, case)
    modulus = rational(one.modulus, case)
    if value is None or modulus is None or modulus <= 0:
        return False
    return case.same(Num(value % modulus), plain)


def _based(one: Based, other: Node, case: Case) -> bool:
    """The gold names its base, so the answer must."""
    case.reached("exact")
    return isinstance(other, Based) and (one.base, one.value) == (other.base, other.value)


def _based_given(given: Node, gold: Node) -> bool:
    """A gold without a base is met by its digits: the question named the base."""
    assert isinstance(given, Based)
    digits = given.digits.lstrip("0") or "0"
    if isinstance(gold, Num) and digits.isdecimal():
        return gold.value == Fraction(digits)
    written = gold.name if isinstance(gold, Sym) else gold.words if isinstance(gold, Text) else ""
    return digits.upper() == written.upper()


def _ratio(one: Ratio, other: Node, case: Case) -> bool:
    if isinstance(other, Ratio):
        nothing = [[case.same(item, ZERO) for item in side.items] for side in (one, other)]
        if nothing[0] != nothing[1] or all(nothing[0]):
            return False
        place = nothing[0].index(False)
        first = one.items[place]
        base = other.items[place]
        left = [Mul((item, base)) for item in one.items]
        right = [Mul((item, first)) for item in other.items]
        return in_order(left, right, case)
    return len(one.items) == 2 and case.same(Div(one.items[0], one.items[1]), other)


_RULES: dict[type, Callable[..., bool]] = {  # the first that applies decides
    Text: _text,
    Choice: _choice,
    Clock: _clock,
    Date: _date,
    Mod: _mod,
    Based: _based,
    Ratio: _ratio,
}


def same_letters(gold: Node, given: Node, case: Case) -> bool:
    """``A, B, D``, ``ABD`` and ``a, b, d``: choices, together or apart, in one case or the
    other.
    """
    wanted = _letters(gold)
    found = _letters(given)
    case.reached("structure")
    return _CHOICES.issuperset(wanted) and wanted == found


def _letters(node: Node) -> list[str]:
    if isinstance(node, Mul):  # ab is a product
        return sorted(getattr(arg, "name", "") for arg in node.args)
    return sorted(
        _letter(item).upper() for item in (node.items if isinstance(node, Items) else (node,))
    )


def _letter(node: Node) -> str:
    if isinstance(node, Choice) and node.value is None:
        return node.letter
    return node.name if isinstance(node, Sym | Const) else ""
