"""The system calls that Python's library lacks, by ctypes; every failure names its call."""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import sys

from syscalls import TABLES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEW = (
    0x7E020000  # all namespaces: besides these of users, the network, ipc, uts and control groups
)
MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
ATTR_RDONLY = 1
ATTR_NOSUID = 2
ATTR_NODEV = 4
ATTR_NOEXEC = 8

_MNT_DETACH = 2
_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000
_SHARED = 256  # integers up to this are the interpreter's own
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_PR_SET_SECUREBITS = 28
_PR_SET_CHILD_SUBREAPER = 36
_NO_ROOT = 0xC3  # user 0 is nobody special to execve, and no ambient set; both for good
_CAPS_V3 = 0x20080522

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
MACHINE = {"arm64": "aarch64", "amd64": "x86_64"}.get(os.uname().machine, os.uname().machine)
NUMBERS = TABLES.get(MACHINE, {})


class LinuxError(OSError):
    """A system call failed; ``call`` is its name."""

    def __init__(self, number: int, call: str) -> None:
        super().__init__(number, call + ": " + os.strerror(number))
        self.call = call


def check(result: int, call: str) -> int:
    """``result``, or the error that a negative one stands for."""
    if result < 0:
        raise LinuxError(ctypes.get_errno(), call)
    return result


def syscall(name: str, *args: Any) -> int:
    """A system call by its name."""
    if name not in NUMBERS:
        raise LinuxError(errno.ENOSYS, name)
    plain = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    return check(libc.syscall(ctypes.c_long(NUMBERS[name]), *plain), name)


_holding = ctypes.PyDLL(None, use_errno=True).syscall  # keeps the interpreter's lock
_holding.restype = ctypes.c_long
_CHILD_ENDS = 17  # SIGCHLD


def ahead(name: str, *args: Any) -> Callable[[], int]:
    """A system call whose arguments are made now: after a fork every page that is written costs a
    copy.

    Raises:
        LinuxError: when it is called, and fails or has no number here.
    """
    if name not in NUMBERS:
        return lambda: syscall(name)
    plain = [ctypes.c_long(a) if isinstance(a, int) else a for a in (NUMBERS[name], *args)]

    def call() -> int:
        result: int = _holding(*plain)
        return result if result >= 0 else check(result, name)

    return call


def clone(flags: int) -> int:
    """Fork into new namespaces with one call: 0 in the child, its pid here.

    Neither the library's nor Python's handlers of a fork are run, which halves the memory that a
    child copies as it begins.  For a process with one thread whose modules have none that matter.
    """
    number = ctypes.c_long(NUMBERS["clone"])
    rest = [ctypes.c_long(0)] * 4  # stack, thread ids, thread storage: as they are, in either order
    return check(_holding(number, ctypes.c_long(flags | _CHILD_ENDS), *rest), "clone")


def unshare(flags: int) -> None:
    check(libc.unshare(flags), "unshare")


def write(path: str, text: str) -> None:
    """Write a file of the kernel's, in one call."""
    with open(path, "wb", buffering=0) as file:
        file.write(text.encode())


def setns(fd: int, kind: int) -> None:
    check(libc.setns(fd, kind), "setns")


def mount(
    source: str | None,
    target: str,
    kind: str | None = None,
    flags: int = 0,
    data: str | None = None,
) -> None:
    args = [None if a is None else os.fsencode(a) for a in (source, target, kind)]
    text = None if data is None else data.encode()
    check(libc.mount(*args, ctypes.c_ulong(flags), text), "mount " + os.fsdecode(target))


def bind(source: str, target: str, attributes: int) -> None:
    """The tree at ``source``, seen at ``target`` too, with these ATTR_ flags on all of it."""
    mount(source, target, None, MS_BIND | MS_REC)
    try:
        wanted = (ctypes.c_uint64 * 4)(attributes, 0, 0, 0)
        path = ctypes.c_char_p(os.fsencode(target))
        arguments = (_AT_FDCWD, path, _AT_RECURSIVE, wanted, ctypes.sizeof(wanted))
        syscall("mount_setattr", *arguments)
    except LinuxError as error:
        if error.errno != errno.ENOSYS:  # before Linux 5.12: the top only
            raise
        mount(None, target, None, MS_BIND | MS_REMOUNT | attributes)


def detach(target: str) -> None:
    check(libc.umount2(os.fsencode(target), _MNT_DETACH), "umount2")


def pivot_root(path: str) -> None:
    """Make ``path``, a mount point, the root, and lose the old one."""
    os.chdir(path)
    syscall("pivot_root", ctypes.c_char_p(b"."), ctypes.c_char_p(b"."))
    detach(".")
    os.chdir("/")


def prctl(option: int, *args: int) -> int:
    given = [ctypes.c_ulong(a) for a in (*args, 0, 0, 0, 0)[:4]]
    return check(libc.prctl(option, *given), "prctl")


def die_with_parent() -> None:
    prctl(_PR_SET_PDEATHSIG, 9)


def adopt_orphans() -> None:
    """Become the parent of what those that this process started leave behind."""
    prctl(_PR_SET_CHILD_SUBREAPER, 1)


def dumpable(value: int) -> None:
    """Whether others of our user may look into this process, and whether its entries in /proc are
    ours.
    """
    prctl(_PR_SET_DUMPABLE, value)


def no_new_privileges() -> None:
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def drop_bounding() -> None:
    """Give up every capability that an executable could ever bring back."""
    for capability in range(64):
        if libc.prctl(_PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0) < 0:
            break  # beyond the last one that this kernel knows, or not ours to drop
    libc.prctl(_PR_CAP_AMBIENT, ctypes.c_ulong(_PR_CAP_AMBIENT_CLEAR_ALL), 0, 0, 0)
    libc.prctl(_PR_SET_SECUREBITS, ctypes.c_ulong(_NO_ROOT), 0, 0, 0)


_HEADER = (ctypes.c_uint32 * 2)(_CAPS_V3, 0)
_NONE = (ctypes.c_uint32 * 6)()


_drop = ahead("capset", _HEADER, _NONE)


def drop_capabilities() -> None:
    """Give up every capability that this process has."""
    _drop()


# Where CPython's values begin in their objects, from 3.8 on.
_HEADS = {int: 24, float: 16, bytes: 32}


def forget(*values: Any) -> None:
    """Overwrite integers, floats and bytes that nobody uses any more: a fork copies freed memory,
    too.
    """
    for value in values:
        head = _HEADS.get(type(value))
        if head is not None and not _is_shared(value):
            ctypes.memset(id(value) + head, 0, sys.getsizeof(value) - head)


def _is_shared(value: Any) -> bool:
    """Whether the interpreter has one such object for all: small integers, and bytes of one
    letter.
    """
    if type(value) is int:
        return value <= _SHARED
    return type(value) is bytes and len(value) < 2


def close_from(first: int) -> None:
    """Close this descriptor and all above it."""
    try:
        syscall("close_range", first, 0xFFFFFFFF, 0)
    except LinuxError:  # before Linux 5.9
        most = max(4096, *resource.getrlimit(resource.RLIMIT_NOFILE))
        os.closerange(first, min(most, 1 << 16))
