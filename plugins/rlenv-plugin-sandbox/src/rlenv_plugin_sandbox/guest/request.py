"""One run in a container, from the fork of its process to the death of its last descendant."""

from __future__ import annotations

import array
import contextlib
import io
import os
import signal
import socket
import time

import child
import delays
import leftovers
import renewal
import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    import slot

NOT_YET = -1  # a descriptor of output that comes with the word of the child that it begins
_CLEANING_S = 2.0
_OOM = ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control")


class Run:
    """One child: forked ahead of its START, until everything of it is gone."""

    def __init__(self, plan: slot.Plan) -> None:
        self.ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.failure = 0
        self.pid: int | None = None
        self.spares_first = plan.gvisor and plan.renewal is not None
        try:
            self.pid = plan.fork()
        except OSError as error:
            self.failure = error.errno or 1
        if self.pid == 0:
            self.ours.close()
            child.serve(theirs, plan, rehearse=True)
        theirs.close()
        self.ours.setblocking(False)
        self.on = self.began = self.silent = self.deaf = self.truncated = False
        self.status: int | None = None
        self.used = [0.0, 0.0, 0]
        self.order = wire.NOT_ORDERED
        self.delay = self.waited = 0.0
        # When it began, and wrote to its channel last; 0.0: not yet, or was asked.
        self.since = self.answered = 0.0
        self.delays = delays.Delays()
        self.deadline: float | None = None
        self.inward = bytearray()
        self.taken = 0
        self.said = b""
        self.fds: list[int] = []
        self.over = [False, False]
        self.stopped: float | None = None
        self.ended: float | None = None

    def start(self, body: bytes) -> None:
        """Hand START to the child, with the far ends of what we carry."""
        parts = io.BytesIO(body)
        wall, room, much, more = wire.START_HEAD.unpack(parts.read(wire.START_HEAD.size))
        text = parts.read(much)
        payload = parts.read(more)
        stdin = parts.read()
        self.room = [room, room]
        channel, theirs = socket.socketpair()
        far = [theirs.detach()]
        far += [_memory(content) for content in (stdin, payload) if content]
        channel.setblocking(False)
        self.fds = [NOT_YET, NOT_YET, channel.detach()]
        self.oom = _killed_for_memory()
        self.on = True
        self.when = time.monotonic()
        self.deadline = self.when + wall
        rights = array.array("i", far)
        try:
            self.ours.sendmsg([text], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
        except OSError as error:
            self.failure = error.errno or 1
            kill_all()
        for fd in far:
            os.close(fd)

    def stop(self, order: int) -> None:
        if self.order == wire.NOT_ORDERED and self.status is None and self.pid:
            self.look()
            self.order = order
            self.stopped = time.monotonic()
            self._kill()

    def look(self) -> None:
        """Learn how long it stood ready to run without a processor."""
        self.delay += self.delays.since(_tasks())

    def begins(self, outputs: list[int]) -> None:
        """From now on its clock runs, and these bring what it prints."""
        self.fds[: len(outputs)] = outputs
        self.look()
        self.delay = 0.0
        self.since = time.monotonic()

    def hear(self) -> None:
        """It is asked something more, or nothing ever again: since its last answer it waited for
        that.
        """
        if self.answered:
            self.waited += time.monotonic() - self.answered
            self.answered = 0.0

    @property
    def asked(self) -> float:
        """Seconds so far that it had been asked something and not answered."""
        now = self.stopped or self.ended or time.monotonic()
        return max(0.0, now - self.since - self.waited) if self.since else 0.0

    def has_ended(self) -> bool:
        """Whether its process has ended, and can still be looked at."""
        if self.pid is None or self.status is not None:
            return False
        how = os.WEXITED | os.WNOHANG | os.WNOWAIT
        with contextlib.suppress(ChildProcessError):
            return os.waitid(os.P_PID, self.pid, how) is not None
        return False

    def clear(self) -> None:
        """Kill and wait for everything of the run."""
        self._kill()
        while reap(self, 0):
            pass
        self.ended = self.stopped or self.ended or time.monotonic()

    def _kill(self) -> None:
        """Kill everything of the run.

        Where this process does not become the parent of orphans, it is not told what they used.  So
        there the process is spared that waits for the first one of the run's own namespace: it ends
        with that, and tells.
        """
        if not self.spares_first:
            kill_all()
            return
        spared = (*_ours(), str(self.pid))
        others = [
            int(n) for n in os.listdir(renewal.processes()) if n.isdigit() and n not in spared
        ]
        if not others:  # it has not forked yet
            kill_all()
        for pid in others:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def report(self, plan: slot.Plan) -> bytes:
        """END's body, after what the run left in files has been removed."""
        clean = (
            leftovers.remove(plan.folders, _CLEANING_S) and os.getpriority(os.PRIO_PROCESS, 0) == 0
        )
        wall = (self.ended or self.when) - self.when
        oom = _killed_for_memory() > self.oom
        flags = (self.began, self.order, oom, self.truncated, not clean)
        user, system, peak = self.used
        rest = (self.delay, self.asked, user, system, wall, peak, self.failure)
        return wire.END_BODY.pack(self.status or 0, *flags, *rest) + self.said

    def close(self) -> None:
        self.ours.close()
        for fd in self.fds:
            if fd != NOT_YET:
                os.close(fd)


def _memory(content: bytes) -> int:
    fd = os.memfd_create("rlenv")
    with open(fd, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def kill_all() -> None:
    """Everything in this container but this process and pid 1."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)


def reap(run: Run, flags: int) -> bool:
    """Wait for one process; False when there is none (now)."""
    try:
        pid, status, used = os.wait4(-1, flags)
    except ChildProcessError:
        return False
    if pid == 0:
        return False
    run.used[0] += used.ru_utime
    run.used[1] += used.ru_stime
    if pid == run.pid:
        run.status = status
        run.ended = time.monotonic()
    run.used[2] = max(run.used[2], used.ru_maxrss * 1024)
    return True


def _ours() -> tuple[str, str]:
    """The processes of the container that are of no run: the first, and this one, which carries the
    run.
    """
    return "1", str(os.getpid())


def _tasks() -> list[str]:
    """Every thread of the container but of ours, as folders of /proc."""
    found = []
    base = renewal.processes()
    for pid in os.listdir(base):
        if pid.isdigit() and pid not in _ours():
            folder = "%s/%s/task" % (base, pid)
            with contextlib.suppress(OSError):
                found += ["%s/%s" % (folder, tid) for tid in os.listdir(folder)]
    return found


def cpu_of_all() -> float:
    """Seconds of CPU of every process of the container but us."""
    total = 0
    tick = os.sysconf("SC_CLK_TCK")
    base = renewal.processes()
    for name in os.listdir(base):
        if name.isdigit() and name not in _ours():
            try:
                with open("%s/%s/stat" % (base, name)) as file:
                    total += sum(map(int, file.read().rpartition(")")[2].split()[11:15]))
            except (OSError, ValueError):
                continue
    return total / tick


def _killed_for_memory() -> int:
    for path in _OOM:
        try:
            with open(path) as file:
                for line in file:
                    if line.startswith("oom_kill "):
                        return int(line.split()[1])
        except OSError:
            continue
    return 0
