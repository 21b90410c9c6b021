"""One episode in memory."""

from __future__ import annotations

import asyncio
import logging
import time

from attrs import define, field
from rlenv import Verdict
from rlenv_plugin_agent import Episode
from rlenv_plugin_agent.messages import copies

from rlenv_serve.catalog import Served
from rlenv_serve.state.journal import Begun, Taken

from .answers import Answer

logger = logging.getLogger("rlenv_serve")
CLOSE = 30.0  # seconds for an environment to give back what it holds


@define(eq=False)
class Session:
    """One episode in memory; ``Sessions`` makes it and plays it.

    Args:
        begun: as the journal has it.
        served: its environment.
        episode: which it plays.
        first: what the policy was given at its start.

    Who plays or closes it holds ``lock``.
    """

    begun: Begun
    served: Served
    episode: Episode
    first: Answer
    taken: list[Taken] = field(factory=list)
    lock: asyncio.Lock = field(factory=asyncio.Lock)
    used: float = field(factory=time.monotonic)

    @property
    def id(self) -> str:
        """Of the episode."""
        return self.begun.id

    @property
    def verdict(self) -> Verdict | None:
        """The verdict, None before the end."""
        return self.episode.verdict

    @property
    def tools(self) -> list[dict[str, object]]:
        """The tools that the policy is offered, each with ``name``, ``description`` and ``parameters``, a JSON Schema."""
        found = copies(self.episode.tools)
        return [dict(each["function"]) for each in found]  # type: ignore[call-overload] # as of chat completions

    @property
    def messages(self) -> list[dict[str, object]]:
        """What the policy is given now."""
        return [dict(each) for each in copies(self.episode.view)]

    def by_key(self, key: str) -> Taken | None:
        """The step that a request with this idempotency key took."""
        return next((each for each in self.taken if key and each.key == key), None)

    async def close(self) -> None:
        """Give back what the episode holds."""
        await close(self.episode, self.begun)


async def close(episode: Episode, begun: Begun) -> None:
    """Give back what an episode holds; an environment that cannot, or hangs, is reported and left."""
    try:
        await asyncio.wait_for(episode.aclose(), CLOSE)
    except Exception as error:  # noqa: BLE001 - whatever an environment raises, the server goes on
        logger.warning("episode %s of %s cannot be closed: %r", begun.id, begun.environment, error)
