"""What rlenv itself costs: importing it, one verdict, a batch, the way to a worker and back.

Costs are CPU time, so that a busy machine does not change a ratio; only the workers' rate is wall
time. Peers are measured in the same run by their own interpreters, named in RLENV_PEERS (see
README.md).
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])  # so that `benchmarks` is a package

import argparse
import gc
import json
import os
import resource
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from rlenv import Environment, Pipeline, Slot, Task

from benchmarks.trivial import HALF, Inline, Worker, is_half, is_half_inline

TASK = Task("What is a half?", HALF, id="half")


class Row(NamedTuple):
    what: str
    cost: float  # µs, unless the row is a rate
    peer: str = ""
    ratio: float | None = None
    goal: str = ""
    met: bool | None = None
    unit: str = "µs"


def per_item(work: Callable[[int], None], n: int, repeats: int) -> float:
    """Median CPU seconds of this process per item of ``work(n)``."""
    work(n)
    samples = []
    for _ in range(repeats):
        gc.collect()
        start = time.process_time()
        work(n)
        samples.append((time.process_time() - start) / n)
    return statistics.median(samples)


def child_cpu(code: str) -> float:
    """CPU seconds of a fresh interpreter that runs ``code`` with bytecode already compiled."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], env=env, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


def import_rows(runs: int) -> Iterator[Row]:
    codes = {
        "python -c pass": "pass",
        "import attrs": "import attrs",
        "import rlenv": "import rlenv",
    }
    for code in codes.values():
        child_cpu(code)  # writes the bytecode
    samples: dict[str, list[float]] = {name: [] for name in codes}
    for _ in range(runs):
        for name, code in codes.items():
            samples[name].append(child_cpu(code))
    cost = {name: statistics.median(found) for name, found in samples.items()}
    base = cost["python -c pass"]
    for name in codes:
        goal, met = ("≤ 5×", cost[name] <= 5 * base) if name == "import rlenv" else ("", None)
        yield Row(name, cost[name] * 1e6, "python -c pass", cost[name] / base, goal, met)


def environment(stage: object) -> Environment:
    return Environment("trivial", Pipeline([Slot("half", stage)]), [TASK])


def verify_rows(n: int, repeats: int) -> Iterator[Row]:
    with environment(Inline()) as env:

        def verify(count: int) -> None:
            for _ in range(count):
                env.verify(TASK, HALF)

        def evaluate(count: int) -> None:
            for _ in range(count):
                env.evaluate(TASK.prompt, HALF)

        def batch(count: int) -> None:
            for _ in env.evaluate_many((TASK, HALF) for _ in range(count)):
                pass

        assert env.verify(TASK, HALF) == 1.0
        cost = per_item(verify, n, repeats) * 1e6
        yield Row("verify, one inline stage", cost, goal="≤ 10 µs", met=cost <= 10)
        yield Row("evaluate by prompt, full record", per_item(evaluate, n, repeats) * 1e6)
        yield Row("evaluate_many, inline", per_item(batch, n, repeats) * 1e6)


def function_rows(n: int, repeats: int) -> Iterator[Row]:
    def timed(function: object) -> float:
        with environment(function) as env:

            def verify(count: int) -> None:
                for _ in range(count):
                    env.verify(TASK, HALF)

            assert env.verify(TASK, HALF) == 1.0
            return per_item(verify, n, repeats) * 1e6

    cost = timed(is_half_inline)
    yield Row("verify, an inline function", cost, goal="≤ 10 µs", met=cost <= 10)
    with environment(is_half) as env:
        env.verify(TASK, HALF)
        start = time.perf_counter()
        for _ in range(n):
            env.verify(TASK, HALF)
        cost = (time.perf_counter() - start) / n * 1e6
    yield Row("verify, a function in a warm worker", cost, unit="µs (wall)")


def dispatch_row(n: int, repeats: int, stage: object, what: str, *, goal: bool) -> Row:
    with environment(stage) as env:
        pairs = [(TASK, HALF if i % 2 else str(i)) for i in range(n)]

        def rate() -> float:
            start = time.perf_counter()
            right = sum(v.value == 1.0 for v in env.evaluate_many(pairs, workers=2))
            assert right == n // 2
            return n / (time.perf_counter() - start)

        rate()
        best = statistics.median(rate() for _ in range(repeats))
    met = best >= 50_000 if goal else None
    return Row(what, best, goal="≥ 50,000/s" if goal else "", met=met, unit="/s (wall)")


def peer_rows(ours: float, n: int, repeats: int) -> Iterator[Row]:
    here = Path(__file__).parent / "peers"
    for python in filter(None, os.environ.get("RLENV_PEERS", "").split(os.pathsep)):
        probe = "import importlib.metadata as m; print(m.version('verifiers'))"
        asked = subprocess.run([python, "-c", probe], capture_output=True, text=True, check=False)
        if asked.returncode:
            continue
        version = asked.stdout.strip()
        script = here / ("verifiers_v0.py" if version.startswith("0.1.") else "verifiers_v1.py")
        ran = subprocess.run(
            [python, str(script), str(n), str(repeats)], capture_output=True, text=True, check=True
        )
        found = json.loads(ran.stdout.strip().splitlines()[-1])
        names = {
            "score": "one scored rollout",
            "rollout": "built and scored",
            "batch": "score_group",
        }
        for key, label in names.items():
            if key in found:
                cost = found[key] * 1e6
                ratio = cost / ours
                goal, met = ("≥ 30×", ratio >= 30) if key == "score" else ("", None)
                yield Row(
                    f"verifiers {version}, {label}", cost, "our inline function", ratio, goal, met
                )


def table(rows: list[Row]) -> str:
    head = ("what", "cost", "against", "ratio", "goal", "met")
    lines = [
        (
            row.what,
            f"{row.cost:,.{0 if row.cost >= 1000 else 2}f} {row.unit}",
            row.peer,
            "" if row.ratio is None else f"{row.ratio:.1f}×",
            row.goal,
            {True: "yes", False: "NO", None: ""}[row.met],
        )
        for row in rows
    ]
    wide = [max(len(line[i]) for line in [head, *lines]) for i in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, wide, strict=True)).rstrip()
        for line in [head, tuple("-" * width for width in wide), *lines]
    )


MISSING = """\
verifiers was not measured: no interpreter in RLENV_PEERS has it. Put it beside this project with
  python3 -m venv .venv-verifiers && .venv-verifiers/bin/pip install verifiers==0.4.0
and name it: RLENV_PEERS=.venv-verifiers/bin/python make bench"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few samples: shows that it runs")
    quick = parser.parse_args().quick
    n, repeats, runs = (200, 3, 3) if quick else (2_000, 15, 21)
    rows = [*import_rows(runs), *verify_rows(n, repeats)]
    functions = list(function_rows(n, repeats))
    ours = functions[0].cost
    many = 2_000 if quick else 100_000
    rows += [
        *functions,
        dispatch_row(many, 3, Worker(), "evaluate_many, 2 workers", goal=True),
        dispatch_row(many, 3, is_half, "evaluate_many, a function, 2 workers", goal=False),
    ]
    peers = list(peer_rows(ours, n // 2, repeats))
    print(table([*rows, *peers]))
    if not peers:
        print(MISSING)


if __name__ == "__main__":
    main()
