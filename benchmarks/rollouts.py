"""Mixed rollouts on two cores: rlenv, verl's naive reward manager, and the rubrics of verifiers.

70 % math, 20 % constraints, 10 % code. All score the same rows, in turns of some hundred, so that a
busy machine slows them alike. Seconds are wall time. The peers run a program in a bare process;
rlenv runs program and tests in the jail, apart from each other.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)  # so that `benchmarks` is a package

import argparse
import json
import os
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Self

from rlenv import Environment, Task
from rlenv_train import EnvironmentGroup, ScoringEngine

from benchmarks.rollout_rows import Row, rows

CORES = 2
TURN = 1000
PEERS = {  # name: (distribution, how its version begins, script, goal)
    "verl's naive reward manager": ("verl", "", "verl_naive.py", 10.0),
    "verifiers' rubrics": ("verifiers", "0.1.", "verifiers_rubrics.py", 5.0),
}
STAGES: dict[str, list[dict[str, object]]] = {
    "math": [{"use": "math/equal"}],
    "constraints": [{"use": "constraints/ifeval", "options": {"mode": "official"}}],
    "code": [  # as the peers: a program and its tests, without a step that only compiles
        {"use": "code/run", "weight": 0, "options": {"prefix": "prompt", "timeout": 10.0}},
        {"use": "code/diff", "options": {"score": "all"}},
    ],
}


class Peer:
    """Another library, in an interpreter of its own."""

    def __init__(self, python: str, script: str, file: Path, version: str, goal: float) -> None:
        self.version = version
        self.goal = goal
        self.seconds = 0.0
        self.scores = list[float]()
        argv = [python, str(ROOT / "benchmarks" / "peers" / script), str(file)]
        self._process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    def turn(self, first: int, end: int) -> tuple[float, list[float]]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(first, end, file=self._process.stdin, flush=True)
        found = json.loads(self._process.stdout.readline())
        return found["seconds"], found["scores"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)  # with the processes of its pool
        self._process.wait()


def peers(file: Path) -> Iterator[tuple[str, Peer]]:
    for python in filter(None, os.environ.get("RLENV_PEERS", "").split(os.pathsep)):
        for name, (distribution, begins, script, goal) in PEERS.items():
            probe = f"import importlib.metadata as m; print(m.version({distribution!r}))"
            asked = subprocess.run(
                [python, "-c", probe], capture_output=True, text=True, check=False
            )
            if asked.returncode == 0 and asked.stdout.startswith(begins):
                yield name, Peer(python, script, file, asked.stdout.strip(), goal)


def engine(workers: int) -> ScoringEngine:
    members = {
        kind: Environment.from_dict({"name": kind, "stage": stages})
        for kind, stages in STAGES.items()
    }
    return ScoringEngine(EnvironmentGroup(members), workers=workers)


def attempts(given: Sequence[Row]) -> list[tuple[Task, str]]:
    return [
        (
            Task(row["prompt"], row["answer"], {**row["info"], "environment": row["kind"]}),
            row["response"],
        )
        for row in given
    ]


def compare(given: list[Row], file: Path) -> int:
    """Print the ratios; 1 where a goal is missed."""
    file.write_text("".join(json.dumps(row) + "\n" for row in given), "utf-8")
    warm = min(100, len(given))
    seconds = 0.0
    values = list[float | None]()
    status = 0
    with ExitStack() as stack:
        ours = stack.enter_context(engine(CORES))
        others = {name: stack.enter_context(peer) for name, peer in peers(file)}
        list(ours.evaluate_many(attempts(given[:warm])))
        for peer in others.values():
            peer.turn(0, warm)
        for first in range(0, len(given), TURN):
            pairs = attempts(given[first : first + TURN])
            start = time.perf_counter()
            values += [verdict.value for verdict in ours.evaluate_many(pairs)]
            seconds += time.perf_counter() - start
            for peer in others.values():
                took, scores = peer.turn(first, min(first + TURN, len(given)))
                peer.seconds += took
                peer.scores += scores
        numbers = ours.metrics()
    kinds = Counter(row["kind"] for row in given)
    print(f"{len(given):,} rollouts {dict(kinds)}, {CORES} cores, load {os.getloadavg()[0]:.1f}")
    print(
        f"rlenv: {seconds:.2f} s, {len(given) / seconds:,.0f} a second, {values.count(None)}"
        f" unscored, {numbers['repeated']:.0f} repeated"
    )
    for name, peer in others.items():
        differ = Counter(
            row["kind"]
            for row, one, other in zip(given, values, peer.scores, strict=True)
            if one != other
        )
        ratio = peer.seconds / seconds
        met = peer.seconds >= peer.goal * seconds
        status |= not met
        print(
            f"{name} {peer.version}: {peer.seconds:.2f} s, {ratio:.1f}× (goal ≥ {peer.goal:g}×:"
            f" {'met' if met else 'MISSED'}); other scores: {dict(differ)}"
        )
    if not others:
        print("no peer was measured: RLENV_PEERS names no interpreter that has one (see README.md)")
    assert_same(given)
    return status


def assert_same(given: list[Row]) -> None:
    """The score of every stage is the same with any number of workers."""
    found = []
    for workers in (1, 2, 4):
        with engine(workers) as ours:
            verdicts = ours.evaluate_many(attempts(given))
            found.append(
                [[(r.stage, r.outcome and r.outcome.score) for r in v.results] for v in verdicts]
            )
    assert found[0] == found[1] == found[2]
    print("1, 2 and 4 workers give the same scores of every stage")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--by-kind", action="store_true", help="then the rows of each kind alone")
    options = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    given = rows(Path(os.environ["RLENV_DATA"]), options.rows)
    parts = [[row for row in given if row["kind"] == kind] for kind in STAGES]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.jsonl"
        status = [compare(part, file) for part in [given, *(parts if options.by_kind else [])]]
    return status[0]


if __name__ == "__main__":
    sys.exit(main())
