"""Number literals: grouping, repeating decimals, scientific notation, mixed numbers, bases."""

from __future__ import annotations

import re
from fractions import Fraction

from rlenv_plugin_math.limits import DIGITS, EXPONENT, Unparsed
from rlenv_plugin_math.tree import Add, Based, Clock, Div, Mul, Node, Num, Pow

from .engine import POWER, PREFIX, Parser

WORD_BASES = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "sixteen": 16,
}  # fmt: skip
_NUMERAL = re.compile(
    r"([0-9A-Z]+(?:\.[0-9A-Z]+)?)_ ?(?:\{ ?)?(?:\\(?:text|mathrm) ?\{ ?)?(\d{1,2}|[a-z]+)[} ]*"
)
_PREFIXED = {"x": 16, "X": 16, "b": 2, "B": 2, "o": 8}
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
_MERIDIEM = frozenset("ap")


def whole(text: str, at: int = 0) -> int:
    """``int(text)``, refused beyond the limit of digits."""
    if len(text) > DIGITS:
        raise Unparsed("too many digits", at)
    return int(text)


def number(p: Parser, floor: int) -> Node:
    """A literal and what belongs to it; ``floor`` at ``POWER`` or above forbids mixed numbers."""
    at = p.pos
    text = p.texts[at]
    p.pos = at + 1
    kind = p.kinds[at + 1]
    if text.isdigit():
        if kind not in _PLAIN or (kind == "," and not p.inside):
            return _continued(p, text, kind, floor)
        return Num(Fraction(whole(text, p.ats[at])))
    if text[:1] == "0" and text[1:2] in _PREFIXED:
        base = _PREFIXED[text[1]]
        return Based(text[2:].upper(), base, Fraction(int(text[2:], base)))
    if "e" in text or "E" in text:
        return _scientific(p, text)
    if text[-1] == "." or kind in ("...", "cmd", "(", "letter"):
        node = _repeating(p, text)
        if node is not None:
            return node
    if kind == "_":
        based = _based(p, at)
        if based is not None:
            return based
    if kind == "{,}" and "." not in text:
        return _continued(p, text, kind, floor)
    node = decimal(text, p.ats[at])
    return _times_power_of_ten(p, node) if kind == "*" and node.decimals else node


def decimal(text: str, at: int = 0) -> Num:
    """``12.50`` with its two decimals; ``5.`` is the integer."""
    before, _, after = text.partition(".")
    places = len(after)
    if not places:
        return Num(Fraction(whole(before, at)))
    return Num(Fraction(whole(before + after, at), 10**places), places)


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
        based = _based(p, at)
        if based is not None:
            return based
    if kind in (":", "letter", "const", "word"):
        clock = _clock(p, text)
        if clock is not None:
            return clock
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
    kinds, texts = p.kinds, p.texts
    if kinds[pos + 1] != "/" or kinds[pos + 2] != "num":
        return None
    top, bottom = texts[pos], texts[pos + 2]
    if not (top.isdigit() and bottom.isdigit()) or whole(top) >= whole(bottom):
        return None
    p.pos = pos + 3
    return _mixed(text, top, bottom)


def _mixed_frac(p: Parser, text: str) -> Node | None:
    r"""``2\frac{1}{3}``: two literals, the first smaller."""
    pos = p.pos + 1
    kinds, texts = p.kinds, p.texts
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
    kinds, texts = p.kinds, p.texts
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


def _repeating(p: Parser, text: str) -> Num | None:
    r"""``0.1\overline{6}``, ``0.\dot{3}``, ``0.1(6)``, ``0.333...``."""
    pos = p.pos
    kinds, texts = p.kinds, p.texts
    kind = kinds[pos]
    if kind == "...":
        p.pos += 1
        return _ellipsis(text, p.ats[pos])
    if p.gaps[pos] and kind != "cmd":
        return None
    if (
        kind == "("
        and kinds[pos + 1] == "num"
        and kinds[pos + 2] == ")"
        and texts[pos + 1].isdigit()
    ):
        p.pos = pos + 3
        return repeat(text, texts[pos + 1], p.ats[pos])
    if kind == "cmd" and texts[pos] in ("overline", "bar", "dot", "overarc", "widehat"):
        return _dotted(p, text)
    return None


def _dotted(p: Parser, text: str) -> Num | None:
    pos = p.pos
    kinds, texts = p.kinds, p.texts
    dots = texts[pos] == "dot"
    digits = ""
    last = pos
    while kinds[pos] == "cmd" and texts[pos] in ("overline", "bar", "dot"):
        braced = kinds[pos + 1] == "{"
        at = pos + 1 + braced
        if kinds[at] != "num" or not texts[at].isdigit() or (braced and kinds[at + 1] != "}"):
            return None
        if not braced and len(texts[at]) > 1:
            return None
        digits += texts[at]
        pos = last = at + 1 + braced
        if not dots:
            break
        if (
            kinds[pos] == "num"
            and texts[pos].isdigit()
            and kinds[pos + 1] == "cmd"
            and texts[pos + 1] == "dot"
        ):
            digits += texts[pos]
            pos += 1
    p.pos = last
    return repeat(text, digits, p.ats[last])


def repeat(text: str, period: str, at: int = 0) -> Num:
    """``text`` (``0.1``) with ``period`` behind it for ever."""
    before, _, after = text.partition(".")
    nines = 10 ** len(period) - 1
    scale = 10 ** len(after)
    value = whole((before or "0") + after, at) * nines + whole(period, at)
    return Num(Fraction(value, nines * scale), None, repeating=True)


def _ellipsis(text: str, at: int) -> Num:
    """A decimal that goes on: repeating when its end repeats visibly, else cut off."""
    before, _, after = text.partition(".")
    for width in range(1, min(len(after) // 2, 12) + 1):
        period = after[-width:]
        start = len(after)
        while start >= width and after[start - width : start] == period:
            start -= width
        times = (len(after) - start) // width
        if times >= 3 or (times == 2 and (width > 1 or start == 0)):
            return repeat(f"{before}.{after[:start]}", period, at)
    return decimal(text, at)


def _based(p: Parser, at: int) -> Node | None:
    """``101_2``, ``1A_{16}`` from the text where the token at ``at`` begins."""
    match = _NUMERAL.match(p.source, p.ats[at])
    if match is None:
        return None
    name = match.group(2)
    base = int(name) if name.isdigit() else WORD_BASES.get(name, 0)
    node = based(match.group(1), base)
    if node is not None:
        end = match.end()
        while p.ats[p.pos] < end and p.kinds[p.pos] != "end":
            p.pos += 1
    return node


def based(digits: str, base: int) -> Based | None:
    """The numeral, or None when a digit does not fit the base."""
    if not 2 <= base <= 36 or len(digits) > DIGITS:
        return None
    before, _, after = digits.upper().partition(".")
    try:
        value = Fraction(int(before + after, base), base ** len(after))
    except ValueError:
        return None
    return Based(digits.upper(), base, value)


def hexadecimal(p: Parser) -> Node | None:
    """``FF_{16}``, ``A5_{12}``: a numeral that begins with the letter just read."""
    at = p.pos - 1
    match = _NUMERAL.match(p.source, p.ats[at])
    if match is None or len(match.group(1)) < 2:
        return None
    if match.group(2) != "16" and match.group(1).isalpha():
        return None
    return _based(p, at)


def _clock(p: Parser, text: str) -> Clock | None:
    """``3:45 pm``, ``07:05``, ``10:20:30``, ``3 pm``; without a sign of time it stays a ratio."""
    pos = p.pos - 1
    parts = [text]
    while (
        p.kinds[pos + 1] == ":"
        and p.kinds[pos + 2] == "num"
        and not p.gaps[pos + 1]
        and not p.gaps[pos + 2]
        and len(parts) < 3
    ):
        parts.append(p.texts[pos + 2])
        pos += 2
    if any(len(part) != 2 or not part.isdigit() for part in parts[1:]) or len(text) > 2:
        return None
    half, pos = _meridiem(p, pos + 1)
    zero = any(part[0] == "0" and len(part) == 2 for part in parts)
    if not half and (len(parts) == 1 or not (zero or len(parts) == 3)):
        return None
    hour, minute, second = (*map(int, parts), 0, 0)[:3]
    if hour > 23 or minute > 59 or second > 59 or (half and not 1 <= hour <= 12):
        return None
    if half:
        hour = hour % 12 + 12 * (half == "pm")
    p.pos = pos
    return Clock(3600 * hour + 60 * minute + second, half)


def _meridiem(p: Parser, pos: int) -> tuple[str, int]:
    """ "am" or "pm" and the place behind it, or "" and the same place."""
    kinds, texts = p.kinds, p.texts
    word = texts[pos].lower()
    if kinds[pos] in ("word", "letter") and word in ("am", "pm"):
        return word, pos + 1
    if kinds[pos] in ("letter", "const") and word in _MERIDIEM:
        after = pos + 1 + (kinds[pos + 1] == ".")
        if texts[after].lower() == "m" and kinds[after] == "letter":
            after += 1
            return word + "m", after + (kinds[after] == ".")
    return "", pos


PREFIX["num"] = number
