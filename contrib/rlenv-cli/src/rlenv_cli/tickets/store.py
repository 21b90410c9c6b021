"""A ticket as it is kept, and the port of the stores that keep it."""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

from attrs import frozen

TicketState: TypeAlias = Literal["waiting", "outside", "done", "cancelled"]
OPEN = ("waiting", "outside")


@frozen
class TicketRecord:
    """A ticket as a store keeps it.

    A ticket is open, ``waiting`` for a judge or for an outcome from ``outside``, until it ends as
    ``done`` or ``cancelled``.  It ends once and stays as it ended.

    Args:
        id: 32 hex digits, drawn at random, so that they cannot be guessed.
        fingerprint: of the environment that judges it.
        state: a ``TicketState``; a store that somebody else has written may hold another text,
            which is neither open nor an end.
        turn: how often the store has seen it taken; it changes with each sign of life of a judge.
    """

    id: str
    fingerprint: str
    state: str = "waiting"
    turn: int = 0

    @property
    def is_open(self) -> bool:
        """Tell whether it can still end."""
        return self.state in OPEN

    @property
    def has_ended(self) -> bool:
        """Tell whether it is done or cancelled."""
        return self.state in ("done", "cancelled")


class TicketStore(Protocol):
    """Keeps tickets.

    Several processes may use one store.  Each method is atomic, and what it has returned from
    survives the process where the store is durable.  What a write that raised one of ``errors`` has
    done is not known: look before it is repeated.

    Attributes:
        errors: exceptions of a store that cannot be reached or written now, and may be later.

    Example:
        A judge takes a ticket, gives signs of life, and ends it::

            taken = await store.take(record, 0)
            if taken is not None:
                taken = await store.take(taken, 1)  # a sign of life
            if taken is not None:
                await store.end(taken, "done", b"...")
    """

    errors: tuple[type[Exception], ...]

    async def put(self, record: TicketRecord, asked: bytes) -> None:
        """Keep a new ticket.

        Args:
            record: of the ticket, open, with ``turn`` 0.
            asked: what is to be judged.
        """

    async def find(self, id: str) -> TicketRecord | None:  # noqa: A002 - the field's name
        """Return the ticket of this id, None where there is none."""

    async def read_request(self, id: str) -> bytes:  # noqa: A002 - as above
        """Return what is to be judged, b"" where there is no such ticket."""

    async def result(self, id: str) -> bytes:  # noqa: A002 - as above
        """Return the result of a ticket that is done, b"" of another one."""

    async def take(self, record: TicketRecord, done: int) -> TicketRecord | None:
        """Take a ticket that waits to judge it, or give the sign of life of its judge.

        Args:
            record: of the ticket, as it was found or as this method returned it.
            done: how many of its responses are judged.

        Returns:
            The ticket, with its new ``turn``; None where it is of another process or not waiting.
        """

    async def end(self, record: TicketRecord, state: TicketState, result: bytes = b"") -> bool:
        """End a ticket.

        Args:
            record: of the ticket, as it was found or taken.
            state: ``done`` or ``cancelled``.
            result: of a ticket that is done.

        Returns:
            Whether it was ended: not where its state or its ``turn`` has changed since.
        """
