"""The score that a judge expects, from the log-probabilities of the tokens that write it.

For a value written in tokens t1 … tn, each alternative of each token is a value that might have
been written, with probability p(t1) … p(t(k-1)) * p(alternative); what is no valid value is left
out and the rest sums to 1. Where an alternative only begins a number of several digits, the middle
of those it may begin stands for it, and the estimator is called approximate.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from rlenv_plugin_judge.transport.request import Reply, Token

from .verdict import Field, openings

# less than this of the probability on valid values: the verdict itself is the better estimate
LEAST_MASS = 0.5
_NUMBER = re.compile(r"-?[0-9]{1,12}(\.[0-9]{0,12})?")
_END = ',}\n\r\t "'


@frozen
class _Leaf:
    """One way to go on: the value's text so far, its probability, whether the text ends the
    value.
    """

    text: str
    chance: float
    ends: bool


def expected_of(
    reply: Reply, nonce: str, fields: Sequence[Field], values: Mapping[str, Any]
) -> tuple[dict[str, float], str]:
    """Expectations by field (see Verdict.expected) and the name of the estimator.

    ({}, "verdict") where there are no log-probabilities, or they do not spell the reply, for any
    field.
    """
    if not reply.logprobs:
        return {}, "verdict"
    spelled = "".join(t.text for t in reply.logprobs)
    begins = [m.end() for m in openings(spelled, nonce)]
    # A server may keep the thoughts in front to itself.
    same = spelled.strip().endswith(reply.text.strip())
    if not same or len(begins) != 1:
        return {}, "verdict"
    expected: dict[str, float] = {}
    exact = True
    for one in fields:
        span = _span(spelled, begins[0], one)
        leaves = _leaves(reply.logprobs, *span) if span else []
        found = _estimate(one, values[one.name], leaves)
        if found is None:
            return {}, "verdict"
        expected.update(found[0])
        exact = exact and found[1]
    return expected, "logprobs" if exact else "logprobs-approximate"


def _span(text: str, at: int, one: Field) -> tuple[int, int] | None:
    """Where the value stands; the reason comes last, so the first such key after the nonce is the
    field.
    """
    key = re.compile(re.escape(json.dumps(one.name, ensure_ascii=False)) + r"[ \t\r\n]*:[ \t\r\n]*")
    found = key.search(text, at)
    if not found:
        return None
    start = found.end() + (one.kind == "choice")
    stop = start
    while stop < len(text) and text[stop] not in ('"' if one.kind == "choice" else _END):
        stop += 1
    return (start, stop) if stop > start else None


def _leaves(tokens: Sequence[Token], start: int, stop: int) -> list[_Leaf]:
    """Every alternative along the tokens of ``[start, stop)``, and what was written."""
    leaves: list[_Leaf] = []
    offset = 0
    prefix = ""
    chance = 1.0
    for token in tokens:
        end = offset + len(token.text)
        if end > start and offset <= stop and token.text:
            lead = max(0, start - offset)  # the token may begin before the value
            before = token.text[:lead]
            for text, log in token.top:
                if text != token.text and text.startswith(before):
                    leaves.append(_leaf(prefix, text[lead:], chance * math.exp(log)))
            chance *= math.exp(token.logprob)
            prefix += token.text[lead:]
            if end > stop:
                break
        offset = end
    leaves.append(_leaf("", prefix, chance))
    return leaves


def _leaf(prefix: str, rest: str, chance: float) -> _Leaf:
    text = prefix + rest
    for i, char in enumerate(text):
        if char in _END and text[:i].strip():
            return _Leaf(text[:i], chance, ends=True)
    return _Leaf(text, chance, ends=False)


def _estimate(
    one: Field, value: Any, leaves: Sequence[_Leaf]
) -> tuple[dict[str, float], bool] | None:
    if one.kind == "number":
        return _mean(one, value, leaves)
    options = ("true", "false") if one.kind == "bool" else one.choices
    shares = dict.fromkeys(options, 0.0)
    for leaf in leaves:
        meant = [
            o for o in options if o == leaf.text or (not leaf.ends and o.startswith(leaf.text))
        ]
        if leaf.text and len(meant) == 1:
            shares[meant[0]] += leaf.chance
    mass = sum(shares.values())
    if mass < LEAST_MASS:
        return None
    if one.kind == "bool":
        return {one.name: shares["true"] / mass}, True
    return {f"{one.name}={o}": p / mass for o, p in shares.items()}, True


def _mean(
    one: Field, value: float, leaves: Sequence[_Leaf]
) -> tuple[dict[str, float], bool] | None:
    written = leaves[-1].text.strip() if leaves else ""
    if not _NUMBER.fullmatch(written) or float(written) != value:
        return None
    digits = len(written.lstrip("-").partition(".")[0])
    mass = total = unsure = 0.0
    for leaf in leaves:
        text = leaf.text.strip()
        if not _NUMBER.fullmatch(text):
            continue
        number, sure = _meant(text, digits, one, ends=leaf.ends)
        if one.low <= number <= one.high:
            mass += leaf.chance
            total += leaf.chance * number
            unsure += 0.0 if sure else leaf.chance
    if mass < LEAST_MASS:
        return None
    return {one.name: min(one.high, max(one.low, total / mass))}, unsure < 1e-3 * mass


def _meant(text: str, digits: int, one: Field, *, ends: bool) -> tuple[float, bool]:
    """The number that ``text`` is or, where it may go on, the middle of those with ``digits``
    digits.
    """
    number = float(text)
    have = len(text.lstrip("-").partition(".")[0])
    if ends or "." in text:
        return number, True
    missing = digits - have
    if missing > 0:
        low = number * 10**missing
        high = (number + 1) * 10**missing - 1
        low = max(low, one.low)
        high = min(high, one.high)
        return ((low + high) / 2, False) if low <= high else (number, True)
    return number, number == 0 or not one.low <= number * 10 <= one.high
