"""One thread that looks after what others wait for, so that nobody waits for what died or stands
still.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Thread, current_thread
from time import sleep

TICK = 0.1  # seconds between two looks
Look = Callable[[], bool]
_looks: set[Look] = set()
_thread: Thread | None = None


def watch(look: Look) -> None:
    """Call ``look``, which settles what is overdue, every TICK until it says False."""
    global _thread  # noqa: PLW0603 - one thread a process is the point
    _looks.add(look)
    if _thread is None or not _thread.is_alive():
        _thread = Thread(target=_run, name="rlenv-watch", daemon=True)
        _thread.start()


def _run() -> None:
    while _thread is current_thread():
        looks: list[Callable[[], object]] = [partial(sleep, TICK), *tuple(_looks)]
        for look in looks:
            with suppress(BaseException):  # what breaks, or is raised here, spoils no other
                if look() is False:
                    _looks.discard(look)


os.register_at_fork(after_in_child=_looks.clear)
