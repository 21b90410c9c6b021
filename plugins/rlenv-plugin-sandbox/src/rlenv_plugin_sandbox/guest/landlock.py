"""Landlock: what of the file system, the network and other processes a program may reach at all."""

from __future__ import annotations

import ctypes
import os

from linux import LinuxError, ahead, syscall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

EXECUTE = 1
WRITE_FILE = 2
READ_FILE = 4
READ_DIR = 8
_FIRST = (1 << 13) - 1  # execute … make_sym
_REFER = 1 << 13
_TRUNCATE = 1 << 14
_IOCTL_DEV = 1 << 15
_READ = EXECUTE | READ_FILE | READ_DIR
# A rule on a file takes no other.
_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | _TRUNCATE | _IOCTL_DEV
_TCP = 3  # bind, connect
_SCOPES = 3  # abstract unix sockets, signals
_VERSION = 1  # of the calls' flags: only ask
_SILENT = 1  # denials of an untrusted program do not flood the machine's log
_SIZES = ((6, 24), (4, 16), (1, 8))  # (ABI, bytes of a ruleset's attributes from it on)


class _Ruleset(ctypes.Structure):
    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("access", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def abi() -> int:
    """The version of Landlock here, 0 when there is none."""
    try:
        return syscall("landlock_create_ruleset", None, 0, _VERSION)
    except LinuxError:
        return 0


def handled(version: int) -> tuple[int, int, int]:
    """(rights on files, rights on the network, scopes) that this version can take away."""
    files = _FIRST
    for least, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        files |= right if version >= least else 0
    return files, _TCP if version >= 4 else 0, _SCOPES if version >= 6 else 0


def ruleset(
    read: Iterable[str], write: Iterable[str], version: int, devices: Iterable[str] = ()
) -> int:
    """A descriptor of the rules: reading and executing below ``read``, everything below ``write``.

    A rule holds for what is mounted at its path when it is made: mount first, for what is mounted
    later is subject to the rules of the mount point's parents only.

    Args:
        devices: device files that are driven by ioctl too.
    """
    files, net, scoped = handled(version)
    size = next(size for least, size in _SIZES if version >= least)
    attributes = _Ruleset(files, net, scoped)
    made = syscall("landlock_create_ruleset", ctypes.byref(attributes), size, 0)
    wishes = ((read, _READ), (write, files & ~_IOCTL_DEV), (devices, files))
    try:
        for paths, access in wishes:
            for path in paths:
                _allow(made, path, access & files)
    except BaseException:
        os.close(made)
        raise
    return made


def allow_streams(made: int, folder: str) -> None:
    """Let files below ``folder`` be read and written, in a ruleset that is not in force yet."""
    _allow(made, folder, READ_FILE | WRITE_FILE)


def _allow(made: int, path: str, access: int) -> None:
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        folder = os.stat(fd).st_mode & 0o170000 == 0o040000
        rule = _Beneath(access if folder else access & _OF_FILES, fd)
        syscall("landlock_add_rule", made, 1, ctypes.byref(rule), 0)
    finally:
        os.close(fd)


def enforcing(made: int, version: int) -> Callable[[], int]:
    """What puts the thread that calls it, and all that it starts, under the rules, for good."""
    return ahead("landlock_restrict_self", made, _SILENT if version >= 7 else 0)


def enforce(made: int, version: int) -> None:
    """Put this thread and all that it starts under the rules, for good.  Needs no_new_privs."""
    enforcing(made, version)()
