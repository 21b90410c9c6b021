"""Stages with a budget of CPU seconds, whose responses say what to do."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import threading
import time

from attrs import frozen
from rlenv import Attempt, Outcome, stage

TEXT = "a" * 40 + "!"
BOMB = "(a+)+$"
SPIN = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass"
tables: list[int] = []


def spin(seconds: float) -> None:
    """Use CPU time of this thread."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


@stage(budget=0.3)
def golf(response: str) -> float:
    """The shortest pattern that matches nothing here: the response is compiled and run."""
    try:
        return float(re.search(response, TEXT) is None)
    except re.error:
        return 0.0


@frozen
class Golf:
    budget: float = 0.3

    def check(self, attempt: Attempt) -> Outcome:
        return Outcome(golf(attempt.response))


def child(seconds: float) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-S", "-c", SPIN.format(seconds)])


@stage
def starves(response: str) -> float:
    """As ``costs`` with ``sleep seconds``, without a budget."""
    time.sleep(float(response.partition(" ")[2]))
    return 1.0


@stage(budget=0.5)
def costs(response: str) -> float:
    """``how seconds``: spends them in this way and pays."""
    how, _, seconds = response.partition(" ")
    amount = float(seconds or 0)
    if how == "spin":
        spin(amount)
    elif how == "sleep":
        time.sleep(amount)
    elif how == "threads":
        threads = [threading.Thread(target=spin, args=(amount / 4,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    elif how == "waited":
        child(amount).wait()
    elif how == "running":
        with child(amount) as process:
            while process.poll() is None:
                time.sleep(0.01)
    elif how == "grandchild":
        inner = (
            "import subprocess, sys; subprocess.run([sys.executable, '-S', '-c',"
            f" {SPIN.format(amount)!r}])"
        )
        subprocess.run([sys.executable, "-S", "-c", inner], check=True)
    elif how == "raise":
        spin(amount)
        raise ValueError
    elif how == "hoard":
        bytearray(8 << 30)
    elif how == "explode":
        re.search(BOMB, TEXT)
    return 1.0


@stage(budget=0.5)
def hoards(response: str) -> float:
    """A verifier that is broken: it needs more memory than there is, whatever it is asked."""
    return float(len(bytearray(8 << 30)))


@stage(budget=0.5)
def imports(response: str) -> float:
    """What some responses need takes a second to import."""
    if "import" in response:
        import budget_slow_module

        assert budget_slow_module.__name__
    if "spin" in response:
        spin(float(response.rsplit(maxsplit=1)[-1]))
    return 1.0


@frozen
class Table:
    """Builds a table of 1 s once; ``eager`` also for an empty response."""

    eager: bool
    budget = 0.5

    def check(self, attempt: Attempt) -> Outcome:
        if not tables and (self.eager or attempt.response):
            spin(1.0)
            tables.append(1)
        return Outcome(1.0)


@frozen
class Waits:
    """An async neighbor that spends CPU time of the worker's loop."""

    async def check(self, attempt: Attempt) -> Outcome:
        for _ in range(5):
            spin(0.02)
            await asyncio.sleep(0.01)
        return Outcome(1.0)


@stage(budget=0.3)
def leaves_behind(response: str) -> float:
    """As a check with a time limit of its own, that leaves behind what it does not wait for."""
    if response == "thread":
        threading.Thread(target=spin, args=(4,), daemon=True).start()
    elif response == "child":
        child(4)
    else:
        spin(0.2)
    return 1.0
