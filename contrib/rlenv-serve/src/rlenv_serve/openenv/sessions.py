"""Sessions of OpenEnv: each plays one episode after another, over a WebSocket, over HTTP, or
both.
"""

from __future__ import annotations

import time
from functools import partial
from secrets import token_hex

from attrs import define, field

from rlenv_serve.catalog import Served
from rlenv_serve.http.keys import Tenant
from rlenv_serve.http.limits import Limits
from rlenv_serve.http.problems import Problem, not_found
from rlenv_serve.server import Server
from rlenv_serve.sessions import Action, Answer, Session, Sessions
from rlenv_serve.sessions.choice import begin_first, tasks_of
from rlenv_serve.sessions.problems import FULL

from .actions import Reset

# seconds after which a session that was made over HTTP, and is not asked, makes room for another
LEFT = 60.0


@define(eq=False)
class OpenEnvSession:
    """One session of a client.

    Args:
        id: drawn; a WebSocket may name it to be attached.
        tenant: whose it is.
        served: its environment.
        attached: a WebSocket uses it.
        own: a WebSocket made it for itself.
        episode: the id of its episode, None before the first ``reset``.
        name: what the client calls the episode.
        any_action: whether every object is an action, as the last ``reset`` said.
        used: when, as of ``time.monotonic``.
    """

    id: str
    tenant: Tenant
    served: Served
    attached: bool
    own: bool
    episode: str | None = None
    name: str | None = None
    any_action: bool | None = None
    used: float = field(factory=time.monotonic)


class OpenEnvSessions:
    """The sessions of a server.

    A session without a WebSocket ends when it was not used for ``limits.idle``, or when its
    tenant has no room for another.

    Args:
        sessions: the episodes.
        limits: a tenant has as many sessions as open episodes.
    """

    def __init__(self, sessions: Sessions, limits: Limits) -> None:
        self._sessions = sessions
        self._limits = limits
        self._open: dict[str, OpenEnvSession] = {}

    @classmethod
    def of(cls, server: Server) -> OpenEnvSessions:
        """Return the sessions of this server."""
        return server.part(cls, lambda: cls(server.sessions, server.limits))

    async def open(self, tenant: Tenant, served: Served, *, attached: bool) -> OpenEnvSession:
        """Open a new session.

        Args:
            tenant: whose session it is.
            served: its environment.
            attached: a WebSocket makes it for itself.

        Raises:
            Problem: 429 when the tenant has too many.
        """
        while (
            sum(each.tenant.name == tenant.name for each in self._open.values())
            >= self._limits.episodes
        ):
            if not await self._make_room(tenant):
                raise Problem(
                    429,
                    "too_many_sessions",
                    f"a tenant has at most {self._limits.episodes:,} sessions: close one",
                )
        made = OpenEnvSession(token_hex(16), tenant, served, attached, own=attached)
        self._open[made.id] = made
        return made

    async def get(
        self,
        tenant: Tenant,
        served: Served,
        id: str,  # noqa: A002 - the field's name
        *,
        attach: bool = False,
    ) -> OpenEnvSession:
        """Return a session of this tenant; an open episode of it, by its id, is one too, also after
        a restart.

        Args:
            tenant: whose session it is.
            served: its environment.
            id: of the session, or of its episode.
            attach: a WebSocket uses it from now on.

        Raises:
            Problem: 404 when there is none; 409 to attach one that a WebSocket uses; as
                ``Sessions.get`` besides.
        """
        playing = (each for each in self._open.values() if each.episode == id)
        session = (
            self._open.get(id) or next(playing, None) or await self._resume(tenant, served, id)
        )
        if session.tenant.name != tenant.name or session.served is not served:
            raise not_found(f"there is no session {id!r:.80}")
        if attach and session.attached:
            raise Problem(409, "attached", "another WebSocket uses this session")
        session.attached = session.attached or attach
        session.used = time.monotonic()
        return session

    async def reset(self, session: OpenEnvSession, asked: Reset) -> Session:
        """Begin an episode; the last one is forgotten, unless it has ended.

        Args:
            session: of the episode.
            asked: the task, and the name of the episode.

        Raises:
            Problem: as ``Sessions.begin``, and 404 for a task that there is not.
        """
        tasks, seed = tasks_of(session.served, asked)
        begin = partial(self._sessions.begin, session.tenant, session.served, seed=seed)
        await self._forget(session)
        while True:
            try:
                begun = await begin_first(tasks, begin)
                session.episode = begun.id
                session.name = asked.episode_id
                session.any_action = asked.any_action
                return begun
            except Problem as problem:
                if problem.code != FULL or not await self._make_room(session.tenant):
                    raise

    async def step(self, session: OpenEnvSession, action: Action) -> Answer:
        """Let the policy act.

        Args:
            session: with an episode.
            action: of the policy.

        Raises:
            Problem: 409 before ``reset``; as ``Sessions.step`` besides.
        """
        if session.episode is None:
            raise Problem(409, "no_episode", "no episode runs: send reset first")
        answer = await self._sessions.step(session.tenant, session.episode, action)
        session.used = time.monotonic()
        return answer

    async def state(self, session: OpenEnvSession) -> dict[str, object]:
        """For ``state``."""
        entry = (
            await self._sessions.entry(session.tenant, session.episode) if session.episode else None
        )
        return {
            "episode_id": session.name or session.episode,
            "step_count": entry.steps if entry else 0,
            "session_id": session.id,
            "task_id": entry.begun.task if entry else None,
            "done": entry is not None and entry.ended is not None,
        }

    async def close(self, session: OpenEnvSession) -> None:
        """End a session; its episode is forgotten, unless it has ended."""
        self._open.pop(session.id, None)
        await self._forget(session)

    async def sweep(self) -> None:
        """End the sessions without a WebSocket that were not used for ``limits.idle``."""
        old = time.monotonic() - self._limits.idle
        for session in [*self._open.values()]:
            if not session.attached and session.used < old:
                await self.close(session)

    async def close_all(self) -> None:
        """Leave the sessions as they are: their episodes are those of ``Sessions``."""

    def detach(self, session: OpenEnvSession) -> None:
        """The WebSocket of a session is gone; another may be attached."""
        session.attached = False
        session.used = time.monotonic()

    async def _resume(self, tenant: Tenant, served: Served, id: str) -> OpenEnvSession:  # noqa: A002 - as above
        await self._sessions.entry(tenant, id, served)
        await self._sessions.get(tenant, id)
        session = await self.open(tenant, served, attached=False)
        session.episode = id
        return session

    async def _make_room(self, tenant: Tenant) -> bool:
        """End the session of this tenant that was left for longest; False where each is in use."""
        old = time.monotonic() - LEFT
        left = [
            each
            for each in self._open.values()
            if each.tenant.name == tenant.name
            and not each.attached
            and (each.own or each.used < old)
        ]
        if not left:
            return False
        await self.close(min(left, key=lambda each: each.used))
        return True

    async def _forget(self, session: OpenEnvSession) -> None:
        episode = session.episode
        session.episode = None
        if episode is not None:
            await self._sessions.forget(session.tenant, episode)
