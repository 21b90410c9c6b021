"""Is an equal answer only the question again?  ``2^{10}`` does not answer "Compute 2^{10}"."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from math import gcd
from typing import TYPE_CHECKING

from .tree import (
    Add,
    Based,
    Choice,
    Clock,
    Const,
    Date,
    Div,
    Items,
    Matrix,
    Mul,
    NamedSet,
    Neg,
    Node,
    Num,
    PlusMinus,
    Quantity,
    Ratio,
    Rel,
    Seq,
    SetOf,
    Sym,
    Text,
)

if TYPE_CHECKING:
    from .gold import Gold

_FORMULA = 500  # characters of a formula that is looked for
_PROMPT = 20_000  # characters of a prompt that are searched
_SPACING = re.compile(r"\\(?:(?:left|right|displaystyle|quad)(?![a-zA-Z])|[,;:! ])|[\s$]+")
_STYLES = re.compile(r"\\[dt]frac(?![a-zA-Z])")
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_FONTS = re.compile(r"\\math(?:bf|rm|it|sf|tt)\{([^{}]*)\}")
_OPENS = re.compile(r"(?:^|[$:,.;?=\n]|\\[(\[]|(?<![\\A-Za-z])[A-Za-z]{2,}|\\displaystyle)\s*$")
_CLOSES = re.compile(r"\s*(?:$|[$.,;:?!=]|\\[)\]]|[A-Za-z]{2,})")


def echoes(prompt: str, answers: tuple[str, ...], gold: Gold) -> bool:
    """Whether one of the answers that were read as ``gold`` only restates the prompt."""
    from .extract import readings
    from .match import given

    wanted = gold.node()
    for answer in answers:
        nodes = given(answer).nodes
        if not nodes or _finished(nodes[-1], wanted):
            continue
        if any(_repeated(prompt[:_PROMPT], text) for text in readings(answer)[0]):
            return True
    return False


def restates(prompt: str, answer: str, given: Node, wanted: Node) -> bool:
    """Whether ``answer`` is an unfinished formula that stands, sign for sign, in ``prompt``.

    A finished value (a number, a point, ``x=5``, a set of numbers) is never a restatement, even where the
    prompt names it: there the question may offer it.  ``given`` and ``wanted`` are the trees of the answer
    and of the gold.
    """
    return not _finished(given, wanted) and _repeated(prompt[:_PROMPT], answer)


def _repeated(prompt: str, answer: str) -> bool:
    if _stands_in(prompt, answer):
        return True
    bare = _plain(prompt), _plain(answer)
    return bare != (prompt, answer) and _stands_in(*bare)


def _plain(text: str) -> str:
    """Without what cannot be seen: zero-width signs, full width, font commands around letters."""
    return _FONTS.sub(r"\1", _UNSEEN.sub("", unicodedata.normalize("NFKC", text)))


@lru_cache(maxsize=64)  # many responses have one prompt
def _squeezed(text: str) -> str:
    return _SPACING.sub("", _STYLES.sub(r"\\frac", text))


def _stands_in(prompt: str, answer: str) -> bool:
    formula = _squeezed(answer).rstrip(".")
    if not 2 <= len(formula) <= _FORMULA:
        return False
    if formula not in _squeezed(prompt):
        return False
    gap = r"(?:\\(?:left|right|displaystyle|[,;:! ])|\s)*"
    pattern = gap.join(map(re.escape, formula))
    text = _STYLES.sub(r"\\frac", prompt)
    return any(
        _OPENS.search(text[max(0, m.start() - 40) : m.start()]) and _CLOSES.match(text, m.end())
        for m in re.finditer(pattern, text)
    )


def _finished(node: Node, wanted: Node) -> bool:
    """Whether nothing is left to be worked out in ``node``."""
    match node:
        case Num() | Const() | Sym() | Choice() | Clock() | Date() | Text() | NamedSet() | Based():
            return True
        case Neg(arg):
            return _finished(arg, wanted)
        case PlusMinus(None, right):
            return _finished(right, wanted)
        case Div(Num(top), Num(bottom)):
            return gcd(top.numerator, bottom.numerator) == 1
        case Add((Num(), Div() as part)):
            return _finished(part, wanted)
        case Mul((Num(), Const())):
            return True
        case Quantity(value, unit):
            same = not isinstance(wanted, Quantity) or wanted.unit == unit
            return same and _finished(value, wanted)
        case Ratio(items):
            whole = [n.value.numerator for n in items if isinstance(n, Num)]
            return len(whole) == len(items) and gcd(*whole) == 1
        case Seq(items) | Items(items) | SetOf(items) | Rel(items):
            return all(_finished(item, wanted) for item in items)
        case Matrix(rows):
            return all(_finished(item, wanted) for row in rows for item in row)
    return False
