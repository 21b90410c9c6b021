"""One run: from the fork to the program's first line.

Everything up to START is done ahead of time.
"""

from __future__ import annotations

import array
import os
import resource
import socket
import struct

import landlock
import linux
import mounts
import program
import seccomp
import standard
import tree
import workdir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn

# Kind, what is given, CPU seconds, wall seconds, length of program.
HEADER = struct.Struct("<BBddI")
PYTHON = 0
NATIVE = 1
BROKEN = 70  # exit status of a child that could not do its part
# which of the optional descriptors were given
STDIN = 1
PAYLOAD = 2
BUSY = 4  # beside these: others run too, so that no processor stands idle for a rehearsal
STARTED = b"s"
FAILED = b"f"
STARTED_BUSY = b"b"  # to the zygote: begun, and the next need not rehearse
_INLINE = 65536
_SPACE = socket.CMSG_SPACE(8 * 4)


def serve(job: socket.socket, plan: Plan, *, rehearse: bool) -> NoReturn:
    """Prepare, wait for START, run.  Never returns."""
    status = BROKEN
    try:
        plan.prepare()
        for module in plan.rehearsals if rehearse else ():
            module.rehearse()
        message, fds = receive(job)
        if message:
            start = _ready(job, message, fds, plan)
            status = _run(start, plan)
    except BaseException:  # noqa: BLE001 - it ends here in any case
        status = BROKEN
    finally:
        os._exit(status)


def receive(job: socket.socket) -> tuple[bytes, list[int]]:
    """(message, descriptors that came with it)."""
    message, ancillary, _, _ = job.recvmsg(_INLINE + 64, _SPACE)
    fds = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(data[: len(data) - len(data) % 4])
    return message, list(fds)


def _ready(
    job: socket.socket, message: bytes, fds: list[int], plan: Plan
) -> tuple[int, bytes, list[int]]:
    """(kind, program, descriptors in place) once everything that a program finds is there."""
    try:
        kind, given, cpu, _, length = HEADER.unpack_from(message)
        assert plan.streams is not None
        rest = fds[1:]
        stdin = rest.pop(0) if given & STDIN else plan.null
        text = _content(rest.pop(0)) if given & PAYLOAD else message[HEADER.size :]
        for name, mode, content in _entries(text, length):
            tree.put(name, mode, content)
        if given & STDIN:
            plan.streams.take_input(stdin)
        # The kernel counts by ticks, up to a fifth wrong: never less than promised.
        whole = int(cpu) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (whole, whole))
    except BaseException as error:
        if plan.begun is not None:
            job.send(FAILED + ("%s: %s" % (type(error).__name__, error)).encode()[:200])
            os.write(plan.begun, FAILED)
        raise
    if plan.workdir is not None:
        plan.workdir.begin()
    near = array.array("i", plan.streams.near)
    job.sendmsg([STARTED], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, near)])
    if plan.begun is not None:
        os.write(plan.begun, STARTED_BUSY if given & BUSY else STARTED)
    return kind, text[:length], [stdin, *plan.streams.far, fds[0]]


def _run(start: tuple[int, bytes, list[int]], plan: Plan) -> int:
    kind, text, fds = start
    _place(fds)
    if kind == NATIVE:
        return program.native(text.split(b"\0"), plan.environment)
    return program.python(text)


def _content(fd: int) -> bytes:
    with open(fd, "rb") as payload:
        return payload.read()


def _entries(text: bytes, place: int) -> Iterator[tuple[str, int, memoryview]]:
    """(name, mode, content) of what START's text holds behind the program."""
    view = memoryview(text)
    while place < len(view):
        size, mode, much = tree.ENTRY.unpack_from(view, place)
        place += tree.ENTRY.size + size
        name = bytes(view[place - size : place]).decode("utf-8", "surrogateescape")
        yield name, mode, view[place : place + much]
        place += much


def _place(fds: list[int]) -> None:
    """Put the four descriptors at 0 to 3 and close everything else."""
    while min(fds) <= 3:
        fds = [fd if fd > 3 else os.dup(fd) for fd in fds]
    for place, fd in enumerate(fds):
        os.dup2(fd, place)
    linux.close_from(4)


def lower(limit: int, value: int) -> None:
    """Lower a limit for good, of this process and all it starts."""
    hard = resource.getrlimit(limit)[1]
    least = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(limit, (least, least))


class Plan:
    """What every child of this zygote does before it waits for START."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.isolate = config["isolate"]
        self.begun: int | None = None  # where a child says that it begins, besides the job socket
        self._take(config)
        self.uid = config["uid"] if self.isolate else None
        self.landlock = landlock.abi() if config["inner"] else 0
        self.filter = None
        if config["inner"]:
            kind = "native" if self.native else "python"
            self.filter = seccomp.prepared(
                seccomp.program(
                    linux.MACHINE, kind, devices=bool(config["devices"]), memfd=config["memfd"]
                )
            )
        self.home = config["home"]

    def _take(self, config: dict[str, Any]) -> None:
        """What holds for every adapter."""
        self.workdir: Any = None  # where working directories are made, in a jail
        self.seat: Any = None  # the one of the next child
        self.native = config["runtime"] == "native"
        self.limits = [(getattr(resource, "RLIMIT_" + k), v) for k, v in config["limits"].items()]
        self.environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": mounts.HOME,
            "LANG": "C.UTF-8",
            **config["environment"],
        }
        self.null = os.open("/dev/null", os.O_RDONLY)
        self.streams: standard.Streams | None = None  # of the child that prepares itself
        self.workspace = config["workspace"]  # bytes and entries that it may hold, or zeros
        self.rehearsals: list[Any] = []
        self.bare = False  # whether a fork has nothing to tell the modules that are imported
        self.seed = int(config["environment"].get("PYTHONHASHSEED", "0"))

    def settle(self, config: dict[str, Any]) -> None:
        """What holds for the zygote too, once: limits, no way to more rights, the working
        directories.
        """
        if self.isolate:
            mounts.leave_root(config["above"])
            self.workdir = workdir.MemoryFolder(
                config, executable=self.native, version=self.landlock
            )
        else:
            self.workdir = workdir.Folder(self.home)
        for limit, value in self.limits:
            lower(limit, value)
        if self.filter is not None:
            linux.no_new_privileges()

    def prepare(self) -> None:
        """Enter the jail and lock it."""
        self.workdir.enter(self.seat)
        self.streams = standard.named(standard.FOLDER) if self.isolate else standard.pipes()
        os.setpgid(0, 0)  # a signal to its group, which no namespace bounds, stays in it
        if not self.isolate:
            linux.die_with_parent()
        if self.uid:
            os.setresgid(self.uid, self.uid, self.uid)
            os.setresuid(self.uid, self.uid, self.uid)
        if self.isolate:
            linux.drop_capabilities()
        if self.filter is not None:
            self.workdir.confine(self.seat)
            seccomp.install(self.filter)
