"""A control group per place: memory and processes of everything that runs there, where one may be
made.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from time import sleep

from .peaks import Peaks

__all__ = ["Group", "homes", "missing", "spare", "sweep"]

_NAME = "rlenv-{pid}-{number}"
_OWNED = re.compile(r"rlenv-(\d+)-\d+")
_ATTEMPTS = 10
_ROOT = Path("/sys/fs/cgroup")
_NEEDED = ("memory", "pids")
_WELCOME = ("cpuacct", "cpu")  # who used how much; and a share of the processors
# What a place may take of the machine, however many processes run in it: as much as so many
# processors. One is its program's; the other is for what the zygote does next to it, and for
# programs of several threads.
_PROCESSORS = 2
_PERIOD_US = 100_000
# A place weighs as much as so many ordinary processes, so that a limit is reached in about the time
# that it names on a machine that does other things too.
_WEIGHT = 16


@cache
def homes() -> dict[str, Path]:
    """Controller → the folder below which groups of ours can be made; {} where none can."""
    found: dict[str, Path] = {}
    for line in _lines("/proc/self/cgroup"):
        number, _, rest = line.partition(":")
        names, _, own = rest.partition(":")
        if number == "0" and not names:
            found.update(_unified(own))
        for name in names.split(","):
            folder = _ROOT / name / own.lstrip("/")
            if name in (*_NEEDED, *_WELCOME) and os.access(folder, os.W_OK):
                found[name] = folder
    return found


def _unified(own: str, root: Path = _ROOT) -> dict[str, Path]:
    """In version 2 a group that holds processes has no groups with limits below it: look
    upwards.
    """
    for base in (root, root / "unified"):
        folder = base / own.lstrip("/")
        for place in (folder, *folder.parents):
            if place == base.parent:
                break
            enabled = " ".join(_lines(place / "cgroup.subtree_control")).split()
            writable = os.access(place, os.W_OK) and os.access(place / "cgroup.procs", os.W_OK)
            if writable and all(name in enabled for name in _NEEDED):
                names = (*_NEEDED, "cpuacct", *(["cpu"] if "cpu" in enabled else []))
                return dict.fromkeys(names, place)
    return {}


def missing() -> str:
    """What is lacking for limits by control group and how to get it; "" when nothing is."""
    lacking = [name for name in _NEEDED if name not in homes()]
    if not lacking:
        return ""
    return (
        f"no control group can be made for {' and '.join(lacking)}: limits hold per process"
        " instead; run as root, or below a delegated group (systemd-run --user --scope -p"
        " Delegate=yes)"
    )


def spare(pid: int) -> None:
    """Have the kernel take memory from anybody in the group but this process, where we may say
    so.
    """
    try:
        Path(f"/proc/{pid}/oom_score_adj").write_text("-1000")
    except OSError:
        return


def sweep() -> None:
    """Remove the groups of owners that are dead."""
    for home in set(homes().values()):
        for folder in home.glob("rlenv-*-*"):
            owner = _OWNED.fullmatch(folder.name)
            if owner and not Path(f"/proc/{owner[1]}").exists():
                _remove(folder)


class Group:
    """One group: in as many hierarchies as its controllers have."""

    def __init__(self, number: int, memory_bytes: int, pids: int) -> None:
        name = _NAME.format(pid=os.getpid(), number=number)
        self.folders = {c: home / name for c, home in homes().items()}
        for folder in set(self.folders.values()):
            folder.mkdir(exist_ok=True)
        if "memory" in self.folders:
            self._limit_memory(self.folders["memory"], memory_bytes)
        if "pids" in self.folders:
            _write(self.folders["pids"] / "pids.max", pids)
        if "cpu" in self.folders:
            _limit_processors(self.folders["cpu"])
        self._clock = self._open_clock()
        self.peaks = Peaks(self.folders.get("memory"))

    def _open_clock(self) -> int:
        folder = self.folders.get("cpuacct")
        for name in ("cpuacct.usage", "cpu.stat") if folder is not None else ():
            try:
                return os.open(f"{folder}/{name}", os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                continue
        return -1

    def cpu(self) -> float:
        """Seconds of CPU used so far in here; 0.0 where nobody counts them."""
        if self._clock < 0:
            return 0.0
        said = os.pread(self._clock, 256, 0)
        if said.startswith(b"usage_usec"):
            return int(said.split(None, 2)[1]) / 1e6
        return int(said) / 1e9

    @staticmethod
    def _limit_memory(folder: Path, limit: int) -> None:
        unified = (folder / "memory.max").exists()
        names = (
            ("memory.max",) if unified else ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes")
        )
        for name in names:
            _write(folder / name, limit)
        _write(folder / ("memory.swap.max" if unified else "memory.swappiness"), 0)

    def add(self, pid: int) -> None:
        """Move a process, and with it all that it will start, into the group.

        Raises:
            OSError: it is gone, or not ours to move.
        """
        for folder in set(self.folders.values()):
            (folder / "cgroup.procs").write_text(str(pid))

    def kills(self) -> int:
        """How many processes were killed here for want of memory."""
        folder = self.folders.get("memory")
        if folder is None:
            return 0
        for name in ("memory.events", "memory.oom_control"):
            for line in _lines(folder / name):
                key, _, value = line.partition(" ")
                if key == "oom_kill":
                    return int(value)
        return 0

    def remove(self) -> None:
        self.peaks.close()
        if self._clock >= 0:
            os.close(self._clock)
            self._clock = -1
        for folder in set(self.folders.values()):
            _remove(folder)


def _limit_processors(folder: Path) -> None:
    quota = _PROCESSORS * _PERIOD_US
    if (folder / "cpu.max").exists():
        _write(folder / "cpu.weight", 100 * _WEIGHT)
        _write(folder / "cpu.max", f"{quota} {_PERIOD_US}")
        return
    _write(folder / "cpu.shares", 1024 * _WEIGHT)
    _write(folder / "cpu.cfs_period_us", _PERIOD_US)
    _write(folder / "cpu.cfs_quota_us", quota)


_lingering: set[Path] = set()  # something in them was still dying


def _remove(folder: Path) -> None:
    for attempt in range(_ATTEMPTS):
        if _removed(folder):
            break
        sleep(0.001 * attempt)  # what was reaped already may take a moment more
    else:
        _lingering.add(folder)
    for other in [other for other in _lingering if other != folder and _removed(other)]:
        _lingering.discard(other)


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _write(path: Path, value: int | str) -> None:
    try:
        path.write_text(str(value))
    except OSError:
        return  # a file that this kernel lacks


def _lines(path: str | Path) -> list[str]:
    try:
        return Path(path).read_text("utf-8").splitlines()
    except OSError:
        return []
