"""Is an equal answer only the question again?  ``2^{10}`` does not answer "Compute 2^{10}"."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from math import gcd
from typing import TYPE_CHECKING

from . import tree as t

if TYPE_CHECKING:
    from .gold import Gold

_FORMULA = 500  # characters of a formula that is looked for
_PROMPT = 20_000  # characters of a prompt that are searched
_SPACING = re.compile(r"\\(?:(?:left|right|displaystyle|quad)(?![a-zA-Z])|[,;:! ])|[\s$]+")
_STYLES = re.compile(r"\\[dt]frac(?![a-zA-Z])")
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_FONTS = re.compile(r"\\math(?:bf|rm|it|sf|tt)\{([^{}]*)\}")
# Letters and signs of scripts that no formula has; Greek is none of them.
_FOREIGN = "\u0400-\u1fff\u2c00-\u2dff\u2e80-\ud7ff\uf900-\ufaff\uff01-\uff1f"
_WORD = "[A-Za-z\u00c0-\u024f]{2,}"
_OPENS = re.compile(
    rf"(?:^|[$:,.;?=\n{_FOREIGN}]|\\[(\[]|(?<![\\A-Za-z]){_WORD}|\\displaystyle)\s*$"
)
_CLOSES = re.compile(rf"\s*(?:$|[$.,:;?!={_FOREIGN}]|\\[)\]]|{_WORD})")
_AROUND = re.compile(rf"^(?:[{_FOREIGN}\s]|{_WORD}(?=\s))+|(?:[{_FOREIGN}\s]|(?<=\s){_WORD})+$")
_PLUSES = re.compile(r"\+(?:\s*\+)+")

_WHOLE = (t.Num, t.Const, t.Sym, t.Choice, t.Clock, t.Date, t.Text, t.NamedSet, t.Based)


def echoes(prompt: str, answers: tuple[str, ...], gold: Gold) -> bool:
    """Whether one of the answers that were read as ``gold`` only restates the prompt.

    A finished value (a number, a point, ``x=5``, a set of numbers) is never a restatement, even
    where the prompt names it: there the question may offer it.
    """
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


def _repeated(prompt: str, answer: str) -> bool:
    if _stands_in(prompt, answer):
        return True
    question = _plain(prompt)
    given = _plain(answer)
    return any(_stands_in(question, each) for each in {given, _AROUND.sub("", given[:_FORMULA])})


def _plain(text: str) -> str:
    """Without what changes nothing: zero-width signs, full width, font commands around letters,
    repeated pluses.
    """
    return _PLUSES.sub("+", _FONTS.sub(r"\1", _UNSEEN.sub("", unicodedata.normalize("NFKC", text))))


@lru_cache(maxsize=64)  # many responses have one prompt
def _squeezed(text: str) -> str:
    return _SPACING.sub("", _STYLES.sub(r"\\frac", text))


def _stands_in(prompt: str, answer: str) -> bool:
    formula = _squeezed(answer).rstrip(".")
    if not 2 <= len(formula) <= _FORMULA or formula not in _squeezed(prompt):
        return False
    gap = r"(?:\\(?:left|right|displaystyle|[,;:! ])|\s)*"
    pattern = gap.join(map(re.escape, formula))
    text = _STYLES.sub(r"\\frac", prompt)
    return any(
        _OPENS.search(text[max(0, m.start() - 40) : m.start()]) and _CLOSES.match(text, m.end())
        for m in re.finditer(pattern, text)
    )


def _finished(node: t.Node, wanted: t.Node) -> bool:
    """Whether nothing is left to be worked out in ``node``."""
    if isinstance(node, _WHOLE):
        return True
    match node:
        case t.Neg(arg):
            return _finished(arg, wanted)
        case t.PlusMinus(None, right):
            return _finished(right, wanted)
        case t.Div(t.Num(top), t.Num(bottom)):
            return gcd(top.numerator, bottom.numerator) == 1
        case t.Add((t.Num(), t.Div() as part)):
            return _finished(part, wanted)
        case t.Mul((t.Num(), t.Const())):
            return True
        case t.Quantity(value, unit):
            same = not isinstance(wanted, t.Quantity) or wanted.unit == unit
            return same and _finished(value, wanted)
        case t.Ratio(items):
            whole = [n.value.numerator for n in items if isinstance(n, t.Num)]
            return len(whole) == len(items) and gcd(*whole) == 1
        case t.Seq(items) | t.Items(items) | t.SetOf(items) | t.Rel(items):
            return all(_finished(item, wanted) for item in items)
        case t.Matrix(rows):
            return all(_finished(item, wanted) for row in rows for item in row)
    return False
