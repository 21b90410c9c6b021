"""Episodes that cannot go on: how the journal keeps that one was ended for this, and what clients
are told of it.
"""

from __future__ import annotations

from typing import Literal

from attrs import frozen
from rlenv import Fault, Verdict

from rlenv_serve.state.journal import Entry, EpisodeEnd, Journal, JournaledStep
from rlenv_serve.verdicts import decode_verdict, encode_verdict

from .actions import END
from .admission import Admission
from .answers import Answer

STOP = "lost"  # of an episode that was ended because it cannot go on


@frozen
class Status:
    """The state of an episode.

    Args:
        name: ``open``, ``done`` or ``lost``.
        steps: that were accepted.
        stop: why it ended; None while it is open.
        reason: why it is lost; None where it is not.
    """

    name: Literal["open", "done", "lost"]
    steps: int
    stop: str | None = None
    reason: str | None = None


def is_lost(entry: Entry) -> bool:
    """Return whether an episode was ended because no server could go on with it."""
    return entry.ended is not None and entry.ended.stop == STOP


def reason_of(entry: Entry) -> str:
    """Return why such an episode could not go on."""
    assert entry.ended is not None
    fault = decode_verdict(entry.ended.verdict).fault
    return fault.message if fault else ""


def end_of_lost(entry: Entry, why: str) -> tuple[JournaledStep, EpisodeEnd]:
    """The step and the end with which the journal keeps that an episode is lost.

    Args:
        entry: of the episode, which is open.
        why: it cannot go on.
    """
    number = entry.steps + 1
    fault = Fault(STOP, why)
    verdict = Verdict(
        value=None,
        results=(),
        stopped_at=None,
        fingerprint=entry.begun.fingerprint,
        raw=None,
        fault=fault,
    )
    answer = Answer(number, done=True, stop=STOP, fault=STOP)
    taken = JournaledStep(number, END.to_json(), answer.to_json())
    return taken, EpisodeEnd(STOP, encode_verdict(verdict))


async def end_lost(journal: Journal, entry: Entry | None, why: str) -> None:
    """End an episode that no server can go on with, so that it counts as open no longer.

    Args:
        journal: of the episode.
        entry: of the episode; None where it was removed.
        why: it cannot go on.
    """
    if entry and not entry.ended:
        await journal.commit(entry.begun.id, *end_of_lost(entry, why))


def status_of(entry: Entry, admission: Admission) -> Status:
    """Return the state of an episode, as this process sees it.

    Args:
        entry: of the journal.
        admission: says why an open episode is lost.
    """
    if is_lost(entry):
        # Its last step is the end, which no client asked for.
        return Status("lost", entry.steps - 1, STOP, reason_of(entry))
    if entry.ended:
        return Status("done", entry.steps, entry.ended.stop)
    if reason := admission.reason(entry):
        return Status("lost", entry.steps, None, reason)
    return Status("open", entry.steps)
