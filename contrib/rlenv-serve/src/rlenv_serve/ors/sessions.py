"""Sessions of ORS: each is an episode, whose id is in the session's own.

A session's id is signed and bound to its tenant, so one that the server did not give is known
without a table, by every process with the same secret, also after a restart.
"""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import Coroutine
from contextlib import suppress
from secrets import token_hex

from rlenv import Task
from rlenv.authoring import secret

from rlenv_serve.catalog import Served
from rlenv_serve.http.keys import Tenant
from rlenv_serve.http.limits import Limits
from rlenv_serve.http.problems import Problem, not_found
from rlenv_serve.server import Server
from rlenv_serve.sessions import Session, Sessions
from rlenv_serve.sessions.background import create_detached_task
from rlenv_serve.state.journal import Entry

# Seconds that a request waits for an episode to begin; clients ask again for ten minutes.
SETUP = 25.0
# hex digits
ID = 32
MAC = 32
REMEMBERED = 10_000  # sessions that were deleted: they are 410, and older ones 404


class OrsSessions:
    """The sessions of one server.

    Args:
        sessions: the episodes.
        limits: ``idle`` is how long a client may be silent before its session is deleted.
        alone: no other process has these episodes; where one may, what this one hears does not say
            that a client is silent.
    """

    def __init__(self, sessions: Sessions, limits: Limits, *, alone: bool) -> None:
        self._sessions = sessions
        self._limits = limits
        self._alone = alone
        self._key = hmac.new(secret(), b"rlenv ors session", "sha256").digest()
        self._opening: dict[str, asyncio.Task[Session]] = {}
        self._heard: dict[str, tuple[Tenant, float]] = {}  # open episodes; the longest silent first
        self._deleted: dict[str, None] = {}
        self._runs: set[asyncio.Task[object]] = set()

    @classmethod
    def of(cls, server: Server) -> OrsSessions:
        """Return the sessions of this server."""
        alone = not server.journal.shared
        return server.part(cls, lambda: cls(server.sessions, server.limits, alone=alone))

    # -- names ------------------------------------------------------------------------------------

    def new(self, tenant: Tenant) -> str:
        """The id of a session that has no episode yet; nothing is kept of it."""
        return self._sign(f"session {tenant.name}", token_hex(ID // 2))

    def episode(self, tenant: Tenant, sid: str) -> str:
        """Return the id of the session's episode, if it has one.

        Args:
            tenant: whose session it is.
            sid: id of the session.

        Raises:
            Problem: 404 for an id that this tenant was not given.
        """
        if not self._is_signed(f"session {tenant.name}", sid):
            raise not_found("there is no such session: POST /create_session gives one")
        return sid[:ID]

    def new_run(self, sid: str) -> str:
        """Make the id with which a client asks for the result of a call, when it has lost the
        stream.
        """
        return self._sign(f"run {sid}", token_hex(ID // 2))

    def is_run(self, sid: str, task_id: str) -> bool:
        """Return whether the id of a run was given to this session.

        Args:
            sid: id of the session.
            task_id: id of the run.
        """
        return self._is_signed(f"run {sid}", task_id)

    def _sign(self, purpose: str, drawn: str) -> str:
        mac = hmac.new(self._key, f"{purpose} {drawn}".encode("utf-8", "replace"), "sha256")
        return drawn + mac.hexdigest()[:MAC]

    def _is_signed(self, purpose: str, given: str) -> bool:
        known = self._sign(purpose, given[:ID])
        return hmac.compare_digest(*(each.encode("utf-8", "replace") for each in (given, known)))

    # -- episodes ---------------------------------------------------------------------------------

    async def create(self, tenant: Tenant, sid: str, served: Served, task: Task) -> None:
        """Begin the session's episode; returns while it still begins where that takes long.

        Args:
            tenant: whose session it is.
            sid: id of the session.
            served: the environment.
            task: of the episode.

        Raises:
            Problem: 400 when there is one already; as ``Sessions.begin``.
        """
        id_ = self.episode(tenant, sid)
        if await self._sessions.find(tenant, id_) or id_ in self._opening:
            raise Problem(400, "session_exists", "Session already exists")
        self._deleted.pop(id_, None)
        self._hear(tenant, id_)
        made = self._opening[id_] = asyncio.create_task(
            self._sessions.begin(tenant, served, task, key=id_, id=id_)
        )
        await asyncio.wait({made}, timeout=SETUP)
        if made.done():
            self._result(id_, made)

    async def get(self, tenant: Tenant, sid: str) -> Session | Entry:
        """Return the session's episode; what the journal has of it where it has ended.

        Args:
            tenant: whose session it is.
            sid: id of the session.

        Raises:
            Problem: 404 when there is none; 410 when it was deleted or is lost; 503 while it
                begins.
        """
        id_ = self.episode(tenant, sid)
        if (found := self._opening.get(id_)) is None:
            if id_ in self._deleted:
                raise Problem(410, "session_deleted", "Session deleted")
            found = self._opening[id_] = asyncio.create_task(self._sessions.get(tenant, id_))
        await asyncio.wait({found}, timeout=SETUP)
        if not found.done():
            raise Problem(
                503,
                "starting",
                "Environment still starting.",
                X_Backend_State="starting",
                Retry_After="2",
            )
        try:
            session = self._result(id_, found)
        except Problem as problem:
            if problem.code == "episode_finished":
                return await self._sessions.entry(tenant, id_)
            if problem.status == 404:
                raise not_found(
                    "Active environment not found: POST /create begins one in this session"
                ) from None
            raise
        self._hear(tenant, id_)
        return session

    async def ping(self, tenant: Tenant, sid: str) -> None:
        """Note that the client is there.

        Args:
            tenant: whose session it is.
            sid: id of the session.

        Raises:
            Problem: as ``get``, but for an episode that still begins.
        """
        with_episode = self._opening.get(self.episode(tenant, sid))
        if with_episode is None or with_episode.done():
            await self.get(tenant, sid)

    async def delete(self, tenant: Tenant, sid: str) -> None:
        """End a session. An episode that has ended stays in the journal; an open one is forgotten.

        Args:
            tenant: whose session it is.
            sid: id of the session.
        """
        id_ = self.episode(tenant, sid)
        if id_ in self._opening or await self._sessions.find(tenant, id_):
            await self._forget(tenant, id_)

    def mark_ended(self, id: str) -> None:  # noqa: A002 - the field's name
        """The episode has ended: silence of its client costs nothing any more."""
        self._heard.pop(id, None)

    def _hear(self, tenant: Tenant, id: str) -> None:  # noqa: A002 - as above
        self._heard.pop(id, None)
        if self._alone:
            self._heard[id] = tenant, time.monotonic()

    async def _forget(self, tenant: Tenant, id: str) -> None:  # noqa: A002 - as above
        self._heard.pop(id, None)
        self._deleted[id] = None
        if len(self._deleted) > REMEMBERED:
            del self._deleted[next(iter(self._deleted))]
        if opening := self._opening.get(id):
            self.run(self._forget_opening(tenant, id, opening))
        else:
            await self._sessions.forget(tenant, id)

    async def _forget_opening(
        self,
        tenant: Tenant,
        id: str,  # noqa: A002 - as above
        opening: asyncio.Task[Session],
    ) -> None:
        await asyncio.wait({opening})
        with suppress(Problem, asyncio.CancelledError):
            self._result(id, opening)
        await self._sessions.forget(tenant, id)

    async def sweep(self) -> None:
        """Forget the episodes of clients that were silent for ``limits.idle``."""
        while self._heard:
            id_, (tenant, heard) = next(iter(self._heard.items()))
            if time.monotonic() - heard <= self._limits.idle:
                return
            await self._forget(tenant, id_)

    def _result(self, id: str, task: asyncio.Task[Session]) -> Session:  # noqa: A002 - as above
        if self._opening.get(id) is task:
            del self._opening[id]
        try:
            return task.result()
        except Problem:
            self._heard.pop(id, None)
            raise

    # -- runs -------------------------------------------------------------------------------------

    def run(self, work: Coroutine[object, object, object]) -> asyncio.Task[object]:
        """Work that goes on when the client that asked for it goes away."""
        return create_detached_task(work, self._runs)

    async def close_all(self) -> None:
        """Stop waiting: steps that are being taken are finished by ``Sessions``."""
        tasks: list[asyncio.Task[object]] = [*self._runs, *self._opening.values()]
        for each in tasks:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
