"""The standard streams of a run, which programs may also open by name: /dev/stdin, /dev/fd/1 and
the like.

Where a program has no /proc, nothing leads from such a name to a descriptor.  So its output goes
through FIFOs, and its input is copied to a file: all three have names in a folder that programs can
neither list nor change, and links lead there.  Where there is a /proc, pipes do.
"""

from __future__ import annotations

import os

FOLDER = "/dev/fd"  # in the jail, which has no /proc; /dev/stdin and its like lead here
PROC = "/proc/self/fd"  # in a container, where all such names lead here
NAMES = ("stdin", "stdout", "stderr")
_INPUT = "0"
_OUTPUTS = ("1", "2")


class Streams:
    """What a run writes to, what of that its judge reads, and where a copy of its input goes."""

    __slots__ = ("copy", "far", "near")

    def __init__(self, near: list[int], far: list[int], copy: int = -1) -> None:
        self.near = near
        self.far = far
        self.copy = copy

    def take_input(self, source: int) -> None:
        """Copy a file in memory, which keeps its position, to the one that has a name."""
        if self.copy < 0:
            return
        place = 0
        size = os.fstat(source).st_size
        while place < size:
            place += os.sendfile(self.copy, source, place, size - place)


def link(root: str) -> None:
    """Make the links and the folder that they lead to, below ``root``."""
    os.mkdir(root + FOLDER)
    for number, name in enumerate(NAMES):
        os.symlink("%s/%d" % (FOLDER, number), "%s/dev/%s" % (root, name))


def make(folder: str, uid: int | None = None) -> None:
    """Make the streams of a run in ``folder``; its FIFOs belong to ``uid``."""
    os.close(os.open("%s/%s" % (folder, _INPUT), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o444))
    for name in _OUTPUTS:
        path = "%s/%s" % (folder, name)
        os.mkfifo(path, 0o600)
        if uid is not None:
            os.chown(path, uid, uid)


def remove(folder: str) -> None:
    """Remove what ``make`` made."""
    for name in (_INPUT, *_OUTPUTS):
        os.unlink("%s/%s" % (folder, name))


def named(folder: str) -> Streams:
    """Open what ``make`` made.

    A process that may not exceed the kernel's limit of pages for pipes should not do it: FIFOs that
    are opened while another run of its user holds many pipes would be small, which tells of that
    run.
    """
    paths = ["%s/%s" % (folder, name) for name in _OUTPUTS]
    near = [os.open(path, os.O_RDONLY | os.O_NONBLOCK) for path in paths]
    far = [os.open(path, os.O_WRONLY) for path in paths]
    return Streams(near, far, os.open("%s/%s" % (folder, _INPUT), os.O_WRONLY))


def pipes() -> Streams:
    """Make two pipes, for a run that has a /proc."""
    ends = [os.pipe() for _ in _OUTPUTS]
    for near, _ in ends:
        os.set_blocking(near, False)
    return Streams([near for near, _ in ends], [far for _, far in ends])
