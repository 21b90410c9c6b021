"""The caller's side of the engine: where each stage runs, and the two ways to wait for it."""

from __future__ import annotations

import os
from time import perf_counter
from typing import TYPE_CHECKING, Any

from .engine import Run, Walk, check_now, judged
from .plan import Leaf
from .values import StageResult

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from .crew import Crew


class CallerHost:
    """Inline stages here, caller stages on rlenv's loop, worker stages in the crew's processes.

    Args:
        crew: None where no stage runs in a worker.
        size: how many processes; None for one a core.
    """

    def __init__(self, crew: Crew | None, size: int | None = None) -> None:
        self._crew = crew
        self._size = size

    def runs(self, leaf: Leaf) -> bool:
        return leaf.place == "inline"

    def check(self, leaf: Leaf, run: Run, seconds: float) -> StageResult:  # noqa: ARG002
        return check_now(leaf, run.attempt)

    def obtain(self, leaf: Leaf, run: Run, seconds: float) -> Walk:
        if leaf.place == "caller":
            return (yield from _on_loop(leaf, run, seconds))
        assert self._crew is not None
        self._crew.learn(run, leaf, (yield self._crew.submit(run, leaf, self._size)))
        assert run.known is not None
        return run.known[len(run.log)]


class CrewHost(CallerHost):
    """Everything in the crew's processes, inline stages too."""

    def runs(self, leaf: Leaf) -> bool:  # noqa: ARG002
        return False


class AsyncHost(CallerHost):
    """The same inside somebody's event loop, which an inline stage must not block with heavy work."""

    def runs(self, leaf: Leaf) -> bool:  # noqa: ARG002
        return False

    def obtain(self, leaf: Leaf, run: Run, seconds: float) -> Walk:
        if not super().runs(leaf):
            return (yield from super().obtain(leaf, run, seconds))
        from .workers import Offload, on_loop

        token = on_loop.set(True)
        try:
            return check_now(leaf, run.attempt)
        except Offload:  # the stage asked for a worker: begin again where waiting blocks nobody
            pass
        finally:
            on_loop.reset(token)
        return (yield _threads().submit(check_now, leaf, run.attempt))


def _on_loop(leaf: Leaf, run: Run, seconds: float) -> Walk:
    from .loops import shared_loop

    check = leaf.check
    assert check is not None
    start = perf_counter()
    said = yield shared_loop().submit(leaf, lambda: check(run.attempt), seconds)
    return said if type(said) is StageResult else judged(leaf, said, perf_counter() - start)


def drive(walk: Walk) -> Any:
    """Run a walk to its end, blocking this thread while it waits."""
    try:
        future = next(walk)
        while True:
            future = walk.send(future.result())
    except StopIteration as stop:
        return stop.value


async def adrive(walk: Walk) -> Any:
    """Run a walk to its end, leaving the loop free while it waits."""
    import asyncio

    try:
        future: Future[Any] = next(walk)
        while True:
            future = walk.send(await asyncio.wrap_future(future))
    except StopIteration as stop:
        return stop.value


_executor: ThreadPoolExecutor | None = None


def _threads() -> ThreadPoolExecutor:
    global _executor  # noqa: PLW0603 - one executor a process is the point
    if _executor is None:
        from concurrent.futures import ThreadPoolExecutor

        _executor = ThreadPoolExecutor(16, thread_name_prefix="rlenv")
    return _executor


def _forget() -> None:
    global _executor  # noqa: PLW0603
    _executor = None


os.register_at_fork(after_in_child=_forget)
