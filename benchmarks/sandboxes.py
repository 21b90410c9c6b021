"""What bounds of sandboxes cost and gain: a crowd of short programs, and the memory that idle
sandboxes keep.

As a script: ``python -m benchmarks.sandboxes [PROGRAMS]``, by default 64.  Each row is a process of
its own that runs the crowd
three times: the first time sandboxes start, the last time they are warm.  Memory is the
proportional share (PSS) of
everything below that process, at its most and once it has been idle.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

from rlenv.sandbox import Profile
from rlenv_plugin_sandbox.jail import Jail
from rlenv_plugin_sandbox.quota import shared

PROGRAM = "import time; time.sleep(0.05); print(sum(range(10_000)))"
IDLE_S = 1.0
BOUNDS = ("default", "1", "1:4", "0:8", "8")


def below(pid: int) -> list[int]:
    found = []
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, thread.read_text().split()):
            found += [child, *below(child)]
    return found


def memory() -> float:
    """MiB of what runs below this process."""
    total = 0
    for pid in below(os.getpid()):
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


async def run(box: Jail) -> None:
    session = await box.open(Profile())
    await session.start(PROGRAM)
    await session.finish()
    await session.close()


async def crowds(programs: int) -> dict[str, float]:
    box = Jail()
    walls = list[float]()
    for _ in range(3):
        started = time.perf_counter()
        await asyncio.gather(*[run(box) for _ in range(programs)])
        walls.append(time.perf_counter() - started)
    most = memory()
    await asyncio.sleep(4 * IDLE_S)
    told = {"first": walls[0], "warm": walls[-1], "most": most, "idle": memory()}
    await box.aclose()
    return told


def main(programs: int, bounds: str | None) -> None:
    if bounds is not None:
        with shared(bounds, IDLE_S) if bounds != "default" else nullcontext():
            print(json.dumps(asyncio.run(crowds(programs))))
        return
    print(f"{programs} programs of 0.05 s | first crowd, s | warm crowd, s | most, MiB | idle, MiB")
    for each in BOUNDS:
        words = [sys.executable, "-m", "benchmarks.sandboxes", str(programs), each]
        told = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
        print(
            f"{each:>25} | {told['first']:14.2f} | {told['warm']:13.2f} | {told['most']:9.1f} |"
            f" {told['idle']:9.1f}"
        )


if __name__ == "__main__":
    main(int((sys.argv[1:] or ["64"])[0]), sys.argv[2] if len(sys.argv) > 2 else None)
