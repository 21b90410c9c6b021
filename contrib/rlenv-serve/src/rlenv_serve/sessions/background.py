"""Work that goes on when the client that asked for it goes away."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

T = TypeVar("T")


def create_detached_task(
    work: Coroutine[object, object, T], tasks: set[asyncio.Task[object]]
) -> asyncio.Task[T]:
    """Begin what goes on when the client that asked for it goes away.

    Args:
        work: to be done.
        tasks: have it until it is done.
    """
    task = asyncio.create_task(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)
    # Whoever waits has the exception, if anyone still does.
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return task
