"""What runs beside the caller: an event loop for stages that must be one for all, and threads for
plain work.

Deadlines are enforced by cancellation.  A stage that keeps the loop busy (``time.sleep`` in an
async check) cannot be cancelled: a watch notices, faults that stage, abandons its thread and goes
on with a fresh loop.
"""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from threading import Lock, Thread, current_thread
from time import monotonic, perf_counter
from typing import Any, TypeAlias, TypeVar
from weakref import WeakSet

from rlenv.engine.checks import fault_of, faulted
from rlenv.engine.plan import CompiledSlot
from rlenv.model.values import StageResult
from rlenv.workers.looped import MarkedLoop, context_of
from rlenv.workers.watch import watch

T = TypeVar("T")
Check: TypeAlias = Callable[[], Awaitable[T]]
# Seconds without giving the loop back, or the stage's deadline when that is shorter.
BLOCKED_AFTER = 5.0
LATE = 1.0  # seconds after a deadline at which a job is given up from outside of its loop
AWAY = 120.0  # seconds for what has no deadline of its own, such as pickling
_queues: dict[int, SimpleQueue[Callable[[], None]]] = {}  # by the number of threads that serve it


async def within(seconds: float, slot: CompiledSlot, check: Check[T]) -> T | StageResult:
    """Await ``check()`` at most so long; a fault, never an exception, and never longer than that.

    Returns what the check returned, or a StageResult that says what went wrong.
    """
    task = asyncio.ensure_future(_outcome(slot, check))
    try:
        await asyncio.wait((task,), timeout=seconds)
    except asyncio.CancelledError:
        task.cancel()
        raise
    if not task.done():
        task.cancel()  # asked to end, not waited for: a check may swallow its cancellation
        return faulted(slot, "timeout", f"no outcome within {seconds:g} s", seconds)
    if task.cancelled():
        return faulted(slot, "error", "the stage cancelled itself")
    return task.result()


async def _outcome(slot: CompiledSlot, check: Check[T]) -> T | StageResult:
    start = perf_counter()
    try:
        return await check()
    except asyncio.CancelledError:
        raise
    except BaseException as err:  # noqa: BLE001 - a SystemExit would end the loop for everybody
        return StageResult(slot.path, None, fault_of(err), perf_counter() - start)


class _Job(Future[object]):
    """One check on the loop: what it returned, or a StageResult with a fault."""

    def __init__(self, slot: CompiledSlot, call: Check[object], seconds: float) -> None:
        super().__init__()
        self.slot = slot
        self.call = call
        self.seconds = seconds
        self.task: asyncio.Task[object] | None = None
        self.due = math.inf


class BackgroundEventLoop:
    """An event loop on a daemon thread of its own, which is looked after (``watch``)."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._loop: MarkedLoop | None = None
        self._thread: Thread
        self._jobs: set[_Job] = set()
        self._stepping: tuple[_Job, float] | None = None
        self._users: WeakSet[CompiledSlot] = WeakSet()

    def submit(self, slot: CompiledSlot, call: Check[object], seconds: float) -> Future[object]:
        """Run ``call()`` on the loop.

        The future holds what it returned, or a StageResult with a fault.

        Cancelling the future cancels the check.
        """
        job = _Job(slot, call, seconds)
        with self._lock:
            self._users.add(slot)
            self._jobs.add(job)
            self._schedule(job)
        job.add_done_callback(lambda _: self._ended(job))
        return job

    def _schedule(self, job: _Job) -> None:
        loop = self._running()
        job.due = monotonic() + job.seconds + LATE
        loop.call_soon_threadsafe(self._start, loop, job)

    def _start(self, loop: MarkedLoop, job: _Job) -> None:
        if not job.cancelled():
            job.due = monotonic() + job.seconds + LATE
            check = within(job.seconds, job.slot, job.call)
            job.task = loop.create_task(check, context=context_of(job))
            job.task.add_done_callback(partial(self._done, loop, job))

    def _ended(self, job: _Job) -> None:
        with self._lock:
            self._jobs.discard(job)
            if job.cancelled() and self._loop is not None and job.task is not None:
                _tell(self._loop, job.task.cancel)

    def _running(self) -> MarkedLoop:
        if self._loop is None or self._loop.is_closed():
            loop = self._loop = MarkedLoop()
            loop.mark = partial(self._mark, loop)
            run = partial(self._run, loop)
            self._thread = Thread(target=run, name="rlenv-loop", daemon=True)
            self._thread.start()
            watch(self.look)
        return self._loop

    def _done(self, loop: MarkedLoop, job: _Job, task: asyncio.Task[object]) -> None:
        if self._loop is loop:  # else it was abandoned, and its jobs run on another
            broke = task.cancelled() or task.exception() is not None
            message = "the stage was cancelled, with all else on its loop"
            _settle(job, faulted(job.slot, "error", message) if broke else task.result())

    def look(self) -> bool:
        """Find who blocks the loop, and what should have ended; True while there is a loop."""
        loop = self._loop
        stepping = self._stepping
        now = monotonic()
        late = next((job for job in tuple(self._jobs) if now > job.due), None)
        if loop is None:
            return False
        if not self._thread.is_alive():
            self._abandon(loop)
        elif stepping and now - stepping[1] > min(BLOCKED_AFTER, stepping[0].seconds):
            job = stepping[0]
            spent = now - stepping[1]
            message = f"it kept the shared event loop for {spent:.1f} s; await instead of blocking"
            self._abandon(loop, job, faulted(job.slot, "blocked", message, spent))
        elif late and (stepping is None or now > late.due + BLOCKED_AFTER):
            # its task should have said so: the loop is broken
            message = f"no outcome within {late.seconds:g} s"
            self._abandon(loop, late, faulted(late.slot, "timeout", message, late.seconds))
        return True

    def _abandon(self, loop: MarkedLoop, culprit: _Job | None = None, fault: object = None) -> None:
        with self._lock:
            if self._loop is not loop:
                return
            self._loop = self._stepping = None
            others = [job for job in self._jobs if job is not culprit]
        _tell(loop, loop.stop)  # ends the thread should the blocker ever return
        if culprit is not None:
            _settle(culprit, fault)
        with self._lock:
            for job in others:
                self._schedule(job)

    def leave(self, slots: Iterable[CompiledSlot]) -> None:
        """These stages are done; with the last of them the loop ends, and what is still on it."""
        with self._lock:
            for slot in slots:
                self._users.discard(slot)
            loop = self._loop
            if self._users or loop is None:
                return
            self._loop = self._stepping = None
            jobs = list(self._jobs)
        _tell(loop, loop.stop)
        for job in jobs:
            message = "the environment was closed while this stage ran"
            _settle(job, faulted(job.slot, "pool", message, transient=True))
        if self._thread is not current_thread():
            self._thread.join(1.0)

    def _mark(self, loop: MarkedLoop, job: _Job | None) -> None:
        if self._loop is loop:
            self._stepping = None if job is None else (job, monotonic())

    def _run(self, loop: MarkedLoop) -> None:
        asyncio.set_event_loop(loop)
        # A stage may have stopped the loop, or a stray task have raised SystemExit.
        while self._loop is loop and not loop.is_closed():
            with suppress(BaseException):
                loop.run_forever()
        if loop.is_closed():
            return
        for task in asyncio.all_tasks(loop):
            task.cancel()
        with suppress(BaseException):
            loop.run_until_complete(asyncio.sleep(0))
            loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def _settle(future: Future[object], result: object, error: BaseException | None = None) -> None:
    with suppress(InvalidStateError):  # something else was faster
        future.set_result(result) if error is None else future.set_exception(error)


def _tell(loop: MarkedLoop, what: Callable[[], object]) -> None:
    with suppress(RuntimeError):  # a stage may have closed it
        loop.call_soon_threadsafe(what)


def off_loop(
    work: Callable[[], object], threads: int = 16, seconds: float = AWAY, lost: object = None
) -> Future[Any]:
    """Call it in one of so many threads.

    One for what keeps the interpreter to itself, as pickling does.

    Args:
        work: what to call.
        threads: how many calls of this kind may run at a time.
        seconds: of its own, from when a thread takes it up; then it is given up.
        lost: the result then.
    """
    if threads not in _queues:
        _queues[threads] = SimpleQueue()
        for _ in range(threads):
            _staff(_queues[threads])
    future: Future[object] = Future()
    queue = _queues[threads]
    due = math.inf

    def run() -> None:
        nonlocal due
        due = monotonic() + seconds
        if future.set_running_or_notify_cancel():
            try:
                _settle(future, work())
            except BaseException as err:  # noqa: BLE001 - it belongs to whoever waits
                _settle(future, None, err)

    def look() -> bool:
        if monotonic() > due and not future.done():
            _settle(future, lost)
            _staff(queue)  # in place of the thread that did not come back
        return not future.done()

    watch(look)
    queue.put(run)
    return future


def _staff(queue: SimpleQueue[Callable[[], None]]) -> None:
    def serve() -> None:
        while True:
            queue.get()()

    Thread(target=serve, name="rlenv", daemon=True).start()


shared_loop = BackgroundEventLoop()  # of this process; its thread starts with the first check
os.register_at_fork(after_in_child=shared_loop.__init__)  # type: ignore[misc]
os.register_at_fork(after_in_child=_queues.clear)
