"""The dispatcher: one thread that feeds the workers, reads their results and kills what is late."""

from __future__ import annotations

import os
import pickle
import selectors
import struct
import time
from collections import deque
from collections.abc import Iterable
from threading import Lock

from . import board as b
from . import wire
from .autopsy import Late, building, ending, judge, lateness
from .backlog import Backlog
from .crew import HEAVY, Crew
from .items import Item, Known, failure
from .process import GRACE_END, Worker
from .values import Failed

TICK = 0.05  # seconds between two looks at the boards
START_SECONDS = 60.0
FALSE_STARTS = 3  # workers in a row that never got ready: then they do not start at all
BUILDS = 2  # deaths of workers while they build a program
HELD = TICK  # seconds on one item before those behind it go to another worker


class Dispatcher:
    """Owns the workers.  Everything but ``enqueue`` and ``stop`` runs in its thread."""

    def __init__(self, crew: Crew, programs: dict[int, Known]) -> None:
        self.crew = crew
        self.programs = programs
        self.backlog = Backlog()
        self.inbox: deque[Iterable[Item]] = deque()
        self.stopping = False
        self._gate = Lock()
        self._ended = False
        self._selector = selectors.DefaultSelector()
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        self._selector.register(self._wake_read, selectors.EVENT_READ)
        self._awake = False
        self._next_tick = 0.0
        self._false_starts = 0

    def enqueue(self, items: Iterable[Item]) -> bool:
        """From any thread: work to do; False when the dispatcher has ended."""
        with self._gate:
            if self._ended:
                return False
            self.inbox.append(items)
            self._wake()
            return True

    def stop(self) -> None:
        """From any thread: end soon."""
        with self._gate:
            self.stopping = True
            if not self._ended:
                self._wake()

    def _wake(self) -> None:
        if not self._awake:
            self._awake = True
            os.write(self._wake_write, b"!")

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
        for key, events in self._selector.select(self._patience()):
            worker = key.data
            if worker is None:
                self._drain_wake()
            elif worker in self.crew.workers:
                self._serve(worker, events)
        now = time.monotonic()
        if now >= self._next_tick:
            self._tick(now)
        self._staff()
        self._assign()

    def _patience(self) -> float | None:
        if self.inbox:
            return 0.0
        if any(worker.items or not worker.ready for worker in self.crew.workers) or self.backlog:
            return max(0.0, min(TICK, self._next_tick - time.monotonic()))
        return None

    def _drain_wake(self) -> None:
        os.read(self._wake_read, 4096)
        self._awake = False  # after the read, before the inbox is looked at: no wake is lost

    def _serve(self, worker: Worker, events: int) -> None:
        if events & selectors.EVENT_WRITE and worker.push():
            self._selector.modify(worker.socket, selectors.EVENT_READ, worker)
        if events & selectors.EVENT_READ:
            data = worker.receive()
            if data == b"":
                self._bury(worker)
            elif data is not None:
                self._read(worker, data)

    def _read(self, worker: Worker, data: bytes) -> None:
        last: Item | None = None
        try:
            for tag, seq, body in worker.buffer.feed(data):
                if tag == wire.DONE:
                    item = worker.take(seq)
                    if item is not None:
                        item.finish(body)
                        last = item
                elif tag == wire.SPENT and last is not None:
                    known = last.known
                    known.cost = max(1e-6, (known.cost + seq * 1e-9) / 2)
                else:
                    self._special(worker, tag, seq, body)
        except (wire.WireError, pickle.UnpicklingError, struct.error):
            self._bury(worker)

    def _special(self, worker: Worker, tag: int, seq: int, body: bytes) -> None:
        if tag == wire.READY:
            worker.ready = True
            self._false_starts = 0
            if self.crew.last is not None:
                self._teach(worker, self.crew.last)
        elif tag == wire.BUILT:
            self._built(seq, *pickle.loads(body))
        elif tag == wire.FAILED:
            item = worker.take(seq)
            if item is not None:
                kind, message, mark, partial = pickle.loads(body)
                item.finish(failure(kind, message, mark, partial))
        elif tag == wire.PARTIAL and seq in worker.items:
            worker.items[seq].partial = body

    def _teach(self, worker: Worker, known: Known) -> None:
        if known.broken is None:
            worker.teach(known)

    def _built(self, number: int, problem: str, in_flight: int) -> None:
        known = self.programs[number]
        known.in_flight = in_flight
        known.deaths = 0
        if problem:
            known.broken = Failed("error", problem)
            self._fail_items_of(known)

    def _fail_items_of(self, known: Known) -> None:
        for worker in self.crew.workers:
            for seq in [seq for seq, item in worker.items.items() if item.known is known]:
                item = worker.take(seq)
                if item is not None and known.broken is not None:
                    item.finish(known.broken)

    def _staff(self) -> None:
        while self.inbox:
            for item in self.inbox.popleft():
                self.backlog.add(item)
        for _ in range(self.crew.wanted(len(self.backlog))):
            try:
                worker = self.crew.start()
            except OSError as err:
                self._false_start(f"cannot start a process: {err}")
                return
            self._selector.register(worker.socket, selectors.EVENT_READ, worker)
            self._write_later(worker)

    def _write_later(self, worker: Worker) -> None:
        if worker.unsent:
            self._selector.modify(
                worker.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, worker
            )

    def _assign(self) -> None:
        """Give out what waits, to the workers with the least to do."""
        while (item := self.backlog.peek()) is not None:
            if item.known.broken is not None:
                self.backlog.pop().finish(item.known.broken)
                continue
            found = self.crew.freest(item)
            if found is None:
                return
            worker, space = found
            share = max(1, len(self.backlog) // len(self.crew.workers))
            chunk = self._chunk(item.known, min(space, share), alone=item.solo)
            if chunk:
                worker.alone = item.solo
                worker.looped = bool(item.known.in_flight)
                worker.teach(item.known)
                self.crew.last = item.known
                worker.give(chunk)
                self._write_later(worker)
            self.backlog.turn()

    def _chunk(self, known: Known, space: int, *, alone: bool) -> list[Item]:
        chunk: list[Item] = []
        heft = 0
        while len(chunk) < space and heft < HEAVY:
            item = self.backlog.peek()
            if item is None or item.known is not known or item.solo != alone:
                break
            self.backlog.pop()
            if item.sink.started():
                item.cost = known.cost
                heft += len(item.blob)
                chunk.append(item)
        return chunk

    def _tick(self, now: float) -> None:
        """Look at every worker: dead, late, or held up by one item?"""
        self._next_tick = now + TICK
        for worker in list(self.crew.workers):
            worker.listen()
            if worker.dead():
                self._bury(worker)
            elif not worker.ready:
                if now - worker.born > START_SECONDS:
                    self._bury(worker)
            elif worker.items or building(worker):
                self._watch(worker, now)
        self.crew.graveyard = [one for one in self.crew.graveyard if not _buried(one)]

    def _watch(self, worker: Worker, now: float) -> None:
        late = lateness(worker, now)
        if late is not None:
            self._bury(worker, late)
            return
        if worker.looped:
            return
        seq = worker.board.q[b.FIRST]
        if seq != worker.held[0]:
            worker.held = (seq, now)
        elif seq and now - worker.held[1] >= HELD and len(worker.items) > 1:
            self._relieve(worker, seq)
        deadline = worker.board.d[b.FIRST + b.DEADLINE]
        if seq and deadline > now:
            self._next_tick = min(self._next_tick, deadline + 0.001)

    def _relieve(self, worker: Worker, seq: int) -> None:
        """Take from a worker held up by one item all the others; who has done one anyway may say so."""
        worker.board.q[b.REVOKED] = worker.last_seq
        for other in [other for other in worker.items if other != seq]:
            item = worker.items.pop(other)
            worker.lent[other] = item
            self.backlog.put_back(item)
        if seq in worker.items:
            worker.load = worker.items[seq].cost

    def _bury(self, worker: Worker, late: Late | None = None) -> None:
        """The worker is dead or must be: kill it, settle its items; another one takes its place."""
        if worker not in self.crew.workers:
            return
        self._selector.unregister(worker.socket)
        program = building(worker)
        rest = self.crew.bury(worker)
        self._read(worker, rest)
        ended, again = judge(worker, late)
        for item, raw in ended:
            item.finish(raw)
        for item in again:
            self.backlog.put_back(item)
        if not worker.ready:
            self._false_start(f"the worker {ending(worker)} before it was ready")
        elif program in self.programs:
            self._died_building(self.programs[program], worker, late)
        worker.close()

    def _died_building(self, known: Known, worker: Worker, late: Late | None) -> None:
        known.deaths += 1
        if known.deaths >= BUILDS:
            what = "takes too long" if late else f"the worker {ending(worker)}"
            kind = "timeout" if late else "crash"
            known.broken = Failed(kind, f"cannot build {known.program.factory}: {what}")
            self.crew.last = None

    def _false_start(self, problem: str) -> None:
        """Workers that never start: after a few, who waits is told, and a later request tries again."""
        self._false_starts += 1
        if self._false_starts >= FALSE_STARTS:
            self._false_starts = 0
            self.crew.shrink()
            for item in self.backlog.drain():
                item.finish(failure("pool", f"workers do not start: {problem}", -1, None))

    def _end(self, problem: str) -> None:
        """Tell everybody who waits, and leave nothing behind."""
        workers = self.crew.workers
        idle = [worker for worker in workers if worker.ready and not worker.items]
        for worker in idle:
            worker.hang_up()
        limit = time.monotonic() + GRACE_END
        while idle and time.monotonic() < limit and not all(worker.dead() for worker in idle):
            time.sleep(0.002)
        for worker in list(workers):
            self.crew.bury(worker)
            for item in worker.items.values():
                item.finish(failure("pool", problem, -1, None))
            worker.close()
        with self._gate:
            self._close()
        for item in [*self.backlog.drain(), *(item for items in self.inbox for item in items)]:
            item.finish(failure("pool", problem, -1, None))

    def _close(self) -> None:
        if not self._ended:
            self._ended = True
            self._selector.close()
            os.close(self._wake_read)
            os.close(self._wake_write)

    def disown(self) -> None:
        """In a forked child: let go of everything and touch no process."""
        for worker in self.crew.workers:
            worker.disown()
        self._close()


def _buried(worker: Worker) -> bool:
    return worker.status is not None or (worker.dead() and worker.reap())
