"""What an episode costs: a tool turn of a whole rollout, a step of a game, and many episodes at
once.

Costs are CPU time; rates are wall time. Peers are measured by their own interpreters, named in
RLENV_PEERS (see README.md): `verifiers` 0.1 (its ToolEnv) and Gymnasium. All take turns: each round
measures each of them once, and a ratio is the median of those of the rounds, since what else runs
on a machine changes CPU time too.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])  # so that `benchmarks` is a package

import argparse
import asyncio
import gc
import os
import resource
import subprocess
import time
import tracemalloc
from collections.abc import Callable, Iterator
from statistics import median
from typing import NamedTuple

from rlenv import Environment, Task, stage
from rlenv_plugin_agent import Episode, Harness, arollout, call, rollout, tool

from benchmarks.core import Row, table

TASK = Task("2 + 3?", answer="5", id="sum")
TURNS = 8  # with a call of a tool, in one rollout
MANY = 1_000
CALL = call("add", a=2, b=3)


@stage(where="inline")
def right(visible: str, answer: str) -> bool:
    return visible == answer


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def user(action: object) -> object:
    """A game that does nothing."""
    return action


def environment(*tools: Callable[..., object]) -> Environment:
    kind = "tool-use" if tools else "multi-turn"
    harness = Harness(kind, tools=tools, user=None if tools else user, turn_limit=10_000)  # type: ignore[arg-type]
    return Environment("trivial", right, [TASK], tables={"harness": harness})


def policy(messages: object, _: object) -> object:
    return CALL if len(messages) // 2 < TURNS else "5"  # type: ignore[arg-type]


async def apolicy(messages: object, tools: object) -> object:
    return policy(messages, tools)


def sync(env: Environment) -> Callable[[int], None]:
    def work(count: int) -> None:
        for _ in range(count):
            assert rollout(env, TASK, policy).verdict.value == 1.0

    return work


def looped(env: Environment) -> Callable[[int], None]:
    async def play(count: int) -> None:
        for _ in range(count):
            await arollout(env, TASK, apolicy)

    return lambda count: asyncio.run(play(count))


def game(count: int) -> None:
    with Episode(environment()) as episode:
        for i in range(count):
            if i % 1000 == 0:  # as long as games are; a step does not depend on it
                episode.reset(TASK)
            episode.step(1)


GAME = "step of a game, a value as action"
INLINE = environment(tool(where="inline")(add))
THREAD = environment(add)
# What is measured, how many items one call of it has, and how many calls for each of `n`.
OURS: dict[str, tuple[Callable[[int], None], int, int]] = {
    "rollout, one turn, inline tool": (sync(INLINE), TURNS, 1),
    "arollout, one turn, inline tool": (looped(INLINE), TURNS, 1),
    "rollout, one turn, tool in a thread": (sync(THREAD), TURNS, 1),
    "arollout, one turn, tool in a thread": (looped(THREAD), TURNS, 1),
    GAME: (game, 1, 50),
}
RATED = tuple(name for name in OURS if name != GAME)


class Sample(NamedTuple):
    """Seconds of one item: CPU time of the process, and wall time."""

    cpu: float
    wall: float


def sample(name: str, n: int) -> Sample:
    work, items, many = OURS[name]
    gc.collect()
    wall = time.perf_counter()
    cpu = time.process_time()
    work(n * many)
    spent = time.process_time() - cpu, time.perf_counter() - wall
    return Sample(*(each / (n * many * items) for each in spent))


class Peer:
    """A process that measures once whenever it is asked."""

    def __init__(self, argv: list[str]) -> None:
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.version = self._line()

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def sample(self) -> Sample:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return Sample(float(self._line()), 0.0)

    def close(self) -> None:
        self.process.communicate()


def many_rows() -> Iterator[Row]:
    """Many episodes that wait for their policy at the same time."""
    env = environment(add)
    gc.collect()
    tracemalloc.start()
    idle = [Episode(env) for _ in range(MANY)]
    for each in idle:
        each.reset(TASK)
    size = tracemalloc.get_traced_memory()[0] / MANY / 1000
    tracemalloc.stop()
    yield Row("an idle episode", size, goal="≤ 100 kB", met=size <= 100, unit="kB")

    async def play() -> float:
        start = time.perf_counter()
        for _ in range(TURNS):
            steps = await asyncio.gather(*(each.astep(CALL) for each in idle))
            assert {step.observation[0]["content"] for step in steps} == {"5"}
        ends = await asyncio.gather(*(each.astep("5") for each in idle))
        assert {step.reward for step in ends} == {1.0}
        return MANY * TURNS / (time.perf_counter() - start)

    rate = asyncio.run(play())
    yield Row(f"tool turns, {MANY:,} episodes at once", rate, unit="/s (wall)")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    yield Row("memory of this process at most", most, unit="MB")


PEERS = {"verifiers": ("verifiers_tools.py", "0.1."), "gymnasium": ("gymnasium_steps.py", "")}


def peers(n: int) -> dict[str, Peer]:
    """A process for each peer that an interpreter has."""
    found = dict[str, Peer]()
    here = Path(__file__).parent / "peers"
    for python in filter(None, os.environ.get("RLENV_PEERS", "").split(os.pathsep)):
        for name, (script, begins) in PEERS.items():
            probe = f"import importlib.metadata as m; print(m.version({name!r}))"
            asked = subprocess.run(
                [python, "-c", probe], capture_output=True, text=True, check=False
            )
            if asked.returncode == 0 and asked.stdout.startswith(begins) and name not in found:
                sizes = [TURNS, n] if name == "verifiers" else [100 * n]
                found[name] = Peer([python, str(here / script), *map(str, sizes)])
    return found


def rounds(n: int, repeats: int, others: dict[str, Peer]) -> dict[str, list[Sample]]:
    """Samples of each, ours and theirs in turns; the first round warms up and does not count."""
    found: dict[str, list[Sample]] = {name: [] for name in (*OURS, *others)}
    for _ in range(repeats + 1):
        for name in OURS:
            found[name].append(sample(name, n))
        for name, peer in others.items():
            found[name].append(peer.sample())
    return {name: samples[1:] for name, samples in found.items()}


def own_rows(found: dict[str, list[Sample]]) -> Iterator[Row]:
    for name in OURS:
        yield Row(name, median(each.cpu for each in found[name]) * 1e6)
    for name in RATED:
        rate = 1 / median(each.wall for each in found[name])
        yield Row(f"{name}: rate", rate, goal="≥ 3,000/s", met=rate >= 3_000, unit="/s (wall)")


def peer_rows(found: dict[str, list[Sample]], others: dict[str, Peer]) -> Iterator[Row]:
    pairs = {name: [*zip(found[name], found.get("verifiers", ()), strict=False)] for name in RATED}
    for name in RATED if "verifiers" in others else ():
        turn = median(each.cpu for each in found["verifiers"]) * 1e6
        ratio = median(peer.cpu / ours.cpu for ours, peer in pairs[name])
        what = f"verifiers {others['verifiers'].version}, one turn"
        yield Row(what, turn, name, ratio, "≥ 3×", ratio >= 3)
    if "gymnasium" in others:
        step = median(each.cpu for each in found["gymnasium"]) * 1e6
        more = median(a.cpu - b.cpu for a, b in zip(found[GAME], found["gymnasium"], strict=True))
        what = f"gymnasium {others['gymnasium'].version}, a bare step"
        yield Row(what, step, "our game", goal="ours ≤ 20 µs more", met=more <= 20e-6)


MISSING = """\
{} was not measured: no interpreter in RLENV_PEERS has it; see benchmarks/README.md"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few samples: shows that it runs")
    n, repeats = (10, 3) if parser.parse_args().quick else (100, 15)
    others = peers(n)
    try:
        found = rounds(n, repeats, others)
    finally:
        for each in others.values():
            each.close()
    rows = [*own_rows(found), *many_rows(), *peer_rows(found, others)]
    print(table(rows))
    print(*(MISSING.format(name) for name in PEERS if name not in others), sep="\n")
    return int(any(row.met is False for row in rows))


if __name__ == "__main__":
    sys.exit(main())
