"""A warm interpreter that forks one child per run, waits for it and reports; it never sees a test.

    python -I -S -B zygote.py CONTROL JOB CONFIG

CONTROL and JOB are descriptors of SOCK_SEQPACKET pairs, CONFIG one of a file with a JSON object.  On CONTROL
the zygote says once what it is (``{"ready": …}`` or ``{"failed": …}``), then after each run how that ended;
it hears KILL, and ends with everything in it when the other side is closed.  JOB is read by the child that
is forked ahead: whoever sends START there sends it to a process that sits in its finished jail already.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import gc
import json
import select
import signal
import socket
import struct

import child
import linux
import rooms

REPORT = struct.Struct(
    "<iddQi"
)  # wait status, user seconds, system seconds, peak bytes, error number
KILL = b"k"
NEW = (
    linux.CLONE_NEWUSER
    | linux.CLONE_NEWNS
    | linux.CLONE_NEWPID
    | linux.CLONE_NEWNET
    | linux.CLONE_NEWIPC
    | linux.CLONE_NEWUTS
    | linux.CLONE_NEWCGROUP
)


def isolate(control, config):
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
    return space


def _write(path, text):
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def _become_first():
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
    """The child that is forked ahead, and the run that it becomes."""

    def __init__(self, control, job, plan, space):
        self.control = control
        self.job = job
        self.plan = plan
        self.space = space

    def fork(self):
        if self.space is not None:
            linux.setns(self.space, linux.CLONE_NEWPID)
            linux.unshare(linux.CLONE_NEWPID)
        pid = os.fork()
        if not pid:
            child.serve(self.job, self.plan)
        return pid

    def look_after(self, pid):
        """Wait for its end, kill it when asked; True when there is nobody left to report to."""
        pidfd = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else None
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        if pidfd is not None:
            poll.register(pidfd, select.POLLIN)
        while True:
            ready = dict(poll.poll(None if pidfd is not None else 5))
            if self.control.fileno() in ready:
                order = self.control.recv(64)
                self.kill(pid)
                if not order:
                    return True
                break
            if pidfd in ready or (pidfd is None and _ended(pid)):
                break
        if pidfd is not None:
            os.close(pidfd)
        return False

    def kill(self, pid):
        """End the run: in a pid namespace with all its descendants, else with its process group."""
        for stop in (os.kill, os.killpg) if self.space is None else (os.kill,):
            try:
                stop(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def one(self):
        """One run from its fork to its report; True when there is nobody left to report to."""
        try:
            pid = self.fork()
        except OSError as error:
            self.control.send(REPORT.pack(0, 0.0, 0.0, 0, error.errno or 1))
            return not self.control.recv(64)
        gone = self.look_after(pid)
        if gone:
            return True
        _, status, used = os.wait4(pid, 0)
        if self.space is None:
            self.kill(pid)
        self.control.send(
            REPORT.pack(status, used.ru_utime, used.ru_stime, used.ru_maxrss * 1024, 0)
        )
        return False


def _ended(pid):
    """Whether it has ended; leaves it to be waited for."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def warm(config, plan):
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


def main():
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
    while not nursery.one():
        pass
    os._exit(0)


def _high(fd):
    """The same open file at a descriptor beyond those that a run uses."""
    import fcntl

    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 64)


if __name__ == "__main__":
    main()
