"""One run: from the fork to the program's first line.  Everything up to START is done ahead of time."""

from __future__ import annotations

import array
import os
import random as _random  # noqa: F401 - most programs import it; here it is warm
import resource
import signal
import socket
import struct
import sys

import landlock
import linux
import rooms
import seccomp


TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

HEADER = struct.Struct(
    "<BBddI"
)  # kind, descriptors given, cpu seconds, wall seconds (judge's), text length
PYTHON, NATIVE = 0, 1
STDIN, PAYLOAD = 1, 2  # which of the optional descriptors were given
STARTED = b"s"
_INLINE = 65536
_SPACE = socket.CMSG_SPACE(8 * 4)


def serve(job: socket.socket, plan: Plan) -> NoReturn:
    """Prepare, wait for START, run.  Never returns."""
    code = 70
    try:
        plan.prepare()
        for module in plan.rehearsals:
            module.rehearse()
        message, fds = _receive(job)
        if message:
            code = _run(job, message, fds, plan)
    except SystemExit as stop:
        code = _status(stop)
    except BaseException:
        code = 70
    finally:
        os._exit(code & 0xFF)


def _receive(job: socket.socket) -> tuple[bytes, list[int]]:
    message, ancillary, _, _ = job.recvmsg(_INLINE + 64, _SPACE)
    fds = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(data[: len(data) - len(data) % 4])
    return message, list(fds)


def _run(job: socket.socket, message: bytes, fds: list[int], plan: Plan) -> int:
    kind, given, cpu, _, length = HEADER.unpack_from(message)
    text = message[HEADER.size :]
    out, err, channel = fds[:3]
    rest = fds[3:]
    stdin = rest.pop(0) if given & STDIN else plan.null
    if given & PAYLOAD:
        with open(rest.pop(0), "rb") as payload:
            text = payload.read()
    program, files = _unpack(text, length)
    for name, mode, content in files:
        _write(name, mode, content)
    whole = max(1, int(cpu + 0.999))
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole))
    job.send(STARTED)
    if plan.begun is not None:
        os.write(plan.begun, STARTED)
    _place(stdin, out, err, channel)
    if kind == NATIVE:
        return _execute(program, plan)
    return _python(program)


def _unpack(text: bytes, length: int) -> tuple[bytes, list[tuple[str, int, memoryview]]]:
    """(the program, [(name, mode, content)]) of START's text: the program first, then the files."""
    files = []
    view = memoryview(text)
    place = length
    while place < len(view):
        size, mode, much = struct.unpack_from("<HIQ", view, place)
        place += 14
        name = bytes(view[place : place + size]).decode("utf-8", "surrogateescape")
        place += size
        files.append((name, mode, view[place : place + much]))
        place += much
    return bytes(view[:length]), files


def _write(name: str, mode: int, content: memoryview) -> None:
    folder = os.path.dirname(name)
    if folder:
        os.makedirs(folder, exist_ok=True)
    fd = os.open(name, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, mode)
    while len(content):
        content = content[os.write(fd, content) :]
    os.close(fd)
    os.chmod(name, mode)


def _place(stdin: int, out: int, err: int, channel: int) -> None:
    """Put the four descriptors at 0 to 3 and close everything else."""
    high = [fd if fd > 3 else os.dup(fd) for fd in (stdin, out, err, channel)]
    while min(high) <= 3:
        high = [fd if fd > 3 else os.dup(fd) for fd in high]
    for place, fd in enumerate(high):
        os.dup2(fd, place)
    linux.close_from(4)


def _python(program: bytes) -> int:
    module = type(sys)("__main__")
    vars(module)["__builtins__"] = __builtins__
    sys.modules["__main__"] = module
    sys.argv = ["main.py"]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        exec(compile(program.decode("utf-8", "surrogatepass"), "main.py", "exec"), module.__dict__)
        status = 0
    except SystemExit as stop:
        status = _status(stop)
    except BaseException:
        status = 1
        try:
            sys.excepthook(*sys.exc_info())
        except BaseException:
            status = 1
    _end()
    return status


def _end() -> None:
    """What the interpreter does at its end, as far as a program can notice."""
    for step in (_join_threads, _exit_handlers, sys.stdout.flush, sys.stderr.flush):
        try:
            step()
        except BaseException:
            continue


def _join_threads() -> None:
    threading = sys.modules.get("threading")
    if threading is not None:
        threading._shutdown()


def _exit_handlers() -> None:
    import atexit

    atexit._run_exitfuncs()


def _status(stop: SystemExit) -> int:
    if stop.code is None:
        return 0
    if isinstance(stop.code, int):
        return stop.code
    try:
        sys.stderr.write("%s\n" % (stop.code,))
    except BaseException:
        return 1
    return 1


def _execute(program: bytes, plan: Plan) -> int:
    words = program.split(b"\0")
    try:
        os.execvpe(words[0], words, plan.environment)
    except OSError as error:
        os.write(2, ("%s: %s\n" % (os.fsdecode(words[0]), error.strerror)).encode())
    return 127


class Plan:
    """What every child of this zygote does before it waits for START."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.rooms = config["isolate"]
        self.native = config["runtime"] == "native"
        self.limits = [(getattr(resource, "RLIMIT_" + k), v) for k, v in config["limits"].items()]
        self.tmp_mb = config["tmp_mb"]
        self.uid = config["uid"] if config["isolate"] else None
        self.landlock = landlock.abi() if config["inner"] else 0
        self.filter = None
        if config["inner"]:
            kind = "native" if self.native else "python"
            self.filter = seccomp.prepared(seccomp.program(linux.MACHINE, kind))
        self.environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": rooms.HOME,
            "LANG": "C.UTF-8",
            **config["environment"],
        }
        self.null = os.open("/dev/null", os.O_RDONLY)
        self.home = config["home"]
        self.rehearsals: list[Any] = []
        self.begun: int | None = None  # where a child says that it begins, besides the job socket

    def prepare(self) -> None:
        """Walk into the jail and lock it."""
        if self.rooms:
            linux.unshare(linux.CLONE_NEWNS)
            rooms.private(self.tmp_mb, executable=self.native)
            os.chdir(rooms.HOME)
        else:
            os.setpgid(0, 0)
            linux.die_with_parent()
            os.chdir(self.home)
        for limit, value in self.limits:
            resource.setrlimit(limit, (value, value))
        if self.uid is not None:
            if self.uid:
                os.setresgid(self.uid, self.uid, self.uid)
                os.setresuid(self.uid, self.uid, self.uid)
            linux.drop_capabilities()
        if self.filter is not None:
            linux.no_new_privileges()
            if self.landlock:
                landlock.restrict(["/"], [rooms.HOME, "/dev"], self.landlock)
            seccomp.install(self.filter)
