"""From the texts that extraction found to one decision about one gold answer."""

from __future__ import annotations

import logging
from functools import lru_cache
from typing import TYPE_CHECKING

from attrs import frozen

from .extract import AMBIGUOUS, Extraction, readings

if TYPE_CHECKING:
    from .compare import Options
    from .gold import Gold
    from .tree import Node

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
    gold: Gold, extraction: Extraction, key: bytes, options: Options, *, as_text: bool
) -> Match:
    """Compare what was extracted with one gold answer.

    Several texts match when each of them is the gold, or when the gold is the list of them.
    """
    answers = extraction.answers
    each = [_one(gold, answer, key, options, as_text=as_text) for answer in answers[:8]]
    if len(answers) <= 8 and all(m.equal for m in each):
        return each[0]
    if len(answers) == 1:
        return each[0]
    if len(answers) <= 64:
        listed = _one(gold, ", ".join(answers), key, options, as_text=as_text)
        if listed.equal:
            return listed
    return Match(equal=False, how="ambiguous" if extraction.state == AMBIGUOUS else "list")


def _one(gold: Gold, answer: str, key: bytes, options: Options, *, as_text: bool) -> Match:
    if answer == gold.text:
        return Match(equal=True, how="text")
    if as_text:
        return Match(equal=same_text(gold.text, answer), how="text")
    try:
        return _decide(gold, given(answer), key, options)
    except Exception as error:  # a response must not be able to buy an unscored verdict
        from rlenv.errors import RlenvError

        if isinstance(error, RlenvError):
            raise
        _log.warning(
            "math/equal could not compare an answer of %d characters: %s",
            len(answer),
            type(error).__name__,
        )
        return Match(equal=False, how="undecided", decided=False)


def _decide(gold: Gold, read: Given, key: bytes, options: Options) -> Match:
    from .compare import decide
    from .tree import Text

    wanted = gold.node()
    if not read.nodes:
        return Match(equal=False, how="hedged" if read.hedged else "unparsed")
    tried = read.nodes if isinstance(wanted, Text) else read.nodes[-1:]
    if not isinstance(wanted, Text) and isinstance(tried[0], Text):
        return Match(equal=False, how="hedged" if read.hedged else "words")
    decision = decide(wanted, tried[0], key=key, options=options)
    for node in tried[1:]:
        if decision.equal:
            break
        decision = decide(wanted, node, key=key, options=options)
    return Match(equal=decision.equal, how=decision.how, decided=decision.decided)


@lru_cache(maxsize=1024)
def given(answer: str) -> Given:
    """Parse a stated answer: the whole of it, and only when that is mere words the value inside the sentence."""
    from .limits import Unparsed
    from .parser import parse_cached
    from .tree import Text

    texts, hedged = readings(answer)
    words: list[Node] = []
    problem = ""
    for at, text in enumerate(texts):
        try:
            node = parse_cached(text)
        except Unparsed as error:
            problem = problem or str(error)
            continue
        if not isinstance(node, Text):
            return Given((*words, node))
        if at < 2:
            words.append(node)
    return Given(tuple(words), hedged, problem)


def same_text(gold: str, answer: str) -> bool:
    """Equality of normalized text, for golds that are no mathematics that can be read."""
    from .normalize import normalize

    return normalize(gold).casefold().split() == normalize(answer).casefold().split()
