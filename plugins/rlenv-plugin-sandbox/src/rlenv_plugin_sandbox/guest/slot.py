"""Where a program's process waits in a container: behind all the locks that need no privilege."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys

import child
import landlock
import leftovers
import linux
import seccomp
import tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NOBODY = 65534
HOME = "/tmp"  # noqa: S108 - of the container
_HIDDEN = ("proc", "sys", "dev")


class Plan(child.Plan):
    """What a child does before it waits for START: all that needs no privilege."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.gvisor = gvisor()
        # In gVisor, where pid 1 is safe from those of its own user only.
        self.first = os.getuid() == 0
        self.folders = _writable() if self.first else leftovers.writable()
        self._take(config)
        self.landlock = landlock.abi()
        if self.landlock:
            tops = [e.path for e in os.scandir("/") if e.is_dir() and e.name not in _HIDDEN]
            self.rules = landlock.ruleset(tops, _open_to_programs(), self.landlock)
        kind = "native" if self.native else "python"
        self.filter = seccomp.prepared(seccomp.program(linux.MACHINE, kind))
        self.environment["PATH"] = os.environ.get("PATH", self.environment["PATH"])
        self.home = tree.WORKDIR if self.workspace[0] else HOME
        self.isolate = False
        self.begun = os.open("/dev/null", os.O_WRONLY)  # its word on the job socket is enough

    def prepare(self) -> None:
        try:
            self._lock()
        except BaseException as error:
            sys.stderr.write("no program can be prepared: %s: %s\n" % (type(error).__name__, error))
            raise

    def _lock(self) -> None:
        os.setsid()  # no signal to its group reaches ours
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        linux.dumpable(1)
        # Memory is taken from it, never from pid 1; gVisor has none.
        with contextlib.suppress(OSError):
            linux.write("/proc/self/oom_score_adj", "1000")
        if self.first:
            _become_nobody()
        os.chdir(self.home)
        for limit, value in self.limits:
            self._limit(limit, value)
        linux.no_new_privileges()
        if self.landlock:
            landlock.enforce(self.rules, self.landlock)
        seccomp.install(self.filter)
        random.seed(self.seed)

    def _limit(self, limit: int, value: int) -> None:
        try:
            child.lower(limit, value)
        except (OSError, ValueError):
            if not self.gvisor:  # which has not all of them
                raise


def _open_to_programs() -> list[str]:
    """The places and devices that programs may write to."""
    devices = ["/dev/" + name for name in ("null", "zero", "full", "random", "urandom", "tty")]
    folders = HOME, tree.WORKDIR, "/dev/shm"  # noqa: S108
    return [path for path in (*folders, *devices) if os.path.exists(path)]


def _become_nobody() -> None:
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def _writable() -> list[str]:
    """What those can write to who are nobody."""
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        return leftovers.writable()
    finally:
        os.seteuid(0)
        os.setegid(0)


def gvisor() -> bool:
    """Whether the kernel is gVisor's, which tells so in the first lines of its log."""
    buffer = linux.ctypes.create_string_buffer(1 << 16)
    read = linux.libc.klogctl(3, buffer, len(buffer))
    return read > 0 and b"gVisor" in buffer.raw[:read]
