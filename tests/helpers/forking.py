"""``python forking.py KIND SECONDS...``: fork while four threads use rlenv for the first time, and
use it in each child.

One line a fork: "ok", "failed" or "hangs".  What a child that hangs was doing goes to standard
error.
"""

from __future__ import annotations

import asyncio
import faulthandler
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path

PATIENCE = 25.0  # seconds that one verification has in a child, on a loaded machine
HELPERS = Path(__file__).parents[2] / "core" / "tests" / "engine" / "helpers"
KINDS = ("worker", "inline", "caller", "async", "file")
ENV = Path(__file__).with_name("forked.toml")


def usage(kind: str) -> Callable[[], float]:
    """What is done for the first time: one verification.  What is forked before ``import rlenv``
    ends is not its part.
    """
    from rlenv import Environment, Task

    sys.path.append(str(HELPERS))
    if kind == "file":
        return lambda: from_file(ENV)
    from engine_stages import Obeys, Sits, Waits

    task = Task("p", answer="1/2", id="t")
    if kind == "inline":
        config = {"name": "e", "stage": [{"use": "math/equal"}]}
        env = Environment.from_dict(config)
        return lambda: env.verify(task, "\\boxed{\\frac{1}{2}}")
    if kind == "async":
        env = Environment("e", [Sits(), Waits()])
        return lambda: asyncio.run(env.averify(task, "right" + " " * 10_000))
    env = Environment("e", Waits() if kind == "caller" else Obeys())
    return lambda: env.verify(task, "right")


def from_file(path: Path) -> float:
    from rlenv import Environment, Task

    with Environment.from_file(path) as env:
        return env.verify(Task("p", answer="2", id="t"), "2")


def child(use: Callable[[], float]) -> None:
    faulthandler.dump_traceback_later(PATIENCE, exit=True)
    try:
        use()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(2)


def main(kind: str, delays: list[float]) -> None:
    use = usage(kind)
    threads = [threading.Thread(target=use, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    pids = []
    for delay in delays:
        time.sleep(delay)
        pids.append(os.fork())
        if pids[-1] == 0:
            child(use)
    for pid in pids:
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        print({0: "ok", 1: "hangs"}.get(status, "failed"), flush=True)
    for thread in threads:
        thread.join(PATIENCE)
    print("parent hangs" if any(thread.is_alive() for thread in threads) else "parent ok")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], [float(arg) for arg in sys.argv[2:]])
