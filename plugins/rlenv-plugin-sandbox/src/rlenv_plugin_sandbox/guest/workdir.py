"""The working directories of runs: each is new, and holds nothing that a run before could have
changed.
"""

from __future__ import annotations

import os

import landlock
import leftovers
import linux
import mounts
import standard
import tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_CLEARING_S = 10.0
_LIGHT = 1 << 18  # bytes


class Folder:
    """A plain directory, emptied after every run; without isolation."""

    def __init__(self, path: str) -> None:
        self.path = path

    def prepare(self) -> Seat:
        """Make the place of the next run."""
        return Seat("")

    def enter(self, seat: Seat) -> None:
        """Move this process there."""
        os.chdir(self.path)

    def confine(self, seat: Seat) -> None:
        """Nothing keeps a program here."""

    def begin(self) -> None:
        """Nothing is to be hidden from a program here."""

    def is_light(self, seat: Seat) -> bool:
        """Whether the next run can begin before it is cleared: it would see what is there."""
        return False

    def root_of(self, seat: Seat) -> str | int:
        """What ``tree.pack`` reads a workspace from."""
        return self.path

    def clear(self, seat: Seat) -> None:
        """Remove what a run left."""
        leftovers.remove([self.path], _CLEARING_S)


class Seat:
    """The file systems of one run: the root that it sees, and descriptors of ours."""

    __slots__ = ("enforce", "root", "rules", "workspace")

    def __init__(self, root: str) -> None:
        self.root = root
        self.rules = self.workspace = -1
        self.enforce: Callable[[], int] | None = None


class MemoryFolder:
    """File systems in memory, made for each run while the one before is still on.

    A file system that is used again tells of the run before, whatever was removed from it: it
    counts the inodes that were ever made in it.  So each run has one of its own, on one of two
    equal roots: the program that runs is on one of them while the process that waits is on the
    other.

    Args:
        config: of the zygote: ``tmp_mb``, how much fits; ``uid``, whose they are; ``devices``,
            which are driven by ioctl; and ``workspace``, the bytes and entries of a workspace,
            which is the working directory where there is one.
        executable: whether programs in it may be executed.
        version: of Landlock; 0 where there is none.
    """

    def __init__(self, config: dict[str, Any], *, executable: bool, version: int) -> None:
        options = "size=%dm,nr_inodes=20k,mode=777,uid=%d,gid=%d"
        self.options = options % (config["tmp_mb"], config["uid"], config["uid"])
        self.devices = config["devices"]
        self.workspace = config["workspace"]
        self.path = tree.WORKDIR if self.workspace[0] else mounts.HOME
        self.executable = executable
        self.version = version
        self.uid = config["uid"]
        self._free = list(mounts.ROOTS)
        for root in self._free:  # kept: the names of streams there are not a program's to change
            options = "size=%dm,mode=711" % config["tmp_mb"]
            mounts.mount_memory(root + standard.FOLDER, options, executable=False)
        self._shown = os.listdir(mounts.ROOTS[0] + mounts.HOME)

    def prepare(self) -> Seat:
        """Make the place of the next run."""
        seat = Seat(self._free[-1])
        standard.make(seat.root + standard.FOLDER, self.uid)
        mounts.private(seat.root, self.options, self._shown, executable=self.executable)
        if self.workspace[0]:
            place = seat.root + tree.WORKDIR
            options = tree.mount_options(*self.workspace)
            mounts.mount_memory(place, options, executable=self.executable)
            seat.workspace = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        if self.version:
            write = [seat.root + path for path in {mounts.HOME, self.path, "/dev"}]
            devices = [seat.root + path for path in self.devices]
            seat.rules = landlock.ruleset([seat.root], write, self.version, devices)
            seat.enforce = landlock.enforcing(seat.rules, self.version)
        self._free.pop()
        return seat

    def enter(self, seat: Seat) -> None:
        """Move this process there.

        It has to lose its capabilities afterwards, with which it could leave.
        """
        os.chroot(seat.root)
        os.chdir(self.path)

    def confine(self, seat: Seat) -> None:
        """Let this process reach nothing else to write.  Needs no_new_privs."""
        if seat.enforce is not None:
            seat.enforce()

    def begin(self) -> None:
        """Have /tmp changed now: when it was made, the run before began."""
        os.utime(mounts.HOME, (0, 0))

    def root_of(self, seat: Seat) -> str | int:
        """What ``tree.pack`` reads a workspace from."""
        return seat.workspace

    def is_light(self, seat: Seat) -> bool:
        """Whether the next run can do without the memory that this place holds."""
        if self.workspace[0]:
            return False
        found = os.statvfs(seat.root + mounts.HOME)
        return (found.f_blocks - found.f_bfree) * found.f_frsize <= _LIGHT

    def clear(self, seat: Seat) -> None:
        """Give up the place of a run whose processes have all ended."""
        for fd in (seat.rules, seat.workspace):
            if fd >= 0:
                os.close(fd)
        standard.remove(seat.root + standard.FOLDER)
        linux.detach(seat.root + mounts.HOME)
        if self.workspace[0]:
            linux.detach(seat.root + tree.WORKDIR)
        self._free.append(seat.root)
