"""A container of a daemon on this machine, as the machine's own kernel counts it: exact, and at
once.

A daemon takes a second to say how much CPU a container used, and never says how long it waited for
a processor.
"""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

__all__ = ["Group", "group_of"]

_ROOT = Path("/sys/fs/cgroup")
_PROC = Path("/proc")


@frozen
class Group:
    """The control group of a container.

    Args:
        usage: the file that holds the CPU that all of it used so far.
        tasks: the file that lists its threads.
    """

    usage: Path
    tasks: Path

    def cpu(self) -> float | None:
        """Seconds of CPU of all that ever ran in it; None when it is gone."""
        try:
            said = self.usage.read_text().split()
        except OSError:
            return None
        return int(said[0]) / 1e9 if len(said) == 1 else int(said[1]) / 1e6

    def threads(self) -> list[str]:
        """Its threads, as folders of /proc; those of gVisor's kernel and of its programs alike."""
        try:
            return [f"/proc/{tid}" for tid in self.tasks.read_text().split()]
        except OSError:
            return []


def group_of(pid: int, container: str, root: Path = _ROOT) -> Group | None:
    """The group of a container whose first process is said to be ``pid``.

    None where this machine has none such.
    """
    try:
        lines = (_PROC / str(pid) / "cgroup").read_text().splitlines()
    except OSError:
        return None
    for _, names, path in (line.split(":", 2) for line in lines):
        folder = root / names.partition(",")[0] / path.lstrip("/")
        if "cpuacct" in names.split(","):
            group = Group(folder / "cpuacct.usage", folder / "tasks")
        elif not names:
            group = Group(folder / "cpu.stat", folder / "cgroup.threads")
        else:
            continue
        if container in path and group.cpu() is not None and group.threads():
            return group
    return None
