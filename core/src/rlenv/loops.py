"""The one event loop that rlenv owns in the caller's process, for stages that must be one for all.

Deadlines are enforced by cancellation.  A stage that keeps the loop busy (``time.sleep`` in an async check)
cannot be cancelled: a watch notices, faults that stage, abandons its thread and goes on with a fresh loop.
"""

from __future__ import annotations

import asyncio
import math
import os
import threading
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from time import monotonic, perf_counter
from typing import Any
from weakref import WeakSet

from .engine import fault_of, faulted
from .plan import Leaf
from .values import StageResult
from .workers.looped import Stepped

# Seconds without giving the loop back, or the stage's deadline when that is shorter.
BLOCKED_AFTER = 5.0
LATE = 1.0  # seconds after a deadline at which a job is given up from outside of its loop


async def check_awaited(
    leaf: Leaf,
    check: Callable[[], Awaitable[Any]],
    seconds: float,
    stepped: Callable[[Any], Any] = lambda coro: coro,
) -> Any:
    """Await ``check()`` at most so long; a fault, never an exception, and never longer than that.

    Returns what the check returned, or a StageResult that says what went wrong.  ``stepped`` may wrap the
    coroutine that awaits the check.
    """
    task: asyncio.Future[Any] = asyncio.ensure_future(stepped(_outcome(leaf, check)))
    try:
        await asyncio.wait((task,), timeout=seconds)
    except asyncio.CancelledError:
        task.cancel()
        raise
    if not task.done():
        task.cancel()  # asked to end, not waited for: a check may swallow its cancellation
        task.add_done_callback(lambda late: late.cancelled() or late.exception())
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


class _Job:
    """One check on the loop."""

    def __init__(self, leaf: Leaf, call: Callable[[], Awaitable[Any]], seconds: float) -> None:
        self.leaf = leaf
        self.call = call
        self.seconds = seconds
        self.future: Future[Any] = Future()
        self.task: asyncio.Task[Any] | None = None
        self.due = math.inf  # once it is on the loop


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
            job.due = monotonic() + job.seconds + LATE
            stepped = partial(Stepped, mark=partial(self._step, job))
            job.task = loop.create_task(check_awaited(job.leaf, job.call, job.seconds, stepped))
            job.task.add_done_callback(partial(self._done, loop, job))

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

    def _done(self, loop: asyncio.AbstractEventLoop, job: _Job, task: asyncio.Task[Any]) -> None:
        if self._loop is loop:  # else it was abandoned, and its jobs run on another
            broke = task.cancelled() or task.exception() is not None
            message = "the stage was cancelled, with all else on its loop"
            self._finish(job, faulted(job.leaf, "error", message) if broke else task.result())

    def _finish(self, job: _Job, result: Any) -> None:
        with self._lock:
            mine = job in self._jobs
            self._jobs.discard(job)
        if mine and job.future.set_running_or_notify_cancel():
            job.future.set_result(result)

    def _watch(self, loop: asyncio.AbstractEventLoop, ended: threading.Event) -> None:
        while not ended.wait(0.1):
            stepping, now = self._stepping, monotonic()
            late = [job for job in tuple(self._jobs) if now > job.due]
            if stepping is None and late:  # its task should have said so: the loop is broken
                job, message = late[0], f"no outcome within {late[0].seconds:g} s"
                self._abandon(loop, job, faulted(job.leaf, "timeout", message, job.seconds))
            elif stepping is not None:
                job, spent = stepping[0], now - stepping[1]
                if spent > min(BLOCKED_AFTER, job.seconds):
                    message = f"the stage kept the shared event loop for {spent:.1f} s; await instead of blocking"
                    self._abandon(loop, job, faulted(job.leaf, "blocked", message, spent))

    def _abandon(self, loop: asyncio.AbstractEventLoop, culprit: _Job, fault: StageResult) -> None:
        with self._lock:
            if self._loop is not loop:
                return
            self._loop = self._stepping = None
            self._ended.set()
            others = [job for job in self._jobs if job is not culprit]
        loop.call_soon_threadsafe(loop.stop)  # ends the thread should the blocker ever return
        self._finish(culprit, fault)
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

    def _step(self, job: _Job, begins: bool) -> None:  # noqa: FBT001 - as Stepped calls it
        self._stepping = (job, monotonic()) if begins else None


def _run_loop(loop: asyncio.AbstractEventLoop, ended: threading.Event) -> None:
    asyncio.set_event_loop(loop)
    # A stage may have stopped the loop, or a stray task have raised SystemExit.
    while not ended.is_set():
        with suppress(BaseException):
            loop.run_forever()
    for task in asyncio.all_tasks(loop):
        task.cancel()
    with suppress(BaseException):
        loop.run_until_complete(asyncio.sleep(0))
        loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


_shared = LoopThread()  # its threads start with the first check


def shared_loop() -> LoopThread:
    """The loop of this process; a forked child gets one of its own."""
    return _shared


def _forget() -> None:
    global _shared  # noqa: PLW0603 - one loop a process is the point
    _shared = LoopThread()


os.register_at_fork(after_in_child=_forget)
