"""``Run``: the responses of one request, judged side by side, and the results as they come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence

from attrs import define, field
from rlenv import Fault, Verdict
from starlette.types import Receive

from rlenv_serve.catalog import Served
from rlenv_serve.http.answers import encode
from rlenv_serve.http.keys import Tenant, sees_private
from rlenv_serve.http.watch import Watch
from rlenv_serve.verdicts import fault_kind, stage_rows

from .requests import Item, Job, VerifyResult, jobs
from .verifier import Verifier

# Seconds for which one response after another is judged: what is quick needs no tasks.
ALONE = 0.002
DEADLINE = "deadline"  # the kind of fault of what the time of its request did not suffice for


@define(eq=False)
class Run:
    """The responses of one request.

    Args:
        verifier: which judges them.
        tenant: whose they are.
        served: the environment.
        jobs: the responses.
    """

    verifier: Verifier
    tenant: Tenant
    served: Served
    jobs: Sequence[Job]
    verdicts: dict[int, Verdict] = field(
        factory=dict
    )  # by position, in the order in which they came
    done: bool = False
    _news: asyncio.Event = field(factory=asyncio.Event)
    _turn: asyncio.Lock = field(factory=asyncio.Lock)
    _waits: bool = False  # for a worker, or for a turn
    _timer: asyncio.TimerHandle = field(init=False)

    async def play(self, receive: Receive | None = None) -> None:
        """Judge all.  What is not done at the deadline is unscored.

        Args:
            receive: of the request, which ends with its client; None: it goes on without.
        """
        try:
            with Watch(receive, self.verifier.limits.deadline):
                if len(self.jobs) == 1:
                    await self._judge(0)
                else:
                    async with asyncio.TaskGroup() as group:
                        await self._lanes(group, iter(range(len(self.jobs))))
        except TimeoutError:
            self._end()
        finally:
            self.done = True
            self._news.set()

    async def _lanes(self, group: asyncio.TaskGroup, left: Iterator[int]) -> None:
        """Judge one response after another; where they take long, several side by side."""
        self._widen(group, left)
        try:
            await self._lane(left)
        finally:
            self._timer.cancel()

    def _widen(self, group: asyncio.TaskGroup, left: Iterator[int]) -> None:
        if not self._waits:
            self._timer = asyncio.get_running_loop().call_later(ALONE, self._widen, group, left)
            return
        for _ in range(min(self.verifier.limits.running, len(self.jobs)) - 1):
            group.create_task(self._lane(left))

    async def _lane(self, left: Iterator[int]) -> None:
        for index in left:
            await self.verifier.pause()
            self._waits = True
            await self._judge(index)
            self._waits = False

    async def _judge(self, index: int) -> None:
        self._add(
            index,
            await self.verifier.verdict(self.tenant, self.served, self.jobs[index], self._turn),
        )

    def _add(self, index: int, verdict: Verdict) -> None:
        self.verdicts[index] = verdict
        self._news.set()

    def _end(self) -> None:
        seconds = self.verifier.limits.deadline
        fault = Fault(
            DEADLINE,
            f"the request was not done within {seconds:g} s: send less in one request",
            transient=True,
        )
        for index in range(len(self.jobs)):
            if index not in self.verdicts:
                self._add(
                    index,
                    Verdict(
                        value=None,
                        results=(),
                        stopped_at=None,
                        fingerprint=self.served.env.fingerprint,
                        raw=None,
                        fault=fault,
                    ),
                )

    def result(self, index: int) -> VerifyResult:
        """One result, as the tenant may see it."""
        verdict = self.verdicts[index]
        value = self.verdicts[index].value
        passed = None if value is None else value >= self.served.env.pass_mark
        rows = stage_rows(verdict, self.tenant)
        message = verdict.fault.message if sees_private(self.tenant) and verdict.fault else ""
        return VerifyResult(
            id=self.jobs[index].id,
            reward=value,
            passed=passed,
            fault=fault_kind(verdict) or None,
            stages=rows,
            fingerprint=verdict.fingerprint,
            message=message,
        )

    async def encode_results(self) -> list[bytes]:
        """The results of a run that is done as JSON, in order."""
        return [await self._line(index) for index in range(len(self.jobs))]

    async def lines(self) -> AsyncIterator[bytes]:
        """The results as JSON, as they come."""
        sent = 0
        while not self.done or sent < len(self.verdicts):
            self._news.clear()
            for index in [*self.verdicts][sent:]:
                yield await self._line(index)
                sent += 1
            if not self.done and sent == len(self.verdicts):
                await self._news.wait()

    async def _line(self, index: int) -> bytes:
        await self.verifier.pause()
        return encode(self.result(index))


async def made_run(
    verifier: Verifier, tenant: Tenant, environment: str, items: Sequence[Item]
) -> Run:
    """Make the run of a request, which is to be played.

    Args:
        verifier: which judges the responses.
        tenant: whose request it is.
        environment: its name.
        items: the responses.

    Raises:
        Problem: as ``jobs``; 404 when there is no such environment; 429 when too much of this
            tenant waits.
    """
    served = verifier.catalog.lookup(environment)
    verifier.turns.admit(tenant.name)
    return Run(verifier, tenant, served, await jobs(served, items, tenant, verifier.limits.items))
