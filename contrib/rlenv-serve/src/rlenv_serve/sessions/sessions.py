"""``Sessions``: begins episodes, takes their steps, journals each before it is answered, and finds
them again.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import nullcontext, suppress
from secrets import token_hex
from typing import TypeVar
from weakref import WeakValueDictionary

from rlenv import Task, Verdict

from rlenv_serve.catalog import Catalog, Served
from rlenv_serve.http.keys import Tenant
from rlenv_serve.http.limits import Limits
from rlenv_serve.http.problems import Problem, key_reused, not_found
from rlenv_serve.http.turns import Turns
from rlenv_serve.metrics import Metrics
from rlenv_serve.state.journal import Entry, EpisodeStart, Journal, JournaledStep
from rlenv_serve.trajectories.archive import Archive
from rlenv_serve.verdicts import decode_verdict

from .actions import END, Action
from .admission import Admission
from .answers import Answer
from .background import create_detached_task
from .ending import report_end, step_of
from .lost import end_lost, is_lost, reason_of
from .problems import FINISHED, LOST, EpisodeLost
from .replay import replay_within
from .session import Session, asked_for, find_answer

T = TypeVar("T")
logger = logging.getLogger("rlenv_serve")
LOOK = 15.0  # seconds between looks for episodes that are not used
ATTEMPTS = 20  # times that a step is taken anew since another process took one meanwhile
# seconds for the steps that run when the server ends; what they do is not journaled after that
LAST = 10.0
ARCHIVE = 1.0  # seconds that the answer to the last step waits for the store of trajectories


class Sessions:
    """The episodes of a server.

    Episodes in memory are a cache of the journal: one that is not there, or is behind the journal
    since another server took a step of it, is replayed when it is asked for.

    The environment works in ``turns`` of tenants: when an episode begins, and at each step.

    Args:
        catalog: the environments.
        journal: where episodes are kept.
        archive: takes those that have ended.
        limits: what a client may use.
        metrics: which counts them.
    """

    def __init__(
        self, catalog: Catalog, journal: Journal, archive: Archive, limits: Limits, metrics: Metrics
    ) -> None:
        self._catalog = catalog
        self._journal = journal
        self._limits = limits
        self._metrics = metrics
        self._archive = archive
        self.turns = Turns(limits)
        self.admission = Admission(catalog, journal, limits.episodes)
        self._live: dict[str, Session] = {}
        metrics.episodes.set_function(lambda: len(self._live))
        self._opening: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._running: set[asyncio.Task[object]] = set()
        # Forget what clients of protocols left open.
        self.sweeps: Sequence[Callable[[], Awaitable[None]]] = ()

    # -- for protocols ----------------------------------------------------------------------------

    async def begin(
        self,
        tenant: Tenant,
        served: Served,
        task: Task,
        *,
        seed: int = 0,
        agent: str = "",
        key: str = "",
        id: str = "",  # noqa: A002 - the field's name
    ) -> Session:
        """Begin a new episode; the one that was begun with the same idempotency key, where there is
        one.

        Args:
            tenant: whose episode it is.
            served: the environment.
            task: of the episode.
            seed: of all that is drawn in it.
            agent: what the client calls its policy.
            key: an idempotency key, "" without.
            id: 32 hex digits that the caller drew, for a protocol whose sessions have ids
                before they have tasks; "" draws them.

        Raises:
            Problem: 429 for too many open episodes, or requests that wait; 503 when it cannot
                begin; 409 when the key was used for another one.
        """
        begun = EpisodeStart(
            id=id or token_hex(16),
            tenant=tenant.name,
            environment=served.name,
            fingerprint=served.env.fingerprint,
            task=str(task.id),
            task_digest=served.digest(task),
            seed=seed,
            agent=agent,
            created=time.time(),
            key=key,
        )
        async with self.turns.of(tenant.name):
            return await self._shield(self._begin(tenant, begun))

    async def get(self, tenant: Tenant, id: str) -> Session:  # noqa: A002 - the field's name
        """Return an open episode of this tenant, in the state that the journal has.

        Args:
            tenant: whose episode it is.
            id: of the episode.

        Raises:
            Problem: 404 when there is none; 409 when it has ended; 410 when it cannot be brought
                back.
        """
        entry = await self.entry(tenant, id)
        session = self._live.get(id)
        if session is None or entry.ended or len(session.taken) != entry.steps:
            session = await self._shield(self._refresh(tenant, id))
        session.used = time.monotonic()
        return session

    async def entry(self, tenant: Tenant, id: str, served: Served | None = None) -> Entry:  # noqa: A002 - as above
        """Return what the journal has of an episode of this tenant.

        Args:
            tenant: whose episode it is.
            id: of the episode.
            served: the environment that it must be of; None: any.

        Raises:
            Problem: 404 when there is none, or where it is of another environment than ``served``.
        """
        found = await self.find(tenant, id)
        if found is None or (served and found.begun.environment != served.name):
            raise not_found(f"there is no episode {id!r:.80}")
        return found

    async def find(self, tenant: Tenant, id: str) -> Entry | None:  # noqa: A002 - as above
        """Return what the journal has of an episode of this tenant, None where it has none.

        Args:
            tenant: whose episode it is.
            id: of the episode.
        """
        found = await self._journal.find(id)
        return found if found and found.begun.tenant == tenant.name else None

    async def owner(self, tenant: Tenant, id: str) -> Tenant:  # noqa: A002 - as above
        """Return the tenant in whose name this one may look at an episode and end it: an operator,
        that of the episode.

        Args:
            tenant: of the request.
            id: of the episode.
        """
        found = await self._journal.find(id) if tenant.operator else None
        return Tenant(found.begun.tenant) if found else tenant

    async def step(self, tenant: Tenant, id: str, action: Action, *, key: str = "") -> Answer:  # noqa: A002 - as above
        """The policy acts.  The answer is in the journal when this returns; a client that goes away
        ends nothing.

        Args:
            tenant: whose episode it is.
            id: of the episode.
            action: what the policy does; ``Action("end")`` has the episode judged as it is.
            key: an idempotency key: a second request with it is answered as the first was.

        Raises:
            Problem: as ``get``; 429 for too many requests that wait; 409 when the key was used for
                another action.
        """
        async with self.turns.of(tenant.name):
            return await self._shield(self._step(tenant, id, action, key))

    async def verdict(self, tenant: Tenant, id: str) -> tuple[Entry, Verdict]:  # noqa: A002 - as above
        """Return the end of an episode; one that is open is ended and judged as it is.

        Args:
            tenant: whose episode it is.
            id: of the episode.

        Raises:
            Problem: as ``step``.
        """
        entry = await self.entry(tenant, id)
        if entry.ended is None:
            try:
                await self.step(tenant, id, END)
            except Problem as problem:
                if problem.code != FINISHED:  # another request has ended it
                    raise
            entry = await self.entry(tenant, id)
        assert entry.ended is not None
        if is_lost(entry):
            raise EpisodeLost(reason_of(entry))
        return entry, decode_verdict(entry.ended.verdict)

    async def delete(self, tenant: Tenant, id: str) -> bool:  # noqa: A002 - as above
        """Forget an episode of this tenant; False where there is none.

        Args:
            tenant: whose episode it is.
            id: of the episode.
        """
        if not await self.find(tenant, id):
            return False
        await self._journal.remove(id)
        create_detached_task(self._finish_removal(id), self._running)
        return True

    async def forget(self, tenant: Tenant, id: str) -> None:  # noqa: A002 - as above
        """Forget an open episode whose client is gone; one that has ended stays.

        Args:
            tenant: whose episode it is.
            id: of the episode.
        """
        with suppress(Problem):  # it expires
            if (found := await self.find(tenant, id)) and found.ended is None:
                await self.delete(tenant, id)

    # -- its life ---------------------------------------------------------------------------------

    async def watch(self) -> None:
        """Let go of episodes that are not used, until it is cancelled."""
        limits = self._limits
        while True:
            await asyncio.sleep(min(LOOK, limits.idle))
            for session in [*self._live.values()]:
                if time.monotonic() - session.used > limits.idle and not session.lock.locked():
                    await self._close_session(session)
            try:
                for sweep in self.sweeps:
                    await sweep()
                await self._journal.expire(limits.keep)
            except Exception as error:  # noqa: BLE001 - it is tried again
                logger.warning("old episodes cannot be removed: %s", error)

    async def close(self) -> None:
        """Wait for the steps that run, end those that take long, and let go of all episodes."""
        if self._running:
            _, late = await asyncio.wait(self._running, timeout=LAST)
            for each in late:
                each.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await asyncio.gather(*(self._close_session(each) for each in [*self._live.values()]))

    # -- how --------------------------------------------------------------------------------------

    async def _shield(self, work: Coroutine[object, object, T]) -> T:
        """Run work to its end although the client that asked for it goes away."""
        return await asyncio.shield(create_detached_task(work, self._running))

    async def _begin(self, tenant: Tenant, begun: EpisodeStart) -> Session:
        """Begin in the journal first, so that one that hangs counts to its tenant's limit."""
        async with self._alone(begun.id):
            kept = await self.admission.begin(begun)
            if kept.id == begun.id:
                try:
                    return await self._restore(Entry(begun, 0))
                except BaseException:
                    await self._journal.remove(begun.id)
                    raise
        if asked_for(kept) != asked_for(begun):
            raise key_reused()
        try:
            return await self.get(tenant, kept.id)
        except Problem as problem:
            if problem.code != FINISHED:
                raise
        return await self._begun_again(kept)

    async def _begun_again(self, begun: EpisodeStart) -> Session:
        """Return an ended episode as it was when it began: the answer to the same request."""
        session = await self._replay(begun, ())
        await session.close()
        return session

    async def _refresh(self, tenant: Tenant, id: str) -> Session:  # noqa: A002 - the field's name
        """The episode as the journal has it, from memory if that is so when the step that runs has
        ended.
        """
        async with self._alone(id):
            session = self._live.get(id)
            async with session.lock if session else nullcontext():
                entry = await self.entry(tenant, id)
                if session and self._live.get(id) is session:
                    if not entry.ended and len(session.taken) == entry.steps:
                        return session
                    await self._evict(session)
            if is_lost(entry):
                raise EpisodeLost(reason_of(entry))
            if entry.ended is not None:
                # A policy may read it, so it does not say how.
                raise Problem(409, FINISHED, "the episode has ended: begin another")
            return await self._restore(entry)

    def _alone(self, id: str) -> asyncio.Lock:  # noqa: A002 - as above
        """Return the lock that is held while this episode is opened."""
        return self._opening.get(id) or self._opening.setdefault(id, asyncio.Lock())

    async def _restore(self, entry: Entry) -> Session:
        begun = entry.begun
        steps = await self._journal.steps(begun.id) if entry.steps else ()
        self._live[begun.id] = session = await self._replay(begun, steps)
        return session

    async def _replay(self, begun: EpisodeStart, steps: Sequence[JournaledStep]) -> Session:
        served = self._catalog.get(begun.environment)
        return await replay_within(self._limits.deadline, begun, served, steps)

    async def _step(self, tenant: Tenant, id: str, action: Action, key: str) -> Answer:  # noqa: A002 - as above
        for attempt in range(ATTEMPTS):
            try:
                # Where another process has taken a step since, the journal will not take ours: then
                # the episode is brought back.  So most steps need no look into the journal.
                session = None if attempt else self._live.get(id)
                if session is None or session.begun.tenant != tenant.name:
                    session = await self.get(tenant, id)
            except Problem as problem:
                is_over = problem.code in (FINISHED, LOST)
                kept = await self._journal.steps(id) if is_over and key else ()
                if old := find_answer(kept, action, key):
                    return old
                if isinstance(problem, EpisodeLost) and problem.final:
                    await end_lost(self._journal, await self.find(tenant, id), problem.why)
                raise
            async with session.lock:
                if self._live.get(id) is not session:  # it was let go of while this waited
                    continue
                session.used = time.monotonic()
                if found := find_answer(session.taken, action, key) or await self._take_step(
                    session, action, key
                ):
                    return found
        raise Problem(
            409,
            "conflict",
            "other requests changed this episode all the time: take one step at a time",
        )

    async def _take_step(self, session: Session, action: Action, key: str) -> Answer | None:
        """The step, played and in the journal; None where another process took one meanwhile."""
        try:
            answer = await session.play(action, self._limits.deadline)
            taken = step_of(answer, action, key)
            end = session.end if answer.done else None
            is_kept = await self._journal.commit(session.id, taken, end)
        except BaseException:
            await self._evict(session)  # the episode may be ahead of the journal: it is replayed
            raise
        if not is_kept:
            await self._evict(session)
            return None
        session.taken.append(taken)
        if end:
            report_end(session, self._metrics)
            await self._evict(session)
            await asyncio.wait(
                [create_detached_task(self._archive.bring(), self._running)], timeout=ARCHIVE
            )
        return answer

    async def _finish_removal(self, id: str) -> None:  # noqa: A002 - as above
        async with self._alone(id):  # it may still begin
            if session := self._live.get(id):
                await self._close_session(session)  # a step may be running

    async def _close_session(self, session: Session) -> None:
        async with session.lock:
            await self._evict(session)

    async def _evict(self, session: Session) -> None:
        """Close an episode whose lock is held."""
        if self._live.get(session.id) is session:
            del self._live[session.id]
            await session.close()
