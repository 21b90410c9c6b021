"""Requests that may be sent again: what was asked with an idempotency key, and its run."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping

from attrs import frozen

from rlenv_serve.http.problems import Problem
from rlenv_serve.sessions.problems import reused

from .run import Run

LIFETIME = 3600.0  # seconds
MOST = 256  # of one tenant
MOST_BYTES = 16 << 20  # of the bodies of these


@frozen
class _Entry:
    digest: bytes
    size: int
    run: Run
    task: asyncio.Task[None]
    until: float


class Kept:
    """The runs of requests with idempotency keys, in memory, for an hour; the oldest of a tenant make room for others."""

    def __init__(self) -> None:
        self._entries: dict[str, OrderedDict[str, _Entry]] = {}

    def find(self, tenant: str, key: str, body: bytes) -> tuple[Run, asyncio.Task[None]] | None:
        """The run of the request that had this key.

        Raises:
            Problem: 409 when it was another request.
        """
        entries: Mapping[str, _Entry] = self._entries.get(tenant, {})
        found = entries.get(key)
        if found is None or found.until < time.monotonic() or _broke(found.task):
            return None
        if found.digest != _digest(body):
            raise reused()
        return found.run, found.task

    def add(self, tenant: str, key: str, body: bytes, run: Run, play: Callable[[], asyncio.Task[None]]) -> asyncio.Task[None]:  # fmt: skip
        """Keep a run, which goes on when its client goes away.

        Raises:
            Problem: 429 when so many of this tenant run that none can be let go of.
        """
        entries = self._entries.setdefault(tenant, OrderedDict())
        entries.pop(key, None)
        self._make_room(entries, len(body))
        made = _Entry(_digest(body), len(body), run, play(), time.monotonic() + LIFETIME)
        entries[key] = made
        return made.task

    def _make_room(self, entries: OrderedDict[str, _Entry], size: int) -> None:
        now, held = time.monotonic(), sum(each.size for each in entries.values()) + size
        for key, each in [*entries.items()]:
            over = each.until < now or len(entries) >= MOST or held > MOST_BYTES
            if over and each.task.done():
                held -= entries.pop(key).size
        if len(entries) >= MOST or held > MOST_BYTES:
            raise Problem(429, "too_many_requests", "too many requests with an Idempotency-Key run: wait for their answers", Retry_After="1")  # fmt: skip


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).digest()


def _broke(task: asyncio.Task[None]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)
