"""Number literals: grouping, repeating decimals, scientific notation, mixed numbers, bases."""

from __future__ import annotations

from fractions import Fraction

from rlenv_plugin_math.limits import EXPONENT, Unparsed
from rlenv_plugin_math.tree import Add, Based, Div, Mul, Node, Num, Pow

from .bases import PREFIXED, read_based
from .clocks import clock
from .decimals import decimal, repeating, whole
from .engine import POWER, PREFIX, Parser

_PLAIN = frozenset(
    (
        "end",
        ",",
        "+",
        "-",
        "*",
        ")",
        "]",
        "rel",
        "^",
        "}",
        "&",
        "row",
        "\\}",
        "deg",
        "const",
        "%",
        "and",
        "or",
    )
)
_ORDINAL = frozenset(("st", "nd", "rd", "th"))


def number(p: Parser, floor: int) -> Node:
    """A literal and what belongs to it; ``floor`` at ``POWER`` or above forbids mixed numbers."""
    at = p.pos
    text = p.texts[at]
    p.pos = at + 1
    kind = p.kinds[at + 1]
    if kind == "letter" and p.texts[at + 1] == "x" and p.kinds[at + 2] == "num" and p.gaps[at + 1]:
        kind = p.kinds[at + 1] = "*"  # 6 x 7
    if text.isdigit():
        if kind not in _PLAIN or (kind == "," and not p.inside):
            return _continued(p, text, kind, floor)
        return Num(Fraction(whole(text, p.ats[at])))
    if text[:1] == "0" and text[1:2] in PREFIXED:
        base = PREFIXED[text[1]]
        return Based(text[2:].upper(), base, Fraction(int(text[2:], base)))
    if "e" in text or "E" in text:
        return _scientific(p, text)
    if text[-1] == "." or kind in ("...", "cmd", "(", "letter"):
        node = repeating(p, text)
        if node is not None:
            return node
    if kind == "_":
        based = read_based(p, at)
        if based is not None:
            return based
    if kind == "{,}" and "." not in text:
        return _continued(p, text, kind, floor)
    node = decimal(text, p.ats[at])
    return _times_power_of_ten(p, node) if kind == "*" and node.decimals else node


def _continued(p: Parser, text: str, kind: str, floor: int) -> Node:
    """Digits with something behind them that may belong to the literal."""
    at = p.pos - 1
    if kind in (",", "{,}", "num"):
        grouped = _grouped(p, text, kind)
        if grouped is not None:
            return grouped
        if kind == "{,}" and p.kinds[p.pos + 1] == "num" and p.texts[p.pos + 1].isdigit():
            p.pos += 2
            return decimal(f"{text}.{p.texts[p.pos - 1]}", p.ats[at])
        if kind == "num" and p.gaps[p.pos] and floor < POWER:
            mixed = _mixed_slash(p, text)
            if mixed is not None:
                return mixed
    elif kind == "cmd":
        if floor < POWER and p.texts[p.pos].endswith("frac"):
            mixed = _mixed_frac(p, text)
            if mixed is not None:
                return mixed
    elif kind == "_" or (kind in ("letter", "word", "const") and "_" in p.source):
        based = read_based(p, at)
        if based is not None:
            return based
    if kind in (":", "letter", "const", "word"):
        found = clock(p, text)
        if found is not None:
            return found
    if kind == "word" and p.texts[p.pos] in _ORDINAL and (p.gaps[p.pos] == 0 or p.upright[p.pos]):
        p.pos += 1
    return Num(Fraction(whole(text, p.ats[at])))


def _grouped(p: Parser, text: str, kind: str) -> Node | None:
    """``1,234,567``, ``1{,}234``, ``1 234 567``: strict threes, one separator throughout."""
    if len(text) > 3 or text[0] == "0" or (kind == "," and p.inside):
        return None
    pos = p.pos
    step = 1 if kind == "num" else 2
    pieces = [text]
    while True:
        digits = pos + step - 1
        if kind != "num" and (p.kinds[pos] != kind or p.gaps[pos]):
            break
        if p.kinds[digits] != "num" or bool(p.gaps[digits]) != (kind == "num"):
            break
        head, point, tail = p.texts[digits].partition(".")
        if len(head) != 3 or not head.isdigit() or (tail and not tail.isdigit()):
            break
        pieces.append(head)
        pos = digits + 1
        if point:
            pieces.append(point + tail)
            break
    else_after = p.kinds[pos]
    if len(pieces) == 1 or (kind == "num" and else_after in ("num", "/")):
        return None
    if (
        kind == ","
        and else_after == ","
        and p.gaps[pos] == 0
        and p.kinds[pos + 1] == "num"
        and not p.gaps[pos + 1]
    ):
        return None  # 1,234,5 is a list
    p.pos = pos
    return decimal("".join(pieces), p.ats[pos - 1])


def _mixed_slash(p: Parser, text: str) -> Node | None:
    """``2 1/3``."""
    pos = p.pos
    kinds = p.kinds
    texts = p.texts
    if kinds[pos + 1] != "/" or kinds[pos + 2] != "num":
        return None
    top = texts[pos]
    bottom = texts[pos + 2]
    if not (top.isdigit() and bottom.isdigit()) or whole(top) >= whole(bottom):
        return None
    p.pos = pos + 3
    return _mixed(text, top, bottom)


def _mixed_frac(p: Parser, text: str) -> Node | None:
    r"""``2\frac{1}{3}``: two literals, the first smaller."""
    pos = p.pos + 1
    kinds = p.kinds
    texts = p.texts
    digits: list[str] = []
    for _ in range(2):
        if kinds[pos] == "{" and kinds[pos + 1] == "num" and kinds[pos + 2] == "}":
            digits.append(texts[pos + 1])
            pos += 3
        elif kinds[pos] == "num" and len(texts[pos]) == 1:
            digits.append(texts[pos])
            pos += 1
        elif kinds[pos] == "num" and len(texts[pos]) == 2 and not digits:
            digits += texts[pos]
            pos += 1
            break
        else:
            return None
    top, bottom = digits
    if not (top.isdigit() and bottom.isdigit()) or whole(top) >= whole(bottom):
        return None
    p.pos = pos
    return _mixed(text, top, bottom)


def _mixed(text: str, top: str, bottom: str) -> Node:
    part = Div(Num(Fraction(int(top))), Num(Fraction(int(bottom))))
    return Add((Num(Fraction(whole(text))), part))


def _scientific(p: Parser, text: str) -> Node:
    mantissa, _, exponent = text.lower().partition("e")
    node = decimal(mantissa, p.ats[p.pos - 1])
    if len(exponent) > 9:
        raise Unparsed("exponent too large", p.ats[p.pos - 1])
    return shifted(node, int(exponent))


def shifted(node: Num, power: int) -> Node:
    """``node · 10^power``, carried out where the power is small."""
    if abs(power) > EXPONENT:
        return Mul((node, Pow(Num(Fraction(10)), Num(Fraction(power)))))
    places = (node.decimals or 0) - power
    value = node.value * Fraction(10) ** power
    return Num(value, places if places > 0 else None)


def _times_power_of_ten(p: Parser, node: Num) -> Node:
    r"""``1.2 \times 10^{-5}`` as one literal; anything else stays a product."""
    pos = p.pos
    kinds = p.kinds
    texts = p.texts
    if kinds[pos + 1] != "num" or texts[pos + 1] != "10" or kinds[pos + 2] != "^":
        return node
    pos += 3
    braced = kinds[pos] == "{"
    pos += braced
    sign = -1 if kinds[pos] == "-" else 1
    pos += kinds[pos] in ("-", "+")
    if kinds[pos] != "num" or not texts[pos].isdigit() or len(texts[pos]) > 4:
        return node
    if braced and kinds[pos + 1] != "}":
        return node
    power = sign * int(texts[pos])
    if abs(power) > EXPONENT or kinds[pos + 1 + braced] in ("^", "!"):
        return node
    p.pos = pos + 1 + braced
    return shifted(node, power)


def point(p: Parser, floor: int) -> Node:  # noqa: ARG001 - one signature for all
    r"""``.\overline{12}``: a decimal that begins with its period."""
    p.pos += 1
    node = repeating(p, "0.") if p.kinds[p.pos] == "cmd" else None
    if node is None:
        raise p.broken()
    return node


PREFIX |= {"num": number, ".": point}
