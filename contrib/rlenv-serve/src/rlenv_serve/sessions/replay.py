"""An episode that is not in memory, played again from the journal."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence

from msgspec.structs import replace
from rlenv import VerifierFault
from rlenv_plugin_agent import Episode

from rlenv_serve.catalog import Served
from rlenv_serve.state.journal import EpisodeStart, JournaledStep

from .actions import Action
from .answers import Answer
from .problems import EpisodeLost, begin_failed
from .session import Session

logger = logging.getLogger("rlenv_serve")
# Of errors of tools.
SECONDS = re.compile(r'\A({"error": {"type": ".*), "seconds": [0-9.e-]+(?=}}\Z)', re.DOTALL)


def lost_reason(begun: EpisodeStart, served: Served | None) -> str:
    """Return why an open episode cannot go on in this process; "" where it can, as far as its
    beginning tells.

    Args:
        begun: the episode.
        served: its environment, None where the server has it no longer.
    """
    if served is None:
        return "its environment is no longer served"
    if served.env.fingerprint != begun.fingerprint:
        return "its environment has changed"
    task = served.env.tasks.get(begun.task)
    if task is None:
        return "its task is no longer there"
    return "" if served.digest(task) == begun.task_digest else "its task has changed"


async def replay_within(
    seconds: float, begun: EpisodeStart, served: Served | None, steps: Sequence[JournaledStep]
) -> Session:
    """Do the same as ``replay``, or give up.

    Args:
        seconds: for the whole.
        begun: as of ``replay``.
        served: as of ``replay``.
        steps: as of ``replay``.

    Raises:
        Problem: 503 when it took longer; as ``replay`` besides.
    """
    try:
        return await asyncio.wait_for(replay(begun, served, steps), seconds)
    except TimeoutError:
        raise begin_failed(begun, f"it took more than {seconds:g} s") from None


async def replay(
    begun: EpisodeStart, served: Served | None, steps: Sequence[JournaledStep]
) -> Session:
    """The episode in the state after its last accepted step.

    Args:
        begun: how it began.
        served: its environment, None where the server has it no longer.
        steps: that it took, as the journal has them.

    Raises:
        Problem: 410 when the environment or the task has changed, or answers otherwise than it did;
            503 when it cannot begin now.
    """
    if why := lost_reason(begun, served):
        raise EpisodeLost(why)
    assert served is not None
    task = served.task(begun.task)
    session = Session(begun, served, Episode(served.env))
    try:
        given, info = await session.episode.areset(task, begun.seed)
        session.first = Answer(0, [{**each} for each in given], info.get("observation"))
        for taken in steps:
            await _replay_step(session, taken)
    except BaseException as error:
        await session.close()
        if isinstance(error, VerifierFault):
            raise begin_failed(begun, error) from None
        raise
    return session


async def _replay_step(session: Session, taken: JournaledStep) -> None:
    """One step, as the journal has it.

    Raises:
        Problem: 410 when it is answered otherwise than it was.
    """
    step = await session.episode.astep(Action.from_json(taken.action).as_step())
    found = Answer.of(taken.number, step, session.episode.verdict, session.episode.stop)
    if _timeless(found) != _timeless(Answer.from_json(taken.answer)):
        logger.warning(
            "episode %s: step %s was answered otherwise when it was replayed",
            session.id,
            taken.number,
        )
        raise EpisodeLost("its environment answers otherwise than it did", final=True)
    session.taken.append(taken)


def _timeless(answer: Answer) -> bytes:
    """An answer without the seconds that errors of tools have."""
    told = [
        {**each, "content": SECONDS.sub(r"\1", str(each.get("content") or ""))}
        for each in answer.messages
    ]
    return replace(answer, messages=told).to_json()
