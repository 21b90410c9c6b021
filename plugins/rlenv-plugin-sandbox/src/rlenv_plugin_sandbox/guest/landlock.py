"""Landlock: what of the file system, the network and other processes a program may reach at all."""

from __future__ import annotations

import ctypes
import os

from linux import check, libc


TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_FIRST = (1 << 13) - 1  # execute … make_sym
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_TCP = 3  # bind, connect
_SCOPES = 3  # abstract unix sockets, signals


class _Ruleset(ctypes.Structure):
    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("access", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def abi() -> int:
    """The version of Landlock here, 0 when there is none."""
    return max(0, libc.syscall(_CREATE, None, ctypes.c_size_t(0), 1))


def handled(version: int) -> tuple[int, int, int]:
    """(rights on files, rights on the network, scopes) that this version can take away."""
    files = _FIRST
    for least, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        files |= right if version >= least else 0
    return files, _TCP if version >= 4 else 0, _SCOPES if version >= 6 else 0


def restrict(read: Iterable[str], write: Iterable[str], version: int) -> None:
    """Leave this process, for good, only reading below ``read`` and everything below ``write``.

    A rule holds for what is mounted when it is made: mount first.  Needs no_new_privs.
    """
    files, net, scoped = handled(version)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    attribute = _Ruleset(files, net, scoped)
    ruleset = check(
        libc.syscall(_CREATE, ctypes.byref(attribute), ctypes.c_size_t(size), 0),
        "landlock_create_ruleset",
    )
    for paths, access in ((read, _READ), (write, files & ~_IOCTL_DEV)):
        for path in paths:
            _allow(ruleset, path, access & files)
    check(libc.syscall(_RESTRICT, ruleset, 0), "landlock_restrict_self")
    os.close(ruleset)


def _allow(ruleset: int, path: str, access: int) -> None:
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    rule = _Beneath(access, fd)
    check(libc.syscall(_ADD, ruleset, 1, ctypes.byref(rule), 0), "landlock_add_rule")
    os.close(fd)
