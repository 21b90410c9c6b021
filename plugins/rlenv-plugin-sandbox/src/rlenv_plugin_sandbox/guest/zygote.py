"""A warm interpreter that forks one child per run, waits for it and reports; it never sees a test.

    python -I -S -B zygote.py CONTROL JOB CONFIG

CONTROL and JOB are descriptors of SOCK_SEQPACKET pairs, CONFIG one of a file with a JSON object.  On CONTROL
the zygote says once what it is (``{"ready": …}`` or ``{"failed": …}``), then after each run how that ended;
it hears KILL, and ends with everything in it when the other side is closed.  JOB is read by the child that
is forked ahead: whoever sends START there sends it to a process that sits in its finished jail already.
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import errno
import gc
import json
import select
import signal
import socket
import struct

import child
import linux
import rooms


TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

REPORT = struct.Struct(
    "<iddQi"
)  # wait status, user seconds, system seconds, peak bytes, error number
KILL = b"k"
PATIENCE = 3  # children that end before their START, one after the other
NEW = (
    linux.CLONE_NEWUSER
    | linux.CLONE_NEWNS
    | linux.CLONE_NEWPID
    | linux.CLONE_NEWNET
    | linux.CLONE_NEWIPC
    | linux.CLONE_NEWUTS
    | linux.CLONE_NEWCGROUP
)


def isolate(control: socket.socket, config: dict[str, Any]) -> int:
    """Leave the machine: a file system, users, processes and a network of our own.

    Returns as pid 1, with a descriptor of the pid namespace that this is in.
    """
    files = {name: bytes.fromhex(content) for name, content in config["files"].items()}
    processes = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)  # outlives its mount
    if config["root"]:
        linux.unshare(linux.CLONE_NEWNS)
        rooms.build(config["paths"], config["devices"], files)
        linux.unshare(NEW)
        control.send(json.dumps({"map": True}).encode())
        if control.recv(16) != b"mapped":
            os._exit(0)
        os.setgroups([])
        os.setresgid(0, 0, 0)
        os.setresuid(0, 0, 0)
    else:
        uid, gid = os.getuid(), os.getgid()
        linux.unshare(NEW)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", "0 %d 1" % uid)
        _write("/proc/self/gid_map", "0 %d 1" % gid)
        rooms.build(config["paths"], config["devices"], files)
    os.umask(0o022)
    _become_first()
    space = os.open("self/ns/pid", os.O_RDONLY, dir_fd=processes)
    os.close(processes)
    linux.drop_bounding()
    return space


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def _become_first() -> None:
    """Go on as pid 1 of the new pid namespace; who we were waits for that."""
    pid = os.fork()
    if pid:
        while True:
            try:
                os.waitpid(pid, 0)
            except InterruptedError:
                continue
            os._exit(0)
    linux.die_with_parent()


class Nursery:
    """The children: one runs a program, one sits in its finished jail and waits for the next START."""

    def __init__(
        self, control: socket.socket, job: socket.socket, plan: child.Plan, space: int | None
    ) -> None:
        self.control = control
        self.job = job
        self.plan = plan
        self.space = space
        self.begun, plan.begun = os.pipe()  # a child says that it begins
        self.spare: tuple[int, int] | None = None  # (pid, pidfd)
        self.current: tuple[int, int] | None = None
        self.failures = 0
        self.poll = select.poll()
        self.poll.register(control, select.POLLIN)
        self.poll.register(self.begun, select.POLLIN)

    def fork(self) -> None:
        """A child that waits for START, ahead of time."""
        if self.space is not None:
            linux.setns(self.space, linux.CLONE_NEWPID)
            linux.unshare(linux.CLONE_NEWPID)
        pid = os.fork()
        if not pid:
            child.serve(self.job, self.plan)
        pidfd = os.pidfd_open(pid)
        self.spare = (pid, pidfd)
        self.poll.register(pidfd, select.POLLIN)

    def attend(self) -> bool:
        """What happens next; False when there is nobody left to work for."""
        try:
            if self.spare is None:
                self.fork()
        except OSError as error:
            return self.fail(error.errno or 1)
        ready = [fd for fd, _ in self.poll.poll()]
        if self.begun in ready:
            os.read(self.begun, 16)
            self.current, self.spare = self.spare, None
            self.failures = 0
        if self.current is not None and self.current[1] in ready:
            self.report(self.current)
        if self.spare is not None and self.spare[1] in ready and not self.begins():
            self.bury(self.spare)
            self.spare = None
            self.failures += 1
            return self.failures < PATIENCE or self.fail(errno.ECHILD)
        if self.control.fileno() in ready:
            if not self.control.recv(64):
                return False
            self.kill()
        return True

    def begins(self) -> bool:
        """Whether the spare said so in the moment since we looked."""
        return bool(select.select([self.begun], [], [], 0)[0])

    def fail(self, number: int) -> bool:
        """No child can be made: say so to whoever waits for one."""
        self.control.send(REPORT.pack(0, 0.0, 0.0, 0, number))
        return False

    def kill(self) -> None:
        """End the run: in a pid namespace with all its descendants, else with its process group."""
        if self.current is None:
            return
        for stop in (os.kill, os.killpg) if self.space is None else (os.kill,):
            try:
                stop(self.current[0], signal.SIGKILL)
            except ProcessLookupError:
                continue

    def report(self, ended: tuple[int, int]) -> None:
        """Say how the run ended."""
        if self.space is None:
            self.kill()
        status, used = self.bury(ended)
        self.current = None
        report = (status, used.ru_utime, used.ru_stime, used.ru_maxrss * 1024, 0)
        self.control.send(REPORT.pack(*report))

    def bury(self, grave: tuple[int, int]) -> tuple[int, Any]:
        pid, pidfd = grave
        self.poll.unregister(pidfd)
        os.close(pidfd)
        _, status, used = os.wait4(pid, 0)
        return status, used


def warm(config: dict[str, Any], plan: child.Plan) -> None:
    """Import what every program is to find imported, and let that warm itself."""
    sys.path[:] = [p for p in sys.path if p != os.path.dirname(os.path.abspath(__file__))]
    sys.path[:0] = ["/box"] if config["isolate"] else config["box"]
    sys.path += config["packages"]
    for name in config["preload"]:
        __import__(name)
        module = sys.modules[name]
        if callable(getattr(module, "rehearse", None)):
            module.rehearse()
            plan.rehearsals.append(module)


def main() -> None:
    numbers = [_high(int(fd)) for fd in sys.argv[1:4]]
    control, job = socket.socket(fileno=numbers[0]), socket.socket(fileno=numbers[1])
    with open(numbers[2], "rb") as file:
        config = json.loads(file.read())
    step = "namespaces"
    try:
        space = isolate(control, config) if config["isolate"] else None
        step = "preparation"
        plan = child.Plan(config)
        nursery = Nursery(control, job, plan, space)
        step = "preload"
        warm(config, plan)
    except BaseException as error:
        said = {
            "failed": "%s: %s" % (type(error).__name__, error),
            "errno": getattr(error, "errno", None),
            "step": step,
        }
        control.send(json.dumps(said).encode())
        os._exit(1)
    gc.collect()
    gc.freeze()
    control.send(json.dumps({"ready": os.getpid(), "landlock": plan.landlock}).encode())
    while nursery.attend():
        pass
    os._exit(0)


def _high(fd: int) -> int:
    """The same open file at a descriptor beyond those that a run uses."""
    import fcntl

    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 64)


if __name__ == "__main__":
    main()
