"""Programs of the law that no run reads a number which another has written: one that reads all, one
that writes all.

Times, sizes of other people's file systems and numbers that the kernel draws by chance (``f_fsid``)
are not read.  ``KERNEL`` holds the numbers that one kernel counts for all its processes: only a
tier with a kernel of its own for each run can keep them apart.
"""

from __future__ import annotations

import json
from typing import Any

KERNEL = frozenset({"pipe", "socketpair", "memfd", "pidfd", "fds"})
TOOLS = """
import ctypes, json, os, resource, select, signal, socket, struct, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
PLACES = sorted({"/tmp", os.getcwd(), "/dev/shm"})
def attempt(do):
    try:
        return do()
    except (OSError, AttributeError, ImportError, TypeError, ValueError) as error:
        return str(getattr(error, "errno", None))
def close(fd):
    os.close(fd)
    return fd
def ino(make):
    fds = make()
    fds = [fds] if isinstance(fds, int) else list(fds)
    found = [os.fstat(fd).st_ino for fd in fds]
    for fd in fds: close(fd)
    return found
def tmpfile(place): return os.open(place, os.O_TMPFILE | os.O_RDWR, 0o600)
def pair(): return [end.detach() for end in socket.socketpair()]
def signalfd(): return libc.signalfd(-1, ctypes.create_string_buffer(128), 0)
"""
READ = (
    TOOLS
    + """
def status(path):
    found = os.lstat(path)
    return [
        found.st_mode,
        found.st_ino,
        found.st_nlink,
        found.st_uid,
        found.st_gid,
        found.st_size,
        found.st_blocks,
        found.st_blksize,
        found.st_rdev,
    ]
def room(path):
    found = os.statvfs(path)
    return [
        found.f_bsize,
        found.f_frsize,
        found.f_blocks,
        found.f_bfree,
        found.f_bavail,
        found.f_files,
        found.f_ffree,
        found.f_favail,
        found.f_flag,
        found.f_namemax,
    ]
def named(place, make):
    path = place + "/.number"
    make(path)
    found = os.lstat(path).st_ino
    (os.rmdir if os.path.isdir(path) and not os.path.islink(path) else os.unlink)(path)
    return found
def statx(path, mask):
    buffer = ctypes.create_string_buffer(256)
    if libc.statx(-100, path.encode(), 0, mask, buffer):
        return ctypes.get_errno()
    words = struct.unpack("<IIQIIIHHQQQQ", buffer.raw[:64])
    born = struct.unpack_from("<q", buffer.raw, 80)
    number = struct.unpack_from("<Q", buffer.raw, 0x90)
    return [words[1:9], born if words[0] & 0x800 else None, number if words[0] & 0x5000 else None]
def lines(path):
    with open(path, "rb") as file: return len(file.read().splitlines())
def forked():
    near, far = os.pipe()
    pid = os.fork()
    if not pid:
        os.write(far, b"%d %d" % (os.getpid(), os.getppid())); os._exit(0)
    os.waitpid(pid, 0)
    return [pid, os.read(near, 99).decode()]
def attributes(thing):
    names = [*getattr(thing, "__dict__", ()), *getattr(type(thing), "__slots__", ())]
    return {name: getattr(thing, name, None) for name in names}
def known():
    # What the objects count and keep that the frames below this program know; but for
    # descriptors, whose numbers tell whether a run was on when the place was made.
    told, frame = [], sys._getframe().f_back.f_back
    while frame is not None:
        for name, thing in sorted(frame.f_locals.items()):
            if name in ("plan", "seat") or isinstance(thing, type(sys)):
                continue
            inner = [
                (n, v)
                for n, thing in attributes(thing).items()
                for n, v in [(n, thing), *attributes(thing).items()]
            ]
            told += [
                [name, n, repr(v)]
                for n, v in inner
                if isinstance(v, (int, float, bytes, bytearray))
            ]
        frame = frame.f_back
    return told
found = {}
for place in PLACES:
    found["status " + place] = attempt(lambda: status(place))
    found["real " + place] = os.path.realpath(place)
    found["room " + place] = attempt(lambda: room(place))
    found["names " + place] = attempt(lambda: sorted(os.listdir(place)))
    found["statx " + place] = attempt(lambda: statx(place, 0x1fff))
    found["statx unique " + place] = attempt(lambda: statx(place, 0x5fff))
    found["tmpfile " + place] = attempt(lambda: ino(lambda: tmpfile(place)))
    found["file " + place] = attempt(
        lambda: named(place, lambda path: close(os.open(path, os.O_CREAT | os.O_WRONLY)))
    )
    found["folder " + place] = attempt(lambda: named(place, os.mkdir))
    found["fifo " + place] = attempt(lambda: named(place, os.mkfifo))
    found["link " + place] = attempt(lambda: named(place, lambda path: os.symlink("a", path)))
for path in ("/", "/usr", "/dev", "/dev/null", "/box", "/etc", "/proc", "/bin"):
    found["status " + path] = attempt(lambda: status(path))
found["fds"] = [attempt(lambda: [fd, os.fstat(fd).st_mode, os.fstat(fd).st_ino]) for fd in range(8)]
found["open"] = [fd for fd in range(64) if isinstance(attempt(lambda: os.fstat(fd).st_mode), int)]
found["pipe"] = attempt(lambda: ino(os.pipe))
found["socketpair"] = attempt(lambda: ino(pair))
found["memfd"] = attempt(lambda: ino(lambda: os.memfd_create("m")))
found["pidfd"] = attempt(lambda: ino(lambda: os.pidfd_open(os.getpid())))
found["eventfd"] = attempt(lambda: ino(lambda: libc.eventfd(0, 0)))
found["timerfd"] = attempt(lambda: ino(lambda: libc.timerfd_create(1, 0)))
found["signalfd"] = attempt(lambda: ino(signalfd))
found["epoll"] = attempt(lambda: ino(lambda: select.epoll().fileno()))
found["processes"] = [
    os.getpid(),
    os.getppid(),
    os.getpgid(0),
    os.getsid(0),
    threading.get_native_id(),
]
found["forked"] = attempt(forked)
found["users"] = [os.getresuid(), os.getresgid(), os.getgroups()]
found["limits"] = [resource.getrlimit(number) for number in range(16)]
found["priority"] = attempt(
    lambda: [os.getpriority(os.PRIO_PROCESS, 0), sorted(os.sched_getaffinity(0))]
)
found["signals"] = [
    sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
    [str(signal.getsignal(n)) for n in range(1, 32)],
]
found["mask"] = os.umask(0o022)
found["environment"] = dict(os.environ)
found["name"] = list(os.uname())
for path in ("/proc/self/mountinfo", "/proc/net/unix", "/proc/locks"):
    found["lines " + path] = attempt(lambda: lines(path))
found["proc"] = attempt(lambda: [name for name in os.listdir("/proc") if name.isdigit()])
found["frames"] = known()
print(json.dumps(found))
"""
)
WRITE = (
    TOOLS
    + """
import fcntl, time
for place in PLACES:
    for _ in range(300): attempt(lambda: close(tmpfile(place)))
    for n in range(50):
        attempt(lambda: close(os.open("%s/f%d" % (place, n), os.O_CREAT | os.O_WRONLY)))
        attempt(lambda: os.mkdir("%s/d%d" % (place, n)))
        attempt(lambda: os.mkfifo("%s/p%d" % (place, n)))
        attempt(lambda: os.symlink("x", "%s/l%d" % (place, n)))
        if n % 2:
            attempt(lambda: os.unlink("%s/f%d" % (place, n)))
            attempt(lambda: os.rmdir("%s/d%d" % (place, n)))
    attempt(lambda: os.utime(place, (5, 5)))
    attempt(lambda: os.chmod(place, 0o755))
for make in (
    os.pipe,
    pair,
    lambda: os.memfd_create("m"),
    lambda: libc.eventfd(0, 0),
    lambda: libc.timerfd_create(1, 0),
    signalfd,
    lambda: select.epoll().fileno(),
    lambda: os.pidfd_open(os.getpid()),
):
    for _ in range(300):
        attempt(lambda: ino(make))
for path in (*PLACES, "/", "/usr", "/dev/null"):
    attempt(lambda: os.setxattr(path, "user.mark", b"1"))
    fd = attempt(lambda: os.open(path, os.O_RDONLY))
    attempt(lambda: fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB))
    attempt(lambda: fcntl.fcntl(fd, 1036, (5).to_bytes(8, "little")))  # F_SET_RW_HINT
for _ in range(40):
    pid = os.fork()
    if not pid: os._exit(0)
    os.waitpid(pid, 0)
os.umask(0o777)
attempt(lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20)))
attempt(lambda: os.nice(5))
attempt(lambda: os.setpgid(0, 0))
attempt(lambda: os.setsid())
attempt(lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}))
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
os.environ["MARK"] = "1"
if not os.fork(): time.sleep(100)
print("written")
"""
)


def numbers(output: bytes, apart: frozenset[str]) -> dict[str, Any]:
    """What READ printed, but for these."""
    found: dict[str, Any] = json.loads(output)
    return {name: value for name, value in found.items() if name not in apart}
