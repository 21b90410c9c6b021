"""Tickets: requests that are judged whether or not somebody waits, and whose results come later.

`TicketRecord` is a ticket as a store keeps it, and `TicketStore` the port behind which stores are.
`TicketJudge` judges tickets that this process has taken; `end_ticket` ends one that no judge ends.
`rlenv_train.tickets` and the tickets of `rlenv serve` are made of these, over stores of their own.
"""

from __future__ import annotations

from .judging import TicketJudge, end_ticket
from .store import TicketRecord, TicketState, TicketStore

__all__ = ["TicketJudge", "TicketRecord", "TicketState", "TicketStore", "end_ticket"]
