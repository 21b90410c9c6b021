"""What the dispatcher moves about: programs with what is known of them, items, where they wait and
where results go.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from queue import SimpleQueue
from typing import TYPE_CHECKING, TypeAlias

from attrs import Factory, define

from . import wire
from .values import Failed, Program, Reply

if TYPE_CHECKING:
    from concurrent.futures import Future

_numbers = count(1)
TARGET = 0.01  # seconds of work in one message
HEAVY = 64 << 20  # bytes of payloads that a stream holds
LEAD = 1 << 15  # payloads that a stream may be ahead of its slowest one
# Checks what a worker sent; raises where it does not fit.
Decode: TypeAlias = Callable[[object], object]


@define(eq=False)
class Known:
    """A program of this pool, under a number that no worker has heard before."""

    program: Program
    number: int = Factory(_numbers.__next__)
    cost: float = TARGET  # estimated seconds of one item
    in_flight: int | None = None  # 0 for a plain runner; None until some worker has built it
    deaths: int = 0  # of workers that built it
    broken: Failed | None = None
    broken_at: float = 0.0


@define(eq=False)
class Item:
    """One payload on its way."""

    known: Known
    blob: bytes
    sink: Sink
    index: int
    done: bool = False
    solo: bool = False
    fresh: bool = False  # it runs in a worker that had no item before
    tries: int = 0
    cost: float = 0.0  # estimated seconds
    sent: float = 0.0  # when
    news: int = 0  # partial results that came of it
    partial: bytes | None = None

    def fail(
        self, kind: str, message: str, mark: int = -1, partial: object = None, *spent: float
    ) -> Failed:
        """Why there is no result, with the partial one and the wall and CPU seconds.

        Raises:
            Exception: whatever its decoding makes of a partial result that does not fit.
        """
        made = None if partial is None else self.sink.decode(partial)
        return Failed(kind, message[: wire.LONGEST_MESSAGE], mark, made, *spent)

    def finish(self, result: Reply) -> None:
        """Hand over its result; only the first counts."""
        if not self.done:
            self.done = True
            self.sink.put(self.index, result)


@define(eq=False)
class Sink:
    """Where the results of one submit, which has a future, or of a stream go."""

    decode: Decode
    limits: tuple[float, ...]  # wall seconds of each piece of work of an item
    future: Future[Reply] | None = None
    live: bool = True  # somebody may still want the results
    asked: bool = False  # whether the future is cancelled; from then on it cannot be
    pending: set[Sink] = Factory(set)  # of the dispatcher
    news: set[Sink] = Factory(set)  # of the dispatcher: streams to be told
    flying: dict[int, int] = Factory(dict)  # of a stream: index → bytes
    heft: int = 0  # bytes of these
    pulled: int = 0  # the last index
    results: deque[tuple[int, Reply]] = Factory(deque)  # of a stream
    bell: SimpleQueue[None] = Factory(SimpleQueue)  # tells whoever waits for them

    def started(self) -> bool:
        """An item is about to be sent; False when it was cancelled."""
        if self.future is not None and not self.asked:
            self.asked = True
            self.live = self.future.set_running_or_notify_cancel()
        return self.live

    def put(self, index: int, result: Reply) -> None:
        if self.future is None:
            self.results.append((index, result))
            self.news.add(self)
        else:
            wanted = self.started()
            self.close()
            if wanted:
                self.future.set_result(result)

    def lose(self, failed: Failed) -> None:
        """The dispatcher ended."""
        for index in tuple(self.flying) or (0,):
            self.put(index, failed)
        self.bell.put(None)

    def is_full(self, window: int) -> bool:
        """Whether a stream waits for results before it takes more payloads."""
        lead = self.pulled - next(iter(self.flying), self.pulled)
        return len(self.flying) > window // 2 or self.heft >= HEAVY or lead > LEAD

    def close(self) -> None:
        """Nobody wants results any more."""
        self.live = False
        self.pending.discard(self)


class Backlog:
    """Items that wait for a worker: first what must run alone, then what came back, then the rest
    in turns.

    Every stream, and the submits together, get the same share.
    """

    def __init__(self) -> None:
        self.fresh: deque[Item] = deque()  # for workers that have had no item
        self.unused: Callable[[], bool] = bool  # whether there is such a worker
        self._again: deque[Item] = deque()
        self._queues: OrderedDict[Sink | None, deque[Item]] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, items: Sequence[Item]) -> None:
        """New items, all of one sink."""
        sink = items[0].sink
        self._queues.setdefault(None if sink.future else sink, deque()).extend(items)
        self._count += len(items)

    def put_back(self, item: Item) -> None:
        """An item that was sent out and came back undone goes first."""
        (self.fresh if item.fresh else self._again).append(item)
        self._count += 1

    def peek(self) -> Item | None:
        """The next item that anybody wants; what nobody wants is dropped on the way."""
        while queue := self._queue():
            if not queue[0].done and queue[0].sink.live:
                return queue[0]
            self._drop(queue)
        return None

    def pop(self) -> Item:
        """Take what ``peek`` showed."""
        queue = self._queue()
        item = queue[0]
        self._drop(queue)
        return item

    def chunk(self, most: int, heft: int) -> list[Item]:
        """Take what ``peek`` showed, and what is like it behind it, as long as it weighs no more
        than ``heft``.
        """
        queue = self._queue()
        chunk = list[Item]()
        known = queue[0].known
        solo = queue[0].solo
        while queue and queue[0].known is known and queue[0].solo == solo:
            if len(chunk) >= most or heft <= 0:
                break
            item = queue.popleft()
            self._count -= 1
            if not item.done and item.sink.started():
                heft -= len(item.blob)
                chunk.append(item)
        self._tidy()
        return chunk

    def turn(self) -> None:
        """The next queue's turn."""
        if len(self._queues) > 1:
            self._queues.move_to_end(next(iter(self._queues)))

    def drain(self) -> Iterator[Item]:
        self._again += self.fresh
        self.fresh.clear()
        while self._count:
            yield self.pop()

    def _queue(self) -> deque[Item]:
        if self.fresh and self.unused():
            return self.fresh
        return self._again or next(iter(self._queues.values()), self._again)

    def _drop(self, queue: deque[Item]) -> None:
        queue.popleft()
        self._count -= 1
        self._tidy()

    def _tidy(self) -> None:
        if self._queues and not next(iter(self._queues.values())):
            self._queues.popitem(last=False)
