"""From the texts that extraction found to one decision about one gold answer."""

from __future__ import annotations

import logging
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from rlenv import RlenvError

from rlenv_plugin_math.held import frozen

from .compare.decide import decide
from .extract import AMBIGUOUS, Extraction, readings
from .extract.patterns import pattern
from .languages.numbers import spellings
from .normalize import normalize
from .parser import Unparsed, parse_cached
from .parts import has_words
from .tree import Items, Logic, Node, Num, Piecewise, Quantity, SetOf, Text
from .units import convert

if TYPE_CHECKING:
    from .compare.options import Key, Options
    from .gold import Gold
    from .units import Unit

_RIVALS = 8  # answers that are compared with the gold one by one
_ITEMS = 64  # answers that may be one list
_log = logging.getLogger("rlenv")


@frozen
class Match:
    """Whether a response's answer equals one gold answer, and what said so."""

    equal: bool
    how: str
    decided: bool = True


@frozen
class Given:
    """What was read of one stated answer: the nodes it may be, best first, or why it is none."""

    nodes: tuple[Node, ...] = ()
    hedged: bool = False
    problem: str = ""


def match(
    gold: Gold, extraction: Extraction, key: Key, options: Options, *, as_text: bool
) -> Match:
    """Compare what was extracted with one gold answer.

    Several texts match when each of them is the gold, or when the gold is the list of them.
    """
    answers = extraction.answers
    wanted = None if as_text else gold.node()
    each = [
        _spelled(gold, wanted, spellings(answer, commas=extraction.commas), key, options)
        for answer in answers[:_RIVALS]
    ]
    if len(answers) == 1:
        return each[0]
    if len(answers) <= _RIVALS and all(m.equal for m in each):
        return each[0]
    if wanted is not None and len(answers) <= _ITEMS and _as_list(wanted, answers, key, options):
        return Match(equal=True, how="list")
    return Match(equal=False, how="ambiguous" if extraction.state == AMBIGUOUS else "list")


def _as_list(wanted: Node, answers: tuple[str, ...], key: Key, options: Options) -> bool:
    """Whether several answers together are the gold answer, each item claimed."""

    def listed() -> Given:
        items: list[Node] = []
        for answer in answers:
            read = given(answer)
            if not read.nodes or read.hedged:
                return Given()
            node = read.nodes[-1]
            items += node.items if isinstance(node, Items) else [node]
        return Given((Items(tuple(items)),))

    return _guarded(wanted, listed, key, options).equal


def _guarded(wanted: Node, read: Callable[[], Given], key: Key, options: Options) -> Match:
    """The decision; a response must not be able to buy an unscored verdict, so what breaks on it is
    undecided.
    """

    try:
        return _decide(wanted, read(), key, options)
    except RlenvError:
        raise
    except Exception as error:  # noqa: BLE001 - what broke is logged, and worth a 0
        _log.warning("math/equal could not compare an answer: %s", type(error).__name__)
        return Match(equal=False, how="undecided", decided=False)


def _one(gold: Gold, wanted: Node | None, answer: str, key: Key, options: Options) -> Match:
    if answer == gold.text:
        return Match(equal=True, how="text")
    if wanted is None:
        return Match(equal=same_text(gold.text, answer), how="text")
    return _guarded(wanted, lambda: given(answer), key, options)


def _spelled(
    gold: Gold, wanted: Node | None, answers: tuple[str, ...], key: Key, options: Options
) -> Match:
    """The decision about one answer, which a comma may give several readings."""
    tried = [_one(gold, wanted, answer, key, options) for answer in answers]
    equal = next((found for found in tried if found.equal), None)
    both = restated(answers[-1]) if wanted is not None else None
    if both is None or (equal is not None and equal.how == "text"):
        return equal or tried[0]
    chain = _one(gold, wanted, r" \approx ".join(both), key, options)
    if equal is None:
        return chain if chain.equal else tried[0]
    return equal if chain.equal or not _contradict(*both) else Match(equal=False, how="ambiguous")


def restated(answer: str) -> tuple[str, str] | None:
    """A value and the same one in another unit or form: "12 cm (120 mm)", "0.5 (i.e. 50%)"."""
    if (
        len(answer) > _RESTATED
        or not answer.rstrip(" .*$").endswith((")", "）"))
        or "\\text" in answer
    ):
        return None
    mark = _restatement().fullmatch(answer.replace("**", ""))
    return (readings(mark[1].strip())[0][-1], mark[2].strip()) if mark else None


_RESTATED = 120  # characters of a value and its restatement
_restatement = pattern(
    r"([^()（）]*?[\d\\½⅓⅔¼¾][^()（）]*?)(?:\s+|(?<=\d))[(（]\s*(?:(?:i\.?e\.?|that\s+is|or|which\s+is|equivalently|about|approximately|approx\.?|roughly|=|≈|\\approx)[\s,:]*)*([^()（）=,;]*?\d[^()（）=,;]*)[)）][\s.$]*"
)


def _contradict(first: str, second: str) -> bool:
    """Whether two measures of one dimension differ by more than rounding."""
    one, other = (_measured(text) for text in (first, second))
    if one is None or other is None or one[1] != other[1]:
        return False
    return abs(one[0] - other[0]) > max(abs(one[0]), abs(other[0])) / _ROUNDED


_ROUNDED = 20


def _measured(text: str) -> tuple[Fraction, Unit] | None:
    """The value of a number with a unit of the table in base units, and their dimension."""
    nodes = given(text).nodes
    node = nodes[-1] if nodes else None
    if not isinstance(node, Quantity) or not isinstance(node.value, Num):
        return None
    factor, dimension = convert(node.unit)
    return (node.value.value * factor, dimension) if dimension else None


def _decide(wanted: Node, read: Given, key: Key, options: Options) -> Match:
    if (
        read.hedged
        and type(wanted) is not Text
        and not any(isinstance(n, (Items, Logic, Piecewise)) for n in read.nodes)
    ):
        return Match(equal=False, how="hedged")
    if not read.nodes:
        return Match(equal=False, how="unparsed")
    tried = read.nodes if has_words(wanted) else read.nodes[-1:]
    if type(tried[0]) is Text and type(wanted) is not Text and wanted != SetOf(()):
        return Match(equal=False, how="words")
    for node in tried:
        decision = decide(wanted, node, key=key, options=options)
        if decision.equal:
            break
    if not decision.equal and _is_one_value(wanted, tried[0], key, options):
        return Match(equal=True, how="each")
    return Match(equal=decision.equal, how=decision.how, decided=decision.decided)


def _is_one_value(wanted: Node, node: Node, key: Key, options: Options) -> bool:
    """ "1/4, or 25%": one value in several notations, each of which is the answer."""
    if type(node) is not Logic or node.op != "or" or len(node.args) > _RIVALS:
        return False
    if isinstance(wanted, (Items, Logic, SetOf)):
        return False
    return all(decide(wanted, arg, key=key, options=options).equal for arg in node.args)


@lru_cache(maxsize=1024)
def given(answer: str) -> Given:
    """Parse a stated answer: the whole of it, and where that holds mere words the value inside the
    sentence.
    """
    texts, hedged = readings(answer)
    nodes: list[Node] = []
    problem = ""
    for text in texts:
        try:
            node = parse_cached(text)
        except Unparsed as error:
            problem = problem or str(error)
            continue
        nodes.append(node)
        if not has_words(node):
            break
    return Given(tuple(nodes), hedged, problem)


def same_text(gold: str, answer: str) -> bool:
    """Equality of normalized text, for golds that are no mathematics that can be read."""
    return normalize(gold).casefold().split() == normalize(answer).casefold().split()
