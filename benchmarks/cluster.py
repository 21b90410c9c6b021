"""RayWorkers against bare actors of Ray: the same function, the same batches, in one run.

    build/trainers/ray/bin/python benchmarks/cluster.py [ROWS]

A bare actor calls the function in its own process, without deadline, limit, check or verdict. Both
have as many actors and two batches of 32 rows in flight each. `make test-trainers TRAINERS=ray`
installs what it needs.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import ray
from rlenv import Environment, Task
from rlenv_ray import RayWorkers

ROWS = int(sys.argv[1]) if sys.argv[1:] else 6400
ACTORS = 2
BATCH = 32
ROUNDS = 5
Row = tuple[Task, str]


def verify(steps: int) -> Callable[[str, str], float]:
    """A stage of so many steps of arithmetic."""

    def right(response: str, answer: str) -> float:
        total = 0
        for step in range(steps):
            total = (total * 31 + step) % 1_000_003
        return float(response == answer and total >= 0)

    return right


class Bare:
    """What a user of Ray writes first."""

    def __init__(self, function: Callable[[str, str], float]) -> None:
        self.function = function

    def judge(self, rows: list[Row]) -> list[float]:
        return [self.function(response, str(task.answer)) for task, response in rows]


def bare(actors: list[ray.actor.ActorHandle], rows: list[Row]) -> Iterator[float]:
    """The scores of all rows, two batches for each actor in flight."""
    batches = iter([rows[at : at + BATCH] for at in range(0, len(rows), BATCH)])
    flying = {}
    for actor in actors * 2:
        flying[actor.judge.remote(next(batches))] = actor
    while flying:
        (done,), _ = ray.wait(list(flying))
        actor = flying.pop(done)
        if (batch := next(batches, None)) is not None:
            flying[actor.judge.remote(batch)] = actor
        yield from ray.get(done)


def seconds(work: Callable[[], Iterable[object]]) -> float:
    start = time.perf_counter()
    for _ in work():
        pass
    return time.perf_counter() - start


def measure(steps: int, tasks: list[Task], rows: list[Row]) -> None:
    function = verify(steps)
    actors = [ray.remote(num_cpus=1)(Bare).remote(function) for _ in range(ACTORS)]
    with Environment("cluster", function, tasks) as env, RayWorkers(actors=ACTORS) as on:
        theirs = partial(bare, actors, rows)
        ours = partial(env.evaluate_many, rows, on=on)
        assert sum(verdict.reward for verdict in ours()) == sum(theirs())
        pairs = [(seconds(theirs), seconds(ours)) for _ in range(ROUNDS)]
    one, two = (statistics.median(column) / len(rows) * 1e6 for column in zip(*pairs, strict=True))
    ratio = statistics.median(own / other for other, own in pairs)
    print(
        f"{steps:>7,} steps: bare {one:8.1f} µs a row, RayWorkers {two:8.1f} µs, ratio {ratio:.2f}"
    )
    for actor in actors:
        ray.kill(actor)


def main() -> None:
    ray.init(address="local", num_cpus=2 * ACTORS, log_to_driver=False, logging_level="ERROR")
    tasks = [Task(f"{n}?", answer=str(n), id=str(n)) for n in range(100)]
    rows = [(tasks[n % 100], str(n % 100 + (n % 3 == 0))) for n in range(ROWS)]
    print(f"{ROWS:,} rows, {ACTORS} actors, batches of {BATCH}, median of {ROUNDS} rounds")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    for steps in (0, 5_000, 20_000, 100_000):
        measure(steps, tasks, rows if steps < 100_000 else rows[: ROWS // 4])
    ray.shutdown()


if __name__ == "__main__":
    main()
