"""What a worker does so that it never outlives its caller and never eats the machine."""

from __future__ import annotations

import _thread
import os
import select
import signal
import sys
import time

HEADROOM = 64 << 20  # bytes that reporting a MemoryError may take


def die_with_caller(life: int) -> None:
    """End this process group as soon as the caller's end of the pipe ``life`` is closed.

    On Linux the kernel itself sends SIGKILL, so a runner that never lets go of the interpreter dies too.
    A thread does it elsewhere, and where the runner closed the pipe.
    """
    if sys.platform == "linux":
        import fcntl

        fcntl.fcntl(life, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(life, fcntl.F_SETSIG, signal.SIGKILL)
        flags = fcntl.fcntl(life, fcntl.F_GETFL)
        fcntl.fcntl(life, fcntl.F_SETFL, flags | os.O_ASYNC)
    begun = _thread.allocate_lock()
    begun.acquire()
    _thread.start_new_thread(_watch, (life, os.getppid(), begun))
    begun.acquire()


def _watch(life: int, caller: int, begun: _thread.LockType) -> None:
    # the C library reserves addresses for a thread's first allocation: before any limit counts
    bytes(4096)
    begun.release()
    poll = select.poll()
    poll.register(life, select.POLLIN)
    while os.getppid() == caller:
        for _, event in poll.poll(500):
            if event & select.POLLNVAL:
                time.sleep(0.5)
            elif event & (select.POLLHUP | select.POLLIN):
                os.killpg(0, signal.SIGKILL)
    os.killpg(0, signal.SIGKILL)


class MemoryLimit:
    """An address space of what the process has now plus ``megabytes``; 0, and other than Linux, no limit."""

    def __init__(self, megabytes: int) -> None:
        self._bytes = megabytes << 20 if sys.platform == "linux" else 0

    def renew(self, headroom: int = 0) -> None:
        """Count from what is mapped now, so that a runner's own modules are free."""
        if not self._bytes:
            return
        import resource

        with open("/proc/self/statm", "rb") as file:
            mapped = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        soft = mapped + (headroom or self._bytes)
        soft = soft if hard == resource.RLIM_INFINITY else min(soft, hard)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
