"""The workers of one pool: started, chosen, killed and replaced."""

from __future__ import annotations

from typing import Any

from .items import TARGET, Item, Known
from .process import Worker
from .values import Env

FULL = 2 * TARGET  # seconds of work that a worker may hold
HEAVY = 1 << 18  # bytes of payload in one message
MOST = 2048  # items in one message


def room(worker: Worker, item: Item) -> int:
    """How many more items like this one the worker may hold now."""
    if not worker.ready or worker.alone or worker.stuck:
        return 0
    held = len(worker.items)
    known = item.known
    if item.solo or known.in_flight is None:
        return 0 if held else 1
    if known.in_flight:
        return known.in_flight - held if worker.looped or not held else 0
    if worker.looped and held:
        return 0
    if not held:
        return max(1, min(MOST, int(FULL / known.cost)))
    return min(MOST, int((FULL - worker.load) / known.cost)) if worker.load < TARGET else 0


class Crew:
    """At most ``size`` workers; what was once needed is kept up."""

    def __init__(self, size: int, spares: int, hello: dict[str, Any], env: Env = None) -> None:
        self.workers: list[Worker] = []
        self.graveyard: list[Worker] = []  # killed, and held by the kernel
        self._size = size
        self._spares = spares
        self._hello = hello
        self._env = env
        self._level = 0
        self.last: Known | None = None  # what a fresh worker learns first

    def wanted(self, waiting: int) -> int:
        """How many workers to start now, for so many items that wait."""
        busy = sum(1 for worker in self.workers if worker.items)
        need = busy + waiting + (self._spares if self.last else 0)
        self._level = max(self._level, min(self._size, need))
        return self._level - len(self.workers)

    def start(self) -> Worker:
        """Start one.

        Raises:
            OSError: when the system refuses.
        """
        worker = Worker(self._hello, self._env)
        self.workers.append(worker)
        return worker

    def shrink(self) -> None:
        """Keep no more workers than there are: they do not start."""
        self._level = len(self.workers)

    def freest(self, item: Item) -> tuple[Worker, int] | None:
        """The worker with the least to do that has room for this item, and how much."""
        best = None
        for worker in self.workers:
            space = room(worker, item)
            if space and (best is None or worker.load < best[0].load):
                best = worker, space
        return best

    def mourn(self) -> None:
        """Reap those that the kernel has let go."""
        self.graveyard = [one for one in self.graveyard if not (one.dead() and one.reap())]

    def bury(self, worker: Worker) -> bytes:
        """Kill a worker and return what it had sent before."""
        worker.kill()
        self.workers.remove(worker)
        if not worker.reap():
            self.graveyard.append(worker)
        rest = b""
        while data := worker.receive():
            rest += data
        worker.listen()
        return rest
