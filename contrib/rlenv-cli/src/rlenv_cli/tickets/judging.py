"""The life of a ticket that this process judges."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import lru_cache

from .store import TicketRecord, TicketState, TicketStore

BEAT = 1.0  # seconds between signs of life
LEFT = 10.0  # seconds without one after which a ticket's process counts as gone
REMEMBERED = 10_000  # signs of life of other processes that one remembers

Failed = Callable[[Exception], None]


class TicketJudge:
    """Judges tickets of a store until their results are kept.

    A judge gives a sign of life each second.  It stops when the store says that the ticket is of
    another process, or is not there any more.  While the store cannot be reached it goes on, and
    keeps the result when it can.

    Args:
        store: of the tickets.
        failed: is told each error of the store; by default it is dropped.

    Attributes:
        live: the tickets that are judged here, by their ids.
    """

    def __init__(self, store: TicketStore, failed: Failed | None = None) -> None:
        self._store = store
        self._failed = failed
        self.live: dict[str, asyncio.Task[None]] = {}
        # When a ticket was first seen with so many signs of life.
        self._since = lru_cache(REMEMBERED)(lambda _id, _turn: time.monotonic())

    def is_abandoned(self, record: TicketRecord) -> bool:
        """Tell whether a ticket waits although its judge has given no sign of life for long."""
        if record.state != "waiting" or record.id in self.live:
            return False
        return time.monotonic() - self._since(record.id, record.turn) > LEFT

    def forget_signs(self) -> None:
        """Begin to watch the signs of life anew, as after a time in which none could be written."""
        self._since.cache_clear()

    def start(
        self, taken: TicketRecord, work: Awaitable[bytes], done: Callable[[], int] = lambda: 0
    ) -> asyncio.Task[None]:
        """Judge a ticket in the background.

        Args:
            taken: the ticket, which this process has taken.
            work: gives its result.
            done: says how many of its responses are judged.

        Returns:
            The task, which ends when the result is kept; cancel it to judge no longer.
        """
        working = asyncio.ensure_future(work)
        task = asyncio.create_task(self._judge(taken, working, done))
        self.live[taken.id] = task
        task.add_done_callback(lambda _: self._forget(taken.id, working))
        return task

    def _forget(self, id: str, working: asyncio.Future[bytes]) -> None:  # noqa: A002 - the field's name
        working.cancel()
        del self.live[id]

    async def _judge(
        self, taken: TicketRecord, working: asyncio.Future[bytes], done: Callable[[], int]
    ) -> None:
        record: TicketRecord | None = taken
        while record is not None:
            await asyncio.wait([working], timeout=BEAT)
            record = await self._written(record, working, done)

    async def _written(
        self, record: TicketRecord, working: asyncio.Future[bytes], done: Callable[[], int]
    ) -> TicketRecord | None:
        """Write the result or a sign of life; returns None when there is nothing left to do."""
        result = working.result() if working.done() else None
        try:
            if result is None:
                return await self._store.take(record, done())
            await self._store.end(record, "done", result)
        except self._store.errors as error:
            return await self._after_error(record, error)
        return None

    async def _after_error(self, record: TicketRecord, error: Exception) -> TicketRecord | None:
        """Wait a moment, and return the ticket as the store has it then: the write may be there
        although its answer was lost.
        """
        if self._failed is not None:
            self._failed(error)
        await asyncio.sleep(BEAT)
        try:
            found = await self._store.find(record.id)
        except self._store.errors:
            return record
        if found is None or found.turn > record.turn + 1:
            return None  # it was forgotten, or another process has taken it
        return found


async def end_ticket(
    store: TicketStore,
    id: str,  # noqa: A002 - the field's name
    state: TicketState,
    result: bytes = b"",
) -> bool:
    """End a ticket whoever judges it.

    Args:
        store: of the ticket.
        id: of the ticket.
        state: ``done`` or ``cancelled``.
        result: of a ticket that is done.

    Returns:
        Whether it was ended by this call; not where there is no such ticket, or it had ended.
    """
    last = None
    while (record := await store.find(id)) and record.is_open and record != last:
        if await store.end(record, state, result):
            return True
        last = record  # a judge may have given a sign of life meanwhile
    return False
