"""A warm interpreter that forks one child per run, waits for it and reports; it never sees a test.

    python -I -S -B zygote.py CONTROL JOB CONFIG

CONTROL and JOB are descriptors of SOCK_SEQPACKET pairs, CONFIG one of a file with a JSON object.
On CONTROL the zygote says once what it is (``{"ready": …}`` or ``{"failed": …}``), then after each
run how that ended; it hears KILL, and ends with everything in it when the other side is closed.
JOB is read by the child that is forked ahead: whoever sends START there sends it to a process that
is in its finished jail already.
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import builtins
import gc
import json
import resource
import signal
import socket

import child
import linux
import mounts
import prefork
import program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

# what most programs import
COMMON = (
    *("bisect", "collections", "copy", "datetime", "functools", "heapq", "itertools", "json"),
    *("math", "operator", "random", "re", "string", "typing"),
)
STACK = 64 << 20  # bytes that a program's first thread may use


def isolate(control: socket.socket, config: dict[str, Any]) -> tuple[int, int | None]:
    """Leave the machine: a file system, users, processes and a network of our own.

    Returns as pid 1, with a descriptor of the pid namespace that this is in, and one of our weight
    when memory is short (None where it cannot be had).
    """
    files = {name: bytes.fromhex(content) for name, content in config["files"].items()}
    sights = config["interpreter"], config["paths"], config["devices"]
    processes = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)  # outlives its mount
    if config["root"]:
        linux.unshare(linux.CLONE_NEWNS)
        mounts.build(*sights, files, workspace=config["workspace"][0] > 0)
        linux.unshare(linux.CLONE_NEW)
        control.send(json.dumps({"map": True}).encode())
        if control.recv(16) != b"mapped":
            os._exit(0)
        os.setgroups([])
        os.setresgid(0, 0, 0)
        os.setresuid(0, 0, 0)
    else:
        uid = os.getuid()
        gid = os.getgid()
        linux.unshare(linux.CLONE_NEW)
        linux.write("/proc/self/setgroups", "deny")
        linux.write("/proc/self/uid_map", "0 %d 1" % uid)
        linux.write("/proc/self/gid_map", "0 %d 1" % gid)
        mounts.build(*sights, files, workspace=config["workspace"][0] > 0)
    config["above"] = mounts.enter_root()
    linux.libc.sethostname(b"box", 3)
    _become_first()
    space = _opened("self/ns/pid", os.O_RDONLY, processes)
    linux.dumpable(1)  # else our own entries in /proc are not ours
    try:
        weight = _opened("self/oom_score_adj", os.O_RDWR, processes)
    except OSError:
        weight = None
    linux.dumpable(0)
    os.close(processes)
    linux.drop_bounding()
    return space, weight


def _opened(name: str, flags: int, folder: int) -> int:
    fd = os.open(name, flags, dir_fd=folder)
    try:
        return prefork.high(fd)
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


def warm(config: dict[str, Any], plan: child.Plan) -> None:
    """Import what every program is to find imported, and let that warm itself."""
    sys.path[:] = [p for p in sys.path if p != os.path.dirname(os.path.abspath(__file__))]
    sys.path[:0] = ["/box"] if config["isolate"] else config["box"]
    sys.path += config["packages"]
    _as_usual(plan)
    names = () if plan.native else (*COMMON, *config["preload"])
    plan.bare = "clone" in linux.NUMBERS
    for name in names:
        _import(name, plan)
        module = sys.modules[name]
        if callable(getattr(module, "rehearse", None)):
            module.rehearse()
            plan.rehearsals.append(module)
    for name in ("random", "numpy.random"):  # a verdict must not depend on chance
        if name in sys.modules:
            sys.modules[name].seed(plan.seed)
    plan.bare = plan.bare and not _native() and "threading" not in sys.modules


def _import(name: str, plan: child.Plan) -> None:
    """Import it; ``random`` sows itself at a fork, and may do so again once a program has begun."""
    usual = os.register_at_fork

    def registered(**handlers: Any) -> None:
        if name != "random":
            plan.bare = False
            usual(**handlers)

    os.register_at_fork = registered
    try:
        __import__(name)
    finally:
        os.register_at_fork = usual


def _native() -> bool:
    """Whether native code from outside the standard library is here, or OpenSSL: they hear of forks
    too.
    """
    own = os.path.join(os.path.dirname(os.__file__), "lib-dynload")
    for name, module in sys.modules.items():
        file = getattr(module, "__file__", None) or ""
        native = file.endswith(".so") and os.path.dirname(file) != own
        if native or name in ("_ssl", "_hashlib"):
            return True
    return False


def _as_usual(plan: child.Plan) -> None:
    """What a program expects of an interpreter, and no trace of ours."""
    import _sitebuiltins

    for name in ("exit", "quit"):
        setattr(builtins, name, _sitebuiltins.Quitter(name, "Ctrl-D (i.e. EOF)"))
    own = os.path.dirname(os.path.abspath(__file__)) + os.sep
    for name, module in list(sys.modules.items()):  # a program may bring modules of the same names
        if name != "__main__" and (getattr(module, "__file__", None) or "").startswith(own):
            del sys.modules[name]
    sys.argv = sys.orig_argv = [program.FILE]
    os.environ.clear()
    os.environ.update(plan.environment)


def _told(control: socket.socket, step: str, error: BaseException) -> NoReturn:
    said = {
        "failed": "%s: %s" % (type(error).__name__, error),
        "errno": getattr(error, "errno", None),
        "step": step,
    }
    control.send(json.dumps(said).encode())
    os._exit(1)


def _unlimited() -> int:
    """Lift what limits this process inherited; how many bytes of addresses that leaves, -1 for
    any.
    """
    for name in ("AS", "DATA", "CPU", "FSIZE", "NOFILE", "NPROC", "RSS", "STACK"):
        limit = getattr(resource, "RLIMIT_" + name)
        hard = resource.getrlimit(limit)[1]
        for most in (resource.RLIM_INFINITY, hard):
            try:
                resource.setrlimit(limit, (STACK if name == "STACK" else most, most))
                break
            except (OSError, ValueError):
                continue
    return resource.getrlimit(resource.RLIMIT_AS)[1]


def _own_signals() -> None:
    """Whatever our parent blocked or ignored is not for programs to inherit."""
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in range(1, signal.NSIG):
        try:
            if signal.getsignal(number) is signal.SIG_IGN and number != signal.SIGPIPE:
                signal.signal(number, signal.SIG_DFL)
        except (OSError, ValueError):
            continue


def _prepared(
    control: socket.socket, job: socket.socket, config: dict[str, Any]
) -> prefork.Prefork:
    step = "namespaces"
    try:
        space, weight = isolate(control, config) if config["isolate"] else (None, None)
        step = "preparation"
        plan = child.Plan(config)
        step = "preload"
        warm(config, plan)
        step = "confinement"
        plan.settle(config)
        made = prefork.Prefork(control, job, plan, space, weight)
        said = made.trial()
        if said:
            raise OSError(said)
    except BaseException as error:  # noqa: BLE001 - the judge is told
        _told(control, step, error)
    return made


def main() -> None:
    numbers = [int(word) for word in sys.argv[1:4]]
    control, job = (socket.socket(fileno=prefork.high(fd)) for fd in numbers[:2])
    with open(numbers[2], "rb") as file:
        config = json.loads(file.read())
    for fd in numbers[:2]:
        os.close(fd)
    room = _unlimited()
    _own_signals()
    if control.recv(16) != b"go":  # from here on in our control group
        os._exit(0)
    made = _prepared(control, job, config)
    gc.collect()
    gc.freeze()
    gc.disable()  # until a program begins
    linux.libc.malloc_trim(0)
    said = {"ready": os.getpid(), "landlock": made.plan.landlock, "address_space": room}
    control.send(json.dumps(said).encode())
    while made.attend():
        pass
    os._exit(0)


if __name__ == "__main__":
    main()
