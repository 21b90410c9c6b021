"""The limit of open files, which bounds connections."""

from __future__ import annotations

import resource
from contextlib import suppress

from attrs import frozen

# Some container runtimes have a hard limit of 10⁹, and programs that a process starts may visit
# each number below the soft one.  Linux itself allows 2²⁰ by default: `fs.nr_open` in
# proc_sys_fs(5).
MOST = 1 << 20
BACKLOG = 2048  # connections that wait to be accepted
OTHERS = 128  # files of stores, workers and logs


@frozen
class FileLimit:
    """The number of files that this process may have open, and what follows for connections.

    Args:
        files: the soft limit.
    """

    files: int

    @property
    def backlog(self) -> int:
        """Connections that wait to be accepted; the event loop takes all of them at once."""
        return max(1, min(BACKLOG, self.files // 4))

    @property
    def connections(self) -> int:
        """Connections that may be open, so that files are left for those that are just accepted and
        for all else.
        """
        return max(16, self.files - self.backlog - OTHERS)


def raise_file_limit() -> FileLimit:
    """Raise this process's soft limit of open files to its hard one, which needs no rights: see
    getrlimit(2).
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST if hard == resource.RLIM_INFINITY else min(hard, MOST)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):  # macOS has a lower one besides
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    found, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return FileLimit(MOST if found == resource.RLIM_INFINITY else found)
