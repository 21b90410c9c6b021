"""Tickets: requests whose responses are judged whether or not their client waits.

A ticket is an entry of a journal, so it survives what the journal survives, and every process of
the server knows it.  Its first step has the body of the request.  The process that judges it adds a
step each second; another one that sees no new step for long takes the next one, and with it the
ticket.  The end has the results.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from contextlib import suppress
from functools import lru_cache
from secrets import token_hex

import msgspec

from rlenv_serve.http.body import decode
from rlenv_serve.http.keys import Tenant
from rlenv_serve.http.problems import Problem, key_reused, not_found
from rlenv_serve.state.journal import Begun, Ended, Entry, Journal, Taken

from .requests import VerifyRequest
from .run import Run, made_run
from .verifier import Verifier

KEEP = 3600.0  # seconds
MOST = 256  # of one tenant
MOST_BYTES = 32 << 20  # of the bodies and results of these
BEAT = 1.0  # seconds between signs of life
LEFT = 10.0  # seconds without one after which another process takes a ticket
POLL = 0.25  # seconds between looks at a ticket of another process
KNOWN = 10_000  # steps of tickets of other processes that one remembers
_DECODER = msgspec.json.Decoder(VerifyRequest)


class Tickets:
    """The tickets of a server.

    Args:
        journal: which keeps them, and nothing else.
        verifier: which judges responses.
    """

    def __init__(self, journal: Journal, verifier: Verifier) -> None:
        self.journal = journal
        self._verifier = verifier
        self.live: dict[str, tuple[Run, asyncio.Task[None]]] = {}  # that this process judges
        # When a ticket of another process was first seen with so many steps.
        self._since = lru_cache(KNOWN)(lambda _id, _steps: time.monotonic())

    async def begin(self, tenant: Tenant, asked: VerifyRequest, body: bytes, key: str) -> str:
        """The ticket of a request; the one that was begun with the same key, where there is one.

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
        digest = hashlib.sha256(body).hexdigest()
        owner = _owner(tenant)
        # For an episode, what is the number of responses here is its task, and the number of bytes
        # its seed.
        begun = Begun(
            id=token_hex(16),
            tenant=owner,
            environment=asked.environment,
            fingerprint=run.served.env.fingerprint,
            task=str(len(asked.items)),
            task_digest=digest,
            seed=len(body),
            agent="",
            created=time.time(),
            key=key,
        )
        kept = await self.journal.begin(begun, await self._room(owner))
        if kept is None:
            raise Problem(
                429,
                "too_many_requests",
                "too many requests with a ticket or an Idempotency-Key run: wait for their results,"
                " or delete tickets",
                Retry_After="5",
            )
        if kept.task_digest != digest:
            raise key_reused()
        await self._take(kept.id, Taken(1, body, b"0"), run)
        return kept.id

    async def wait(self, tenant: Tenant, id: str, seconds: float) -> tuple[Entry, bytes]:  # noqa: A002 - the field's name
        """A ticket and the answer of its last step, when it is done or so many seconds have passed.

        Raises:
            Problem: 404 when there is none; 410 when the process that judged it is gone, and no
                other can.
        """
        until = time.monotonic() + seconds
        while (
            not (entry := await self._entry(tenant, id)).ended
            and (left := until - time.monotonic()) > 0
        ):
            if id in self.live:
                await asyncio.wait([self.live[id][1]], timeout=left)
            else:
                await asyncio.sleep(min(left, POLL))
        return entry, (await self._ends(id))[1].answer

    async def cancel(self, tenant: Tenant, id: str) -> None:  # noqa: A002 - as above
        """Forget a ticket of this tenant; one that is not there is forgotten already."""
        if (found := await self.journal.find(id)) and found.begun.tenant == _owner(tenant):
            await self.journal.remove(id)
            if id in self.live:
                self.live[id][1].cancel()

    async def _entry(self, tenant: Tenant, id: str) -> Entry:  # noqa: A002 - as above
        try:
            entry = await self.journal.find(id)
        except Problem:
            self._since.cache_clear()  # no sign of life could be written
            raise
        if entry is None or not entry.steps or entry.begun.tenant != _owner(tenant):
            raise not_found(f"there is no ticket {id!r:.80}")
        if (
            not (entry.ended or id in self.live)
            and time.monotonic() - self._since(id, entry.steps) > LEFT
        ):
            await self._resume(tenant, entry)
        return entry

    async def _ends(self, id: str) -> tuple[Taken, Taken]:  # noqa: A002 - as above
        """Its first step and its last."""
        if not (steps := await self.journal.steps(id)):  # it was forgotten just now
            raise not_found(f"there is no ticket {id!r:.80}")
        return steps[0], steps[-1]

    async def _resume(self, tenant: Tenant, entry: Entry) -> None:
        """Judge what a process that is gone has left."""
        first, last = await self._ends(entry.begun.id)
        try:
            asked = decode(first.action, _DECODER, self._verifier.limits.depth)
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
        await self._take(entry.begun.id, Taken(entry.steps + 1, b"", last.answer), run)

    async def _take(self, id: str, first: Taken, run: Run) -> None:  # noqa: A002 - as above
        """Judge a ticket, unless another process was first; its answer has how many were done
        before.
        """
        if await self.journal.commit(id, first):
            self.live[id] = (
                run,
                asyncio.create_task(self._play(id, first.number, int(first.answer), run)),
            )

    async def _play(self, id: str, steps: int, least: int, run: Run) -> None:  # noqa: A002 - as above
        """Judge, with a sign of life each second, until a step is not taken: the ticket is done,
        forgotten, or of others.
        """
        playing = asyncio.create_task(run.play())
        ended = None
        results = b""
        is_ours = True
        try:
            while is_ours and not ended:
                if (await asyncio.wait([playing], timeout=BEAT))[0]:
                    results = b"\n".join(await run.encoded())
                    ended = Ended("done", b"%d" % len(results))
                try:
                    step = Taken(steps + 1, b"", results or b"%d" % max(least, len(run.verdicts)))
                    is_ours = await self.journal.commit(id, step, ended)
                    steps = steps + 1
                except Problem:  # it is in the log
                    ended = None  # the step may be there although the answer was lost
                    await asyncio.sleep(BEAT)
                    with suppress(Problem):
                        entry = await self.journal.find(id)
                        steps = entry.steps if entry else steps
        finally:
            playing.cancel()
            del self.live[id]

    async def _room(self, owner: str) -> int:
        """Forget what is old, and where there is too much the oldest that are done; how many may be
        open.
        """
        held = 0
        room = MOST
        await self.journal.expire(KEEP)
        entries = await self.journal.recent(owner, 2 * MOST)
        for count, each in enumerate(sorted(entries, key=lambda each: each.ended is not None), 1):
            held += each.begun.seed + (int(each.ended.verdict) if each.ended else 0)
            if each.ended and (count >= MOST or held > MOST_BYTES):
                await self.journal.remove(each.begun.id)
            elif held > MOST_BYTES:
                room = 0
        return room


def _owner(tenant: Tenant) -> str:
    """Keys of one tenant that may not see the same do not share results."""
    return f"{tenant.name}:{tenant.operator:d}{tenant.answers:d}"
