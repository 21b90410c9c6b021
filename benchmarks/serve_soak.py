"""Many episodes at once for long: every answer right, no error, and the server's memory stays as it
is.

``python benchmarks/serve_soak.py [--episodes 1000] [--minutes 10] [--state sqlite]``: so many
clients play one episode after another over HTTP, and think for half a second to one and a half
before each request.  The server, its stores and the clients share two cores.  Prints the latencies
of steps and the memory of the server by the minute; exits with 1 where a request failed, or where
the memory grew by more than a tenth after the first third.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])  # so that `benchmarks` is a package

import argparse
import asyncio
import json
import os
import random
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from statistics import median, quantiles
from tempfile import TemporaryDirectory

from attrs import define, field

from benchmarks.connection import Connection, encoded

CORES = 2
STEPS = 8  # calls of the tool in an episode, before its answer
THINK = (0.5, 1.5)  # seconds before a request
GROWTH = 1.1
FILES = {
    "env.toml": (
        """
name = "counting"
[tasks]
path = "tasks.jsonl"
prompt = "prompt"
answer = "answer"
id = "id"
[harness]
kind = "tool-use"
tools = ["./tools.py:count"]
turn_limit = 20
[[stage]]
use = "core/equal"
"""
    ),
    "tasks.jsonl": '{"id": "a", "prompt": "Count.", "answer": "right"}\n',
    "tools.py": (
        '''
from rlenv_plugin_agent import ToolContext, tool

@tool(where="inline", deterministic=True)
def count(context: ToolContext) -> int:
    """How many messages the policy wrote before."""
    return context.turn
'''
    ),
}


@define
class Seen:
    """What the clients saw."""

    steps: list[float] = field(factory=list)  # seconds that each took
    episodes: int = 0
    errors: list[str] = field(factory=list)


async def ask(
    connection: Connection, method: str, path: str, body: object = None
) -> Mapping[str, object]:
    """The answer, which must be a good one."""
    made = json.loads(await connection.ask(encoded(method, path, body)))
    assert isinstance(made, dict)
    return made


async def play(connection: Connection, seen: Seen) -> None:
    """One episode, right or wrong by chance."""
    begun = await ask(connection, "POST", "/episodes", {"task_id": "a", "agent_id": "soak"})
    path = f"/episodes/{begun['episode_id']}"
    answer = random.choice(("right", "wrong"))
    for number in range(STEPS + 1):
        await asyncio.sleep(random.uniform(*THINK))
        started = time.perf_counter()
        action = {"action": "count"} if number < STEPS else {"action": "submit", "answer": answer}
        got = await ask(connection, "POST", f"{path}/steps", action)
        seen.steps.append(time.perf_counter() - started)
        assert got["step"] == number + 1, got
        assert got["done"] == (number == STEPS), got
        assert number == STEPS or got["text"] == str(number), got
    reward = (await ask(connection, "GET", f"{path}/reward"))["reward"]
    assert reward == float(answer == "right"), reward
    seen.episodes += 1


async def client(port: int, ends: float, seen: Seen) -> None:
    """One episode after another."""
    connection = Connection(port)
    await asyncio.sleep(random.uniform(0, THINK[1] * STEPS))
    while time.monotonic() < ends:
        try:
            await play(connection, seen)
        except Exception as error:
            seen.errors.append(f"{type(error).__name__}: {error}")
            connection = Connection(port)


async def soak(port: int, pid: int, episodes: int, minutes: float) -> tuple[Seen, list[int]]:
    """What the clients saw, and the server's memory in bytes after each tenth of the time."""
    seen = Seen()
    sizes = list[int]()
    ends = time.monotonic() + 60 * minutes
    clients = [asyncio.create_task(client(port, ends, seen)) for _ in range(episodes)]
    for _ in range(10):
        await asyncio.sleep(6 * minutes)
        sizes.append(resident(pid))
        print(
            f"{60 * minutes - ends + time.monotonic():6.0f} s: {sizes[-1] / 1e6:6.1f} MB,"
            f" {seen.episodes:7,} episodes, {len(seen.steps):9,} steps, {len(seen.errors)} errors",
            flush=True,
        )
    await asyncio.gather(*clients)
    return seen, sizes


def resident(pid: int) -> int:
    """Bytes of memory that a process has."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def server(state: str, episodes: int) -> Iterator[tuple[int, int]]:
    """(port, process) of ``rlenv serve``."""
    with TemporaryDirectory() as folder:
        for name, held in FILES.items():
            Path(folder, name).write_text(held)
        url = f"sqlite:{folder}/state" if state == "sqlite" else state
        command = [
            sys.executable,
            "-m",
            "rlenv",
            "serve",
            f"{folder}/env.toml",
            "--port",
            "0",
            "--state",
            url,
            "--limit",
            f"episodes={2 * episodes}",
        ]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            assert process.stderr is not None
            found = re.search(r"http://[^:]+:(\d+)", process.stderr.readline())
            assert found, "the server did not start"
            yield int(found[1]), process.pid
        finally:
            process.terminate()
            process.wait(60)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=1000, help="at the same time")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--state", default="sqlite", help="sqlite, or a URL as of `rlenv serve`")
    options = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    with server(options.state, options.episodes) as (port, pid):
        seen, sizes = asyncio.run(soak(port, pid, options.episodes, options.minutes))
    middle, late, longest = (
        1000 * each
        for each in (median(seen.steps), quantiles(seen.steps, n=100)[-1], max(seen.steps))
    )
    print(
        f"steps: {len(seen.steps) / options.minutes / 60:,.0f}/s, median {middle:.1f} ms, p99"
        f" {late:.1f} ms, longest {longest:.0f} ms"
    )
    print(f"memory: {sizes[2] / 1e6:.1f} MB after a third, {sizes[-1] / 1e6:.1f} MB at the end")
    for each in sorted({*seen.errors})[:10]:
        print("error:", each)
    if seen.errors or sizes[-1] > GROWTH * sizes[2]:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
