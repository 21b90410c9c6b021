"""Submitted responses: a bounded queue with priorities, whose members can be cancelled."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from queue import Empty, Full, PriorityQueue
from threading import Semaphore

from rlenv import ConfigError, Verdict

from rlenv_train.rows import Row


class SubmitQueue:
    """Verifies one row a thread, the highest priority first.

    Args:
        verify: the verdict of a row.
        size: rows that may wait.
        at_once: rows that are verified at the same time.

    Raises:
        ConfigError: when a number is not a positive integer.
    """

    def __init__(self, verify: Callable[[Row], Verdict], size: int, at_once: int) -> None:
        for name, number in (("queue", size), ("at_once", at_once)):
            if type(number) is not int or number < 1:
                raise ConfigError(f"{name} is an integer, 1 or more, not {number!r}")
        self._verify = verify
        self._size = size
        self._room = Semaphore(size)
        self._count = count()
        self._waiting: PriorityQueue[tuple[float, int, Future[Verdict], Row]] = PriorityQueue()
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="rlenv-submit")

    @property
    def waiting(self) -> int:
        """Rows that have not started; cancelled ones are not counted."""
        return sum(not future.cancelled() for _, _, future, _ in list(self._waiting.queue))

    def put(self, row: Row, priority: float, timeout: float | None) -> Future[Verdict]:
        """The verdict to come; see ``ScoringEngine.submit``."""
        first = float(-priority)
        future = Future[Verdict]()
        if not self._room.acquire(timeout=timeout):
            raise Full("the queue is full: make it longer, or wait for a result")
        future.add_done_callback(lambda done: self._room.release() if done.cancelled() else None)
        if self._waiting.qsize() > 2 * self._size:  # most are cancelled
            with self._waiting.mutex:
                entries = self._waiting.queue
                # Whoever waits for a cancelled future is told by the second condition.
                kept = [
                    e
                    for e in entries
                    if not e[2].cancelled() or e[2].set_running_or_notify_cancel()
                ]
                entries[:] = sorted(kept)
        self._waiting.put((first, next(self._count), future, row))
        try:
            self._threads.submit(self._run)
        except RuntimeError:  # it was closed
            future.cancel()
            raise
        return future

    def _run(self) -> None:
        """Verify the row that is first now; it may have come later than the one that asked for a
        thread.
        """
        try:
            _, _, future, row = self._waiting.get_nowait()
        except Empty:  # it was closed
            return
        if not future.set_running_or_notify_cancel():
            return
        self._room.release()
        try:
            future.set_result(self._verify(row))
        except BaseException as error:  # noqa: BLE001 - whoever waits for it gets it
            future.set_exception(error)

    def close(self) -> None:
        """Cancel what has not started, and wait for the rest."""
        # First: what comes now is turned away.
        self._threads.shutdown(wait=False, cancel_futures=True)
        with suppress(Empty):
            while True:
                future = self._waiting.get_nowait()[2]
                future.cancel()
                future.set_running_or_notify_cancel()  # or `wait` would not return
        self._threads.shutdown()
