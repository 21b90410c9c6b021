"""The health of the workers: who is late, dead, held up or lost, and what becomes of their
items.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector

from . import board as b
from . import wire
from .diagnose import Late, attribute_failure, ending, excused, final_output, find_late
from .items import Backlog, Item, Known
from .process import GRACE_END, HOARDS, Worker
from .serve import describe
from .values import Done, Failed

# seconds between two looks at the boards, and on one item before others get those behind it
TICK = 0.05
LOST = 5.0  # seconds that a worker may neither work nor answer while it has items
START = 60.0  # seconds that a worker has to get ready
FALSE_STARTS = 3  # workers in a row that never got ready: then they do not start at all
# a worker that has had so many items and lived so many seconds is worn
ITEMS = 100_000
AGE = 60.0
PAUSE = 1.0  # seconds without a start after the system refused one to a pool with workers
BUILDS = 2  # deaths of workers while they build a program: then it is broken
FORGIVEN = 5.0  # seconds after which a broken program may be tried again
RAISED = ("error", "memory", "contract")  # kinds of failure that a worker itself reports


class Monitor:
    """At most ``size`` workers: starts them, reads what they send, looks after them and ends them.

    What was once needed is kept up.
    """

    def __init__(self, size: int, spares: int, make: Callable[[], Worker]) -> None:
        self.backlog = Backlog()
        self.backlog.unused = lambda: any(one.ready and not one.last_seq for one in self.workers)
        self.workers: list[Worker] = []
        self.selector = DefaultSelector()
        self._last: Known | None = None  # what a fresh worker learns first
        self._size = size
        self._spares = spares
        self.make = make
        self._level = self._false_starts = 0
        self.steps = 0  # rounds, starts and ends: on a loaded machine one of these takes seconds
        self._pause = 0.0  # until then no worker is started beside others
        self._programs: dict[int, Known] = {}  # by number

    def staff(self) -> None:
        """Start the workers that are wanted."""
        busy = sum(1 for worker in self.workers if worker.items)
        need = busy + len(self.backlog) + (self._spares if self._last else 0)
        self._level = max(self._level, min(self._size, need))
        fresh = self.backlog.fresh and all(one.last_seq or one.leaving for one in self.workers)
        if fresh and self._level <= sum(not worker.worn for worker in self.workers):
            # a worker that has had no item is wanted, and none is about to be started
            oldest = min(self.workers, key=lambda one: (not one.leaving, one.load))
            oldest.worn = oldest.leaving = True
        while self._level > sum(not worker.worn for worker in self.workers):
            if self.workers and time.monotonic() < self._pause:
                return
            try:
                worker = self.make()
            except OSError as err:
                self._pause = time.monotonic() + PAUSE
                if not self.workers:
                    self.false_start(f"the system refuses a process: {err}")
                    time.sleep(TICK)
                return
            self.workers.append(worker)
            self.steps += 1
            for end in (worker.socket, worker.stderr):
                self.selector.register(end, EVENT_READ, worker)
            self.push(worker)

    def push(self, worker: Worker) -> None:
        """Go on sending to a worker, also later, when it has taken something."""
        events = EVENT_READ if worker.push() else EVENT_READ | EVENT_WRITE
        if self.selector.get_key(worker.socket).events != events:
            self.selector.modify(worker.socket, events, worker)

    def freest(self, item: Item) -> tuple[Worker, int] | None:
        """The worker with the least to do that has room for this item, and how much.

        A fresh one for a solo.
        """
        free = [(worker, space) for worker in self.workers if (space := worker.room(item))]
        return min(free, key=lambda one: (item.solo and one[0].last_seq, one[0].load), default=None)

    def read(self, worker: Worker, data: bytes) -> None:
        """Take in what a worker sent; one that sends nonsense is ended."""
        last: Item | None = None
        worker.heard = time.monotonic()
        try:
            for tag, seq, view in worker.buffer.feed(data):
                body = bytes(view)
                if tag == wire.DONE:
                    worker.count(body)
                    parts = iter(wire.load(body))
                    for number, value in zip(parts, parts, strict=True):
                        item = worker.find(number)
                        if item is not None:
                            done = Done(item.sink.decode(value))
                            worker.take(number)
                            item.finish(done)
                            last = item
                elif tag == wire.SPENT:
                    if last is not None:
                        last.known.cost = max(1e-6, (last.known.cost + min(seq * 1e-9, 1.0)) / 2)
                else:
                    self._word(worker, tag, seq, body)
        except BaseException as err:  # noqa: BLE001 - a runner may write anything to any descriptor
            worker.forged = True
            worker.manner = f"sent what is not a result: {describe(err)}"
            self.terminate(worker)

    def _word(self, worker: Worker, tag: int, seq: int, body: bytes) -> None:
        if tag == wire.READY and not worker.ready:
            worker.starts(seq)
            self._false_starts = 0
            if self._last is not None:
                worker.teach(self._last)
        elif tag == wire.BUILT:
            self._built(worker, seq, *wire.load(body))
        elif tag == wire.FAILED:
            worker.count(body)
            item = worker.find(seq)
            if item is not None:
                failed = _failed(item, *wire.load(body))
                worker.take(seq)
                again = excused(worker, seq, item, failed.kind)
                self.backlog.put_back(item) if again else item.finish(failed)
        elif tag == wire.WORN:
            self._retire(worker, seq)
        elif tag == wire.PARTIAL:
            worker.count(body)
            item = worker.find(seq)
            if item is not None:
                worker.size -= wire.weight(item.partial or b"")  # which this one replaces
                item.partial = body
                item.news += 1
                if item.news <= 2 * len(item.sink.limits):  # others are no news of its work
                    worker.moved = worker.heard
        else:
            raise wire.WireError(f"a record with the tag {tag}")

    def _retire(self, worker: Worker, seq: int) -> None:
        """A worn worker serves on until another is ready, unless an item failed in it: then it does
        no more.
        """
        worker.worn = True
        if seq:
            item = worker.find(seq)
            worker.leaving = True
            worker.revoked = worker.last_seq
            if item is not None and excused(worker, seq, item):
                worker.take(seq)
                self.backlog.put_back(item)
            if not worker.looped:
                self._relieve(worker, seq)

    def _built(self, worker: Worker, number: int, problem: str, in_flight: int) -> None:
        if number not in worker.building or type(problem) is not str or type(in_flight) is not int:
            raise wire.WireError("a program that it does not build")
        before = worker.building.pop(number)
        worker.stuck = False
        worker.moved = worker.heard
        for old in [one for one in self.workers if one.worn and one is not worker]:
            old.leaving = True  # this one takes its place
        known = self._programs.get(number)
        if known is None:
            return  # forgotten meanwhile
        mine = [seq for seq, item in worker.items.items() if item.known is known]
        if worker.last_seq == len(mine):  # no item has run here
            worker.helpers.update(pid for pid, _ in worker.others())
        # An item may have spoiled it: a fresh worker tells.
        if problem and before:
            for seq in mine:
                self.backlog.put_back(worker.items.pop(seq))
            raise wire.WireError(f"after other work, {problem}")
        if known.in_flight not in (None, in_flight) or not 0 <= in_flight < b.SLOTS:
            raise wire.WireError("another number of items in flight")
        known.in_flight = in_flight
        known.deaths = 0
        if mine:
            worker.looped = in_flight > 0
        if problem:
            self._break(known, Failed("error", problem[: wire.LONGEST_MESSAGE]))
            worker.revoked = max(worker.revoked, *mine, 0)
            for seq in mine:
                worker.take(seq).finish(Failed("error", problem[: wire.LONGEST_MESSAGE]))

    def _break(self, known: Known, failed: Failed) -> None:
        known.broken = failed
        known.broken_at = time.monotonic()
        if self._last is known:
            self._last = None

    def refused(self, known: Known) -> Failed | None:
        """Why items of this program cannot run.

        After a while it gets another chance, as a new one.
        """
        if known.broken is not None and time.monotonic() - known.broken_at > FORGIVEN:
            self._programs.pop(known.number, None)
            known.__init__(known.program)  # type: ignore[misc]
        return known.broken

    def give(self, worker: Worker, chunk: list[Item]) -> None:
        """Send a worker items of one program."""
        self._last = known = chunk[0].known
        self._programs[known.number] = known
        worker.looped = bool(known.in_flight)
        worker.teach(known)
        worker.give(chunk)
        self.push(worker)
        worker.worn |= worker.last_seq > ITEMS and worker.heard - worker.born > AGE

    def dismiss(self, known: Known) -> bool:
        """Let go of a program in every worker; False while items of it are about."""
        flying = (item for worker in self.workers for item in worker.items.values())
        if self.backlog or any(item.known is known for item in flying):
            return False
        self._programs.pop(known.number, None)
        if self._last is known:
            self._last = None
        for worker in self.workers:
            worker.unlearn(known)
        return True

    def tick(self, now: float) -> None:
        """Look at every worker."""
        for worker in list(self.workers):
            dead = worker.dead()
            late = find_late(worker, now) if worker.ready and not dead else None
            worker.manner = "" if late or dead else self._trouble(worker, now)
            if late or dead or worker.manner:
                self.terminate(worker, late)

    def _trouble(self, worker: Worker, now: float) -> str:
        """What a worker did so that it must be killed; one that is held up gives back what it has
        not begun.
        """
        if not worker.ready:
            return f"took more than {START:.0f} s" if now - worker.born > START else ""
        seq = worker.board.q[b.FIRST]
        last = worker.held
        worker.held = seq
        worker.stuck = seq != 0 and seq == last and not worker.looped
        if not worker.items and not seq:
            if worker.leaving:
                worker.hang_up()  # it closes its runners, and has a little time for that
            return "did not end" if worker.leaving and now - worker.heard > GRACE_END else ""
        if seq == last and worker.hoards():
            return HOARDS
        if not seq and now - worker.heard > LOST and not worker.board.begun():
            return "neither worked nor answered"
        if not (seq in worker.items or 0 < seq <= worker.revoked or -seq in {0, *worker.building}):
            worker.forged = True
            return "hid what it works on"
        if worker.stuck and len(worker.items) > 1:
            self._relieve(worker, seq)
        return ""

    def _relieve(self, worker: Worker, seq: int) -> None:
        """Take from a worker held up by one item all that follow."""
        worker.board.q[b.REVOKED] = worker.revoked = worker.last_seq
        for other in [other for other in worker.items if other > seq]:
            self.backlog.put_back(worker.items.pop(other))
        worker.load = sum(item.cost for item in worker.items.values())

    def terminate(self, worker: Worker, late: Late | None = None) -> None:
        """The worker is dead or must be: kill it, settle its items; another one takes its place."""
        if worker not in self.workers:
            return
        for end in (worker.socket, worker.stderr):
            with suppress(KeyError):  # a worker may have closed its standard error
                self.selector.unregister(end)
        rest = self.kill(worker)
        if not worker.forged:
            self.read(worker, rest)
        for item, failed in attribute_failure(worker, late):
            item.finish(failed) if failed else self.backlog.put_back(item)
        number = -worker.board.q[b.FIRST]  # of the program that it was making a runner of
        known = self._programs.get(number) if number in worker.building else None
        if not worker.ready:
            self.false_start(f"the worker {ending(worker)}{final_output(worker)}")
        elif known is not None:
            self._died_building(known, worker, late)
        worker.close()

    def kill(self, worker: Worker) -> bytes:
        """Kill a worker and return what it had sent before."""
        worker.kill()
        self.steps += 1
        with suppress(ValueError):  # the watch was first, of a dispatcher that stood still
            self.workers.remove(worker)
        # A child of it may still write, and never end.
        rest = b"".join(islice(iter(worker.receive, b""), 2 * wire.LONGEST // wire.CHUNK))
        worker.listen()
        return rest

    def _died_building(self, known: Known, worker: Worker, late: Late | None) -> None:
        known.deaths += 1
        if known.deaths >= BUILDS:
            what = "it takes too long" if late else f"the worker {ending(worker)}"
            kind = "timeout" if late else "crash"
            self._break(known, Failed(kind, f"cannot build {known.program.factory}: {what}"))

    def false_start(self, problem: str) -> None:
        """Workers that never start: after a few, who waits is told, and a later request tries
        again.
        """
        self._false_starts += 1
        if self._false_starts >= FALSE_STARTS:
            self._false_starts = 0
            self._level = len(self.workers)
            for item in self.backlog.drain():
                item.finish(Failed("pool", f"workers do not start: {problem}"))


def _failed(item: Item, kind: object, message: object, mark: object) -> Failed:
    """What a worker says of an item that raised."""
    if kind not in RAISED or type(message) is not str or type(mark) is not int:
        raise wire.WireError("not a failure")
    return item.fail(str(kind), message, mark, item.partial and wire.load(item.partial))
