"""A directory as a stream of entries: made once everything of a program has ended, written out for
the next.

Whatever lies in the directory was made by an untrusted program, and may be anything: links to
elsewhere, FIFOs, files of any length, names that are no text, folders within folders without end.
So no link is followed, nothing but a regular file is read, and all that is counted has a limit.
"""

from __future__ import annotations

import os
import stat
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# Bytes of the path, mode with its type, bytes of content; both follow.
ENTRY = struct.Struct("<HIQ")
# Modes of the last entry, which has no path: this is all, or it would be too much.
WHOLE = 0
FULL = 1
FOLDER = 0o40755
FILE = 0o100644
EXECUTABLE = 0o100755
LINK = 0o120777
# bytes of a path, and its parts
PATH_MOST = 1024
DEPTH_MOST = 64
WORKDIR = "/workdir"  # in jails and containers
_SLACK = 1 << 20, 64  # bytes and entries beyond the limits, for what a file system counts otherwise
_PAGE = 4096
_CHUNK = 1 << 20
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class Full(Exception):
    """The directory holds more than it may."""


def mount_options(most: int, entries: int) -> str:
    """Of a file system in memory for a workspace of this size."""
    return "size=%d,nr_inodes=%d,mode=1777" % (most + _SLACK[0], entries + _SLACK[1])


def room(mode: int, size: int) -> int:
    """Bytes that an entry is counted as."""
    return _PAGE if stat.S_ISLNK(mode) else (size + _PAGE - 1) // _PAGE * _PAGE


def pack(root: str | int, most: int, entries: int, write: Callable[[bytes], object]) -> None:
    """Write a directory as entries, each folder before what lies in it.

    Args:
        root: its path, or a descriptor of it.
        most: bytes that it may hold, in whole pages.
        entries: how many files, folders and links it may hold.
    """
    end = WHOLE
    try:
        if isinstance(root, int):
            folder = os.open(".", _OPEN | os.O_DIRECTORY, dir_fd=root)
        else:
            folder = os.open(root, _OPEN | os.O_DIRECTORY)
    except OSError:  # a program without walls put something else there
        write(ENTRY.pack(0, end, 0))
        return
    try:
        _Packing(most, entries, write).folder(folder, ())
    except Full:
        end = FULL
    finally:
        os.close(folder)
    write(ENTRY.pack(0, end, 0))


class _Packing:
    """Goes through folders, which are at most DEPTH_MOST deep: so many descriptors it needs."""

    def __init__(self, most: int, entries: int, write: Callable[[bytes], object]) -> None:
        self.most = most
        self.entries = entries
        self.write = write

    def folder(self, fd: int, above: tuple[str, ...]) -> None:
        with os.scandir(fd) as found:
            for entry in found:
                self.entries -= 1
                if self.entries < 0:
                    raise Full
                self.add(fd, entry, (*above, entry.name))

    def add(self, folder: int, entry: os.DirEntry[str], parts: tuple[str, ...]) -> None:
        fd = -1
        target = b""
        try:
            path = "/".join(parts).encode("utf-8")
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISLNK(mode):
                target = os.readlink(entry.name, dir_fd=folder).encode("utf-8")
            elif stat.S_ISREG(mode) or stat.S_ISDIR(mode):
                fd = _opened(entry.name, mode, folder)
                found = os.fstat(fd)
                mode = found.st_mode
        except (OSError, UnicodeEncodeError):  # it is gone, or its name is not a string
            return
        try:
            if target:
                self.head(path, parts, LINK, len(target))
                self.write(target)
            elif stat.S_ISDIR(mode):
                self.head(path, parts, FOLDER, 0)
                self.folder(fd, parts)
            elif stat.S_ISREG(mode):
                self.file(fd, found, path, parts)
        finally:
            if fd >= 0:
                os.close(fd)

    def head(self, path: bytes, parts: tuple[str, ...], mode: int, size: int) -> None:
        self.most -= room(mode, size)
        if self.most < 0 or len(path) > PATH_MOST or len(parts) > DEPTH_MOST:
            raise Full
        self.write(ENTRY.pack(len(path), mode, size) + path)

    def file(self, fd: int, found: os.stat_result, path: bytes, parts: tuple[str, ...]) -> None:
        """Exactly as many bytes as were announced, should it change meanwhile."""
        left = found.st_size
        self.head(path, parts, EXECUTABLE if found.st_mode & stat.S_IXUSR else FILE, left)
        while left:
            size = min(left, _CHUNK)
            data = os.read(fd, size) or bytes(size)  # zeros for what is gone
            self.write(data)
            left -= len(data)


def _opened(name: str, mode: int, folder: int) -> int:
    flags = _OPEN | (os.O_DIRECTORY if stat.S_ISDIR(mode) else 0)
    try:
        return os.open(name, flags, dir_fd=folder)
    except PermissionError:  # which its owner took away
        os.chmod(name, stat.S_IMODE(mode) | (0o700 if stat.S_ISDIR(mode) else 0o400), dir_fd=folder)
        return os.open(name, flags, dir_fd=folder)


def put(name: str, mode: int, content: bytes | memoryview) -> None:
    """Make one entry, where the current directory is trusted, or all that can reach it is this
    process.
    """
    try:
        _put(name, mode, content)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(name))
        _put(name, mode, content)


def _put(name: str, mode: int, content: bytes | memoryview) -> None:
    if stat.S_ISDIR(mode):
        os.mkdir(name)
    elif stat.S_ISLNK(mode):
        os.symlink(os.fsdecode(bytes(content)), name)
    else:
        fd = os.open(name, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, mode & 0o777)
        while len(content):
            content = content[os.write(fd, content) :]
        os.fchmod(fd, mode & 0o777)
        os.close(fd)
