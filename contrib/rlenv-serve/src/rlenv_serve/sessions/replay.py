"""An episode that is not in memory, played again from the journal."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from rlenv import Task

from rlenv_serve.catalog import Served
from rlenv_serve.http.problems import Problem
from rlenv_serve.state.journal import Begun, Entry, Journal

from .actions import Action
from .answers import Answer
from .session import Session

logger = logging.getLogger("rlenv_serve")
Start: TypeAlias = Callable[[Begun, Served, Task], Awaitable[Session]]


async def replayed(entry: Entry, served: Served | None, journal: Journal, start: Start) -> Session:
    """The episode in the state after its last accepted step.

    Args:
        entry: what the journal has of it.
        served: its environment, None where the server has it no longer.
        journal: for its steps.
        start: begins it anew.

    Raises:
        Problem: 410 when the environment has changed, or answers otherwise than it did.
    """
    begun = entry.begun
    if served is None or served.env.fingerprint != begun.fingerprint:
        raise lost("its environment has changed")
    try:
        session = await start(begun, served, served.task(begun.task))
    except Problem as problem:
        raise lost("it cannot begin again") from problem
    for taken in await journal.steps(begun.id):
        step = await session.episode.astep(Action.decoded(taken.action).played())
        found = Answer.of(step, session.episode.verdict, session.episode.stop)
        if found.encoded() != taken.answer:
            logger.warning("episode %s: step %s was answered otherwise when it was replayed", begun.id, taken.number)  # fmt: skip
            await session.episode.aclose()
            raise lost("its environment answers otherwise than it did")
        session.taken.append(taken)
    return session


def lost(why: str) -> Problem:
    """410."""
    return Problem(410, "episode_lost", f"the episode was interrupted and {why}: begin another")
