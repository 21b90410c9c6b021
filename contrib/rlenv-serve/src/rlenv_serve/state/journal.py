"""The first tier: episodes, and every step that was accepted."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from typing import Protocol, Self

import msgspec
from attrs import frozen

from rlenv_serve.http.answers import encode
from rlenv_serve.http.problems import Problem

logger = logging.getLogger("rlenv_serve")


class JsonRecord:
    """A value that a journal keeps as JSON."""

    __slots__ = ()

    def to_json(self) -> bytes:
        """As the journal keeps it."""
        return encode(self)

    @classmethod
    def from_json(cls, kept: bytes) -> Self:
        """Read what ``to_json`` wrote, half surrogates of tools and stages included, which msgspec
        does not read.
        """
        return msgspec.convert(json.loads(kept), cls)


@frozen
class EpisodeStart:
    """An episode as it began.

    Args:
        id: 32 hex digits, drawn.
        tenant: whose it is.
        environment: its name on this server.
        fingerprint: of the environment; an episode of another one cannot be replayed.
        task: its id.
        task_digest: of what the task holds; an episode of another one cannot be replayed.
        seed: of all that is drawn in it.
        agent: what the client calls its policy.
        created: seconds since 1970, as this machine's clock said; nothing is decided by it.
        key: the idempotency key of the request that began it, "" without.
    """

    id: str
    tenant: str
    environment: str
    fingerprint: str
    task: str
    task_digest: str
    seed: int
    agent: str
    created: float
    key: str = ""


@frozen
class EpisodeEnd:
    """The end of an episode; written once, together with its last step.

    Args:
        stop: the reason, as of ``rlenv_plugin_agent.Stop``.
        verdict: JSON of the whole verdict, with what only the operator may see.
        trajectory: for the store of trajectories, b"" for none; only ``Journal.outbox`` has it.
    """

    stop: str
    verdict: bytes
    trajectory: bytes = b""


@frozen
class JournaledStep:
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
    """An episode as a journal has it: how it began, how many steps it took, and how it ended if
    it did.
    """

    begun: EpisodeStart
    steps: int
    ended: EpisodeEnd | None = None


class Journal(Protocol):
    """Keeps episodes.  What a method has returned from survives the process, where the journal is
    durable.

    Several processes may use one journal where it is ``shared``; each method is atomic.  A method
    raises ``Problem`` 503 where the store cannot be reached or written.  What a write that raised
    has done is not known: look before it is repeated.

    The age of an episode is the time that servers of this journal ran since it was last written to,
    by their monotonic clocks.  So no jump of a machine's clock makes an episode older, and neither
    does a night without a server.
    """

    shared: bool

    def sibling(self, name: str) -> Journal:
        """Another journal, of other entries, in the same store.

        Args:
            name: of the other one, in letters.
        """

    async def open(self) -> None:
        """Connect, and make what is missing."""

    async def begin(self, begun: EpisodeStart, limit: int) -> EpisodeStart | None:
        """Keep a new episode.

        Args:
            begun: the episode.
            limit: how many open episodes its tenant may have, this one included.

        Returns:
            ``begun``; the episode that the tenant began with the same key before, where there is
            one; else None where the limit is reached.
        """

    async def find(self, id: str) -> Entry | None:  # noqa: A002 - the field's name
        """The episode of this id; what it has of the end leaves out the trajectory."""

    async def steps(self, id: str) -> Sequence[JournaledStep]:  # noqa: A002 - as above
        """Its steps, in order."""

    async def commit(self, id: str, taken: JournaledStep, ended: EpisodeEnd | None = None) -> bool:  # noqa: A002 - as above
        """Keep a step, and the end that it made; False, and nothing is kept, where it is not the
        next step, or the episode has ended or been removed. The trajectory of the end is in the
        outbox from then on.

        Args:
            id: of the episode.
            taken: the step.
            ended: the end that it made; None where it made none.
        """

    async def outbox(self, limit: int, after: str = "") -> Sequence[tuple[str, bytes]]:
        """Return the trajectories that no store has yet, the oldest first, each with a name for
        ``forget_archived``; those that are newer than the one named ``after``, where it is
        given. They stay when their episodes are removed.

        Args:
            limit: how many there are at most.
            after: a name that this method gave; "" begins with the oldest.
        """

    async def forget_archived(self, names: Sequence[str]) -> None:
        """A store has these trajectories: forget them here."""

    async def remove(self, id: str) -> None:  # noqa: A002 - as above
        """Forget an episode."""

    async def open_of(self, tenant: str) -> Sequence[Entry]:
        """The open episodes of a tenant, the oldest first."""

    async def probe(self) -> None:
        """Write something that changes no episode: it fails where other writes do, as on a full
        disk.
        """

    async def recent(self, tenant: str | None, limit: int) -> Sequence[Entry]:
        """Return the episodes that began last, of this tenant or of all, the newest first; as
        ``find`` has them.

        Args:
            tenant: whose episodes; None: of all.
            limit: how many there are at most.
        """

    async def expire(self, keep: float) -> int:
        """Remove the episodes that are older than so many seconds; how many."""

    async def close(self) -> None:
        """Let go of what it holds."""


def unavailable(why: object, what: str = "state") -> Problem:
    """503: a store cannot be reached or written.

    Args:
        why: for the server's log; a client is not told, since it may name machines and users.
        what: it keeps.
    """
    logger.error("the store of %s fails: %s", what, why)
    made = Problem(
        503,
        f"{what}_unavailable",
        f"the server cannot read or write its {what} at the moment; it has kept all that it"
        " acknowledged: send the request again, with the same Idempotency-Key if it had one",
        Retry_After="2",
    )
    made.args = (str(why),)  # for logs and commands
    return made
