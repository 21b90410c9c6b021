"""The first tier: episodes, and every step that was accepted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from attrs import frozen


@frozen
class Begun:
    """An episode as it began.

    Args:
        id: 32 hex digits, drawn.
        tenant: whose it is.
        environment: its name on this server.
        fingerprint: of the environment; an episode of another one cannot be replayed.
        task: its id.
        seed: of all that is drawn in it.
        agent: what the client calls its policy.
        created: seconds since 1970.
        key: the idempotency key of the request that began it, "" without.
    """

    id: str
    tenant: str
    environment: str
    fingerprint: str
    task: str
    seed: int
    agent: str
    created: float
    key: str = ""


@frozen
class Ended:
    """How an episode ended; written once.

    Args:
        stop: the reason, as of ``rlenv_plugin_agent.Stop``.
        verdict: JSON of the whole verdict, with what only the operator may see.
        trajectory: JSON of the rollout, as ``rlenv_plugin_agent.records`` writes it.
    """

    stop: str
    verdict: bytes
    trajectory: bytes = b""


@frozen
class Taken:
    """A step that was accepted.

    Args:
        number: of the step, from 1.
        action: JSON of what the policy did.
        answer: JSON of what it was answered.
        key: the idempotency key of the request, "" without.
    """

    number: int
    action: bytes
    answer: bytes
    key: str = ""


@frozen
class Entry:
    """All that a journal has of an episode: how it began, and how it ended if it did."""

    begun: Begun
    steps: int
    ended: Ended | None = None


class Journal(Protocol):
    """Keeps episodes.  What a method has returned from survives the process, where the journal is durable.

    Several processes may use one journal; each method is atomic.  A method raises ``Problem`` 503 where the store cannot
    be reached or written.
    """

    durable: bool

    async def open(self) -> None:
        """Connect, and make what is missing."""

    async def begin(self, begun: Begun) -> Begun:
        """Keep a new episode; gives the one that the same tenant began with the same key before, where there is one."""

    async def find(self, id: str) -> Entry | None:  # noqa: A002 - the field's name
        """The episode of this id."""

    async def steps(self, id: str) -> Sequence[Taken]:  # noqa: A002 - as above
        """Its steps, in order."""

    async def commit(self, id: str, taken: Taken | None, ended: Ended | None) -> bool:  # noqa: A002 - as above
        """Keep one step, an end, or both; False, and nothing is kept, where it is not the next step, or the episode has
        ended or been removed."""

    async def remove(self, id: str) -> None:  # noqa: A002 - as above
        """Forget an episode."""

    async def open_count(self, tenant: str) -> int:
        """How many episodes of this tenant have not ended."""

    async def recent(self, tenant: str | None, limit: int) -> Sequence[Entry]:
        """The newest episodes, of this tenant or of all."""

    async def expire(self, before: float) -> int:
        """Remove the episodes that nothing was written to since so many seconds after 1970; how many."""

    async def close(self) -> None:
        """Let go of what it holds."""
