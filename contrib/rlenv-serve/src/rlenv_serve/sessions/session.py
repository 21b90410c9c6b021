"""One episode in memory."""

from __future__ import annotations

import asyncio
import time

from attrs import define, field
from rlenv import Verdict
from rlenv_plugin_agent import Episode
from rlenv_plugin_agent.messages import copies

from rlenv_serve.catalog import Served
from rlenv_serve.state.journal import Begun, Taken

from .answers import Answer


@define(eq=False)
class Session:
    """One episode in memory; ``Sessions`` makes it and plays it.

    Args:
        begun: as the journal has it.
        served: its environment.
        episode: which it plays.
        first: what the policy was given at its start.
    """

    begun: Begun
    served: Served
    episode: Episode
    first: Answer
    taken: list[Taken] = field(factory=list)
    lock: asyncio.Lock = field(factory=asyncio.Lock)
    used: float = field(factory=time.monotonic)
    ended: bool = False

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
