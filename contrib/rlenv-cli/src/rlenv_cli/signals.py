"""SIGINT, SIGTERM and SIGHUP end a command in order: what it holds is released, and its status is
128 + signal.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Stopped(KeyboardInterrupt):
    """A signal asked the command to end."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__()


@contextmanager
def stoppable() -> Iterator[None]:
    """Raise ``Stopped`` for the first signal; a second one ends the process at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    old = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}

    def stop(number: int, _: FrameType | None) -> None:
        for n in old:
            signal.signal(n, signal.SIG_DFL)
        raise Stopped(number)

    try:
        for n, handler in old.items():
            if handler is not signal.SIG_IGN:
                signal.signal(n, stop)
        yield
    finally:
        for n, handler in old.items():
            signal.signal(n, handler)
