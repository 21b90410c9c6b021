"""``Sessions``: begins episodes, takes their steps, journals each before it is answered, and finds them again."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from contextlib import suppress
from secrets import token_hex

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

from .actions import SUBMIT, Action
from .answers import Answer, decode_verdict, encode_verdict
from .replay import replayed
from .session import Session

logger = logging.getLogger("rlenv_serve")
LOOK = 15.0  # seconds between looks for episodes that nobody uses


class Sessions:
    """The episodes of a server.

    Episodes in memory are a cache of the journal: one that is not there is replayed when it is asked for.

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
        self._opening: dict[str, asyncio.Lock] = {}

    # -- for protocols ----------------------------------------------------------------------------

    async def begin(
        self, tenant: Tenant, served: Served, task: Task, *, seed: int = 0, agent: str = "", key: str = ""
    ) -> Session:  # fmt: skip
        """A new episode; the one that was begun with the same idempotency key, where there is one.

        Raises:
            Problem: 429 for too many open episodes; 503 when it cannot begin.
        """
        if await self._journal.open_count(tenant.name) >= self._limits.episodes:
            raise Problem(429, "too_many_episodes", f"a tenant has at most {self._limits.episodes:,} open episodes: end or delete one", Retry_After="5")  # fmt: skip
        begun = Begun(token_hex(16), tenant.name, served.name, served.env.fingerprint, str(task.id), seed, agent, time.time(), key)  # fmt: skip
        session = await self._started(begun, served, task)
        try:
            kept = await self._journal.begin(begun)
        except BaseException:
            await session.episode.aclose()
            raise
        if kept.id != begun.id:
            await session.episode.aclose()
            if (kept.environment, kept.task, kept.seed) != (begun.environment, begun.task, begun.seed):  # fmt: skip
                raise reused()
            return await self.get(tenant, kept.id)
        self._live[begun.id] = session
        self._metrics.episodes.set(len(self._live))
        return session

    async def get(self, tenant: Tenant, id: str) -> Session:  # noqa: A002 - the field's name
        """An open episode of this tenant, replayed where it is not in memory.

        Raises:
            Problem: 404 when there is none; 409 when it has ended; 410 when it cannot be brought back.
        """
        if id not in self._live:
            lock = self._opening.setdefault(id, asyncio.Lock())
            try:
                async with lock:
                    if id not in self._live:
                        await self._bring_back(tenant, id)
            finally:
                if not lock.locked():
                    self._opening.pop(id, None)
        session = self._live[id]
        if session.begun.tenant != tenant.name:
            raise _unknown(id)
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
        return await asyncio.shield(self._step(tenant, id, action, key))

    async def verdict(self, tenant: Tenant, id: str) -> tuple[Entry, Verdict]:  # noqa: A002 - as above
        """The end of an episode; one that is open is ended and judged as it is.

        Raises:
            Problem: as ``step``.
        """
        entry = await self.entry(tenant, id)
        if entry.ended is None:
            with suppress(Problem):  # another request has ended it
                await self.step(tenant, id, Action("end"))
            entry = await self.entry(tenant, id)
        if entry.ended is None:
            await self.get(tenant, id)  # raises what is wrong
            raise Problem(409, "busy", "another request changed this episode: ask again")
        return entry, decode_verdict(entry.ended.verdict)

    async def delete(self, tenant: Tenant, id: str) -> None:  # noqa: A002 - as above
        """Forget an episode of this tenant; one that is not there is forgotten already."""
        found = await self._journal.find(id)
        if found is not None and found.begun.tenant == tenant.name:
            await self._journal.remove(id)
            await self._let_go(id)

    def tools(self, session: Session) -> list[dict[str, object]]:
        """The tools of an episode, and ``submit``, which ends it with an answer."""
        return [*session.tools, SUBMIT_TOOL]

    # -- its life ---------------------------------------------------------------------------------

    async def watch(self) -> None:
        """Let go of episodes that nobody uses, until it is cancelled."""
        limits = self._limits
        while True:
            await asyncio.sleep(min(LOOK, limits.idle))
            now = time.monotonic()
            for session in [*self._live.values()]:
                if now - session.used > limits.idle and not session.lock.locked():
                    await self._let_go(session.id)
            with suppress(Problem):
                await self._journal.expire(time.time() - limits.keep)

    async def close(self) -> None:
        """Wait for the steps that run, and let go of all episodes."""
        for session in [*self._live.values()]:
            async with session.lock:
                await self._let_go(session.id)

    # -- how --------------------------------------------------------------------------------------

    async def _started(self, begun: Begun, served: Served, task: Task) -> Session:
        episode = Episode(served.env)
        try:
            given, info = await asyncio.wait_for(episode.areset(task, begun.seed), self._limits.deadline)  # fmt: skip
        except (VerifierFault, TimeoutError) as error:
            await episode.aclose()
            logger.warning("episode of %s, task %s: %s", served.name, task.id, error)
            raise Problem(503, "environment_failed", "the episode cannot begin; the server's log says why", Retry_After="5") from None  # fmt: skip
        first = Answer([{**each} for each in given], info.get("observation"))
        return Session(begun, served, episode, first)

    async def _bring_back(self, tenant: Tenant, id: str) -> None:  # noqa: A002 - the field's name
        entry = await self.entry(tenant, id)
        if entry.ended is not None:
            raise ended(entry.ended.stop)
        served = self._catalog.get(entry.begun.environment)
        session = await replayed(entry, served, self._journal, self._started)
        self._live[id] = session
        self._metrics.episodes.set(len(self._live))

    async def _step(self, tenant: Tenant, id: str, action: Action, key: str) -> Answer:  # noqa: A002 - as above
        if key and (old := await self._answered(tenant, id, action, key)):
            return old
        session = await self.get(tenant, id)
        async with session.lock:
            if key and (old := _same(session.by_key(key), action)):
                return old
            if session.ended:
                raise ended(session.episode.stop or "")
            return await self._taken(session, action, key)

    async def _answered(self, tenant: Tenant, id: str, action: Action, key: str) -> Answer | None:  # noqa: A002 - as above
        """What the step with this key was answered, where the episode has ended since or is not in memory."""
        if id in self._live:
            return None
        await self.entry(tenant, id)
        steps = await self._journal.steps(id)
        return _same(next((each for each in steps if each.key == key), None), action)

    async def _taken(self, session: Session, action: Action, key: str) -> Answer:
        episode = session.episode
        try:
            acting = episode.atruncate("done") if action.kind == "end" else episode.astep(action.played())  # fmt: skip
            step = await asyncio.wait_for(acting, self._limits.deadline)
        except BaseException as error:
            await self._let_go(
                session.id
            )  # nothing was journaled: it is replayed without this step
            if isinstance(error, TimeoutError):
                raise Problem(504, "deadline", f"the step took more than {self._limits.deadline:g} s; it was not taken") from None  # fmt: skip
            raise
        answer, over = Answer.of(step, episode.verdict, episode.stop), episode.verdict is not None
        taken = Taken(len(session.taken) + 1, action.encoded(), answer.encoded(), key)
        end = _ended(session) if over else None
        if not await self._journal.commit(session.id, taken, end):
            await self._let_go(session.id)
            raise Problem(409, "conflict", "another request changed this episode meanwhile: look at it with GET, and send the step again")  # fmt: skip
        session.taken.append(taken)
        if end is not None:
            assert episode.verdict is not None
            self._metrics.verdict(session.served.name, episode.verdict)
            session.ended = True
            await self._archive.add(session.begun, end)
            await self._let_go(session.id)
        return answer

    async def _let_go(self, id: str) -> None:  # noqa: A002 - as above
        if session := self._live.pop(id, None):
            with suppress(Exception):
                await session.episode.aclose()
            self._metrics.episodes.set(len(self._live))


def _ended(session: Session) -> Ended:
    episode = session.episode
    assert episode.verdict is not None
    assert episode.task is not None
    assert episode.trajectory is not None
    made = Rollout(episode.task, episode.trajectory, tuple(episode.trace), episode.verdict, episode.stop or "error", time.time() - session.begun.created, session.begun.seed, (), episode.start)  # fmt: skip
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


def ended(stop: str) -> Problem:
    """409: the episode has ended."""
    return Problem(409, "episode_finished", f"the episode has ended ({stop}): begin another")


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
