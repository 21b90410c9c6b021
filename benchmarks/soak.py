"""A long run: every value right, none lost, and nothing grows.  ``make soak``; a quarter of an hour
with its defaults.

``python benchmarks/soak.py [VERDICTS] [--catastrophes N]``: first VERDICTS (1,000,000) in one
process tree, a third each inline, in workers and of mathematics, of which 1 % are faults; 1 in 50
of these ends its worker and 1 in 200 hangs to a deadline of 0.5 s.  Then N (10,000) verifications
from 8 threads and an event loop, of which 13 % are catastrophes, and a tenth of that by a stage on
the loops of its workers.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])  # so that `benchmarks` is a package

import argparse
import asyncio
import gc
import os
import random
import statistics
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from glob import glob
from typing import NamedTuple

from rlenv import Attempt, Environment, Outcome, Pipeline, Slot, Task, Verdict

from benchmarks.catastrophes import DEEDS, EXPECTED, SCORED, Obeys, ObeysLater

ROUNDS = 25  # a sample of the process tree after each
WARM = 5  # rounds before what is compared: imports, caches and pools have their size by then
FAULTS = 100  # one in so many verdicts is a fault
# Of the faults of the third that runs in workers, so that 1 in 50 and 1 in 200 of all faults are
# such.
DEATHS = 17
HANGS = 67
HALF = Task("What is a half?", "1/2", id="half")
RIGHT = (
    "\\boxed{\\frac{1}{2}}",
    "The answer is $0.5$.",
    "\\boxed{2/4}",
    "so x = \\boxed{\\frac{\\sqrt{4}}{4}}",
)
WRONG = ("\\boxed{\\frac{1}{3}}", "The answer is $5$.", "\\boxed{2/5}", "I do not know.")


class Told:
    """What the response says, scored."""

    phase = "diff"
    default_timeout = 0.5

    def __init__(self, where: str) -> None:
        self.where = where

    def check(self, attempt: Attempt) -> Outcome:
        order = attempt.response.split()[-1]
        if order == "die":
            os._exit(3)
        if order == "hang":
            time.sleep(600)
        if order == "break":
            raise ValueError("the stage is broken")
        return Outcome(float(order != "wrong"))


class Gate(Told):
    """Breaks where it is told to; what mathematics say decides otherwise."""

    def check(self, attempt: Attempt) -> Outcome:
        if attempt.response.endswith("break"):
            raise ValueError("the stage is broken")
        return Outcome(1.0)


class Sample(NamedTuple):
    memory: float  # MiB of the whole tree, resident and not shared
    descriptors: int
    processes: int
    threads: int


def tree() -> list[int]:
    found = [os.getpid()]
    for pid in found:  # which grows meanwhile
        for path in glob(f"/proc/{pid}/task/*/children"):
            with suppress(OSError):
                found += map(int, Path(path).read_text().split())
    return found


def sample() -> Sample:
    """The process tree, at rest."""
    gc.collect()
    pids = tree()
    memory = 0.0
    descriptors = 0
    threads = 0
    for pid in pids:
        with suppress(OSError):  # it ended
            memory += sum(int(n) for n in Path(f"/proc/{pid}/statm").read_text().split()[1:2])
            memory -= int(Path(f"/proc/{pid}/statm").read_text().split()[2])
            descriptors += len(os.listdir(f"/proc/{pid}/fd"))
            threads += len(os.listdir(f"/proc/{pid}/task"))
    return Sample(memory * os.sysconf("SC_PAGE_SIZE") / (1 << 20), descriptors, len(pids), threads)


def row(part: str, n: int) -> tuple[str, float | str]:
    """The n-th response of a part, and its value or kind of fault."""
    fault = n % FAULTS == FAULTS - 1
    right = n % 3 != 0
    words = (RIGHT if right else WRONG)[n % 4] if part == "math" else f"{n} right"
    if not fault:
        return (
            (words, float(right))
            if part == "math"
            else (f"{n} {'right' if right else 'wrong'}", float(right))
        )
    number = n // FAULTS
    if part == "worker" and number % DEATHS == 0:
        return f"{n} die", "crash"
    if part == "worker" and number % HANGS == 1:
        return f"{n} hang", "timeout"
    return f"{words} break", "error"


def environments() -> dict[str, Environment]:
    from rlenv_plugin_math.equal import Equal

    return {
        "inline": Environment("inline", Told("inline"), [HALF]),
        "worker": Environment("worker", Told("worker"), [HALF]),
        "math": Environment(
            "math",
            Pipeline([Slot("math", Equal()), Slot("gate", Gate("inline"), weight=0.0, gate=1.0)]),
            [HALF],
        ),
    }


def value(verdict: Verdict) -> float | str:
    return verdict.value if verdict.value is not None else str(verdict.fault and verdict.fault.kind)


def one_round(env: Environment, part: str, numbers: range) -> Iterator[str]:
    """What is wrong with these verdicts."""
    wanted = {}

    def rows() -> Iterator[tuple[Task, str]]:
        for n in numbers:
            response, wanted[n] = row(part, n)
            yield HALF, response

    workers = None if part == "inline" else 2
    for index, verdict in env.evaluate_as_completed(rows(), workers=workers):
        n = numbers[index]
        if n not in wanted:
            yield f"{part} {n}: a second verdict"
        elif value(verdict) != (should := wanted.pop(n)):
            yield f"{part} {n}: {value(verdict)}, not {should}: {verdict.fault}"
    if wanted:
        yield f"{part}: {len(wanted)} verdicts are lost"


def grown(samples: list[Sample]) -> Iterator[str]:
    """What is larger at the end than it was once all was warm."""
    early = samples[WARM : WARM + 5]
    late = samples[-5:]
    for name, slack in (("memory", 32.0), ("descriptors", 8), ("processes", 2), ("threads", 8)):
        before, after = (
            statistics.median(getattr(one, name) for one in part) for part in (early, late)
        )
        if after > before * 1.05 + slack:
            yield f"{name} grew from {before:g} to {after:g}"


def endure(count: int) -> list[str]:
    """Part one; what is wrong."""
    problems: list[str] = []
    samples: list[Sample] = []
    each = max(FAULTS, count // (3 * ROUNDS))
    begin = time.perf_counter()
    envs = environments()
    spent = dict.fromkeys(envs, 0.0)
    for number in range(ROUNDS):
        for part, env in envs.items():
            start = time.perf_counter()
            problems += one_round(env, part, range(number * each, (number + 1) * each))
            spent[part] += time.perf_counter() - start
        samples.append(sample())
        print(
            f"{(number + 1) * each * 3:>9,} verdicts, {time.perf_counter() - begin:6.0f} s,"
            f" {samples[-1]}",
            flush=True,
        )
    for env in envs.values():
        env.close()
    done = each * ROUNDS
    rates = ", ".join(f"{part} {done / seconds:,.0f}" for part, seconds in spent.items())
    print(f"{3 * done:,} verdicts: {3 * done / sum(spent.values()):,.0f}/s ({rates})")
    return problems + list(grown(samples)) + left_behind()


def left_behind() -> list[str]:
    limit = time.monotonic() + 30
    while (found := tree()[1:]) and time.monotonic() < limit:
        time.sleep(0.1)
    return [f"processes are left: {found}"] if found else []


def orders(count: int) -> list[str]:
    """13 % catastrophes, each kind as often, in an order that is always the same."""
    names = list(DEEDS)
    bad = [names[n % len(names)] for n in range(count * 13 // 100)]
    good = ["right" if n % 2 else "wrong" for n in range(count - len(bad))]
    mixed = bad + good
    random.Random(7).shuffle(mixed)
    return mixed


def survive(count: int, stage: Obeys) -> list[str]:
    """Part two; what is wrong."""
    mixed = orders(count)
    verdicts: dict[int, Verdict] = {}
    took: list[float] = []
    ahead = iter(enumerate(mixed))
    lock = threading.Lock()

    def following() -> tuple[int, str] | None:
        with lock:
            return next(ahead, None)

    with Environment("catastrophes", stage, memory_mb=512) as env:

        def serve() -> None:
            while (found := following()) is not None:
                start = time.perf_counter()
                verdicts[found[0]] = env.evaluate(HALF, found[1])
                took.append(time.perf_counter() - start)

        async def aserve() -> None:
            while (found := following()) is not None:
                verdicts[found[0]] = await env.aevaluate(HALF, found[1])

        async def loop() -> None:
            await asyncio.gather(*[aserve() for _ in range(4)])

        begin = time.perf_counter()
        threads = [threading.Thread(target=serve) for _ in range(8)]
        for thread in threads:
            thread.start()
        asyncio.run(loop())
        for thread in threads:
            thread.join()
    print(
        f"{type(stage).__name__}: {len(verdicts):,} verifications, {count * 13 // 100:,}"
        f" catastrophes of {len(DEEDS)} kinds: {time.perf_counter() - begin:.0f} s, the slowest"
        f" {max(took):.1f} s"
    )
    return judged(mixed, verdicts) + left_behind()


def judged(mixed: list[str], verdicts: dict[int, Verdict]) -> list[str]:
    problems: list[str] = []
    seen: Counter[tuple[str, str]] = Counter()
    for index, order in enumerate(mixed):
        verdict = verdicts[index]
        if order in DEEDS:
            became = SCORED if verdict.scored else str(value(verdict))
            seen[order, became] += 1
            if became not in EXPECTED[order]:
                problems.append(f"{order} became {became}: {verdict.fault}")
        elif value(verdict) != float(order == "right"):
            problems.append(f"{order}: {value(verdict)}: {verdict.fault}")
    for (order, became), times in sorted(seen.items()):
        print(f"  {order}: {became} × {times}")
    return problems


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("verdicts", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--catastrophes", type=int, default=10_000)
    asked = parser.parse_args()
    problems = endure(asked.verdicts) if asked.verdicts else []
    if asked.catastrophes:
        problems += survive(asked.catastrophes, Obeys())
        problems += survive(max(len(DEEDS), asked.catastrophes // 10), ObeysLater())
    print("\n".join(problems[:50]) or "every value is right, none is lost, nothing grew")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
