"""Runs rlenv's own `math/equal` through `Environment.verify`.

Its CPU time counts the workers that SymPy runs in.
"""

import os
import time
from pathlib import Path

from answers import serve
from rlenv import Environment, Task

ENV = Environment.from_dict({"name": "math", "stage": [{"use": "math/equal"}]})
TICK = os.sysconf("SC_CLK_TCK")


def judge(gold: str, response: str) -> bool:
    return ENV.verify(Task("?", answer=gold), response) == 1.0


def descendants(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found += [child, *descendants(child)]
    return found


def workers() -> float:
    total = 0
    for pid in descendants(os.getpid()):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += int(fields[11]) + int(fields[12])
    return total / TICK


class Clock:
    """Own CPU time, and the workers' where enough time went by for one to have been asked."""

    def __init__(self) -> None:
        self.wall = time.perf_counter()
        self.workers = self.looking = 0.0

    def __call__(self) -> float:
        own = time.process_time()
        if time.perf_counter() - self.wall > 0.002:
            self.workers = max(self.workers, workers())
            self.looking += time.process_time() - own
        self.wall = time.perf_counter()
        return time.process_time() - self.looking + self.workers


serve(judge, Clock())
