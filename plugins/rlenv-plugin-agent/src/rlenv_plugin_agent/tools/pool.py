"""Where tools run: threads that are used again, the loop of the caller, or an event loop in a
thread of its own.

Neither a thread nor a blocked event loop can be stopped.  A call that outruns its time is left to
itself and counted under its key until it ends; other calls go on elsewhere.  The time in which
another call blocks a loop does not count.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Hashable
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Generic, TypeAlias, TypeVar

from rlenv_plugin_agent.waiting import has_loop

from .steps_of_loop import Owner, own_tasks, time_steps, watch_of

T = TypeVar("T")
Work = Coroutine[object, object, T]
MOST = 2048  # threads, those of calls that were left to themselves included; further calls wait
IDLE = 5.0  # seconds after which a thread without a call ends
SOON = 5e-5  # seconds in which many a call ends
PATIENCE = 0.3  # seconds that a cancelled task, or a loop that may be blocked, has to answer
SHORTEST = 0.01  # seconds that a call waits again while another one blocks its loop
MOST_BLOCKED = 120.0  # seconds that calls wait for a loop that another one blocks
left_running: Counter[Hashable] = Counter()  # calls that run on after their time, by key


class Late(Exception):
    """There is no result within the time given."""


class LoopBlocked(Exception):
    """Another call has blocked the loop of this one for longer than a call waits for it."""


class _Call(Generic[T]):
    """One call: its result reaches whoever waits, unless that has given up.

    Args:
        key: what it is counted under while it runs on after its time.
        work: what a thread does; it must not raise.
    """

    answer: T

    def __init__(self, key: Hashable, work: Callable[[], T] | None = None) -> None:
        self.key = key
        self.work = work
        self.over = self.left = False
        self.ended = threading.Lock()
        self.ended.acquire()
        self.waiter: asyncio.Future[None] | None = None  # made when a loop is to wait

    def finish(self, result: T) -> None:
        """Finish the call, from any thread."""
        self.answer = result
        with _pool.lock:
            self.over = True
            if self.left:
                left_running[self.key] -= 1
                if not left_running[self.key]:
                    del left_running[self.key]
        self.ended.release()
        if self.waiter is not None:
            with suppress(RuntimeError):  # that loop is closed
                self.waiter.get_loop().call_soon_threadsafe(_settle, self.waiter)

    def leave(self) -> None:
        """Leave it to itself where it has not ended; one that has not begun never will."""
        with _pool.lock:
            if self in _pool.waiting:
                _pool.waiting.remove(self)  # type: ignore[arg-type] # whatever it returns
            elif not self.over:
                self.left = True
                left_running[self.key] += 1

    def wait(self, seconds: float) -> T:
        """Do what ``result`` does, blocking this thread."""
        if not self.ended.acquire(timeout=seconds):
            self.leave()
            raise Late
        return self.answer

    async def result(self, seconds: float, left: Callable[[], float] = float) -> T:
        """Wait for it; leave it to itself when it is late or this is cancelled.

        Args:
            seconds: wall time.
            left: asked when they are over, how many more there are; it may raise.

        Raises:
            Late: after so many seconds.
        """
        try:
            while not await self._ended(seconds):
                seconds = left()
                if seconds <= 0:
                    raise Late
        finally:
            self.leave()
        return self.answer

    async def _ended(self, seconds: float) -> bool:
        """Wait for its end, or so many seconds; returns whether it has ended."""
        loop = asyncio.get_running_loop()
        with _pool.lock:
            self.waiter = waiter = None if self.over else loop.create_future()
        if waiter is not None:
            timer = loop.call_later(seconds, _settle, waiter)
            try:
                await waiter
            finally:
                timer.cancel()
        return self.over


def _settle(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


_Job: TypeAlias = _Call[object]


class _Pool:
    """Holds the threads of this process, and the event loop of its async tools."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.idle: list[SimpleQueue[_Job]] = []  # the last one is used first
        self.waiting: deque[_Job] = deque()
        self.threads = 0
        self.aside: asyncio.AbstractEventLoop | None = None
        self.blocking: set[Hashable] = set()  # tools that have blocked an event loop

    def begin(self, job: _Job) -> None:
        with self.lock:
            inbox = self.idle.pop() if self.idle else None
            if inbox is None and self.threads >= MOST:
                self.waiting.append(job)
                return
            self.threads += inbox is None
        if inbox is None:
            inbox = SimpleQueue()
            _start(partial(self.serve, inbox))
        inbox.put(job)

    def serve(self, inbox: SimpleQueue[_Job]) -> None:
        """Serve calls for the life of one thread."""
        job: _Job | None = inbox.get()
        while job is not None:
            assert job.work is not None
            answer = job.work()
            with self.lock:  # free for the next call before this one is answered
                following = self.waiting.popleft() if self.waiting else None
                if following is None:
                    self.idle.append(inbox)
            job.finish(answer)
            del job, answer  # else an idle thread holds them
            job = following or self.next(inbox)

    def next(self, inbox: SimpleQueue[_Job]) -> _Job | None:
        with suppress(Empty):
            return inbox.get(timeout=IDLE)
        with self.lock:
            if inbox in self.idle:
                self.idle.remove(inbox)
                self.threads -= 1
                return None
        return inbox.get()  # the thread was chosen meanwhile: its job is on the way

    def loop_aside(self) -> asyncio.AbstractEventLoop:
        with self.lock:
            if self.aside is None:
                self.aside = asyncio.new_event_loop()
                own_tasks(self.aside)
                _start(self.aside.run_forever)
            return self.aside

    def replace(self, blocked: asyncio.AbstractEventLoop, by: Hashable) -> None:
        """Later calls get another loop, and those of what blocked this one get threads.  So few
        loops are left.

        Args:
            blocked: the loop that no longer answers.
            by: the tool whose call blocks it.
        """
        with self.lock:
            self.blocking.add(by)
            if self.aside is blocked:
                self.aside = None


def _start(target: Callable[[], None]) -> None:
    threading.Thread(target=target, name="rlenv-tool", daemon=True).start()


_pool = _Pool()


def _reset_after_fork() -> None:
    """Begin anew in a child, which has no threads of its parent."""
    global _pool  # noqa: PLW0603 - there is one in a process
    _pool = _Pool()
    left_running.clear()


os.register_at_fork(after_in_child=_reset_after_fork)


async def in_thread(work: Callable[[], T], seconds: float, key: Hashable) -> T:
    """Return what ``work()`` returns, from a thread.  Without an event loop, this waits without
    suspending.

    Args:
        work: must not raise.
        seconds: wall time, waiting for a thread included.
        key: what it is counted under in ``left_running`` while it runs on after its time.

    Raises:
        Late: after so many seconds; the thread is left to itself.
    """
    job = _Call(key, work)
    _pool.begin(job)  # type: ignore[arg-type] # whatever it returns
    if job.ended.acquire(timeout=SOON):  # which costs a third of a turn of the loop
        return job.answer
    return await job.result(seconds) if has_loop() else job.wait(seconds)


class _TimedCall(Generic[T]):
    """One call on a loop, whose time excludes that in which others block the loop.

    Args:
        call: that is waited for.
        work: what it does; it must not raise.
        seconds: that it may take.
        loop: that it runs on.
        tool: what it is a call of.
    """

    def __init__(
        self,
        call: _Call[T | None],
        work: Callable[[], Work[T]],
        seconds: float,
        loop: asyncio.AbstractEventLoop,
        tool: Hashable,
    ) -> None:
        self.call = call
        self.work = work
        self.seconds = seconds
        self.watch = watch_of(loop)
        self.owner = Owner(tool)
        self.began = monotonic()
        self.before = self.watch.foreign(self.owner)

    async def play(self) -> None:
        """Do the work, on the loop."""
        result = None
        try:
            if not self.call.left:  # else a loop that was blocked begins what was given up
                result = await time_steps(self.work(), self.owner, self.watch)
        finally:
            self.call.finish(result)

    async def result(self) -> T | None:
        """Wait for the end of the call, in any loop.

        Raises:
            Late: after its seconds.
            Blocked: another call blocks the loop without end.
        """
        return await self.call.result(self.seconds, self._left)

    def _left(self) -> float:
        """Return the seconds that are left, without those in which others have blocked the loop."""
        foreign = max(0.0, self.watch.foreign(self.owner) - self.before)
        _, now = self.watch.running()
        if foreign > MOST_BLOCKED and now:
            raise LoopBlocked
        left = self.seconds + foreign - (monotonic() - self.began)
        return max(left, SHORTEST) if left > 0 else 0.0

    def blocker(self) -> Hashable:
        """Return the tool that blocks the loop now: another one's, or that of this call."""
        owner = self.watch.owner or self.owner
        return owner.tool


async def on_loop(
    work: Callable[[], Work[T]], seconds: float, key: Hashable, tool: Hashable
) -> T | None:
    """Return what ``work()`` returns, on the loop of the caller; None where something cancelled it.

    Args:
        work: must not raise.
        seconds: wall time.  After it the task is cancelled, and left to itself where it does not
            end then.
        key: as for ``in_thread``.
        tool: what blocks the loop if this call does.

    Raises:
        Late: after so many seconds; those in which other calls block the loop do not count.
    """
    call: _Call[T | None] = _Call(key)
    timed = _TimedCall(call, work, seconds, asyncio.get_running_loop(), tool)
    task = asyncio.ensure_future(timed.play())
    try:
        return await timed.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=PATIENCE)
        if not task.done():  # else `asyncio.run` waits for its end, which may never come
            asyncio._unregister_task(task)  # docs.python.org/3/library/asyncio-extending.html
            # The loop may be closed while it is pending; asyncio reports that as a mistake of the
            # caller.
            task._log_destroy_pending = False  # type: ignore[attr-defined] # as asyncio.gather does


async def on_background_loop(
    work: Callable[[], Work[T]], seconds: float, key: Hashable, tool: Hashable
) -> T | None:
    """Call ``on_loop`` on a loop in another thread, which is replaced when something blocks it.

    Args:
        work: must not raise.
        seconds: wall time.
        key: as for ``in_thread``.
        tool: what blocks the loop if this call does; its later calls get a thread each.

    Raises:
        Late: as of ``on_loop``.
        Blocked: another call blocks the loop without end.
    """
    there = _pool.loop_aside()
    blocker, blocked = watch_of(there).running()
    if blocker is not None and blocked > PATIENCE:
        _pool.replace(there, by=blocker.tool)
        there = _pool.loop_aside()
    if tool in _pool.blocking:
        return await in_thread(partial(_run, work), seconds, key)
    call: _Call[T | None] = _Call(key)
    timed = _TimedCall(call, work, seconds, there, tool)
    running = asyncio.run_coroutine_threadsafe(timed.play(), there)
    try:
        return await timed.result()
    finally:
        if not call.over:
            running.cancel()
            if not await _answers(there):
                _pool.replace(there, by=timed.blocker())


def _run(work: Callable[[], Work[T]]) -> T | None:
    with suppress(asyncio.CancelledError), asyncio.Runner() as runner:
        return runner.run(work())
    return None


async def _answers(there: asyncio.AbstractEventLoop) -> bool:
    """Return whether a loop does anything within a moment."""
    answer = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asyncio.sleep(0), there))
    await asyncio.wait({answer}, timeout=PATIENCE)
    return answer.done()
