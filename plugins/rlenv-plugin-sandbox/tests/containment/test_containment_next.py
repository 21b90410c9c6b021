"""What a program leaves: nothing that the next one finds."""

from __future__ import annotations

import json
from typing import Any

LEAVE = """
tag = "canary-of-the-run-before"
os.makedirs("/tmp/deep/" + tag)
for name in (
    "f",
    "json.py",
    "typing.py",
    "sitecustomize.py",
    "usercustomize.py",
    "encodings.py",
    ".stdin",
    "main.py",
):
    with open("/tmp/" + name, "w") as file:
        file.write("raise SystemExit(%r)" % tag)
    with open("/tmp/deep/" + name, "w") as file:
        file.write(tag)
os.symlink("/tmp/deep", "/tmp/link")
os.chmod("/tmp/deep", 0)
attempt(lambda: os.chmod("/tmp", 0o000))
attempt(lambda: os.utime("/tmp", (0, 0)))
os.memfd_create(tag)
os.umask(0o777)
attempt(lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (10, 10)))
attempt(lambda: resource.setrlimit(resource.RLIMIT_CPU, (1, 1)))
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
import json, builtins, random
json.dumps = builtins.print = random.random = None
sys.path.insert(0, tag); sys.modules["math"] = None
os.environ["CANARY"] = tag; time.tzset()
libc.prctl(15, tag.encode(), 0, 0, 0)
if not os.fork(): time.sleep(100)
"""
FIND = """
import math, random
found = [os.path.join(a, n) for a, b, c in os.walk("/tmp") for n in b + c]
name = ctypes.create_string_buffer(64)
libc.prctl(16, name, 0, 0, 0)
mask = os.umask(0o022)
tell(
    [
        found,
        "canary" in str([sys.path, dict(os.environ), name.value]),
        mask,
        resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 10,
        signal.getsignal(signal.SIGCHLD) == signal.SIG_DFL,
        random.random(),
        os.stat("/tmp").st_mode,
        os.getpid(),
        os.listdir("/dev/shm"),
    ]
)
"""


def test_a_program_finds_nothing_of_the_one_before(place: Any, below_tmp: list[str]) -> None:
    first, _, second, _, third = place.several([FIND, LEAVE, FIND, LEAVE, FIND])
    assert second.stdout, second.stderr
    said = json.loads(second.stdout)
    inside = tuple(f"/tmp/{name}/" for name in below_tmp)
    found = [path for path in said[0] if path[5:] not in below_tmp and not path.startswith(inside)]
    assert (found, said[1]) == ([], False)
    assert first.stdout == second.stdout == third.stdout


def test_files_that_come_and_go_leave_nothing(place: Any) -> None:
    """The working directory looks untouched again, and yet the next program finds a new one."""
    sly = """
here = os.stat("/tmp")
open("/tmp/a", "w").write("x"); fd = os.open("/tmp/a", os.O_RDWR); os.unlink("/tmp/a")
attempt(lambda: os.utime("/tmp", ns=(here.st_atime_ns, here.st_mtime_ns)))
import fcntl
top = os.open("/tmp", os.O_RDONLY)
fcntl.flock(top, fcntl.LOCK_EX)
if not os.fork(): time.sleep(100)
"""
    look = """
import fcntl
top = os.open("/tmp", os.O_RDONLY)
here = os.stat("/tmp")
tell(
    [
        os.listdir("/tmp"),
        attempt(lambda: fcntl.flock(top, fcntl.LOCK_EX | fcntl.LOCK_NB)),
        here.st_mtime_ns,
        here.st_nlink,
        here.st_uid,
    ]
)
"""
    first, _, second = place.several([look, sly, look])
    assert first.stdout == second.stdout, second.stderr


def test_memory_that_hangs_in_passed_descriptors_is_not_the_next_ones_loss(place: Any) -> None:
    """Sockets that carry each other are garbage of the kernel's; what they hold must not count
    later.
    """
    hoard = """
import array
def carry(sock, fds):
    sock.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])
for _ in range(3):
    a, b = socket.socketpair()
    memory = os.memfd_create("m")
    for _ in range(70): os.write(memory, bytes(1 << 20))
    carry(a, [a.fileno(), b.fileno(), memory]); carry(b, [a.fileno(), b.fileno(), memory])
channel = socket.socket(fileno=3)
carry(channel, [memory])
"""
    use = "b = bytearray(180 << 20)\nfor i in range(0, len(b), 4096): b[i] = 1\nprint(len(b) >> 20)"
    ends = place.several([hoard, use, hoard, hoard, use], memory_mb=256)
    assert [e.stdout for e in ends if b"1" in e.stdout] == [b"180\n", b"180\n"], ends
