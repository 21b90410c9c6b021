"""A judge's verdict: one JSON object that carries the call's nonce."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from attrs import field, frozen

from rlenv_plugin_judge.transport.request import Usage


@frozen
class Field:
    """One value of a verdict: a number in [low, high], one of ``choices``, or true/false."""

    name: str
    kind: Literal["number", "choice", "bool"] = "number"
    low: float = 0.0
    high: float = 1.0
    choices: tuple[str, ...] = field(default=(), converter=tuple)


@frozen
class Verdict:
    """What a judge said, checked.

    Args:
        values: field name to float, str or bool.
        expected: from log-probabilities, else empty: number field to its mean, bool field to the chance of true,
            ``"field=choice"`` to that choice's chance.
        usage: of all attempts, cached ones included as recorded.
        attempts: how many replies it took, at least 1.
        estimator: ``verdict``, ``logprobs`` or ``logprobs-approximate``.
    """

    values: Mapping[str, Any]
    reason: str = ""
    expected: Mapping[str, float] = field(factory=dict)
    usage: Usage = Usage()
    model: str = ""
    endpoint: str = ""
    cached: bool = False
    attempts: int = 1
    estimator: str = "verdict"
