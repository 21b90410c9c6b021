"""An episode that is not in memory, played again from the journal."""

from __future__ import annotations

import logging
import re

from msgspec.structs import replace
from rlenv import VerifierFault
from rlenv_plugin_agent import Episode

from rlenv_serve.catalog import Served
from rlenv_serve.http.problems import Problem
from rlenv_serve.state.journal import Entry, Journal, Taken

from .actions import Action
from .answers import Answer
from .problems import failed, lost
from .session import Session

logger = logging.getLogger("rlenv_serve")
# Of errors of tools.
SECONDS = re.compile(r'\A({"error": {"type": ".*), "seconds": [0-9.e-]+(?=}}\Z)', re.DOTALL)


async def replayed(entry: Entry, served: Served | None, journal: Journal) -> Session:
    """The episode in the state after its last accepted step.

    Args:
        entry: what the journal has of it.
        served: its environment, None where the server has it no longer.
        journal: for its steps.

    Raises:
        Problem: 410 when the environment or the task has changed, or answers otherwise than it did; 503 when it cannot
            begin now.
    """
    begun = entry.begun
    if served is None or served.env.fingerprint != begun.fingerprint:
        raise lost("its environment has changed")
    try:
        task = served.task(begun.task)
    except Problem:
        raise lost("its task is no longer there") from None
    if served.digest(task) != begun.task_digest:
        raise lost("its task has changed")
    session = Session(begun, served, Episode(served.env))
    try:
        given, info = await session.episode.areset(task, begun.seed)
        session.first = Answer(0, [{**each} for each in given], info.get("observation"))
        for taken in await journal.steps(begun.id):
            await _again(session, taken)
    except BaseException as error:
        await session.close()
        if isinstance(error, VerifierFault):
            raise failed(begun, error) from None
        raise
    return session


async def _again(session: Session, taken: Taken) -> None:
    """One step, as the journal has it.

    Raises:
        Problem: 410 when it is answered otherwise than it was.
    """
    step = await session.episode.astep(Action.decoded(taken.action).played())
    found = Answer.of(taken.number, step, session.episode.verdict, session.episode.stop)
    if _timeless(found) != _timeless(Answer.decoded(taken.answer)):
        logger.warning("episode %s: step %s was answered otherwise when it was replayed", session.id, taken.number)  # fmt: skip
        raise lost("its environment answers otherwise than it did")
    session.taken.append(taken)


def _timeless(answer: Answer) -> bytes:
    """An answer without the seconds that errors of tools have."""
    told = [{**each, "content": SECONDS.sub(r"\1", str(each.get("content") or ""))} for each in answer.messages]  # fmt: skip
    return replace(answer, messages=told).encoded()
