"""The pool: killable worker processes behind ``submit`` and ``stream``."""

from __future__ import annotations

import atexit
import os
import pickle
import sys
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Self

from . import inherit
from .dispatch import Dispatcher
from .items import HEAVY, Decode, Item, Known, Sink
from .monitor import Monitor
from .process import Worker
from .values import Env, Failed, PoolClosed, Program, Replies, Reply

if TYPE_CHECKING:
    from concurrent.futures import Future

MEMORY_MB = 2048
PULL_SECONDS = 0.002  # a stream looks for results after pulling payloads for so long
CLOSING = 60.0  # seconds that ending the workers may take
_pools: weakref.WeakSet[Pool] = weakref.WeakSet()
_shared: dict[tuple[object, ...], Pool] = {}
_shared_lock = threading.Lock()


class Pool:
    """Worker processes that can be killed.

    Each is started as ``python -m rlenv.workers`` with a guard, its parent, which ends it with its
    caller, and with it all that it started; other than on Linux, its process group only. An item
    that outruns its deadline, eats the memory or kills its worker costs only itself: the worker is
    replaced, and the items beside it keep their results.  So does one whose worker sends what does
    not decode.  Payloads are pickled; results are values of JSON, so a tuple arrives as a list.
    Safe to use from any thread and within a running event loop; empty, and started anew on use,
    after ``os.fork``.

    Args:
        size: processes; None is one per usable CPU.
        memory_mb: memory of one worker beyond its start, MiB; None is 2048, 0 no limit (Linux
            only).  It is private writable memory, a thread's stack included, or shared memory;
            files in memory that no process maps are not counted.
        secret: what ``rlenv.identity.secret`` answers in the workers.
        env: None gives the workers the whole environment; names give them what ``visible_env``
            says.
        grace_period: seconds that an item may take outside ``report.begin`` and ``end``.
        spares: idle workers kept beyond the busy ones, within ``size``.
    """

    def __init__(
        self,
        size: int | None = None,
        memory_mb: int | None = None,
        *,
        secret: bytes | None = None,
        env: Env = None,
        grace_period: float = 60.0,
        spares: int = 0,
    ) -> None:
        self.size = size or usable_cpus()
        self.memory_mb = MEMORY_MB if memory_mb is None else memory_mb
        if self.size < 1 or self.memory_mb < 0:
            raise ValueError(f"size {size} must be at least 1 and memory_mb {memory_mb} at least 0")
        self.closed = False
        self._secret = secret if secret is not None else inherit.SECRET
        self._env = env
        self._grace_period = grace_period
        self._spares = spares
        self.users = 0  # of a shared one
        self._reset()
        _pools.add(self)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[Program, Known] = {}
        self._dispatcher: Dispatcher | None = None

    def submit(
        self,
        program: Program,
        payload: object,
        decode: Decode = lambda value: value,
        limits: tuple[float, ...] = (),
    ) -> Future[Reply]:
        """One item; never blocks.  The future never raises: it holds a Done or a Failed.

        Args:
            program: what runs it.
            payload: picklable.
            decode: called in another thread with the value of JSON that the worker sent; what it
                returns is the value of the Done.  Where it raises, the worker is replaced and the
                item runs once more, alone.
            limits: wall seconds of each piece of work that it reports.  Whatever deadlines the
                worker writes down, none takes longer than the longest of them and a second; empty
                is no such limit.

        Raises:
            PoolClosed: when the pool is closed (a RuntimeError).
            Exception: whatever pickling the payload raises.
        """
        from concurrent.futures import Future

        future: Future[Reply] = Future()
        blob = pickle.dumps(payload, pickle.HIGHEST_PROTOCOL)
        sink = Sink(decode, limits, future)
        with self._lock:
            self._enqueue((Item(self._know(program), blob, sink, 0),), sink)
        return future

    def stream(
        self,
        program: Program,
        payloads: Iterable[object],
        decode: Decode = lambda value: value,
        limits: tuple[float, ...] = (),
        *,
        window: int = 4096,
    ) -> Replies:
        """Yield (index of the payload, result) as results come, in any order.

        Payloads are taken lazily, in the thread of whoever iterates, at most ``window`` ahead of
        the results and some LEAD ahead of the slowest.  Closing the iterator drops what has not
        begun. A payload of None is not sent; its result is a Failed of kind ``unsent``.

        Raises:
            PoolClosed: when the pool is closed (a RuntimeError).
        """
        sink = Sink(decode, limits)
        process = os.getpid()
        with self._lock:
            known = self._know(program)
        source = enumerate(payloads)
        more = True
        flying = sink.flying
        results = sink.results
        with closing(sink):
            while more or flying:
                if os.getpid() != process:
                    raise RuntimeError("a stream does not survive a fork: start it in the child")
                if more and not sink.is_full(window):
                    items = _pull(source, known, sink, window)
                    more = bool(items)
                    if waiting := [item for item in items if not item.done]:
                        with self._lock:
                            self._enqueue(waiting, sink)
                while flying and not results and (not more or sink.is_full(window)):
                    sink.bell.get()
                while results:
                    index, result = results.popleft()
                    if index in flying:  # else it was lost before it came
                        sink.heft -= flying.pop(index)
                        yield index, result

    def forget(self, program: Program) -> None:
        """No more items of this program will come; the workers let go of its runner."""
        with self._lock:
            known = self._known.pop(program, None)
            if known is not None and self._dispatcher is not None:
                self._dispatcher.forget(known)

    def _know(self, program: Program) -> Known:
        return self._known.get(program) or self._known.setdefault(program, Known(program))

    def _enqueue(self, items: Sequence[Item], sink: Sink) -> None:
        if self.closed:
            raise PoolClosed("the pool is closed")
        while self._dispatcher is None or not self._dispatcher.enqueue(items, sink):
            make = partial(Worker, self._hello(), self._env)
            self._dispatcher = Dispatcher(Monitor(self.size, self._spares, make))

    def _hello(self) -> dict[str, object]:
        return {
            "path": list(map(str, sys.path)),
            "env": {key: os.environ[key] for key in ("PYTHONPATH",) if key in os.environ},
            "secret": self._secret,
            "memory_mb": self.memory_mb,
            "grace_period": self._grace_period,
        }

    def release(self) -> None:
        """One user less; the last one closes the pool."""
        with _shared_lock:
            self.users -= 1
            self.closed |= self.users <= 0  # nobody may join between this and the end
        if self.closed:
            self.close()

    def close(self) -> None:
        """End the workers and wait for their end; what is pending fails with kind ``pool``."""
        with self._lock:
            self.closed = True
            dispatcher = self._dispatcher
            if dispatcher is not None and not dispatcher.stopping:
                dispatcher.stop()
        if dispatcher is not None and dispatcher.thread is not threading.current_thread():
            dispatcher.thread.join(CLOSING)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _forked(self) -> None:
        dispatcher = self._dispatcher
        self._reset()
        if dispatcher is not None:
            dispatcher.disown()


def _pull(
    source: Iterator[tuple[int, object]], known: Known, sink: Sink, window: int
) -> list[Item]:
    """Items until the window is full; a slow source is left after a moment."""
    items: list[Item] = []
    flying = sink.flying
    limit = monotonic() + PULL_SECONDS
    for index, payload in source:
        item = Item(known, b"", sink, index)
        why = "there is no payload"
        try:
            item.blob = b"" if payload is None else pickle.dumps(payload, 5)
        except Exception as err:  # noqa: BLE001 - a payload may raise anything when it is pickled
            why = f"the payload does not pickle: {type(err).__name__}: {err}"[:500]
        if not item.blob:
            item.finish(Failed("unsent", why))
        items.append(item)
        flying[index] = size = len(item.blob)
        sink.pulled = index
        sink.heft = sink.heft + size
        if len(flying) >= window or sink.heft > HEAVY or monotonic() > limit:
            break
    return items


def shared_pool(
    size: int | None = None,
    memory_mb: int | None = None,
    secret: bytes | None = None,
    env: Env = None,
) -> Pool:
    """The pool of this process with this size, memory limit, secret and environment.

    Made on demand.

    Every call counts as one user; ``release`` gives it back, and the last release ends the pool.
    """
    size = size or usable_cpus()
    memory_mb = MEMORY_MB if memory_mb is None else memory_mb
    # a module on a new path is found by new workers only
    key = (size, memory_mb, secret, env, *sys.path)
    with _shared_lock:
        pool = _shared.get(key)
        if pool is None or pool.closed:
            pool = _shared[key] = Pool(size, memory_mb, secret=secret, env=env)
        pool.users += 1
        return pool


def usable_cpus() -> int:
    """How many CPUs this process may use: those of its affinity mask, where the system has one."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return usable or 1


def _close_all() -> None:
    for pool in list(_pools):
        pool.close()


def _forked_all() -> None:
    _shared_lock._at_fork_reinit()  # type: ignore[attr-defined]  # another thread may have held it
    for pool in list(_pools):
        pool._forked()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_forked_all)
