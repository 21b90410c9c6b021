"""What keeps a worker from outliving its caller, from leaving processes behind and from taking all
memory.
"""

from __future__ import annotations

import fcntl
import math
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from glob import glob

HEADROOM = 64 << 20  # bytes that reporting a MemoryError may take
SWEEP = 4.0  # seconds that the end of what a worker left behind may take
PAGE = os.sysconf("SC_PAGE_SIZE")


def fork_guard(socket: int, life: int) -> int:
    """Fork: the child becomes the worker, and this process the guard that ends everything below it.

    Returns:
        In the worker: the descriptor of a pipe with one byte, once the guard is at work.
    """
    ready, go = os.pipe()
    worker = os.fork()
    if worker == 0:
        os.setpgid(0, 0)  # the worker signals its group, not its guard
        os.close(go)
        os.close(life)
        return ready
    os.close(socket)  # whose end is to be seen when the worker ends
    with suppress(ImportError, OSError, AttributeError):  # Linux only
        import ctypes

        # prctl(2), PR_SET_CHILD_SUBREAPER: become the parent of descendants that lose theirs
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
    code = os.waitstatus_to_exitcode(_watch(worker, life, go))
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(OSError):  # SIGKILL has no handler
            signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {-code})
        os.kill(os.getpid(), -code)
    os._exit(code & 255)


def _watch(worker: int, life: int, go: int) -> int:
    """Wait for the end of the worker or of the caller, end everything below, and return the
    worker's status.
    """
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    fcntl.fcntl(life, fcntl.F_SETOWN, os.getpid())  # SIGIO says that it is closed
    fcntl.fcntl(life, fcntl.F_SETFL, fcntl.fcntl(life, fcntl.F_GETFL) | os.O_ASYNC)
    os.write(go, b"!")
    status = None
    limit = math.inf
    while time.monotonic() < limit:
        try:
            while (child := os.waitpid(-1, os.WNOHANG))[0]:
                status = child[1] if child[0] == worker else status
        except ChildProcessError:
            break
        if status is None and not select.select([life], [], [], 0)[0]:
            signal.sigwait({signal.SIGCHLD, signal.SIGIO})
            continue
        if limit == math.inf:
            limit = time.monotonic() + SWEEP
            with suppress(OSError):
                os.killpg(worker, signal.SIGKILL)
        kill(children(os.getpid()))  # whose own children are then the guard's
        time.sleep(0.0005)
    return signal.SIGKILL if status is None else status


def children(pid: int) -> list[int]:
    """The children of a process, where the system tells."""
    found: list[int] = []
    for path in glob(f"/proc/{pid}/task/*/children"):
        with suppress(OSError), open(path) as file:
            found += map(int, file.read().split())
    return found


def descendants(pid: int) -> list[int]:
    """Children of children, where the system tells; a group is easily left."""
    found = [pid]
    for parent in found:  # which grows meanwhile
        found += children(parent)
        if len(found) > 10_000:
            break
    return found[1:]


def kill(pids: Iterable[int]) -> None:
    """Kill what is left of these processes."""
    for pid in pids:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def limit_memory(room: int) -> None:
    """Allow this process so many bytes of memory beyond what it has now.

    0, and other than Linux, sets no limit.

    RLIMIT_DATA counts private writable memory; reserved addresses, such as those of the C library's
    arenas for threads, are free.  The caller looks for shared memory (``process.Worker.hoards``).
    """
    if room and sys.platform == "linux":
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        soft = own_memory() + room
        soft = soft if hard == resource.RLIM_INFINITY else min(soft, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def own_memory() -> int:
    """Bytes of private writable memory of this process."""
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[5]) * PAGE
