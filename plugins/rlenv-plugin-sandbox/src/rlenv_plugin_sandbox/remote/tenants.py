"""Tenants of a server: whose request it is, and when it is their turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Protocol

__all__ = ["Admit", "RejectedError", "Tenant", "Turn"]

_AGAIN = {"transient": True}
_PASSING = {
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.CONFLICT,
    HTTPStatus.GONE,
    HTTPStatus.TOO_MANY_REQUESTS,
}


class RejectedError(Exception):
    """A request that is answered with a status of HTTP and a reason, and is not read.

    Args:
        status: of HTTP.
        reason: for the client.
    """

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self._reason = reason

    @property
    def said(self) -> dict[str, Any]:
        """The body of the answer: a mistake of the client's, or what may pass."""
        if self.status in _PASSING:
            return {"error": "fault", "kind": "unavailable", "message": self._reason} | _AGAIN
        return {"error": "config", "problems": [self._reason]}


class Turn(Protocol):
    """A right to hold one place of the sandbox, as ``asyncio.Semaphore`` gives it."""

    async def acquire(self) -> object:
        """Wait for it."""

    def release(self) -> None:
        """Give it back."""


class Tenant:
    """Whose sessions they are: the number that is open, and turns to hold a place, alone or beside
    another.

    The sandbox serves first who came first, and at most ``programs`` of a tenant's requests wait
    there.

    Args:
        programs: that may run at a time, and as many beside these.
        alone: its turns for sessions that are not beside another; by default, of its own.
    """

    def __init__(self, programs: int, alone: Turn | None = None) -> None:
        self.sessions = 0
        self._alone = alone or asyncio.Semaphore(programs)
        self._beside = asyncio.Semaphore(programs)

    def turn(self, *, beside: bool) -> Turn:
        """Return the turns of a session; those beside another wait for no place of that one."""
        return self._beside if beside else self._alone


# Finds the tenant of a request from its headers; RejectedError where it may not use the sandbox.
Admit = Callable[[Mapping[str, str]], Tenant]
