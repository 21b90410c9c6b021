"""Why responses have no reward, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator

from .explain import REMEDIES
from .tally import Reason, Tally
from .text import amount, one_line

OWN = {"error": "raised an exception", "contract": "returned no score", "abstained": "abstained"}


def reasons(tally: Tally) -> list[Reason]:
    """The most frequent first."""
    return sorted(tally.reasons.values(), key=lambda reason: -reason.count)


def lines(tally: Tally) -> Iterator[str]:
    """For a log: one line per kind of fault and stage."""
    for reason in reasons(tally):
        where = f" in {one_line(reason.stage, 60)}" if reason.stage else ""
        first = f"row {reason.row}: {one_line(reason.message, 300)}"
        yield f"{amount(reason.count, 'response')} unscored, {one_line(reason.kind)}{where}; first {first}"


def advice(tally: Tally) -> Iterator[str]:
    """Sentences for whoever reads the summary."""
    own = [reason for reason in reasons(tally) if reason.kind in OWN]
    if own:
        who = ", ".join(
            f"{one_line(r.stage or 'the composition', 60)} {OWN[r.kind]} ({r.count:,})" for r in own
        )
        count = amount(sum(reason.count for reason in own), "response")
        yield f"The verifier itself left {count} unscored: {who}."
        if any(reason.kind != "abstained" for reason in own):
            yield "It should return 0.0 for a response that it cannot read."
    for kind in dict.fromkeys(reason.kind for reason in reasons(tally)):
        yield f"{one_line(kind)}: {REMEDIES.get(kind, 'see the message')}."
    transient = sum(reason.transient for reason in reasons(tally))
    if transient:
        yield (
            f"{amount(transient, 'response')} may get a reward when asked again: "
            "the same command with --resume --retry-unscored."
        )
