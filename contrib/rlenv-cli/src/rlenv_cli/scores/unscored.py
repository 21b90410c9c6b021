"""Why responses have no reward, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rlenv.workers.environ import is_hidden

from rlenv_cli.console import amount, one_line

from .tally import Reason, Tally

REMEDIES = {
    "error": (
        "the stage has a bug, or the task is not what it expects: report it to the plugin with this"
        " task"
    ),
    "contract": "the stage returned no score: correct it, or report it to the plugin",
    "abstained": (
        "the stage says so itself: score these responses by another stage, or leave them out"
    ),
    "timeout": (
        "where the response costs so much, declare a budget on the stage, which makes it a 0; else"
        " give the slot a longer timeout"
    ),
    "memory": "the stage needs more than a worker may have: raise memory_mb",
    "crash": "the worker died: rlenv doctor tells whether workers run here at all",
    "blocked": "the async stage blocks its loop: it should await, or run in a worker",
    "pool": "workers cannot run here: rlenv doctor says why",
    "input": "correct the row: a task or prompt of the environment and a response",
    "unavailable": (
        "what the stage depends on could not be reached: see that it runs, and try again"
    ),
}
OWN_FAULTS = {
    "error": "raised an exception",
    "contract": "returned no score",
    "abstained": "abstained",
}


# How a fault names a variable that its worker lacks (rlenv.engine.checks), and how clients of
# models name theirs.
_MISSING = re.compile(r"the environment variable (\S+) is not there")
_NAME = re.compile(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b")


def remedy(kind: str, message: str) -> str:
    """Say what to do about a fault of this kind.

    Args:
        kind: one of ``rlenv.authoring.FAULT_KINDS``.
        message: of the fault; "" where it is not told.
    """
    variable = _variable(message) if kind in ("error", "contract", "unavailable") else None
    if variable is None:
        return REMEDIES.get(kind, "see the message")
    return (
        f'declare env = ["{variable}"] on the function, as in @rlenv.stage(env=["{variable}"]), '
        f"and set {variable} where you run this: workers of functions do not see other variables"
    )


def _variable(message: str) -> str | None:
    """The environment variable that a worker lacked, as far as the message says."""
    if missing := _MISSING.search(message):
        return missing[1]
    return next((name for name in _NAME.findall(message) if is_hidden(name)), None)


def reasons(tally: Tally) -> list[Reason]:
    """The most frequent first."""
    return sorted(tally.reasons.values(), key=lambda reason: -reason.count)


def lines(tally: Tally) -> Iterator[str]:
    """For a log: one line per kind of fault and stage."""
    for reason in reasons(tally):
        where = f" in {one_line(reason.stage, 60)}" if reason.stage else ""
        first = f"row {reason.row}: {one_line(reason.message, 300)}"
        yield (
            f"{amount(reason.count, 'response')} unscored, {one_line(reason.kind)}{where}; first"
            f" {first}"
        )


def advice(tally: Tally) -> Iterator[str]:
    """Sentences for whoever reads the summary."""
    own = [reason for reason in reasons(tally) if reason.kind in OWN_FAULTS]
    if own:
        who = ", ".join(
            f"{one_line(r.stage or 'the composition', 60)} {OWN_FAULTS[r.kind]} ({r.count:,})"
            for r in own
        )
        count = amount(sum(reason.count for reason in own), "response")
        yield f"The verifier itself left {count} unscored: {who}."
        if any(reason.kind != "abstained" for reason in own):
            yield "It should return 0.0 for a response that it cannot read."
    told = {(reason.kind, remedy(reason.kind, reason.message)): None for reason in reasons(tally)}
    for kind, what in told:
        yield f"{one_line(kind)}: {one_line(what, 300)}."
    transient = sum(reason.transient for reason in reasons(tally))
    if transient:
        yield (
            f"{amount(transient, 'response')} may get a reward when asked again: "
            "the same command with --resume --retry-unscored."
        )
