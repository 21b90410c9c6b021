"""Verdicts on a busy machine: endless and good programs and test suites, beside processes that only
spin.

    python benchmarks/load.py              0, 2, 5 and 10 spinning processes a processor, then a
    colluding batch python benchmarks/load.py 5 --few      one of them, with a quarter of the
    responses

Each spinning process has a session of its own, so that the scheduler gives it the share of a whole
program.  What counts is the values: endless is 0 and good is 1, whatever else runs.  Seconds are
wall time, which load stretches.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])  # so that `benchmarks` is a package

import argparse
import os
import signal
import statistics
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rlenv import Environment, Slot, Task
from rlenv.sandbox import close_all
from rlenv_plugin_code.stages.diff import Diff
from rlenv_plugin_code.stages.run import Run
from rlenv_plugin_code.stages.suite import Tests

CASES = [{"args": [n], "expected": n * n} for n in range(40)]
SQUARE = Task(
    "Write square(n).",
    info={"tests": {"kind": "function", "entry_point": "square", "cases": CASES}},
    id="square",
)
CLAMP = """
def clamp(x, low, high):
    if x < low:
        return low
    if x > high:
        return high
    return x
"""
SUITE = Task(
    "Write tests of clamp(x, low, high).",
    info={
        "tests": {
            "kind": "suite",
            "golden": CLAMP,
            "entry_point": "clamp",
            "inputs": [["int", -20, 20], ["int", -5, 0], ["int", 1, 6]],
        }
    },
    id="clamp",
)
GOOD = "def square(n):\n    return sum(n for _ in range(n)) + 0 * sum(range(200_000))"
ENDLESS = "def square(n):\n    while True: pass"
CROWD = """import os
def square(n):
    for _ in range(16):
        if not os.fork():
            while True: pass
    while True: pass"""
GOOD_SUITE = "for x in range(-10, 11):\n    assert clamp(x, -3, 4) == max(-3, min(4, x))"
ENDLESS_SUITE = "clamp(1, 0, 5)\nwhile True: pass"

Pairs = Sequence[tuple[Task, str]]


@contextmanager
def spinning(many: int) -> Iterator[None]:
    """So many processes that do nothing but compute."""
    pids = [_spin() for _ in range(many)]
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _spin() -> int:
    pid = os.fork()
    if pid == 0:
        os.setsid()
        while True:
            pass
    return pid


def measured(what: str, env: Environment, pairs: Pairs, wanted: Sequence[float]) -> None:
    """One line: how many values are right, how many unscored, and how long a verdict took."""
    found = list(env.evaluate_many(pairs, workers=2))
    right = sum(verdict.value == value for verdict, value in zip(found, wanted, strict=True))
    unscored = sum(verdict.value is None for verdict in found)
    seconds = [sum(result.seconds for result in verdict.results) for verdict in found]
    said = f"{right} of {len(found)} right, {unscored} unscored"
    print(
        f"{what:34} {said:30} median {statistics.median(seconds):6.2f} s, most"
        f" {max(seconds):6.2f} s",
        flush=True,
    )
    for verdict, value in zip(found, wanted, strict=True):
        if verdict.value != value:
            results = [str(r.fault or (r.outcome and r.outcome.detail)) for r in verdict.results]
            print("   ", verdict.value, *results)


def both(name: str, env: Environment, task: Task, bad: Sequence[str], good: Sequence[str]) -> None:
    measured(f"{name}, endless", env, [(task, text) for text in bad], [0.0] * len(bad))
    measured(f"{name}, good", env, [(task, text) for text in good], [1.0] * len(good))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("factors", nargs="*", type=float, default=[0, 2, 5, 10])
    parser.add_argument("--few", action="store_true", help="a quarter of the responses")
    chosen = parser.parse_args()
    part = 4 if chosen.few else 1
    runs = Environment("runs", [Slot("run", Run(timeout=1.0, budget=10.0)), Slot("diff", Diff())])
    suites = Environment("suites", [Slot("tests", Tests(timeout=0.5))])
    for factor in chosen.factors:
        with spinning(round(factor * (os.cpu_count() or 1))):
            load = f"{factor:g} a processor:"
            both(f"{load} code/run", runs, SQUARE, [ENDLESS] * (20 // part), [GOOD] * (20 // part))
            both(
                f"{load} code/tests",
                suites,
                SUITE,
                [ENDLESS_SUITE] * (10 // part),
                [GOOD_SUITE] * (10 // part),
            )
    batch = [CROWD, ENDLESS, CROWD, GOOD] * (12 // part)
    values = [float(text is GOOD) for text in batch]
    measured("a colluding batch: code/run", runs, [(SQUARE, text) for text in batch], values)
    close_all()


if __name__ == "__main__":
    main()
