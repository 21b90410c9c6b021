"""The dispatcher: one thread that feeds the workers, reads their results and has them looked
after.
"""

from __future__ import annotations

import selectors
import socket
from collections import deque
from collections.abc import Sequence
from threading import Lock, Thread
from time import monotonic, sleep

from .items import Item, Known, Sink
from .monitor import TICK, Monitor
from .process import GRACE_END, Worker
from .values import Failed
from .watch import watch

HEAVY = 1 << 18  # bytes of payload in one message
IDLE = 5.0  # seconds that the thread sleeps at most
STILL = 300  # looks of the watch, half a minute, that find the thread where it was


class Dispatcher:
    """Owns the workers.  Everything but ``enqueue`` and ``stop`` runs in its thread."""

    def __init__(self, monitor: Monitor) -> None:
        self.stopping = self._ended = self._awake = False
        self._monitor = monitor
        self._backlog = monitor.backlog
        self._inbox: deque[Sequence[Item]] = deque()
        self._news: set[Sink] = set()
        self._dismissed: list[Known] = []
        self._gate = Lock()
        self._selector = monitor.selector
        self._bell, self._ear = socket.socketpair()
        self._selector.register(self._ear, selectors.EVENT_READ)
        self._next_tick = 0.0
        self._sinks: set[Sink] = set()  # that wait for results
        self._seen = self._still = 0
        self.thread = Thread(target=self.run, name="rlenv-workers", daemon=True)
        self.thread.start()
        watch(self.look)

    def look(self) -> bool:
        """From the watch: should the thread be dead or stand still, whoever waits is told."""
        self._still = self._still + 1 if self._monitor.steps == self._seen else 0
        self._seen = self._monitor.steps
        if not self._ended and (self._still > STILL or not self.thread.is_alive()):
            problem = "the thread that runs the workers died, or stands still"
            Thread(target=self._end, args=(problem,), daemon=True).start()
            return False
        return not self._ended

    def enqueue(self, items: Sequence[Item], sink: Sink) -> bool:
        """From any thread: work to do, for one sink; False when the dispatcher has ended."""
        with self._gate:
            if self._ended:
                return False
            sink.pending = self._sinks
            sink.news = self._news
            self._sinks.add(sink)
            self._inbox.append(items)
            self._wake()
            return True

    def forget(self, known: Known) -> None:
        """From any thread: let go of a program, once its items are done."""
        with self._gate:
            self._dismissed.append(known)
            self._wake()

    def stop(self) -> None:
        """From any thread: end soon."""
        with self._gate:
            self.stopping = True
            self._wake()

    def _wake(self) -> None:
        if not self._awake and not self._ended:
            self._awake = True
            self._bell.send(b"!")

    def run(self) -> None:
        """The thread."""
        problem = "the pool was closed"
        try:
            while not self.stopping:
                self._round()
        except BaseException as err:  # noqa: BLE001 - whoever waits must hear of it
            problem = f"the dispatcher broke: {type(err).__name__}: {err}"
        finally:
            self._end(problem)

    def _round(self) -> None:
        self._monitor.steps += 1
        for key, events in self._selector.select(self._patience()):
            if key.data is None:
                self._ear.recv(4096)
                # after the read, before the inbox is looked at: no wake is lost
                self._awake = False
            elif key.data in self._monitor.workers:
                self._serve(key.data, key.fd, events)
        now = monotonic()
        if now >= self._next_tick:
            self._next_tick = now + TICK
            self._monitor.tick(now)
        while self._inbox:
            self._backlog.add(self._inbox.popleft())
        self._monitor.staff()
        self._assign()
        # last, since whoever wakes up takes the interpreter, and the workers would wait
        while self._news:
            self._news.pop().bell.put(None)
        if self._dismissed:
            with self._gate:
                self._dismissed = [one for one in self._dismissed if not self._monitor.dismiss(one)]

    def _patience(self) -> float:
        """Seconds to sleep: long when all is quiet, else to the next look at the boards."""
        busy = any(one.items or not one.ready or one.leaving for one in self._monitor.workers)
        if busy or self._backlog:
            return max(0.0, min(TICK, self._next_tick - monotonic()))
        return IDLE

    def _serve(self, worker: Worker, fd: int, events: int) -> None:
        if fd == worker.stderr:
            if not worker.listen():
                self._selector.unregister(fd)
            return
        if events & selectors.EVENT_WRITE:
            self._monitor.push(worker)
        if events & selectors.EVENT_READ:
            data = worker.receive()
            if data:
                self._monitor.read(worker, data)
            else:
                worker.hung_up()
                self._monitor.terminate(worker)

    def _assign(self) -> None:
        """Give out what waits, to the workers with the least to do."""
        while (item := self._backlog.peek()) is not None:
            refused = self._monitor.refused(item.known) if item.known.broken else None
            if refused is not None:
                self._backlog.pop().finish(refused)
                continue
            found = self._monitor.freest(item)
            if found is None:
                return
            worker, space = found
            share = max(1, len(self._backlog) // len(self._monitor.workers))
            if chunk := self._backlog.chunk(min(space, share), HEAVY):
                self._monitor.give(worker, chunk)
            self._backlog.turn()

    def _end(self, problem: str) -> None:
        """Tell everybody who waits, and leave nothing behind."""
        self.stopping = True
        with self._gate:
            if self._ended:  # by the watch
                return
            self._ended = True
        for sink in tuple(self._sinks):
            sink.lose(Failed("pool", problem))
        self._shut_down_idle()
        for worker in list(self._monitor.workers):
            self._monitor.kill(worker)
            worker.close()
        self._close()

    def _shut_down_idle(self) -> None:
        """Let the idle ones end in peace, with a little time."""
        idle = [worker for worker in self._monitor.workers if worker.ready and not worker.items]
        for worker in idle:
            worker.hang_up()
        limit = monotonic() + GRACE_END
        while monotonic() < limit and not all(worker.dead() for worker in idle):
            sleep(0.002)

    def _close(self) -> None:
        for one in (self._selector, self._bell, self._ear):
            one.close()

    def disown(self) -> None:
        """In a forked child: let go of everything and touch no process."""
        for worker in self._monitor.workers:
            worker.disown()
        self._ended = True
        self._close()
