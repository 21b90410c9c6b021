"""``Verifier``: judges the responses of requests, fairly between tenants, and within their
deadlines.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from time import perf_counter

from rlenv import Fault, Verdict
from rlenv_plugin_agent.rollouts.spans import verdict_span

from rlenv_serve.catalog import Catalog, Served
from rlenv_serve.http.keys import Tenant
from rlenv_serve.http.limits import Limits
from rlenv_serve.http.turns import Turns
from rlenv_serve.metrics import Metrics

from .requests import Job

logger = logging.getLogger("rlenv_serve")
HELD = 0.0005  # seconds after which a large request lets others have the loop
GUESS = 0.02  # seconds that a response takes in an environment that has judged none yet
WEIGHT = 0.1  # of the newest response in the mean


class Verifier:
    """Judges responses.

    Args:
        catalog: the environments.
        turns: of tenants; each response is one.
        limits: what a client may use.
        metrics: which counts verdicts.
    """

    def __init__(self, catalog: Catalog, turns: Turns, limits: Limits, metrics: Metrics) -> None:
        self.catalog = catalog
        self.turns = turns
        self.limits = limits
        self._metrics = metrics
        self._cost: dict[str, float] = {}
        self._began: float | None = None
        self._paused: deque[asyncio.Future[None]] = deque()

    async def verdict(
        self, tenant: Tenant, served: Served, job: Job, line: asyncio.Lock
    ) -> Verdict:
        """The verdict of one response, when it is its turn; never an exception of a stage.

        Args:
            tenant: whose it is.
            served: the environment.
            job: the response.
            line: of a request, of which one response waits for its turn at a time.
        """
        name = tenant.name
        cost = self._cost.get(served.name, GUESS)
        async with line:
            await self.turns.take(name, cost)
        try:
            verdict = await served.env.aevaluate(job.task, job.response)
        except Exception as error:
            logger.exception(
                "a response to task %.80r of %s could not be judged", job.task.id, served.name
            )
            fault = Fault("error", f"{type(error).__name__}: {error}")
            verdict = Verdict(
                value=None,
                results=(),
                stopped_at=None,
                fingerprint=served.env.fingerprint,
                raw=None,
                fault=fault,
            )
        finally:
            self.turns.give(name, cost)
        self._learn(served, verdict)
        self._metrics.verdict(served.name, verdict)
        if self._metrics.trace:
            about = {
                "rlenv.environment": served.name,
                "rlenv.task.id": job.task.id,
                "rlenv.tenant": name or None,
            }
            self._metrics.trace(verdict_span(verdict), about)
        return verdict

    async def pause(self) -> None:
        """Let others have the loop, where large requests have held it for long in this turn of
        it.
        """
        loop = asyncio.get_running_loop()
        if self._began is None:
            self._began = perf_counter()
            loop.call_soon(self._begin_turn, loop)
        elif perf_counter() - self._began > HELD:
            turn = loop.create_future()
            self._paused.append(turn)
            await turn

    def _begin_turn(self, loop: asyncio.AbstractEventLoop) -> None:
        """A turn of the loop begins: the first of those that wait goes on."""
        self._began = None
        while self._paused and self._began is None:
            if not (turn := self._paused.popleft()).done():
                turn.set_result(None)
                self._began = perf_counter()
                loop.call_soon(self._begin_turn, loop)

    def _learn(self, served: Served, verdict: Verdict) -> None:
        """Learn for how long a response keeps a worker; stages that only wait do not keep one."""
        spent = 0.0
        if "caller" not in served.env.places:
            spent = sum([result.seconds for result in verdict.results])
        old = self._cost.get(served.name, spent)
        self._cost[served.name] = old + WEIGHT * (spent - old)
