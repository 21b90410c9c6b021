"""Verdicts that come later: after minutes of verification, or from the outside after days."""

from __future__ import annotations

from .buffer import LateRewards
from .store import SqliteStore, TicketQueue
from .tickets import Ticket, Tickets

__all__ = ["LateRewards", "SqliteStore", "Ticket", "TicketQueue", "Tickets"]
