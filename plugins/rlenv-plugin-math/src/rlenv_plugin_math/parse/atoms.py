"""Names and what they stand for: variables, constants, functions with their arguments, words."""

from __future__ import annotations

from fractions import Fraction

from rlenv_plugin_math import units, words
from rlenv_plugin_math.limits import words_of
from rlenv_plugin_math.phrases import phrase
from rlenv_plugin_math.tree import (
    Add,
    Call,
    Choice,
    Const,
    Div,
    Node,
    Num,
    Pow,
    Sym,
    Text,
)

from .bases import hexadecimal
from .engine import PREFIX, PRODUCT, RELATION, Parser, Prose
from .functions import MINUS_ONE, arguments
from .operators import differential, script

_CALLED = words_of("f g h F G H phi Gamma zeta psi Phi Psi P Q T")
_ALWAYS = words_of("f g h F G H phi Gamma zeta psi Phi Psi")
_HEX = "ABCDEF"
_DETERMINERS = frozenset(("a", "an", "the", "on"))
_OPEN = frozenset(("(", "[", "{", "l|", "|", "lnorm"))
_PHRASE_ENDS = frozenset(
    (
        "end",
        ",",
        ";",
        "and",
        "or",
        "rel",
        ")",
        "]",
        "}",
        "\\}",
        "&",
        "row",
        "implies",
        "mid",
        "|",
        ":",
        "land",
        "lor",
        "endenv",
        "r.",
        "except",
    )
)


def letter(p: Parser, floor: int) -> Node:
    """A variable with its subscript and primes, or the call of a function letter."""
    if p.diff == "" and p.texts[p.pos] == "d" and differential(p):
        return Num(Fraction(1))
    name = p.texts[p.pos]
    p.pos += 1
    kind = p.kinds[p.pos]
    if kind == "word" and name in "aAI" and floor <= RELATION:
        p.pos -= 1
        return word(p, floor)
    if "_" in p.source and name in _HEX and (node := hexadecimal(p)) is not None:
        return node
    if name == "I" and "\\" not in p.source and "*" in (kind, p.kinds[p.pos - 2]):
        return Const("i")  # as programs print it
    if kind == "_":
        name = f"{name}_{below(p)}"
        kind = p.kinds[p.pos]
        if kind == "^" and name.startswith(("C_", "P_", "A_")):
            return _chosen(p, name)
    while kind == "'" and p.gaps[p.pos] == 0:
        name += "'"
        p.pos += 1
        kind = p.kinds[p.pos]
    if kind == "(" or (kind == "^" and name in _ALWAYS):
        return _maybe_call(p, name)
    return Sym(name)


def below(p: Parser) -> str:
    """The text of a subscript, without braces and spaces; the underscore is here."""
    p.pos += 1
    kind = p.kinds[p.pos]
    if kind == "{":
        start = p.pos + 1
        depth = 1
        while depth:
            p.pos += 1
            kind = p.kinds[p.pos]
            if kind == "end":
                raise p.broken()
            depth += (kind == "{") - (kind == "}")
        p.pos += 1
        return "".join(p.texts[start : p.pos - 1])
    if kind in ("end", ")", "}", ","):
        raise p.broken()
    p.pos += 1
    return p.texts[p.pos - 1]


def _chosen(p: Parser, name: str) -> Node:
    """``C_5^2`` is a binomial coefficient when both are numbers or both are letters; ``P_5^2``
    counts orders.
    """
    n = name[2:]
    p.pos += 1
    k = script(p)
    if name[0] != "C":
        counted = n.isdigit() and type(k) is Num
        return Call("P", (Num(Fraction(int(n))), k)) if counted else Pow(Sym(name), k)
    if (n.isdigit() and type(k) is Num) or (n == "n" and type(k) is Sym):
        return Call("binomial", (Num(Fraction(int(n))) if n.isdigit() else Sym(n), k))
    return Pow(Sym(name), k)


def _maybe_call(p: Parser, name: str) -> Node:
    root = name.rstrip("'").partition("_")[0]
    pos = p.pos
    if p.kinds[pos] == "^":
        p.pos += 1
        exponent = script(p)
        if exponent == MINUS_ONE and p.kinds[p.pos] == "(":
            return Call(f"{name}^-1", arguments(p))
        p.pos = pos
        return Sym(name)
    if p.gaps[pos] and root not in _ALWAYS:
        return Sym(name)
    if p.kinds[pos + 1 : pos + 3] == ["letter", ")"] and (
        p.kinds[pos + 3] == "rel" or (root.isupper() and len(root) == 1)
    ):
        return Call(name, arguments(p))
    if root in _ALWAYS or name.endswith("'"):
        return Call(name, arguments(p)) if name != "Gamma" else _gamma(arguments(p))
    if root in "CP" and len(root) == 1 and p.kinds[pos + 1 : pos + 5] == ["num", ",", "num", ")"]:
        args = arguments(p)
        return Call("binomial" if root == "C" else name, args)
    if root in _CALLED or (len(root) == 1 and root.isupper()):
        return _call_if_list(p, name)
    return Sym(name)


def _gamma(args: tuple[Node, ...]) -> Node:
    """``\\Gamma(n + 1)`` is n!."""
    if len(args) != 1 or type(args[0]) not in (Num, Sym, Add, Div):
        return Call("Gamma", args)
    arg = args[0]
    if type(arg) is Num:
        return Call("factorial", (Num(arg.value - 1),))
    if type(arg) is Add and arg.args[-1] == Num(Fraction(1)):
        return Call("factorial", (arg.args[0] if len(arg.args) == 2 else Add(arg.args[:-1]),))
    return Call("factorial", (Add((arg, Num(Fraction(-1)))),))


def _call_if_list(p: Parser, name: str) -> Node:
    """``P(1, 2)`` and ``P(X = 1)`` are calls; ``P(x + 1)`` may be a product and so may ``A(1,
    2)``.
    """
    depth = 0
    listed = False
    bars: list[int] = []
    for pos in range(p.pos, len(p.kinds)):
        kind = p.kinds[pos]
        depth += (kind == "(") - (kind == ")")
        if depth == 0:
            break
        if depth == 1 and kind == "|":
            bars.append(pos)
        listed |= depth == 1 and kind in (",", "rel", "mid", "setop")
    if len(bars) == 1:
        p.kinds[bars[0]] = "mid"  # P(A|B)
    return Call(name, arguments(p)) if listed or len(bars) == 1 else Sym(name)


def constant(p: Parser, floor: int) -> Node:  # noqa: ARG001 - one signature for all
    name = p.texts[p.pos]
    p.pos += 1
    if p.kinds[p.pos] == "_":
        return Sym(f"{name}_{below(p)}")
    return Const(name)


def word(p: Parser, floor: int) -> Node:
    """A number in words, a named unit used as a name, a known phrase, or a phrase of plain
    words.
    """
    taken = _upcoming(p)
    found = words.number([text for text, _ in taken])
    if found is not None:
        node, used = found
        p.pos = taken[used - 1][1]
        return node
    if p.texts[p.pos].lower() in ("option", "choice", "answer"):
        chosen = _option(p)
        if chosen is not None:
            return chosen
    if _is_money(p):
        return PREFIX["cur"](p, floor)
    if floor > RELATION or _fills_braces(p):
        return _letters(p)
    return _phrase(p)


def _fills_braces(p: Parser) -> bool:
    r"""Two letters alone in the argument of a command: ``\frac{at}{2}``, ``\frac{NO}{BO}``."""
    at = p.pos
    if len(p.texts[at]) != 2 or p.upright[at] or at < 2:
        return False
    around = p.kinds[at - 1], p.kinds[at + 1]
    if around == ("(", ")"):
        return p.kinds[at - 2] == "fn"  # \\sin(at)
    return around == ("{", "}") and p.kinds[at - 2] in ("cmd", "^", "}")


def _option(p: Parser) -> Node | None:
    """``option B``, ``choice (B)``."""
    pos = p.pos + 1
    bracket = p.kinds[pos] == "("
    pos += bracket
    letter = p.texts[pos].upper()
    if p.kinds[pos] not in ("letter", "const") or len(letter) != 1 or not letter.isalpha():
        return None
    if bracket and p.kinds[pos + 1] != ")":
        return None
    p.pos = pos + 1 + bracket
    return Choice(letter)


def _is_money(p: Parser) -> bool:
    """``USD 20``, ``Rs. 500``: steps to the last token before the number and makes it the
    currency.
    """
    pos = p.pos + (p.kinds[p.pos + 1] == ".")
    name = units.lookup(p.texts[p.pos]) if p.kinds[pos + 1] == "num" else None
    if name is None or not units.is_currency(((name, 1),)):
        return False
    p.pos = pos
    p.texts[pos] = name
    return True


def _upcoming(p: Parser) -> list[tuple[str, int]]:
    """Words from here on in lower case, with the place behind each; a hyphen between is skipped."""
    taken: list[tuple[str, int]] = []
    pos = p.pos
    while p.kinds[pos] in ("word", "and", "letter") and len(taken) < 16:
        taken.append((p.texts[pos].lower(), pos + 1))
        pos += 1
        if p.kinds[pos] == "-" and p.kinds[pos + 1] == "word":
            pos += 1
    return taken


def _letters(p: Parser) -> Node:
    """A short word inside an expression is a product of letters (``ms`` in ``3ms + 1``), else
    prose.
    """
    at = p.pos
    text = p.texts[at]
    glued = p.gaps[at] == 0 or (p.gaps[at + 1] == 0 and p.kinds[at + 1] != "end")
    product = words.is_product(text) or (len(text) == 2 and glued)
    if len(text) > 3 or not product or p.upright[at]:
        raise Prose
    for row, value in ((p.kinds, "letter"), (p.gaps, 0), (p.ats, p.ats[at]), (p.upright, False)):
        row[at : at + 1] = [value] * len(text)  # type: ignore[list-item]
    p.texts[at : at + 1] = list(text)
    return letter(p, PRODUCT)


def _phrase(p: Parser) -> Node:
    start = p.pos
    parts: list[str] = []
    while p.kinds[p.pos] in ("word", "letter", "const", "'", ".") or (
        p.kinds[p.pos] == "-" and p.kinds[p.pos + 1] == "word"
    ):
        glue = "" if p.gaps[p.pos] == 0 and p.pos > start else " "
        parts.append(glue + p.texts[p.pos])
        p.pos += 1
    text = "".join(parts).strip().casefold()
    if p.pos == start + 1 and p.kinds[p.pos] not in _PHRASE_ENDS and words.is_product(text):
        p.pos = start
        return _letters(p)
    if p.kinds[p.pos] not in _PHRASE_ENDS:
        raise Prose
    if p.kinds[p.pos] == "rel" and len(parts) > 1 and p.kinds[p.pos - 1] != "word":
        raise Prose  # therefore x = 5
    if text.partition(" ")[0] in _DETERMINERS and " " in text:
        text = text.partition(" ")[2]
    known = phrase(text)
    return Text(text) if known is None else known


def angle(p: Parser, floor: int) -> Node:  # noqa: ARG001 - one signature for all
    r"""``\angle ABC`` is one name."""
    p.pos += 1
    braced = p.take("{")
    first = p.pos
    while p.kinds[p.pos] in ("letter", "word", "num") and (p.gaps[p.pos] == 0 or p.pos == first):
        p.pos += 1
    if p.pos == first:
        raise p.broken()
    name = "".join(p.texts[first : p.pos])
    if len(name) == 3:
        name = min(name, name[::-1])  # either way around
    if braced:
        p.expect("}")
    return Sym(f"angle {name}")


PREFIX |= {"angle": angle, "letter": letter, "const": constant, "word": word}
