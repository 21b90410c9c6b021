"""``Sessions``: begins episodes, takes their steps, journals each before it is answered, and finds them again."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, nullcontext
from secrets import token_hex
from typing import TypeVar
from weakref import WeakValueDictionary

from rlenv import Task, Verdict, VerifierFault
from rlenv_plugin_agent import Episode, Rollout
from rlenv_plugin_agent.records import to_row

from rlenv_serve.catalog import Catalog, Served
from rlenv_serve.http.problems import Problem, not_found
from rlenv_serve.keys import Tenant
from rlenv_serve.metrics import Metrics
from rlenv_serve.settings import Limits
from rlenv_serve.state.journal import Begun, Ended, Entry, Journal, Taken
from rlenv_serve.trajectories.archive import Archive

from .actions import END, SUBMIT, Action
from .answers import Answer, decode_verdict, encode_verdict
from .replay import digest, replayed
from .session import Session, close

T = TypeVar("T")
logger = logging.getLogger("rlenv_serve")
FINISHED = "episode_finished"
LOOK = 15.0  # seconds between looks for episodes that nobody uses
ATTEMPTS = 20  # times that a step is taken anew since another process took one meanwhile
LAST = 10.0  # seconds for the steps that run when the server ends; what they do is not journaled after that
ARCHIVE = 1.0  # seconds that the answer to the last step waits for the store of trajectories
LARGEST = 32 << 20  # bytes of the answer to one step


class Sessions:
    """The episodes of a server.

    Episodes in memory are a cache of the journal: one that is not there, or is behind the journal since another server
    took a step of it, is replayed when it is asked for.

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
        self._catalog, self._journal, self._limits, self._metrics = catalog, journal, limits, metrics  # fmt: skip
        self._archive = archive
        self._live: dict[str, Session] = {}
        self._opening: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._running: set[asyncio.Task[object]] = set()

    # -- for protocols ----------------------------------------------------------------------------

    async def begin(
        self, tenant: Tenant, served: Served, task: Task, *, seed: int = 0, agent: str = "", key: str = "",
        id: str = "",  # noqa: A002 - the field's name
    ) -> Session:  # fmt: skip
        """A new episode; the one that was begun with the same idempotency key, where there is one.

        ``id`` is 32 hex digits that the caller drew, for a protocol whose sessions have ids before they have tasks.

        Raises:
            Problem: 429 for too many open episodes; 503 when it cannot begin; 409 when the key was used for another one, or
                its episode has ended.
        """
        begun = Begun(id or token_hex(16), tenant.name, served.name, served.env.fingerprint, str(task.id), digest(task), seed, agent, time.time(), key)  # fmt: skip
        return await self._shielded(self._begin(tenant, begun))

    async def get(self, tenant: Tenant, id: str) -> Session:  # noqa: A002 - the field's name
        """An open episode of this tenant, in the state that the journal has.

        Raises:
            Problem: 404 when there is none; 409 when it has ended; 410 when it cannot be brought back.
        """
        entry = await self.entry(tenant, id)
        session = self._live.get(id)
        if session is None or entry.ended or len(session.taken) != entry.steps:
            session = await self._shielded(self._refreshed(tenant, id))
        session.used = time.monotonic()
        return session

    async def entry(self, tenant: Tenant, id: str) -> Entry:  # noqa: A002 - as above
        """What the journal has of an episode of this tenant.

        Raises:
            Problem: 404 when there is none.
        """
        found = await self._journal.find(id)
        if found is None or found.begun.tenant != tenant.name:
            raise _unknown(id)
        return found

    async def step(self, tenant: Tenant, id: str, action: Action, *, key: str = "") -> Answer:  # noqa: A002 - as above
        """The policy acts.  The answer is in the journal when this returns; a client that goes away ends nothing.

        Args:
            tenant: whose episode it is.
            id: of the episode.
            action: what the policy does; ``Action("end")`` has the episode judged as it is.
            key: an idempotency key: a second request with it is answered as the first was.

        Raises:
            Problem: as ``get``; 409 when the key was used for another action.
        """
        return await self._shielded(self._step(tenant, id, action, key))

    async def verdict(self, tenant: Tenant, id: str) -> tuple[Entry, Verdict]:  # noqa: A002 - as above
        """The end of an episode; one that is open is ended and judged as it is.

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
        return entry, decode_verdict(entry.ended.verdict)

    async def delete(self, tenant: Tenant, id: str) -> None:  # noqa: A002 - as above
        """Forget an episode of this tenant; one that is not there is forgotten already."""
        found = await self._journal.find(id)
        if found is not None and found.begun.tenant == tenant.name:
            await self._journal.remove(id)
            if session := self._live.get(id):
                self._started_aside(self._closed(session))  # a step may be running

    def tools(self, session: Session) -> list[dict[str, object]]:
        """The tools of an episode, and ``submit``, which ends it with an answer."""
        return [*session.tools, SUBMIT_TOOL]

    # -- its life ---------------------------------------------------------------------------------

    async def watch(self) -> None:
        """Let go of episodes that nobody uses, until it is cancelled."""
        limits = self._limits
        while True:
            await asyncio.sleep(min(LOOK, limits.idle))
            for session in [*self._live.values()]:
                if time.monotonic() - session.used > limits.idle and not session.lock.locked():
                    await self._closed(session)
            try:
                await self._journal.expire(limits.keep)
            except Problem:  # it is in the log
                continue
            except Exception:
                logger.exception("old episodes cannot be removed")

    async def close(self) -> None:
        """Wait for the steps that run, end those that take long, and let go of all episodes."""
        if self._running:
            _, late = await asyncio.wait(self._running, timeout=LAST)
            for each in late:
                each.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await asyncio.gather(*(self._closed(each) for each in [*self._live.values()]))

    # -- how --------------------------------------------------------------------------------------

    async def _shielded(self, work: Coroutine[object, object, T]) -> T:
        """What runs to its end although the client that asked for it goes away."""
        return await asyncio.shield(self._started_aside(work))

    def _started_aside(self, work: Coroutine[object, object, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[object]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waited has it, if anyone still does

    async def _begin(self, tenant: Tenant, begun: Begun) -> Session:
        """The journal has it first, so that episodes that hang while they begin count to the limit of their tenant."""
        async with self._opened_alone(begun.id):
            kept = await self._journal.begin(begun, self._limits.episodes)
            if kept is None:
                raise Problem(429, "too_many_episodes", f"a tenant has at most {self._limits.episodes:,} open episodes: end or delete one", Retry_After="5")  # fmt: skip
            if kept.id == begun.id:
                try:
                    return await self._brought_back(Entry(begun, 0))
                except BaseException:
                    await self._journal.remove(begun.id)
                    raise
        if (kept.environment, kept.task, kept.seed) != (begun.environment, begun.task, begun.seed):
            raise reused()
        return await self.get(tenant, kept.id)

    async def _refreshed(self, tenant: Tenant, id: str) -> Session:  # noqa: A002 - the field's name
        """The episode as the journal has it, from memory if that is so when the step that runs has ended."""
        async with self._opened_alone(id):
            session = self._live.get(id)
            async with session.lock if session else nullcontext():
                entry = await self.entry(tenant, id)
                if session and self._live.get(id) is session:
                    if not entry.ended and len(session.taken) == entry.steps:
                        return session
                    await self._let_go(session)
            if entry.ended is not None:
                raise ended()
            return await self._brought_back(entry)

    @asynccontextmanager
    async def _opened_alone(self, id: str) -> AsyncIterator[None]:  # noqa: A002 - as above
        lock = self._opening.get(id) or self._opening.setdefault(id, asyncio.Lock())
        async with lock:
            yield

    async def _brought_back(self, entry: Entry) -> Session:
        served = self._catalog.get(entry.begun.environment)
        try:
            session = await asyncio.wait_for(replayed(entry, served, self._journal, _started), self._limits.deadline)  # fmt: skip
        except TimeoutError:
            raise failed(entry.begun, f"it took more than {self._limits.deadline:g} s") from None
        self._live[entry.begun.id] = session
        self._metrics.episodes.set(len(self._live))
        return session

    async def _step(self, tenant: Tenant, id: str, action: Action, key: str) -> Answer:  # noqa: A002 - as above
        for attempt in range(ATTEMPTS):
            try:
                session = (None if attempt else self._held(tenant, id)) or await self.get(tenant, id)  # fmt: skip
            except Problem as problem:
                if problem.code == FINISHED and key and (old := await self._kept_answer(id, action, key)):  # fmt: skip
                    return old
                raise
            async with session.lock:
                if self._live.get(id) is not session:  # it was let go of while this waited
                    continue
                if key and (old := _same(session.by_key(key), action)):
                    return old
                if answer := await self._taken(session, action, key):
                    return answer
        raise Problem(409, "conflict", "other requests changed this episode all the time: take one step at a time")  # fmt: skip

    def _held(self, tenant: Tenant, id: str) -> Session | None:  # noqa: A002 - as above
        """The episode in memory.  Where another process has taken a step since, the journal will not take ours: then the
        episode is brought back and asked again.  So most steps need no look into the journal."""
        session = self._live.get(id)
        if session is None or session.begun.tenant != tenant.name:
            return None
        session.used = time.monotonic()
        return session

    async def _kept_answer(self, id: str, action: Action, key: str) -> Answer | None:  # noqa: A002 - as above
        """What the step with this key of an episode that has ended was answered."""
        steps = await self._journal.steps(id)
        return _same(next((each for each in steps if each.key == key), None), action)

    async def _taken(self, session: Session, action: Action, key: str) -> Answer | None:
        """The step, played and in the journal; None where another process took one meanwhile."""
        try:
            answer = await self._played(session, action)
            taken = Taken(answer.number, action.encoded(), answer.encoded(), key)
            if len(taken.answer) > LARGEST:
                raise Problem(500, "answer_too_large", f"the environment answered with {len(taken.answer):,} bytes, and at most {LARGEST:,} are taken: it was not taken")  # fmt: skip
            end = _ended(session) if answer.done else None
            is_kept = await self._journal.commit(session.id, taken, end)
        except BaseException:
            await self._let_go(session)  # the episode may be ahead of the journal: it is replayed
            raise
        if not is_kept:
            await self._let_go(session)
            return None
        session.taken.append(taken)
        if end and session.verdict:
            self._metrics.verdict(session.served.name, session.verdict)
            await self._let_go(session)
            kept = self._started_aside(self._archived(session.begun, end))
            await asyncio.wait([kept], timeout=ARCHIVE)
        return answer

    async def _archived(self, begun: Begun, end: Ended) -> None:
        try:
            await self._archive.add(begun, end)
        except Exception:  # the reward stands
            logger.exception("the trajectory of episode %s is not kept", begun.id)

    async def _played(self, session: Session, action: Action) -> Answer:
        episode = session.episode
        acting = episode.atruncate("done") if action.kind == "end" else episode.astep(action.played())  # fmt: skip
        try:
            async with asyncio.timeout(self._limits.deadline):
                step = await acting
        except TimeoutError:
            raise Problem(504, "deadline", f"the step took more than {self._limits.deadline:g} s; it was not taken") from None  # fmt: skip
        return Answer.of(len(session.taken) + 1, step, episode.verdict, episode.stop)

    async def _closed(self, session: Session) -> None:
        async with session.lock:
            await self._let_go(session)

    async def _let_go(self, session: Session) -> None:
        """Close an episode whose lock is held."""
        if self._live.get(session.id) is session:
            del self._live[session.id]
            self._metrics.episodes.set(len(self._live))
            await session.close()


async def _started(begun: Begun, served: Served, task: Task) -> Session:
    episode = Episode(served.env)
    try:
        given, info = await episode.areset(task, begun.seed)
    except BaseException as error:
        await close(episode, begun)
        if isinstance(error, VerifierFault):
            raise failed(begun, error) from None
        raise
    first = Answer(0, [{**each} for each in given], info.get("observation"))
    return Session(begun, served, episode, first)


def failed(begun: Begun, why: object) -> Problem:
    """503: the environment cannot begin an episode."""
    logger.warning("episode %s of %s, task %s: %s", begun.id, begun.environment, begun.task, why)
    return Problem(503, "environment_failed", "the episode cannot begin; the server's log says why", Retry_After="5")  # fmt: skip


def _ended(session: Session) -> Ended:
    episode = session.episode
    assert episode.verdict is not None
    assert episode.task is not None
    assert episode.trajectory is not None
    made = Rollout(episode.task, episode.trajectory, tuple(episode.trace), episode.verdict, episode.stop or "error", max(0.0, time.time() - session.begun.created), session.begun.seed, (), episode.start)  # fmt: skip
    return Ended(episode.stop or "error", encode_verdict(episode.verdict), json.dumps(to_row(made)).encode())  # fmt: skip


def _same(taken: Taken | None, action: Action) -> Answer | None:
    """The answer to the same step, where it was taken before.

    Raises:
        Problem: 409 when the key was that of another step.
    """
    if taken is None:
        return None
    if taken.action != action.encoded():
        raise reused()
    return Answer.decoded(taken.answer)


def _unknown(id: str) -> Problem:  # noqa: A002 - as above
    return not_found(f"there is no episode {id!r:.80}")


def ended() -> Problem:
    """409: the episode has ended.  A policy may read it, so it does not say how."""
    return Problem(409, FINISHED, "the episode has ended: begin another")


def reused() -> Problem:
    """409: an idempotency key that was used for something else."""
    return Problem(409, "key_reused", "this Idempotency-Key was used for another request: draw a new one for each request")  # fmt: skip


SUBMIT_TOOL: dict[str, object] = {
    "name": SUBMIT,
    "description": "End the episode with an answer.",
    "parameters": {
        "type": "object",
        "properties": {"answer": {"type": "string", "description": "The answer."}},
        "required": ["answer"],
        "additionalProperties": False,
    },
}
