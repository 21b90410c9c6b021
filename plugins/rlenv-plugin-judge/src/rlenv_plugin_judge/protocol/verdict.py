"""A judge's verdict: one JSON object that carries the call's nonce.

The nonce is the first key, then come the values, and the reason is last.  The values count as soon
as the reason begins, so whatever a careless judge quotes there without escaping it can neither
change a verdict nor spoil it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NoReturn

from attrs import field, frozen
from rlenv import ConfigError

from rlenv_plugin_judge.transport.request import Usage

_RESERVED = ("nonce", "reason")
_OPENING = re.compile(r'\{[ \t\r\n]*"nonce"[ \t\r\n]*:[ \t\r\n]*"(\w{1,64})"')
_REASON = re.compile(r',[ \t\r\n]*"reason"[ \t\r\n]*:[ \t\r\n]*(?=")')
_REPEATS = 16  # verdicts in one reply, all alike; a model that goes on repeating itself gives none
_DIGITS = 40  # characters of a number; more is no score


def _tupled(choices: Iterable[str]) -> tuple[str, ...]:
    return tuple(choices)


@frozen
class Field:
    """One value of a verdict: a number in [low, high], one of ``choices``, or true/false."""

    name: str
    kind: Literal["number", "choice", "bool"] = "number"
    low: float = 0.0
    high: float = 1.0
    choices: tuple[str, ...] = field(default=(), converter=_tupled)

    def __attrs_post_init__(self) -> None:
        if not self.name or self.name in _RESERVED or not self.name.isprintable():
            raise ConfigError(f"field {self.name!r}: a name other than {' and '.join(_RESERVED)}")
        if self.kind == "number" and not -math.inf < self.low < self.high < math.inf:
            raise ConfigError(f"field {self.name!r}: low must be less than high, both finite")
        if self.kind == "choice" and len(set(self.choices)) < max(2, len(self.choices)):
            raise ConfigError(f"field {self.name!r}: at least two choices, all different")


@frozen
class Verdict:
    """What a judge said, checked.

    Args:
        values: field name to float, str or bool.
        expected: from log-probabilities, else empty: number field to its mean, bool field to the
            chance of true, ``"field=choice"`` to that choice's chance.
        usage: of all attempts, cached ones included as recorded.
        attempts: how many replies it took, at least 1.
        estimator: ``verdict``, ``logprobs`` or ``logprobs-approximate``.
    """

    values: Mapping[str, Any]
    reason: str = ""
    expected: Mapping[str, float] = field(factory=dict)
    usage: Usage = field(factory=Usage)
    model: str = ""
    endpoint: str = ""
    cached: bool = False
    attempts: int = 1
    estimator: str = "verdict"


class NoVerdict(ValueError):
    """The judge's reply holds no valid verdict; the message says why and quotes nothing of it."""


@frozen
class Found:
    """A valid verdict within a reply."""

    values: Mapping[str, Any]
    reason: str


def schema(fields: Sequence[Field], nonce: str) -> dict[str, Any]:
    """The form of a verdict as ``response_format`` of chat completions: nonce first, reason
    last.
    """
    kinds: dict[str, Any] = {"number": {"type": "number"}, "bool": {"type": "boolean"}}
    own = {f.name: kinds.get(f.kind, {"type": "string", "enum": list(f.choices)}) for f in fields}
    nonces = {"type": "string", "enum": [nonce]}
    form: dict[str, Any] = {"nonce": nonces, **own, "reason": {"type": "string"}}
    whole = {
        "type": "object",
        "properties": form,
        "required": [*form],
        "additionalProperties": False,
    }
    return {
        "type": "json_schema",
        "json_schema": {"name": "verdict", "strict": True, "schema": whole},
    }


def openings(text: str, nonce: str) -> list[re.Match[str]]:
    """Where a verdict with this nonce begins."""
    return [m for m in _OPENING.finditer(text) if m[1] == nonce]


def parse(text: str, nonce: str, fields: Sequence[Field]) -> Found:
    """The verdict with ``nonce`` in ``text``, wherever it stands; one that is repeated counts once.

    Raises:
        NoVerdict: none, two that differ, or one whose keys and values are not exactly what was
            asked for.
    """
    starts = [m.start() for m in openings(text, nonce)]
    if not 1 <= len(starts) <= _REPEATS:
        raise NoVerdict(f"{len(starts) or 'no'} objects begin with this call's nonce; expected one")
    first, *others = [_read(text, start, fields) for start in starts]
    if any(other.values != first.values for other in others):
        raise NoVerdict(f"{len(starts)} verdicts were given, and they differ")
    return first


def _read(text: str, start: int, fields: Sequence[Field]) -> Found:
    """The verdict that begins at ``start``; its reason, if there is one, need not be valid JSON."""
    begun = _REASON.search(text, start)
    whole = text[start:] if begun is None else text[start : begun.start()] + "}"
    try:
        pairs, end = _DECODER.raw_decode(whole)
    except (ValueError, RecursionError):
        raise NoVerdict("the verdict is not valid JSON") from None
    values = _values(pairs, fields)
    return Found(values, _reason(text, begun.end()) if begun and end == len(whole) else "")


def _reason(text: str, quote: int) -> str:
    try:
        reason: str = _LENIENT.raw_decode(text, quote)[0]
    except ValueError:  # cut off
        reason = text[quote + 1 :]
    return reason


def _values(pairs: Sequence[tuple[str, Any]], fields: Sequence[Field]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise NoVerdict("a key of the verdict is repeated")
    if set(found) != {"nonce", *(f.name for f in fields)}:
        raise NoVerdict("the verdict's keys before the reason are not the ones asked for")
    return {f.name: _value(f, found[f.name]) for f in fields}


def _value(one: Field, value: Any) -> Any:
    if one.kind == "bool":
        if type(value) is not bool:
            raise NoVerdict(f"{one.name!r} is neither true nor false")
        return value
    if one.kind == "choice":
        if type(value) is not str or value not in one.choices:
            raise NoVerdict(f"{one.name!r} is none of the choices")
        return value
    if type(value) not in (int, float) or not one.low <= value <= one.high:
        raise NoVerdict(f"{one.name!r} is not a number from {one.low:g} to {one.high:g}")
    return float(value) + 0.0


def _number(text: str) -> float:
    if len(text) > _DIGITS:
        raise NoVerdict("a number of the verdict is too long")
    value = float(text)
    if not math.isfinite(value):
        raise NoVerdict("a number of the verdict is not finite")
    return value


def _constant(_: str) -> NoReturn:
    raise NoVerdict("NaN and infinity are no scores")


_DECODER = json.JSONDecoder(
    object_pairs_hook=list, parse_float=_number, parse_int=_number, parse_constant=_constant
)
_LENIENT = json.JSONDecoder(strict=False)
