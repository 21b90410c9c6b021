"""What a container renews before each run: its file systems in memory, and its numbers of
processes.

A file system that is used again counts on (its inodes), and so do the numbers of processes: a
program could leave one for the next.  Under gVisor the relay is root of gVisor's own kernel and may
mount.  Elsewhere it makes itself user and mount namespaces.  Where it cannot (AppArmor's profile
"docker-default", or no user namespaces for containers), the judge uses the container for one run
only.
"""

from __future__ import annotations

import contextlib
import os
import signal

import linux
import mounts
import standard
import tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

_SHARED = "/dev/shm"  # noqa: S108 - of the container
_PROC = "/proc"
_processes = _PROC


def processes() -> str:
    """Where the relay finds all processes of its container."""
    return _processes


class Renewal:
    """Renews the places of a container.

    Args:
        config: of the relay: ``tmp_mb`` and ``workspace``.
        executable: whether programs there may be executed.

    Raises:
        OSError: this process may not mount, or make namespaces.
    """

    def __init__(self, config: dict[str, Any], *, gvisor: bool, executable: bool) -> None:
        if not gvisor:
            _own_namespaces()
        options = "size=%dm,nr_inodes=20k,mode=1777" % config["tmp_mb"]
        self.places = [(mounts.HOME, options, executable), (_SHARED, options, False)]
        if config["workspace"][0]:
            options = tree.mount_options(*config["workspace"])
            self.places.append((tree.WORKDIR, options, executable))
        self.gvisor = gvisor
        self.tmp_mb = config["tmp_mb"]
        os.chdir("/")
        if gvisor:
            _keep_processes()
            # It rejects the option.
            self.places = [(p, _without_inodes(o), executable) for p, o, executable in self.places]
        self._mounted = False
        self.renew()
        self._try_processes()

    def renew(self) -> None:
        """Mount all places anew.  No process of a run may be left."""
        for place, options, executable in self.places:
            if self._mounted:
                linux.detach(place)
            mounts.mount_memory(place, options, executable=executable)
        self._mounted = True
        if self.gvisor:
            with contextlib.suppress(OSError):  # no run has covered it
                linux.detach(_PROC)

    def hide_processes(self) -> standard.Streams | None:
        """Show this process, the first of its namespace, no others: the numbers of those count on.

        Outside gVisor no /proc can be mounted where docker has covered parts of it, so there is
        none: as Landlock has it.  gVisor has one mount namespace for all, so there the relay has to
        do without its path.

        Returns:
            The streams of this run, which are all that is in /proc; None under gVisor, where it is
            a /proc.
        """
        flags = linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC
        if self.gvisor:
            linux.mount("proc", _PROC, "proc", flags)
            return None
        linux.unshare(linux.CLONE_NEWNS)
        linux.mount("none", _PROC, "tmpfs", flags, "size=%dm,mode=755" % self.tmp_mb)
        os.makedirs(standard.PROC)
        standard.make(standard.PROC)
        streams = standard.named(standard.PROC)
        # Whoever lists it takes it for the list of descriptors.
        os.chmod(standard.PROC, 0o111)  # noqa: S103 - it can be entered, and not read
        return streams

    @staticmethod
    def fork() -> int:
        """Fork a process that is the first of its own process namespace: 0 in it, a pid here.

        What this process gets to know is one in between, which ends as that one does: it is the one
        to enter a new namespace, for whoever has entered one for its children cannot go back.
        """
        pid = os.fork()
        if pid:
            return pid
        linux.unshare(linux.CLONE_NEWPID)
        first = os.fork()
        if first:
            _end_as(first)
        return 0

    def _try_processes(self) -> None:
        pid = os.fork()
        if not pid:
            try:
                linux.unshare(linux.CLONE_NEWPID)
                first = os.fork()
                if not first:
                    os._exit(0 if os.getpid() == 1 else 1)
                os._exit(os.waitstatus_to_exitcode(os.waitpid(first, 0)[1]) and 1)
            finally:
                os._exit(1)
        if os.waitpid(pid, 0)[1]:
            raise OSError("no process namespace")


def _keep_processes() -> None:
    """Stay in the /proc that runs will cover: it is where the relay is."""
    global _processes  # noqa: PLW0603 - one for this process
    os.chdir(_PROC)
    _processes = "."


def _without_inodes(options: str) -> str:
    return ",".join(word for word in options.split(",") if not word.startswith("nr_inodes="))


def _own_namespaces() -> None:
    uid = os.getuid()
    gid = os.getgid()
    linux.unshare(linux.CLONE_NEWUSER | linux.CLONE_NEWNS)
    linux.dumpable(1)
    linux.write("/proc/self/setgroups", "deny")
    linux.write("/proc/self/uid_map", "%d %d 1" % (uid, uid))
    linux.write("/proc/self/gid_map", "%d %d 1" % (gid, gid))
    linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
    linux.drop_bounding()


def _end_as(first: int) -> NoReturn:
    """Wait for a child, and end as it does."""
    try:
        linux.close_from(0)
        status = os.waitpid(first, 0)[1]
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            if number not in (signal.SIGKILL, signal.SIGSTOP):
                signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        os._exit(os.WEXITSTATUS(status))
    finally:
        os._exit(1)
