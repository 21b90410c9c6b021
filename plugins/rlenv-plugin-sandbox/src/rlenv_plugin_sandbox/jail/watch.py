"""What the kernel says of a running program: whether it could run, and how much it did."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

__all__ = ["cpu_of_tree", "tasks"]

_MOST = 512  # processes looked at
_TICK = os.sysconf("SC_CLK_TCK")


def _tree(pid: int) -> Iterator[int]:
    """A process and all its descendants."""
    todo = [pid]
    for _ in range(_MOST):
        if not todo:
            return
        current = todo.pop()
        yield current
        todo += _children(current)


def tasks(pid: int) -> Iterator[str]:
    """The threads of a process and all its descendants, as folders of /proc."""
    for current in _tree(pid):
        with suppress(OSError):
            yield from (f"/proc/{current}/task/{n}" for n in os.listdir(f"/proc/{current}/task"))


def cpu_of_tree(pid: int) -> float:
    """Seconds of CPU of a process and all its descendants so far."""
    return sum(map(_cpu, _tree(pid)))


def _cpu(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / _TICK
    except (OSError, IndexError, ValueError):
        return 0.0


def _children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            found += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text().split())
    except (OSError, ValueError):
        return found
    return found
