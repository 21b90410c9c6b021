"""Requests whose responses are judged whether or not their client waits.

A ticket that no process gives signs of life for is taken by the one that is asked for it.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from secrets import token_hex
from weakref import WeakKeyDictionary

import msgspec
from attrs import frozen
from rlenv_cli.tickets import TicketJudge, TicketRecord

from rlenv_serve.http.body import decode
from rlenv_serve.http.keys import Tenant
from rlenv_serve.http.problems import Problem, key_reused, not_found
from rlenv_serve.state.journal import Journal

from .requests import VerifyRequest
from .run import Run, made_run
from .ticket_store import JournalTickets, StoredTicket, TicketRequest
from .verifier import Verifier

KEEP = 3600.0  # seconds
MOST = 256  # of one tenant
MOST_BYTES = 32 << 20  # of the bodies and results of these
POLL = 0.25  # seconds between looks at a ticket of another process
_DECODER = msgspec.json.Decoder(VerifyRequest)


@frozen
class TicketStatus:
    """A ticket as its client sees it.

    Args:
        done: how many responses are judged.
        total: how many there are.
        results: as JSON, one a line, when all are judged; None before.
    """

    done: int
    total: int
    results: bytes | None


class VerifyTickets:
    """The tickets of a server.

    Args:
        journal: which keeps them, and nothing else.
        verifier: which judges responses.
    """

    def __init__(self, journal: Journal, verifier: Verifier) -> None:
        self.store = JournalTickets(journal)
        self.judge = TicketJudge(self.store)
        self._verifier = verifier
        self._runs: WeakKeyDictionary[asyncio.Task[None], Run] = WeakKeyDictionary()

    def running(self, id: str) -> tuple[Run, asyncio.Task[None]] | None:  # noqa: A002 - the field's name
        """Return the run of a ticket, and its task, where this process judges it."""
        task = self.judge.live.get(id)
        return None if task is None else (self._runs[task], task)

    async def begin(self, tenant: Tenant, asked: VerifyRequest, body: bytes, key: str) -> str:
        """Return the id of a new ticket; of the one that was begun with the same key, where there
        is one.

        Args:
            tenant: whose request it is.
            asked: the request.
            body: the same as bytes.
            key: an idempotency key, "" without.

        Raises:
            Problem: as ``made_run``; 409 when the key was that of another request; 429 for too many
                tickets.
        """
        run = await made_run(self._verifier, tenant, asked.environment, asked.items)
        record = TicketRecord(token_hex(16), run.served.env.fingerprint)
        request = TicketRequest(
            owner=_owner(tenant),
            environment=asked.environment,
            total=len(asked.items),
            digest=hashlib.sha256(body).hexdigest(),
            size=len(body),
            key=key,
        )
        room = await self._make_room(request.owner)
        begun = await self.store.begin(record, body, request, room)
        if begun is None:
            raise Problem(
                429,
                "too_many_requests",
                "too many requests with a ticket or an Idempotency-Key run: wait for their results,"
                " or delete tickets",
                Retry_After="5",
            )
        ticket, is_new = begun
        if ticket.request.digest != request.digest:
            raise key_reused()
        if is_new:
            self._start(ticket.record, run, 0)
        return ticket.record.id

    async def wait(self, tenant: Tenant, id: str, seconds: float) -> TicketStatus:  # noqa: A002 - as above
        """Return how a ticket is when it is done or so many seconds have passed.

        Args:
            tenant: whose ticket it is.
            id: of the ticket.
            seconds: to wait.

        Raises:
            Problem: 404 when there is none; 410 when the process that judged it is gone, and no
                other can.
        """
        until = time.monotonic() + seconds
        ticket = await self._ticket(tenant, id)
        while not ticket.record.has_ended and (left := until - time.monotonic()) > 0:
            if id in self.judge.live:
                await asyncio.wait([self.judge.live[id]], timeout=left)
            else:
                await asyncio.sleep(min(left, POLL))
            ticket = await self._ticket(tenant, id)
        answer = await self._answer(id)
        total = ticket.request.total
        if answer.isdigit():
            return TicketStatus(int(answer), total, None)
        return TicketStatus(total, total, answer)  # it is done, whatever the store said before

    async def cancel(self, tenant: Tenant, id: str) -> None:  # noqa: A002 - as above
        """Forget a ticket of this tenant; one that is not there is forgotten already.

        Args:
            tenant: whose ticket it is.
            id: of the ticket.
        """
        found = await self.store.find_stored(id)
        if found is None or found.request.owner != _owner(tenant):
            return
        await self.store.remove(id)
        if id in self.judge.live:
            self.judge.live[id].cancel()

    async def _ticket(self, tenant: Tenant, id: str) -> StoredTicket:  # noqa: A002 - as above
        try:
            ticket = await self.store.find_stored(id)
        except Problem:
            self.judge.forget_signs()  # no sign of life could be written
            raise
        if ticket is None or ticket.request.owner != _owner(tenant):
            raise _no_ticket(id)
        if self.judge.is_abandoned(ticket.record):
            await self._resume(tenant, ticket.record)
        return ticket

    async def _answer(self, id: str) -> bytes:  # noqa: A002 - as above
        answer = await self.store.answer(id)
        if not answer:  # it was forgotten just now
            raise _no_ticket(id)
        return answer

    async def _resume(self, tenant: Tenant, record: TicketRecord) -> None:
        """Judge what a process that is gone has left."""
        body = await self.store.read_request(record.id)
        done = int(await self._answer(record.id))
        try:
            asked = decode(body, _DECODER, self._verifier.limits.depth)
            run = await made_run(self._verifier, tenant, asked.environment, asked.items)
        except Problem as problem:
            if problem.status == 429:
                raise
            raise Problem(
                410,
                "ticket_lost",
                "the server was started anew before this was judged, and cannot judge it now"
                f" ({problem}): send the request again, with another Idempotency-Key if it had one",
            ) from None
        taken = await self.store.take(record, done)
        if taken is not None:
            self._start(taken, run, done)

    def _start(self, taken: TicketRecord, run: Run, done: int) -> None:
        """Judge a ticket, of which so many responses were judged before."""
        task = self.judge.start(taken, _results(run), lambda: max(done, len(run.verdicts)))
        self._runs[task] = run

    async def _make_room(self, owner: str) -> int:
        """Forget what is old, and where there is too much the oldest that are done.

        Returns:
            How many tickets may be open.
        """
        held = 0
        room = MOST
        await self.store.expire(KEEP)
        tickets = await self.store.recent(owner, 2 * MOST)
        open_first = sorted(tickets, key=lambda each: each.record.has_ended)
        for count, each in enumerate(open_first, 1):
            held += each.request.size + each.result_size
            if each.record.has_ended and (count >= MOST or held > MOST_BYTES):
                await self.store.remove(each.record.id)
            elif held > MOST_BYTES:
                room = 0
        return room


async def _results(run: Run) -> bytes:
    await run.play()
    return b"\n".join(await run.encode_results())


def _no_ticket(id: str) -> Problem:  # noqa: A002 - the field's name
    return not_found(f"there is no ticket {id!r:.80}")


def _owner(tenant: Tenant) -> str:
    """Return the owner of a tenant's tickets: keys of one tenant that may not see the same do not
    share results.
    """
    return f"{tenant.name}:{tenant.operator:d}{tenant.answers:d}"
