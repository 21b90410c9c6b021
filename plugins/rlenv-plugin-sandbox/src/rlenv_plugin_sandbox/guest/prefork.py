"""The children of a zygote: one runs a program, one waits in its finished jail for the next
START.
"""

from __future__ import annotations

import array
import errno
import fcntl
import os
import select
import signal
import socket
import struct
import time

import child
import linux
import tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

# The number of the run, when it ended; its wait status, user seconds, system seconds, peak bytes
# and error number.
REPORT = struct.Struct("<IdiddQi")
KILL = struct.Struct("<I")  # number of the run
PATIENCE = 3  # children that end before their START, one after the other
_AT_ONCE_S = 0.002  # runs that follow each other so soon leave no processor idle for a rehearsal
_PIDFD_OPEN = 434


def high(fd: int) -> int:
    """The same open file at a descriptor beyond those that a run uses."""
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 64)


def _pidfd(pid: int) -> int:
    if hasattr(os, "pidfd_open"):
        return os.pidfd_open(pid)
    return linux.check(linux.libc.syscall(_PIDFD_OPEN, pid, 0), "pidfd_open")


def _packed(
    number: int,
    *,
    ended: float,
    status: int = 0,
    user: float = 0.0,
    system: float = 0.0,
    peak: int = 0,
    failure: int = 0,
) -> bytes:
    fields = (number, ended, status, user, system, peak, failure)
    return REPORT.pack(*fields)


class Child:
    """A process that waits or runs, and the place where it does."""

    __slots__ = ("pid", "pidfd", "seat")

    def __init__(self, pid: int, seat: Any) -> None:
        self.pid = pid
        self.pidfd = _pidfd(pid)
        self.seat = seat


class Prefork:
    """Forks ahead, waits, kills when asked, reports each end.

    Runs are numbered from 1 as they begin: an order to kill names its run, so that one that comes
    late harms nobody, and one that comes early is not forgotten.

    Args:
        control: where reports go and orders come from.
        job: what children read START from.
        space: a descriptor of the pid namespace this is pid 1 of; None without isolation.
        weight: a descriptor of our own oom_score_adj, or None.
    """

    def __init__(
        self,
        control: socket.socket,
        job: socket.socket,
        plan: child.Plan,
        space: int | None,
        weight: int | None = None,
    ) -> None:
        self.control = control
        self.job = job
        self.plan = plan
        self.space = space
        self.weight = weight
        self._usual = b"0" if weight is None else os.pread(weight, 16, 0).strip()
        near, far = os.pipe()
        # a child says that it begins
        self.begun = high(near)
        plan.begun = high(far)
        os.close(near)
        os.close(far)
        self.spare: Child | None = None
        self.current: Child | None = None
        self.number = 0  # of the run that began last
        self.to_kill = 0  # of the run to be killed
        self.failures = 0
        self.idle_since = 0.0  # when the last run ended
        self.rehearse = True  # the next child: what every run does, done once where nobody waits
        self.poll = select.poll()
        self.poll.register(control, select.POLLIN)
        self.poll.register(self.begun, select.POLLIN)

    def forked(self) -> int:
        """Fork: 0 in the child, its pid here.

        Raises:
            OSError: no process could be created.
        """
        bare = self.space is not None and self.plan.bare
        if self.space is not None and not bare:
            linux.setns(self.space, linux.CLONE_NEWPID)
            linux.unshare(linux.CLONE_NEWPID)
        self._weigh(b"1000")  # when memory is short, theirs is taken before ours
        pid = -1
        try:
            pid = linux.clone(linux.CLONE_NEWPID) if bare else os.fork()
        finally:
            if pid:
                self._weigh(self._usual)
        return pid

    def _weigh(self, score: bytes) -> None:
        if self.weight is not None:
            os.pwrite(self.weight, score, 0)

    def trial(self) -> str:
        """What a child reports that only enters its jail; "" when all went well."""
        near, far = os.pipe()
        self.plan.seat = seat = self.plan.workdir.prepare()
        pid = self.forked()
        if not pid:
            said = b""
            try:
                self.plan.prepare()
            except BaseException as error:  # noqa: BLE001 - the zygote decides
                said = ("%s: %s" % (type(error).__name__, error)).encode() or b"?"
            os.write(far, said)
            os._exit(0)
        os.close(far)
        with open(near, "rb") as answer:
            text = answer.read().decode("utf-8", "replace")
        status = os.waitpid(pid, 0)[1]
        self.plan.workdir.clear(seat)
        return text or ("a child ended with status %d" % status if status else "")

    def _spare(self) -> None:
        """Fork the next child, in a place of its own.

        Raises:
            OSError: no process or no place could be made.
        """
        workdir = self.plan.workdir
        self.plan.seat = seat = workdir.prepare()
        try:
            pid = self.forked()
        except OSError:
            workdir.clear(seat)
            raise
        if not pid:
            rehearse = self.rehearse
            self._forget()
            child.serve(self.job, self.plan, rehearse=rehearse)
        self.spare = Child(pid, seat)
        self.poll.register(self.spare.pidfd, select.POLLIN)

    def _forget(self) -> None:
        """In a child: let nothing tell of the runs before it, which chose how they ended."""
        if self.current is not None:
            linux.forget(self.current.pid)
            self.current = None
        linux.forget(self.number, self.to_kill, self.idle_since)
        self.number = self.to_kill = self.failures = 0
        self.idle_since = 0.0
        self.rehearse = True

    def attend(self) -> bool:
        """What happens next; False when there is nobody left to work for."""
        if self.spare is None and (self.current is None or not self.failures):
            try:
                self._spare()
            except OSError as error:
                if self.current is None:
                    return self.fail(error.errno or 1)
                self.failures += 1
        ready = [fd for fd, _ in self.poll.poll()]
        if self.begun in ready:
            self.begins()
        if self.current is not None and self.current.pidfd in ready:
            self.report()
        elif self.spare is not None and self.spare.pidfd in ready:
            return self.spare_died()
        if self.control.fileno() in ready:
            order = self.control.recv(64)
            if not order:
                return False
            self.to_kill = KILL.unpack(order)[0]
        if self.to_kill == self.number and self.current is not None:
            self.kill()
            self.report()
        return True

    def begins(self) -> bool:
        """Take a child's word: it has START, and begins (True) or could not."""
        word = os.read(self.begun, 4)
        self.current = self.spare
        self.spare = None
        self.failures = 0
        before = self.number
        self.number += 1
        linux.forget(before)
        idle = time.monotonic() - self.idle_since
        self.rehearse = word != child.STARTED_BUSY and idle >= _AT_ONCE_S
        linux.forget(idle)
        return word in (child.STARTED, child.STARTED_BUSY)

    def spare_died(self) -> bool:
        """The spare is dead; perhaps it began in the moment since we looked."""
        if select.select([self.begun], [], [], 0)[0]:
            self.begins()
            self.report()
            return True
        assert self.spare is not None
        self.reap(self.spare)
        self.plan.workdir.clear(self.spare.seat)
        self.spare = None
        self.failures += 1
        if self.current is not None:  # whose doing it may be: the next is forked after its end
            return True
        return self.failures < PATIENCE or self.fail(errno.ECHILD)

    def fail(self, number: int) -> bool:
        """No child can be made: say so to whoever waits for one, or will."""
        self.control.send(_packed(self.number + 1, ended=time.monotonic(), failure=number))
        return False

    def kill(self) -> None:
        """End the run: in a pid namespace with all its descendants, else with its process group."""
        assert self.current is not None
        for stop in (os.kill, os.killpg) if self.space is None else (os.kill,):
            try:
                stop(self.current.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def report(self) -> None:
        """Say how the run ended, and give up its place."""
        assert self.current is not None
        if self.space is None:
            self.kill()
        status, used = self.reap(self.current)
        linux.forget(self.idle_since)
        ended = self.idle_since = time.monotonic()
        seat = self.current.seat
        self.current = None
        self.failures = 0
        peak = used.ru_maxrss * 1024
        said = _packed(
            self.number,
            ended=ended,
            status=status,
            user=used.ru_utime,
            system=used.ru_stime,
            peak=peak,
        )
        self._hand_in(said, seat)
        linux.forget(said, status, peak, *used)

    def _hand_in(self, said: bytes, seat: Any) -> None:
        """Report, and give up the place."""
        if self.plan.workspace[0]:
            self.hand_over(said, seat)
        elif self.plan.workdir.is_light(
            seat
        ):  # whoever waits for the report waits for no unmounting
            self.control.send(said)
            self.plan.workdir.clear(seat)
        else:
            self.plan.workdir.clear(seat)
            self.control.send(said)

    def hand_over(self, said: bytes, seat: Any) -> None:
        """Report, and with that a pipe to read the workspace from.

        Its end says that all is as it was.

        A process of its own reads the files: what they hold must not be in the memory that programs
            begin with.
        """
        near, far = os.pipe()
        rights = array.array("i", [near])
        self.control.sendmsg([said], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
        os.close(near)
        pid = self._fork_beside()
        if not pid:
            self._pack(far, seat)
        linux.forget(os.waitpid(pid, 0)[0], pid)
        self.plan.workdir.clear(seat)
        os.close(far)

    def _fork_beside(self) -> int:
        """Fork a process in this pid namespace: 0 in it, a pid here."""
        if self.space is not None and not self.plan.bare:
            linux.setns(self.space, linux.CLONE_NEWPID)
        return os.fork()

    def _pack(self, far: int, seat: Any) -> NoReturn:
        try:
            with open(far, "wb", buffering=1 << 16, closefd=False) as pipe:
                tree.pack(self.plan.workdir.root_of(seat), *self.plan.workspace, pipe.write)
        finally:
            os._exit(0)

    def reap(self, process: Child) -> tuple[int, Any]:
        """Wait for one that has ended, or is about to."""
        self.poll.unregister(process.pidfd)
        os.close(process.pidfd)
        pid, status, used = os.wait4(process.pid, 0)
        linux.forget(pid, process.pid)
        return status, used
