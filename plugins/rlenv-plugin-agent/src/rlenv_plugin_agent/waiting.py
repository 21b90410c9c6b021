"""The loop in the background, for steps that wait where no event loop runs.

``rlenv.steps`` says what steps are.  What they wait for runs on this one loop, so that connections
of tools outlive a step, also in a notebook.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Coroutine
from inspect import isawaitable
from typing import TypeVar, cast

from rlenv.steps import Steps, Waited, run_steps

T = TypeVar("T")
_lock = threading.Lock()
# By process, since a fork has no threads.
_loops: dict[int, tuple[asyncio.AbstractEventLoop, threading.Thread]] = {}
os.register_at_fork(after_in_child=lambda: globals().update(_lock=threading.Lock()))


def has_loop() -> bool:
    """Whether an event loop runs in this thread."""
    return asyncio.events._get_running_loop() is not None  # `asyncio` exports it, for loops


def result_of(found: Awaitable[T] | T) -> Steps[T]:
    """What this is, or comes to."""
    return cast("T", (yield found)) if isawaitable(found) else found


def at_once(work: Coroutine[object, object, T]) -> T:
    """What async code comes to that waits for nothing.

    Raises:
        RuntimeError: it waits.
    """
    try:
        work.send(None)
    except StopIteration as stop:
        return cast("T", stop.value)
    work.close()
    raise RuntimeError("it waits for something: await it")


def run(steps: Steps[T]) -> T:
    """Run the steps to their end and return what they return, blocking this thread while they
    wait.
    """
    return run_steps(steps, _wait_for_any)


def _wait_for_any(waited: Waited) -> object:
    return wait_for(cast("Awaitable[object]", waited))


def wait_for(awaited: Awaitable[T]) -> T:
    """Wait in this thread for what runs on the loop in the background.

    Raises:
        RuntimeError: called on that loop, which would wait for itself.
    """
    may_wait()
    future = asyncio.run_coroutine_threadsafe(_awaited(awaited), _background()[0])
    try:
        return future.result()
    except BaseException:
        future.cancel()  # of KeyboardInterrupt, which ends the wait and not the work
        raise


def may_wait() -> None:
    """
    Raises:
        RuntimeError: called on the loop in the background, which would wait for itself.
    """
    if os.getpid() in _loops and _loops[os.getpid()][1] is threading.current_thread():
        raise RuntimeError("this is async code already: await arollout, areset or astep")


async def _awaited(awaited: Awaitable[T]) -> T:
    return await awaited


def _background() -> tuple[asyncio.AbstractEventLoop, threading.Thread]:
    with _lock:
        if os.getpid() not in _loops:
            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=loop.run_forever, name="rlenv-agent", daemon=True)
            thread.start()
            _loops[os.getpid()] = loop, thread
        return _loops[os.getpid()]
