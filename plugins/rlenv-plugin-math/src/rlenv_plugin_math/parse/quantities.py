"""Units behind a value, money before it, and the words that scale a number or name its base."""

from __future__ import annotations

from rlenv_plugin_math import units
from rlenv_plugin_math.tree import Add, Div, Mul, Neg, Node, Num, Pow, Quantity
from rlenv_plugin_math.words import COUNTS, SCALES, STOP, TAILS, scaled, singular

from .bases import WORD_BASES, based
from .engine import POWER, PREFIX, PRODUCT, Parser, Prose

_ENDS = frozenset(("lor", "land", "mid", "mod", "setop", "}", "endenv")) | frozenset(
    ("end", ",", ";", "and", "or", "row", "&", ")", "]", "\\}", "rel", "implies")
)
_SQUARE = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
_SQUARED = {"squared": 2, "cubed": 3}
_ANGLES = {"'": "arcminute", '"': "arcsecond"}


def numeric(node: Node) -> bool:
    """Whether the value is a plain number, so that an unknown word behind it is what is counted."""
    kind = type(node)
    if kind is Num:
        return True
    if kind is Neg:
        return numeric(node.arg)  # type: ignore[union-attr]
    if kind is Div:
        return type(node.top) is Num and type(node.bottom) is Num  # type: ignore[union-attr]
    if kind is Add or kind is Mul:
        return all(numeric(a) for a in node.args)  # type: ignore[union-attr]
    return kind is Pow and type(node.base) is Num  # type: ignore[union-attr]


def names_unit(p: Parser, factors: list[Node]) -> bool:
    """Whether the letter (or fraction of roman letters) here is a unit and not a variable."""
    pos = p.pos
    if p.kinds[pos] == "cmd":
        return p.texts[pos].endswith("frac") and p.kinds[pos + 1] == "{" and p.upright[pos + 2]
    if p.upright[pos]:
        return units.lookup(p.texts[pos]) is not None
    before = p.kinds[pos - 1]
    if not p.gaps[pos] or not units.stands_alone(p.texts[pos]) or before not in ("num", "}"):
        return False
    if not all(map(numeric, factors)):
        return False  # π r² h
    unit = _unit(p)
    smaller = p.kinds[p.pos : p.pos + 2] == ["num", "word"] and units.lookup(p.texts[p.pos + 1])
    ends = p.kinds[p.pos] in _ENDS or bool(smaller)  # 2 h 30 min
    p.pos = pos
    return unit is not None and ends and (before == "num" or len(unit) > 1)


def attach(p: Parser, value: Node) -> Node | None:
    """``value`` with the unit that is here, or None (and the same place) when none does."""
    kind = p.kinds[p.pos]
    if kind == "deg":
        return _degrees(p, value)
    if kind == "cur":
        p.pos += 1
        return Quantity(value, ((p.texts[p.pos - 1], 1),))
    pos = p.pos
    if p.texts[pos] == "hr" and p.kinds[pos - 1] == "const" and not p.upright[pos]:
        return None  # 2π h r
    glued = p.gaps[pos] == 0 and not p.upright[pos] and p.kinds[pos - 1] == "num"
    if kind == "word" and glued and not units.glues(p.texts[pos]) and not numeric(value):
        return None
    unit = _unit(p)
    if unit is None:
        return None
    if type(value) is Quantity:
        return Quantity(value.value, units.make((*value.unit, *unit)))
    _skip_tail(p)
    return Quantity(value, unit)


def _degrees(p: Parser, value: Node) -> Node:
    p.pos += 1
    letter = p.texts[p.pos]
    if p.kinds[p.pos] in ("letter", "word") and letter in ("C", "F", "K") and p.gaps[p.pos] < 2:
        p.pos += 1
        return Quantity(value, ((f"deg{letter}" if letter != "K" else "K", 1),))
    node: Node = Quantity(value, (("deg", 1),))
    parts = [node]
    while p.kinds[p.pos] == "num" and p.kinds[p.pos + 1] in _ANGLES:
        small = p.expr(PRODUCT + POWER)
        mark = p.texts[p.pos]
        p.pos += 1
        if mark == "'" and p.kinds[p.pos] == "'":
            p.pos += 1
            mark = '"'
        parts.append(Quantity(small, ((_ANGLES[mark], 1),)))
    return node if len(parts) == 1 else Add(tuple(parts))


def _unit(p: Parser) -> units.Unit | None:
    """The product and quotient of unit names that starts here."""
    if p.kinds[p.pos] == "cmd":
        return _fraction(p)
    first = _factor(p, 1)
    if first is None:
        return None
    parts = [first]
    while True:
        kind = p.kinds[p.pos]
        word = p.texts[p.pos]
        saved = p.pos
        sign = 1
        if kind == "/" or (kind == "word" and word == "per"):
            p.pos += 1
            sign = -1
            if p.take("("):
                if not _bracketed(p, parts):
                    p.pos = saved
                    break
                continue
        elif kind == "*" or (kind == "-" and p.kinds[p.pos + 1] == "word"):
            p.pos += 1
        elif kind != "word" and not (kind == "letter" and _unit_letter(p)):
            break
        part = _factor(p, sign)
        if part is None:
            p.pos = saved
            break
        parts.append(part)
    return units.make(parts)


def _unit_letter(p: Parser) -> bool:
    """A letter that goes on a product of units: roman, or ``N m`` with its space."""
    pos = p.pos
    return p.upright[pos] or (p.gaps[pos] > 0 and units.stands_alone(p.texts[pos]))


def _bracketed(p: Parser, parts: list[tuple[str, int]]) -> bool:
    """The denominator ``(kg m)`` after its bracket."""
    while True:
        part = _factor(p, -1)
        if part is None:
            return False
        parts.append(part)
        if p.take(")"):
            return True
        p.take("*")


def _fraction(p: Parser) -> units.Unit | None:
    r"""``\frac{\text{km}}{\text{h}}``."""
    saved = p.pos
    p.pos += 1
    parts: list[tuple[str, int]] = []
    for sign in (1, -1):
        if not p.take("{"):
            break
        while (part := _factor(p, sign)) is not None:
            parts.append(part)
            p.take("*")
        if not parts or not p.take("}"):
            break
    else:
        return units.make(parts)
    p.pos = saved
    return None


def _factor(p: Parser, sign: int) -> tuple[str, int] | None:
    """One unit name with its power."""
    saved = p.pos
    kind = p.kinds[p.pos]
    word = p.texts[p.pos]
    power = 1
    if kind == "word" and word.lower() in _SQUARE and p.kinds[p.pos + 1] in ("word", ".", "letter"):
        power = _SQUARE[word.lower()]
        p.pos += 1
        p.take(".")
        kind = p.kinds[p.pos]
        word = p.texts[p.pos]
    if kind == "%":
        name: str | None = "%"
    elif (
        kind == "word"
        and word.lower() in ("per", "fluid", "fl")
        and p.texts[p.pos + 1] in ("cent", "ounce", "ounces", "oz")
    ):
        p.pos += 1
        name = "%" if word.lower() == "per" else "fluid_ounce"
    elif kind in ("word", "letter", "const"):
        name = units.lookup(word)
    else:
        name = None
    if name is None:
        p.pos = saved
        return None
    p.pos += 1
    if name == "deg" and (scale := units.lookup(p.texts[p.pos])) in ("degC", "degF"):
        name = scale or name
        p.pos += 1
    if (
        kind == "word"
        and p.kinds[p.pos] == "."
        and (p.gaps[p.pos + 1] or p.kinds[p.pos + 1] in _ENDS)
    ):
        p.pos += 1
    if p.kinds[p.pos] == "word" and p.texts[p.pos] in _SQUARED:
        power = _SQUARED[p.texts[p.pos]]
        p.pos += 1
    return name, sign * power * _exponent(p)


def _exponent(p: Parser) -> int:
    """``^2``, ``^{-1}`` behind a unit, else 1."""
    if p.kinds[p.pos] != "^":
        return 1
    pos = p.pos + 1
    braced = p.kinds[pos] == "{"
    pos += braced
    sign = -1 if p.kinds[pos] == "-" else 1
    pos += sign < 0
    text = p.texts[pos]
    if p.kinds[pos] != "num" or not text.isdigit() or len(text) > 2:
        return 1
    if braced and p.kinds[pos + 1] != "}":
        return 1
    p.pos = pos + 1 + braced
    return sign * int(text)


def _skip_tail(p: Parser) -> None:
    """ "5 feet tall", "3 years old": the adjective says nothing of the value."""
    if p.kinds[p.pos] == "word" and p.texts[p.pos].lower() in TAILS and p.kinds[p.pos + 1] in _ENDS:
        p.pos += 1
    elif p.kinds[p.pos] == "word" and p.texts[p.pos] == "of" and p.kinds[p.pos + 1] == "word":
        pos = p.pos + 1
        while p.kinds[pos] == "word":
            pos += 1
        if p.kinds[pos] in _ENDS:
            p.pos = pos


def of_words(p: Parser, value: Node | None) -> Node | None:
    """What plain words behind a number make of it: millions, a base, a count of apples.

    None when the word is none of these (a unit of the table is left to ``attach``).
    """
    word = p.texts[p.pos].lower()
    if value is None or word == "per":
        return None
    if (word in SCALES or word in COUNTS) and (node := scaled(value, word)) is not None:
        p.pos += 1
        return node
    if word in ("base", "in") and (found := based_on(p, value)) is not None:
        return found
    if len(word) == 2 and p.kinds[p.pos + 1] in (")", "^") and "\\" in p.source:
        return None  # \frac12 at)
    if word in _SQUARE or units.lookup(word) or units.lookup(p.texts[p.pos]):
        return None
    if not numeric(value):
        raise Prose
    return _counted(p, value)


def based_on(p: Parser, value: Node) -> Node | None:
    """``101 base 2``, ``101 in base two``, ``101 (base 2)``."""
    bracket = p.kinds[p.pos] == "("
    pos = p.pos + (bracket or p.texts[p.pos] == "in")
    if p.texts[pos] != "base" or type(value) is not Num or p.kinds[p.pos - 1] != "num":
        return None
    name = p.texts[pos + 1]
    base = int(name) if name.isdigit() and len(name) < 3 else WORD_BASES.get(name, 0)
    node = based(p.texts[p.pos - 1], base) if base else None
    if node is None or (bracket and p.kinds[pos + 2] != ")"):
        return None
    p.pos = pos + 2 + bracket
    return node


def _counted(p: Parser, value: Node) -> Node:
    """``5 apples``, ``12 red apples``: a unit of its own, singular and in lower case."""
    words: list[str] = []
    pos = p.pos
    while p.kinds[pos] == "word" and p.texts[pos].lower() not in TAILS and len(words) < 4:
        low = p.texts[pos].lower()
        if low in STOP:
            if low in ("in", "of") and words:
                break
            raise Prose
        words.append(low)
        pos += 1
    if not words:
        raise Prose
    p.pos = pos
    words[-1] = singular(words[-1])
    unit = [(" ".join(words), 1)]
    if p.kinds[pos] == "/" or p.texts[pos] == "per":
        p.pos += 1
        below = _factor(p, -1)
        if below is None:
            raise Prose
        unit.append(below)
    _skip_tail(p)
    if p.kinds[p.pos] not in _ENDS:
        raise Prose
    return Quantity(value, units.make(unit))


def money(p: Parser, floor: int) -> Node:
    r"""``\$5``, ``\$1.2 million``, ``\$5 per hour``."""
    name = p.texts[p.pos]
    p.pos += 1
    sign = p.take("-")
    value = p.expr(max(floor, PRODUCT))
    word = p.texts[p.pos].lower()
    if p.kinds[p.pos] == "word" and word in SCALES:
        value = scaled(value, word) or value
        p.pos += 1
    if sign:
        value = Num(-value.value, value.decimals) if type(value) is Num else Neg(value)
    unit = [(name, 1)]
    if p.kinds[p.pos] == "/" or p.texts[p.pos] == "per":
        saved = p.pos
        p.pos += 1
        below = _factor(p, -1)
        if below is None:
            p.pos = saved
        else:
            unit.append(below)
    if p.kinds[p.pos] == "word" and units.lookup(p.texts[p.pos]) == name:
        p.pos += 1  # \$5 dollars
    return Quantity(value, units.make(unit))


PREFIX["cur"] = money
