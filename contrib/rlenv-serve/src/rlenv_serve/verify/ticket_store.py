"""Tickets in a journal: so they survive what the journal survives, and every process of the server
knows them.

A ticket is an entry.  Its first step has what is asked, each further one is a sign of life of its
judge, and the answer of the last one is how many responses are judged, or the result.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from attrs import frozen
from rlenv_cli.tickets import TicketRecord, TicketState

from rlenv_serve.http.problems import Problem
from rlenv_serve.state.journal import Entry, EpisodeEnd, EpisodeStart, Journal, JournaledStep

MANY = 1 << 30


@frozen
class TicketRequest:
    """The part of a ticket that only the server knows.

    Args:
        owner: whose it is.
        environment: its name on this server.
        total: how many responses it has.
        digest: of what is asked.
        size: bytes of what is asked.
        key: the idempotency key of the request, "" without.
    """

    owner: str
    environment: str = ""
    total: int = 1
    digest: str = ""
    size: int = 0
    key: str = ""


@frozen
class StoredTicket:
    """A ticket of a server.

    Args:
        record: the ticket.
        request: what the server keeps of it.
        result_size: bytes of its result; 0 while it is open.
    """

    record: TicketRecord
    request: TicketRequest
    result_size: int = 0


class JournalTickets:
    """As of ``TicketStore``; with what a server needs besides: owners, keys, limits and age.

    Args:
        journal: which keeps tickets, and nothing else.
    """

    errors: tuple[type[Exception], ...] = (Problem,)

    def __init__(self, journal: Journal) -> None:
        self.journal = journal

    # -- the port ---------------------------------------------------------------------------------

    async def put(self, record: TicketRecord, asked: bytes) -> None:
        """As of ``TicketStore``."""
        await self.begin(record, asked, TicketRequest(owner="", size=len(asked)), MANY)

    async def find(self, id: str) -> TicketRecord | None:  # noqa: A002 - the field's name
        """As of ``TicketStore``."""
        found = await self.find_stored(id)
        return found.record if found else None

    async def read_request(self, id: str) -> bytes:  # noqa: A002 - as above
        """As of ``TicketStore``."""
        steps = await self.journal.steps(id)
        return steps[0].action if steps else b""

    async def result(self, id: str) -> bytes:  # noqa: A002 - as above
        """As of ``TicketStore``."""
        found = await self.find(id)
        if found is None or found.state != "done":
            return b""
        return await self.answer(id)

    async def take(self, record: TicketRecord, done: int) -> TicketRecord | None:
        """As of ``TicketStore``."""
        if record.state != "waiting":
            return None
        turn = record.turn + 1
        if not await self.journal.commit(record.id, JournaledStep(turn, b"", b"%d" % done)):
            return None
        return TicketRecord(record.id, record.fingerprint, record.state, turn)

    async def end(self, record: TicketRecord, state: TicketState, result: bytes = b"") -> bool:
        """As of ``TicketStore``."""
        step = JournaledStep(record.turn + 1, b"", result)
        return await self.journal.commit(record.id, step, EpisodeEnd(state, b"%d" % len(result)))

    # -- for a server -----------------------------------------------------------------------------

    async def begin(
        self, record: TicketRecord, asked: bytes, request: TicketRequest, limit: int
    ) -> tuple[StoredTicket, bool] | None:
        """Keep a new ticket, or find the one that its owner began with the same key.

        Args:
            record: of the ticket.
            asked: what is to be judged.
            request: what the server keeps of it.
            limit: how many open tickets the owner may have, this one included.

        Returns:
            The ticket, and whether this call has kept it and so taken it; None where the limit is
            reached.
        """
        # An episode has fields of other names: its task is the number of responses here, its seed
        # the number of bytes, and its agent the state in which it began.
        begun = EpisodeStart(
            id=record.id,
            tenant=request.owner,
            environment=request.environment,
            fingerprint=record.fingerprint,
            task=str(request.total),
            task_digest=request.digest,
            seed=request.size,
            agent="" if record.state == "waiting" else record.state,
            created=time.time(),
            key=request.key,
        )
        kept = await self.journal.begin(begun, limit)
        if kept is None:
            return None
        is_new = await self.journal.commit(kept.id, JournaledStep(1, asked, b"0"))
        return _to_stored(Entry(kept, 1)), is_new

    async def find_stored(self, id: str) -> StoredTicket | None:  # noqa: A002 - as above
        """Return a ticket with what the server keeps of it, None where there is none."""
        entry = await self.journal.find(id)
        return _to_stored(entry) if entry and entry.steps else None

    async def answer(self, id: str) -> bytes:  # noqa: A002 - as above
        """Return how many responses of an open ticket are judged, as digits, or the result of one
        that is done; b"" where there is no such ticket.
        """
        steps = await self.journal.steps(id)
        return steps[-1].answer if steps else b""

    async def recent(self, owner: str, limit: int) -> Sequence[StoredTicket]:
        """Return the newest tickets of an owner, the newest first.

        Args:
            owner: of the tickets.
            limit: how many there are at most.
        """
        return [_to_stored(each) for each in await self.journal.recent(owner, limit)]

    async def remove(self, id: str) -> None:  # noqa: A002 - as above
        """Forget a ticket."""
        await self.journal.remove(id)

    async def expire(self, seconds: float) -> None:
        """Forget the tickets that are older than so many seconds."""
        await self.journal.expire(seconds)


def _to_stored(entry: Entry) -> StoredTicket:
    begun = entry.begun
    state = entry.ended.stop if entry.ended else begun.agent or "waiting"
    request = TicketRequest(
        owner=begun.tenant,
        environment=begun.environment,
        total=int(begun.task),
        digest=begun.task_digest,
        size=begun.seed,
        key=begun.key,
    )
    return StoredTicket(
        record=TicketRecord(begun.id, begun.fingerprint, state, entry.steps),
        request=request,
        result_size=int(entry.ended.verdict) if entry.ended else 0,
    )
