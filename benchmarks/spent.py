"""CPU seconds of this process and everything that it started, ended children included."""

from __future__ import annotations

import os
import time
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")


def cpu_of_tree(root: int | None = None) -> float:
    """Of every process alive below ``root`` (this one when None), and of those that these waited
    for.
    """
    total = 0.0
    todo = [root or os.getpid()]
    while todo:
        pid = todo.pop()
        total += _own(pid)
        todo += _children(pid)
    return total


def _own(pid: int) -> float:
    try:
        precise = sum(
            int((thread / "schedstat").read_text().split()[0])
            for thread in Path(f"/proc/{pid}/task").iterdir()
        )
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (OSError, IndexError, ValueError):
        return 0.0
    return precise / 1e9 + sum(map(int, fields[13:15])) / TICK


def _children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (thread / "children").read_text().split())
    except OSError:
        return found
    return found


class Meter:
    """CPU seconds of the tree since it was made; looking around costs some itself, which is not
    counted.
    """

    def __init__(self) -> None:
        self._others = self._of_others()
        self._own = time.process_time()

    def spent(self) -> float:
        own = time.process_time() - self._own
        return own + self._of_others() - self._others

    @staticmethod
    def _of_others() -> float:
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        ended = sum(map(int, fields[13:15])) / TICK
        return ended + sum(cpu_of_tree(pid) for pid in _children(os.getpid()))
