"""The one event loop that rlenv owns in the caller's process, for stages that must be one for all.

Deadlines are enforced by cancellation.  A stage that keeps the loop busy (``time.sleep`` in an async check)
cannot be cancelled: a watch notices, faults that stage, abandons its thread and goes on with a fresh loop.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Generator, Iterable
from concurrent.futures import Future
from contextlib import suppress
from time import monotonic, perf_counter
from typing import Any
from weakref import WeakSet

from .engine import fault_of, faulted
from .plan import Leaf
from .values import StageResult

BLOCKED_AFTER = (
    5.0  # seconds without giving the loop back, or the stage's deadline when that is shorter
)


async def check_awaited(leaf: Leaf, check: Callable[[], Awaitable[Any]], seconds: float) -> Any:
    """Await ``check()`` at most so long; a fault, never an exception, and never longer than that.

    Returns what the check returned, or a StageResult that says what went wrong.
    """
    task: asyncio.Future[Any] = asyncio.ensure_future(_outcome(leaf, check))
    try:
        await asyncio.wait((task,), timeout=seconds)
    except asyncio.CancelledError:
        task.cancel()
        raise
    if not task.done():
        task.cancel()  # asked to end, not waited for: a check may swallow its cancellation
        task.add_done_callback(_swallow)
        return faulted(leaf, "timeout", f"no outcome within {seconds:g} s", seconds)
    if task.cancelled():
        return faulted(leaf, "error", "the stage cancelled itself")
    return task.result()


async def _outcome(leaf: Leaf, check: Callable[[], Awaitable[Any]]) -> Any:
    start = perf_counter()
    try:
        return await check()
    except asyncio.CancelledError:
        raise
    except BaseException as err:  # noqa: BLE001 - a SystemExit would end the loop for everybody
        return StageResult(leaf.path, None, fault_of(err), perf_counter() - start)


def _swallow(task: asyncio.Future[Any]) -> None:
    if not task.cancelled():
        task.exception()


class _Job:
    """One check on the loop."""

    __slots__ = ("call", "future", "leaf", "seconds", "task")

    def __init__(self, leaf: Leaf, call: Callable[[], Awaitable[Any]], seconds: float) -> None:
        self.leaf = leaf
        self.call = call
        self.seconds = seconds
        self.future: Future[Any] = Future()
        self.task: asyncio.Task[None] | None = None


class LoopThread:
    """An event loop on a daemon thread of its own, watched by a second one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended = threading.Event()  # of this loop's time
        self._threads: list[threading.Thread] = []
        self._jobs: set[_Job] = set()
        self._stepping: tuple[_Job, float] | None = None
        self._users: WeakSet[Leaf] = WeakSet()

    def submit(self, leaf: Leaf, call: Callable[[], Awaitable[Any]], seconds: float) -> Future[Any]:
        """Run ``call()`` on the loop; the future holds what it returned, or a StageResult with a fault.

        Cancelling the future cancels the check.
        """
        job = _Job(leaf, call, seconds)
        with self._lock:
            self._users.add(leaf)
            self._jobs.add(job)
            self._schedule(job)
        job.future.add_done_callback(lambda _: self._cancel(job))
        return job.future

    def _schedule(self, job: _Job) -> None:
        loop = self._running()
        loop.call_soon_threadsafe(self._start, loop, job)

    def _start(self, loop: asyncio.AbstractEventLoop, job: _Job) -> None:
        if not job.future.cancelled():
            job.task = loop.create_task(self._serve(job))

    def _cancel(self, job: _Job) -> None:
        if not job.future.cancelled():
            return
        with self._lock:
            self._jobs.discard(job)
            loop, task = self._loop, job.task
            if loop is not None and task is not None:
                loop.call_soon_threadsafe(task.cancel)

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            loop = self._loop = asyncio.new_event_loop()
            self._ended = threading.Event()
            self._threads = [
                threading.Thread(target=run, args=(loop, self._ended), name=name, daemon=True)
                for run, name in ((_run_loop, "rlenv-loop"), (self._watch, "rlenv-loop-watch"))
            ]
            for thread in self._threads:
                thread.start()
        return self._loop

    async def _serve(self, job: _Job) -> None:
        stepped = _Stepped(self, job)
        self._finish(job, await check_awaited(job.leaf, lambda: stepped, job.seconds))

    def _finish(self, job: _Job, result: Any) -> None:
        with self._lock:
            mine = job in self._jobs
            self._jobs.discard(job)
        if mine and job.future.set_running_or_notify_cancel():
            job.future.set_result(result)

    def _watch(self, loop: asyncio.AbstractEventLoop, ended: threading.Event) -> None:
        while not ended.wait(0.1):
            stepping = self._stepping
            if stepping is None:
                continue
            job, since = stepping
            if monotonic() - since > min(BLOCKED_AFTER, job.seconds):
                self._abandon(loop, job, monotonic() - since)
                return

    def _abandon(self, loop: asyncio.AbstractEventLoop, culprit: _Job, spent: float) -> None:
        with self._lock:
            if self._loop is not loop:
                return
            self._loop = self._stepping = None
            self._ended.set()
            others = [job for job in self._jobs if job is not culprit]
        loop.call_soon_threadsafe(loop.stop)  # ends the thread should the blocker ever return
        message = (
            f"the stage kept the shared event loop for {spent:.1f} s; await instead of blocking"
        )
        self._finish(culprit, faulted(culprit.leaf, "blocked", message, spent))
        with self._lock:
            for job in others:
                self._schedule(job)

    def leave(self, leaves: Iterable[Leaf]) -> None:
        """These stages are done; with the last of them the loop ends, and what is still on it."""
        with self._lock:
            for leaf in leaves:
                self._users.discard(leaf)
            loop = self._loop
            if self._users or loop is None:
                return
            self._loop = self._stepping = None
            self._ended.set()
            jobs, threads = list(self._jobs), self._threads
        loop.call_soon_threadsafe(loop.stop)
        for job in jobs:
            message = "the environment was closed while this stage ran"
            self._finish(job, faulted(job.leaf, "pool", message, transient=True))
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(1.0)

    def stepping(self, job: _Job | None) -> None:
        self._stepping = None if job is None else (job, monotonic())


class _Stepped:
    """An awaitable that tells the watch whenever its check holds the loop."""

    __slots__ = ("_job", "_owner")

    def __init__(self, owner: LoopThread, job: _Job) -> None:
        self._owner = owner
        self._job = job

    def __await__(self) -> Generator[Any, Any, Any]:
        owner, job = self._owner, self._job
        owner.stepping(job)
        try:
            inner = job.call().__await__()
            reply: Any = None
            failure: BaseException | None = None
            while True:
                owner.stepping(job)
                try:
                    if failure is not None:
                        wanted = inner.throw(failure)
                    else:
                        wanted = inner.send(reply) if hasattr(inner, "send") else next(inner)
                except StopIteration as stop:
                    return stop.value
                finally:
                    owner.stepping(None)
                failure = reply = None
                try:
                    reply = yield wanted
                except BaseException as err:  # noqa: BLE001 - handed on to the check, whatever it is
                    failure = err
        finally:
            owner.stepping(None)


def _run_loop(loop: asyncio.AbstractEventLoop, ended: threading.Event) -> None:
    asyncio.set_event_loop(loop)
    while (
        not ended.is_set()
    ):  # a stage may have stopped the loop, or a stray task have raised SystemExit
        with suppress(BaseException):
            loop.run_forever()
    for task in asyncio.all_tasks(loop):
        task.cancel()
    with suppress(BaseException):
        loop.run_until_complete(asyncio.sleep(0))
        loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


_shared: LoopThread | None = None
_shared_lock = threading.Lock()


def shared_loop() -> LoopThread:
    """The loop of this process; a forked child gets one of its own."""
    global _shared  # noqa: PLW0603 - one loop a process is the point
    with _shared_lock:
        if _shared is None:
            _shared = LoopThread()
        return _shared


def leave(leaves: Iterable[Leaf]) -> None:
    """These stages want the shared loop no more; its threads end with the last."""
    if _shared is not None:
        _shared.leave(leaves)


def _forget() -> None:
    global _shared, _shared_lock  # noqa: PLW0603
    _shared = None
    _shared_lock = threading.Lock()


os.register_at_fork(after_in_child=_forget)
