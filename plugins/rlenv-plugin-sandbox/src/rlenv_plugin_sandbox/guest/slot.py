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
import renewal
import seccomp
import standard
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
        self.renewal = self._renewal(config)
        if self.renewal is not None:  # nothing else is to be emptied than what is not made anew
            renewed = [place for place, _, _ in self.renewal.places]
            self.folders = [folder for folder in self.folders if folder not in renewed]
        self.landlock = landlock.abi()
        self.rules = -1
        self._make_rules()
        kind = "native" if self.native else "python"
        self.filter = seccomp.prepared(seccomp.program(linux.MACHINE, kind, shared=not self.gvisor))
        self.environment["PATH"] = os.environ.get("PATH", self.environment["PATH"])
        self.home = tree.WORKDIR if self.workspace[0] else HOME
        self.isolate = False
        self.begun = os.open("/dev/null", os.O_WRONLY)  # its word on the job socket is enough

    def _renewal(self, config: dict[str, Any]) -> renewal.Renewal | None:
        try:
            return renewal.Renewal(config, gvisor=self.gvisor, executable=self.native)
        except OSError:
            return None

    def _make_rules(self) -> None:
        """Have Landlock's rules hold for what is mounted now."""
        if not self.landlock:
            return
        if self.rules >= 0:
            os.close(self.rules)
        tops = [e.path for e in os.scandir("/") if e.is_dir() and e.name not in _HIDDEN]
        self.rules = landlock.ruleset(tops, _open_to_programs(), self.landlock)

    def fork(self) -> int:
        """Fork the process of the next run, in a place of its own: 0 in it, a pid here.

        Raises:
            OSError: no process or no place could be made.
        """
        if self.renewal is None:
            return os.fork()
        self.renewal.renew()
        self._make_rules()
        return self.renewal.fork()

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
        named = None if self.renewal is None else self.renewal.hide_processes()
        if self.first:
            _become_nobody()
        # Nobody's own, to be opened by name.
        self.streams = standard.pipes() if named is None else named
        os.chdir(self.home)
        for limit, value in self.limits:
            self._limit(limit, value)
        if not self.first:
            linux.drop_capabilities()
        linux.no_new_privileges()
        if self.landlock:
            if named is not None:
                landlock.allow_streams(self.rules, standard.PROC)
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
